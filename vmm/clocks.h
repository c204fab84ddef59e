/* SPDX-License-Identifier: MIT */
/*
 * clocks - the interval timer and the clock of the day, with real time behind
 * them and their interrupts before them.
 *
 * Time of the timer: CLOCK_MONOTONIC since clocks_init. Of the clock: the same,
 * from CLOCK_REALTIME at clocks_init on; as with a PC's, nothing sets it but
 * its guest, whatever is done to the host's (and a host that sleeps leaves it
 * behind). When the next interrupt is due, a timerfd of the main thread
 * expires, which then calls clocks_run_locked. It is not asked for more than
 * CLOCKS_WAKEUPS_HZ times a second, whatever the guest programs: interrupts in
 * between are one, and those after keep their instants.
 *
 * Guarded by the bus's lock, which every call needs but the first.
 */
#ifndef VMM_CLOCKS_H
#define VMM_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "i8254.h"
#include "mc146818.h"

struct irqs;
struct irqs_work;

#define CLOCKS_WAKEUPS_HZ 10000u

struct clocks {
	/* Set once: clock_gettime as ns; a test has another. */
	uint64_t (*read_ns)(clockid_t id);
	/* Set once: one instant, monotonic and as the clock has it. */
	uint64_t start_ns, start_rtc_ns;
	struct i8254 pit;
	struct mc146818 rtc;
	uint64_t rtc_seen_ns;  /* IRQ 8 is as the clock wants it then */
	uint64_t pit_seen_pit; /* rises up to there are interrupts already */
	uint64_t looked_ns;    /* monotonic: last call of clocks_run_locked */
	/* Main thread's timerfd; -1: none. */
	int timer_fd;
	uint64_t armed_ns; /* monotonic, 0: it is not */
};

/* read_ns NULL: the system's. The clock's memory tells of no RAM. */
void clocks_init(struct clocks *clocks, uint64_t (*read_ns)(clockid_t id));

/* RAM below and from 4 GiB, for the clock's memory. Before the guest runs. */
void clocks_set_ram(struct clocks *clocks, uint64_t low_bytes,
		    uint64_t high_bytes);

/* timer_fd: a timerfd of CLOCK_MONOTONIC, the caller's, to be read by it and
 * answered with clocks_run_locked; -1: no more. */
void clocks_set_timer_locked(struct clocks *clocks, int timer_fd);

/* Guest accesses to their ports. */
bool clocks_has_port(uint16_t port);
uint8_t clocks_read_locked(struct clocks *clocks, uint16_t port,
			   struct irqs *irqs, struct irqs_work *work);
void clocks_write_locked(struct clocks *clocks, uint16_t port, uint8_t value,
			 struct irqs *irqs, struct irqs_work *work);

/* The timerfd expired: drives the lines that are due. Main thread. */
void clocks_run_locked(struct clocks *clocks, struct irqs *irqs,
		       struct irqs_work *work);

#endif
