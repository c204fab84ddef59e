/* SPDX-License-Identifier: MIT */
/*
 * smp - the other CPUs.
 *
 * There is no table of CPUs: APIC ids are taken to be 0 .. count-1, which is
 * how KVM VMMs number a single package. CPU 0 is the boot CPU, the others are
 * numbered in the order of their ids.
 */
#ifndef GUEST_SMP_H
#define GUEST_SMP_H

/* Logical CPUs by CPUID: leaf 0xB level 1, else leaf 1; at least 1. */
unsigned smp_count_by_cpuid(void);

/*
 * Starts CPUs 1 .. count-1 one by one (INIT, SIPI); each runs
 * fn(index), index being its own, on its own stack in ring 0 with IF clear,
 * tables loaded and APIC on, then halts for ever. Returns when all have
 * arrived, maybe before fn is done. One that does not come is a message and
 * STATUS_AP_LOST. Boot CPU, after apic_init, once; count <= CPUS_MAX.
 */
void smp_start(unsigned count, void (*fn)(unsigned index));

/* The APIC id that CPU index was started by. After smp_start. */
unsigned smp_apic_id(unsigned index);

/*
 * INIT alone: a CPU that smp_start has started stops whatever it does and
 * waits for smp_resume. SDM 3A "Local APIC State After an INIT Reset".
 */
void smp_stop(unsigned index);

/*
 * Starts a stopped CPU again: fn as with smp_start, but with the local APIC
 * as INIT left it; fn calls apic_init. Returns when the CPU has arrived.
 */
void smp_resume(unsigned index, void (*fn)(unsigned index));

#endif
