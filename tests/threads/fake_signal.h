/* SPDX-License-Identifier: MIT */
/*
 * fake_signal - in the place of vmm/kick_signal.c and of KVM_RUN: a signal is
 * a count, and a vCPU thread in fake_run() "handles" it.
 *
 * All of it is relaxed on purpose: the signal orders nothing, so that what a
 * race detector finds in order is so by the hand-off alone. Included once in
 * a program, which must not link vmm/kick_signal.c.
 */
#ifndef TESTS_FAKE_SIGNAL_H
#define TESTS_FAKE_SIGNAL_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "kick.h"

/* One vCPU thread's side. kick.signals counts what was ever sent. */
struct fake_vcpu {
	struct kick kick;
	volatile uint8_t immediate_exit; /* of the thread alone */
	unsigned long handled;
};

void kick_interrupt(struct kick *kick)
{
	atomic_fetch_add_explicit(&kick->signals, 1, memory_order_relaxed);
}

/* The handler, if a signal is pending. On the vCPU's thread. */
static inline void fake_handle(struct fake_vcpu *vcpu)
{
	unsigned long sent =
		atomic_load_explicit(&vcpu->kick.signals, memory_order_relaxed);

	if (sent == vcpu->handled)
		return;
	vcpu->handled = sent;
	vcpu->immediate_exit = 1;
}

/* KVM_RUN: until a signal came, or for so many turns at most (0: for ever),
 * as a guest exits for reasons of its own. On the vCPU's thread. */
static inline void fake_run(struct fake_vcpu *vcpu, unsigned int turns)
{
	for (unsigned int i = 1;; i++) {
		fake_handle(vcpu);
		if (vcpu->immediate_exit || i == turns)
			return;
		sched_yield();
	}
}

#endif
