/* SPDX-License-Identifier: MIT */
/*
 * smp_checks - what the guest `smp` looks at, and how it says what it found.
 * All of it is called by the boot CPU.
 */
#ifndef GUEST_SMP_CHECKS_H
#define GUEST_SMP_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

/* Faults of the guest's own making, to see that they are found. */
enum smp_fault {
	FAULT_NONE,
	FAULT_ID,      /* a CPU believes that it has another's APIC id */
	FAULT_LOST,    /* an interrupt is not sent */
	FAULT_STRAY,   /* one is sent to somebody else as well */
	FAULT_NO_PONG, /* a ping is not answered */
	FAULT_PONG2,   /* one is answered twice */
};

struct smp_plan {
	unsigned cpus;
	uint64_t seed;
	uint64_t count;	    /* interrupts of each kind of storm, at least */
	uint64_t tsc_reads; /* of each CPU in smp_check_tsc */
	enum smp_fault fault;
};

extern struct smp_plan smp_plan;

/* Ends a line that says what was looked at. */
void smp_verdict(bool good);

/* "xapic" or "x2apic", as it is now. */
const char *smp_mode(void);

/* Next of a series that smp_plan.seed begins, below n. */
unsigned smp_random(unsigned n);

/* What firmware tables say of the CPUs. Before any other CPU is started, which
 * takes low memory. */
void smp_check_tables(void);

/* CPUID's APIC ids on each CPU; then that of the local APIC, in this mode. */
void smp_check_cpuid_ids(void);
void smp_check_apic_ids(void);

/* Each way to send, one at a time. */
void smp_check_kinds(void);

/* INIT and SIPI to each CPU. */
void smp_check_restarts(void);

/* Many at once, in pairs and from each to all. */
void smp_check_storms(void);
void smp_storm_take(unsigned index, uint8_t vector, uint64_t handler_tsc);
void smp_storm_stuck(void);

/* TSC handed over through memory, as fast as it goes. And CPU 1's put ahead by
 * so much, to see that it is found. */
void smp_check_tsc(void);
void smp_skew_tsc(uint64_t ahead_tsc);

#endif
