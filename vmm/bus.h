/* SPDX-License-Identifier: MIT */
/*
 * bus - port and memory accesses of the guest, and the devices behind them.
 *
 * One lock for all devices: none of them is on the timer's path. A device
 * model only says what is to be done; bus_out returns that to the vCPU
 * thread, which acts after the lock is gone. Interrupts that an access causes
 * are delivered before its call returns, without the lock.
 */
#ifndef VMM_BUS_H
#define VMM_BUS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acpi_pm.h"
#include "clocks.h"
#include "i8042.h"
#include "irqs.h"
#include "reset_ctl.h"
#include "serial_port.h"

enum bus_action_kind {
	BUS_NONE,
	BUS_CONSOLE, /* value: the byte */
	BUS_EXIT,    /* value: what was written, unchanged */
	BUS_MARKER,  /* the same */
	BUS_RESET,
	BUS_POWEROFF,
	BUS_LATENESS, /* value: guest-physical address of a report */
	BUS_FLUSH,    /* value: of a page, as ram_drop_translation has it */
};

struct bus_action {
	enum bus_action_kind kind;
	uint32_t value;
};

struct test_ports;

struct bus {
	/* Set once. */
	int exit_port;	    /* -1: none */
	int marker_port;    /* -1: none, as bus_init leaves it */
	int serial_room_fd; /* eventfd, see bus_serial_room; -1: none */
	/* Guarded by lock. */
	struct test_ports *test; /* NULL: none; set once */
	struct serial_port com1;
	struct i8042 i8042;
	struct reset_ctl reset_ctl;
	struct acpi_pm acpi_pm;
	struct clocks clocks;
	struct irqs irqs;		      /* some of it: see irqs.h */
	uint64_t unclaimed_in, unclaimed_out; /* port accesses to nothing */
	uint64_t unclaimed_mmio;
	pthread_mutex_t lock;
};

/* read_ns: as clocks_init. Main thread, as the next four. */
void bus_init(struct bus *bus, int exit_port, uint64_t (*read_ns)(clockid_t));
void bus_destroy(struct bus *bus);

/* RAM below and from 4 GiB, in bytes, and where interrupts go. Before the vCPU
 * threads start. */
void bus_connect(struct bus *bus, uint64_t ram_low_bytes,
		 uint64_t ram_high_bytes, const struct irqs_target *target);

/* The machine has what test_ports.h describes, too, and says there that it has
 * so much RAM in all, and so many processors, 1 to 64. Before the vCPU threads
 * start, once. 0 or -ENOMEM. */
int bus_add_test_ports(struct bus *bus, uint64_t ram_bytes, unsigned int cpus);

/* IN and OUT of size 1, 2 or 4. Nobody home: reads give all ones, writes
 * vanish, both are counted. vCPU threads. */
uint32_t bus_in(struct bus *bus, uint16_t port, unsigned int size);
struct bus_action bus_out(struct bus *bus, uint16_t port, unsigned int size,
			  uint32_t value);

/* An access of up to 8 bytes to guest-physical memory that is not RAM: the I/O
 * APIC, the test device's if there is one, or all ones on a read, nothing on a
 * write; counted. vCPU threads. */
void bus_mmio(struct bus *bus, uint64_t gpa, bool is_write, uint8_t *data,
	      unsigned int len);

/* The guest ended a level interrupt of this vector. vCPU threads. */
void bus_eoi(struct bus *bus, uint8_t vector);

/* As irqs_intack_locked. The vCPU thread that INTR is wired to. */
bool bus_intack(struct bus *bus, uint8_t *vector, bool *more);

/* As ioapic_reaches_all. Main thread. */
bool bus_reaches_all(struct bus *bus);

/* As clocks_set_timer_locked and clocks_run_locked. Main thread. */
void bus_set_timer(struct bus *bus, int timer_fd);
void bus_timer_expired(struct bus *bus);

/* Bytes for the serial port; returns how many of them had room. Main thread. */
size_t bus_serial_put(struct bus *bus, const uint8_t *bytes, size_t count);

/* How many it would take, or, unless eager, 0 until the guest looks for input.
 * After a 0 serial_room_fd becomes readable when there is room. Main thread. */
size_t bus_serial_room(struct bus *bus, bool eager);

#endif
