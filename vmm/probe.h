/* SPDX-License-Identifier: MIT */
/*
 * probe - can userspace have the timer on this host?
 *
 * Whether a guest's write of IA32_TSC_DEADLINE reaches userspace depends on
 * kernel version, vendor and module parameters, since a fast path in KVM may
 * handle it before the MSR filter is asked. No list of versions is trusted:
 * a throw-away VM with the same capabilities tries it.
 */
#ifndef VMM_PROBE_H
#define VMM_PROBE_H

#include <stddef.h>

/* Who has the timer, and what it takes; in the order they are tried. */
enum timer_rung {
	RUNG_KERNEL,	  /* KVM has it */
	RUNG_SPLIT,	  /* split irqchip and an MSR filter */
	RUNG_SPLIT_MWAIT, /* the same with MWAIT exits disabled: then KVM does
			   * not use the VMX preemption timer, and asks the
			   * filter. Linux before 6.18 */
};

enum probe_result {
	PROBE_INTERCEPTED, /* the write exits: mode "userspace" works */
	PROBE_SWALLOWED,   /* KVM took it */
	PROBE_FAILED,	   /* something else happened, see err */
};

/*
 * Runs 64-bit paged guest code that writes IA32_TSC_DEADLINE and then does
 * an OUT; what exits first decides. err has one line unless intercepted.
 * Takes one VM, one vCPU, some ms at most. Any thread without vCPUs.
 */
enum probe_result probe_interception(int kvm_fd, enum timer_rung rung,
				     char *err, size_t err_size);

/*
 * Tries the rungs of the ladder for timer mode "userspace". On
 * PROBE_INTERCEPTED *rung is the one to stand on; else err says why the last
 * one that could be tried does not hold. As probe_interception.
 */
enum probe_result probe_ladder(int kvm_fd, enum timer_rung *rung, char *err,
			       size_t err_size);

/* What results and messages call a rung. */
const char *probe_rung_name(enum timer_rung rung);

/* What to do about PROBE_SWALLOWED on this kernel; a sentence. */
const char *probe_remedy(void);

/* A capability that punctual needs and this KVM lacks, or NULL. */
const char *probe_missing_capability(int kvm_fd);

#endif
