/* SPDX-License-Identifier: MIT */
/*
 * irqwait - the only places where interrupts are enabled.
 *
 * An interrupt handler's first instruction is RDTSC, so that what it records is
 * the earliest moment the guest can know of. RDTSC destroys RAX and RDX; that
 * is harmless because the handler never returns to the code it interrupted:
 * it unwinds straight to the caller of the wait. R15 holds the struct irqwait
 * of the CPU in every wait, which is how the handler finds it.
 *
 * Ring 3 is entered by IRETQ and left by the timer interrupt or by UD2 at a
 * known label: unlike INT n and SYSCALL, #UD works on every KVM back end.
 *
 * All functions: ring 0, IF clear on entry and on return, one struct irqwait
 * per CPU. They do not signal end of interrupt; the caller does.
 */
#ifndef GUEST_IRQWAIT_H
#define GUEST_IRQWAIT_H

#include <stdint.h>

struct irqwait {
	/* private to traps.S */
	uint64_t kernel_rsp;
	/* set once by cpu_init */
	uint64_t user_rsp;
	/* set by the caller: guest TSC at which a spinning wait gives up */
	uint64_t limit_tsc;
	/* results: guest TSC of the handler, turns of the spin loop, and the
	 * vector that came */
	uint64_t handler_tsc;
	uint64_t loop_turns;
	uint32_t vector;
};

/* Each returns 1 when VECTOR_TIMER came, or a vector that cpu_take_vector was
 * told of (handler_tsc and vector are valid), 0 when limit_tsc passed first.
 * One loop turn is an RDTSC and a compare. */

/* Spins in ring 3. */
int irqwait_spin_user(struct irqwait *w);
/* Spins in ring 0. */
int irqwait_spin_kernel(struct irqwait *w);
/* Halts; limit_tsc is not watched (nobody is awake to do it), so this always
 * returns 1, or not at all. loop_turns is 0. */
int irqwait_hlt(struct irqwait *w);

/*
 * Runs fn(first, second) in ring 3, where every back end runs code at native
 * speed. IF is set in ring 3 (a back end may know no other kind of user
 * code), but the handler would mistake fn for a wait: the caller has called
 * apic_hold_interrupts, so that not even a stray one comes.
 */
void irqwait_call_user(struct irqwait *w, void (*fn)(void *, uint64_t),
		       void *first, uint64_t second);

#endif
