/* SPDX-License-Identifier: MIT */
/*
 * smp_crew - the CPUs of the guest `smp`: what each took, and how they are
 * told what to do.
 *
 * CPU 0 is in charge. The others wait for interrupts, count each that comes,
 * and do a job when they are called, by an interrupt, too; when it is done they
 * call CPU 0. A call has the lowest priority of all vectors in use: a CPU that
 * answers one has taken, and counted, what was requested before it.
 */
#ifndef GUEST_SMP_CREW_H
#define GUEST_SMP_CREW_H

#include "layout.h"

#include <stdbool.h>
#include <stdint.h>

/* Classes, which are priorities: calls, the timer, then all the rest. */
#define VECTOR_CALL  0x30
#define VECTOR_TEST  0x50 /* 16 of them */
#define VECTOR_PING  0x60 /* and the sender's index */
#define VECTOR_PONG  0xa0 /* and the index of who answers */
#define VECTORS_LAST (VECTOR_PONG + CPUS_MAX - 1)

/* What one CPU took. Its own to write, for all to read. */
struct crew_seen {
	uint32_t vectors[256];
	uint32_t starts;
} __attribute__((aligned(64)));

struct crew_setup {
	unsigned cpus;
	bool spins;	       /* waits in a loop, not in HLT */
	uint64_t patience_tsc; /* nothing comes for so long: it is lost */
	void (*stuck)(void);   /* says what was awaited, then */
	void (*take)(unsigned index, uint8_t vector, uint64_t handler_tsc);
};

/* Starts the other CPUs and the watch. After apic_init; setup is copied. */
void crew_start(const struct crew_setup *setup);

unsigned crew_cpus(void);

/*
 * Waits for one interrupt, counts it and, but for calls and timers, hands it to
 * setup.take; a CPU but 0 that is called does its job. May return without any.
 * On CPU 0 it ends the run if nothing comes to anybody. The calling CPU's own
 * index.
 */
void crew_wait(unsigned index);

/* CPU `index` does the job, then CPU 0 goes on. CPU 0. */
void crew_do(unsigned index, void (*job)(unsigned index));

/* All CPUs do the job, CPU 0 last and the others at once. CPU 0. */
void crew_do_all(void (*job)(unsigned index));

/* When it returns every CPU has counted what it had been sent. CPU 0. */
void crew_fence(void);

/* How often CPU `index` took a vector, and NMIs. After crew_fence. */
unsigned crew_count(unsigned index, uint8_t vector);
unsigned crew_starts(unsigned index);

/* Stops CPU `index` by INIT, and starts it again by SIPI. CPU 0; not itself. */
void crew_restart(unsigned index);

/* To x2APIC mode, all of them. CPU 0. */
void crew_to_x2apic(void);

/* CPU 0 has something new: crew_wait there returns. */
void crew_call_boot_cpu(void);

#endif
