/* SPDX-License-Identifier: MIT */
/*
 * halted - notices that a guest has halted for ever.
 *
 * With the local APIC in the kernel HLT does not exit, so nobody tells. Twice
 * a second the main thread looks at the CPU time of the vCPU threads; those
 * that used next to none are asked to look at themselves. When every vCPU was
 * found halted with interrupts off and nothing pending, or waiting for an
 * INIT that nobody is left to send, in two looks in a row, the run is over.
 * A vCPU that halts with interrupts on is waiting for something: that goes
 * on until the time limit. So does a guest one of whose devices would be heard
 * with interrupts off: a pin of the I/O APIC that is not masked, and sends
 * SMIs, NMIs or INITs. (The 8259s' output is no NMI here, whatever LINT0 is set
 * to: KVM takes it as an interrupt or not at all.)
 */
#ifndef VMM_HALTED_H
#define VMM_HALTED_H

#include <stdbool.h>
#include <stdint.h>

struct vcpu;
struct vm;

enum {
	HALTED_TICK_MS = 500,
	HALTED_TICKS = 2, /* in a row */
};

struct halted_watch {
	uint32_t ticks; /* in a row that found all vCPUs halted */
};

/* Answers KICK_LOOK: fills vcpu->idle. vCPU thread. */
void halted_look(struct vcpu *vcpu);

/* Every HALTED_TICK_MS. True: halted for ever. Main thread. */
bool halted_tick(struct halted_watch *watch, struct vm *vm);

#endif
