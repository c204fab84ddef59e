/* SPDX-License-Identifier: MIT */
/*
 * deadline - the arithmetic of one deadline: when to wake, and is it due.
 *
 * Pure: no clock, no locks, no allocation, no division. The owner passes the
 * time in, sets the host timer as told, and keeps one struct deadline for the
 * deadline in force. All calls come from the thread that owns that struct.
 *
 * The instants of one fire, host TSC, in this order:
 *
 *   wake ......... the host timer is armed for this
 *   target ....... the owner's wait ends here at the earliest
 *   deadline ..... the guest may see the event from here on
 *
 * target - wake is the advance, deadline - target the entry cost. A deadline
 * already due when it was planned has wake = the instant of the plan instead:
 * no host timer was armed, so its arrival says nothing about delivery.
 */
#ifndef TIMER_DEADLINE_H
#define TIMER_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct tsc_scale;

/* Set by deadline_policy_init(). The owner may change entry_cost_tsc between
 * two plans (a calibration that answers late). */
struct deadline_policy {
	const struct tsc_scale *scale;
	uint64_t max_advance_tsc; /* the ceiling of advance and of any wait */
	uint32_t spin_share_q16;  /* of arm-to-deadline, 65536 is all of it */
	uint64_t entry_cost_tsc;  /* larger one of the vCPU's states */
	uint64_t far_tsc;	  /* further than this: wake early, re-plan */
	uint64_t far_cap_tsc;	  /* longest single arm */
	uint64_t rounding_tsc;	  /* what rounding to whole ns can cost */
};

/* Written by deadline_plan() and deadline_check() only. */
struct deadline {
	uint64_t deadline_host_tsc;
	uint64_t target_host_tsc;
	uint64_t wake_host_tsc;
	uint64_t advance_tsc; /* in force for this fire */
	uint64_t slack_tsc;   /* how early the present arm may expire */
	bool past;	      /* it was when it was planned */
	bool advance_cut;     /* less advance than was wanted */
	bool far;	      /* the present arm ends early on purpose */
};

enum deadline_action {
	DEADLINE_DUE_NOW, /* deliver, after waiting out what is left */
	DEADLINE_ARM,	  /* set the host timer to the returned ns */
};

/*
 * Fix the policy of a VM. *scale must outlive it. max_advance_tsc and
 * entry_cost_tsc in host cycles, below 2^62; spin_share_q16 above 65536 counts
 * as 65536.
 */
void deadline_policy_init(struct deadline_policy *policy,
			  const struct tsc_scale *scale,
			  uint64_t max_advance_tsc, uint32_t spin_share_q16,
			  uint64_t entry_cost_tsc);

/*
 * The guest armed deadline_guest_tsc at host instant now_host_tsc. Fills *out
 * and says what to do; with DEADLINE_ARM, *arm_ns is the relative time for
 * the host timer, 1 ns at least (0 would disarm it); else it is untouched.
 *
 * Past or future is decided in the guest's frame, unsigned, as SDM 3A
 * "TSC-Deadline Mode" has it: a deadline at or below the guest's TSC is due.
 * A deadline more than INT64_MAX cycles ahead is planned as INT64_MAX cycles.
 * Deadline 0 means disarm, not a deadline: the caller must not come here.
 * wanted_advance_tsc is the tuner's or the fixed advance, 0 for none.
 *
 * Call it again when the guest's TSC offset has changed.
 */
enum deadline_action deadline_plan(const struct deadline_policy *policy,
				   uint64_t deadline_guest_tsc,
				   uint64_t tsc_offset, uint64_t now_host_tsc,
				   uint64_t wanted_advance_tsc,
				   struct deadline *out, uint64_t *arm_ns);

/*
 * The advance in force where wanted_advance_tsc is wanted for a deadline
 * distance_tsc away: no more than the ceiling and the share allow.
 */
uint64_t deadline_advance(const struct deadline_policy *policy,
			  uint64_t distance_tsc, uint64_t wanted_advance_tsc);

/*
 * Is a planned deadline due at now_host_tsc? True from wake on, and before it
 * while no more is left than the host clock's slew can explain; never while
 * more than max_advance_tsc is left to the target. For polling before the
 * guest is entered: changes nothing.
 */
bool deadline_due(const struct deadline_policy *policy,
		  const struct deadline *deadline, uint64_t now_host_tsc);

/*
 * The host timer expired, or is thought to have. Due as deadline_due() has
 * it; else the expiry was early on purpose (far), early by a slewed host
 * clock, or belongs to a deadline the guest has since replaced, and the
 * timer must be set again to *arm_ns (1 at least). *arm_ns is untouched when
 * due. The advance stays what deadline_plan() made it.
 */
enum deadline_action deadline_check(const struct deadline_policy *policy,
				    struct deadline *deadline,
				    uint64_t now_host_tsc, uint64_t *arm_ns);

/*
 * Host TSC at which the owner's wait for this fire ends, for a vCPU whose
 * entry costs entry_cost_tsc (the present state's, which may be below the
 * policy's). Guests see the event no earlier than this plus that cost.
 */
static inline uint64_t deadline_wait_end(const struct deadline *deadline,
					 uint64_t entry_cost_tsc)
{
	return deadline->deadline_host_tsc - entry_cost_tsc;
}

#endif
