/* SPDX-License-Identifier: MIT */
/*
 * cpu - what each CPU owns: task state, interrupt table, stacks, its wait.
 */
#ifndef GUEST_CPU_H
#define GUEST_CPU_H

#include "irqwait.h"

#include <stdint.h>

#define CPU_STACK_BYTES 8192

/*
 * Loads the interrupt table and this CPU's task register. Called once on each
 * CPU, on that CPU, ring 0, before anything can fault there; index < 64.
 */
void cpu_init(unsigned index);

/*
 * From now on this vector, too, ends a wait. Only VECTOR_TIMER does so from
 * the start; any other one is a fatal #NP. Boot CPU; 0x20 <= vector < 0xff.
 */
void cpu_take_vector(uint8_t vector);

/* From now on an NMI is counted, for the CPU it came to, and ends no wait;
 * until then it is fatal. (After a VM that ended in its NMI handler Bochs 2.7,
 * with VMX, delivers no NMI to any other.) Boot CPU, before NMIs are sent. */
void cpu_take_nmis(void);
unsigned cpu_nmi_count(unsigned index);

/* The wait of a CPU, and the top of the stack it is started on. */
struct irqwait *cpu_irqwait(unsigned index);
void *cpu_stack_top(unsigned index);

#endif
