/* SPDX-License-Identifier: MIT */
/*
 * From a guest's deadline to a relative time for the host timer, and the
 * question on every expiry whether it is due.
 * Reference: SDM 3A "TSC-Deadline Mode"; at edges, KVM's in-kernel timer.
 * Not modelled: what is delivered, and how; who waits; guest TSC scaling.
 *
 * Past or future is settled once, in the guest's frame. From then on only
 * host instants less than 2^63 apart are compared, by their difference: that
 * stays right when either counter wraps before the fire.
 */
#include "deadline.h"

#include "tsc.h"

/* Longest distance planned: the largest that tsc_diff() can tell from a past
 * one. 97 years at 3 GHz. */
#define MAX_LEFT_TSC	 ((uint64_t)INT64_MAX)

/* How far back a past deadline may be placed, which leaves as much again for
 * the entry cost and for the time that goes by until the wait. */
#define MAX_PAST_TSC	 (MAX_LEFT_TSC / 2)

#define FULL_SHARE_Q16	 65536u

/* CLOCK_MONOTONIC runs at a rate that may be slewed by 500 ppm against the
 * TSC. Far arms end 1/512 early, four times that; a near arm may be found up
 * to 1/1024 early, twice that, without suspicion of being stale. */
#define FAR_EARLY_SHIFT	 9
#define NEAR_SLACK_SHIFT 10

/* From here on a second arm costs less than the slew would: 50 ms slewed by
 * 500 ppm are 25 us. */
#define FAR_NS		 UINT64_C(50000000)

/* One hour: bounds how long a wrong rate or a suspended host goes unnoticed,
 * and keeps the timer's argument far from every limit of the host's. */
#define FAR_CAP_NS	 UINT64_C(3600000000000)

/* Rounding an arm to whole ns: 1 for the ns, 1 for the conversion itself. */
#define ROUNDING_NS	 2

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* share / 65536 of a distance; in two halves, as the product may not fit. */
static uint64_t share_of(uint64_t distance_tsc, uint32_t share_q16)
{
	uint64_t high = (distance_tsc >> 16) * share_q16;
	uint64_t low = (distance_tsc & 0xffff) * share_q16;

	return high + (low >> 16);
}

/* Relative ns for the host timer, left_tsc (> 0) before wake. */
static uint64_t deadline_arm(const struct deadline_policy *policy,
			     struct deadline *deadline, uint64_t left_tsc)
{
	uint64_t arm_tsc = left_tsc;
	uint64_t arm_ns;

	deadline->far = left_tsc > policy->far_tsc;
	if (deadline->far) {
		arm_tsc -= arm_tsc >> FAR_EARLY_SHIFT;
		arm_tsc = min_u64(arm_tsc, policy->far_cap_tsc);
		deadline->slack_tsc = 0;
	} else {
		deadline->slack_tsc =
			(left_tsc >> NEAR_SLACK_SHIFT) + policy->rounding_tsc;
	}

	/* With an advance there is time to spare, and early is what it is for.
	 * Without one the expiry itself must not be early. */
	if (deadline->far || deadline->advance_tsc)
		arm_ns = tsc_to_ns_floor(policy->scale, arm_tsc);
	else
		arm_ns = tsc_to_ns_ceil(policy->scale, arm_tsc);
	return arm_ns ? arm_ns : 1;
}

void deadline_policy_init(struct deadline_policy *policy,
			  const struct tsc_scale *scale,
			  uint64_t max_advance_tsc, uint32_t spin_share_q16,
			  uint64_t entry_cost_tsc)
{
	if (spin_share_q16 > FULL_SHARE_Q16)
		spin_share_q16 = FULL_SHARE_Q16;
	*policy = (struct deadline_policy){
		.scale = scale,
		.max_advance_tsc = max_advance_tsc,
		.spin_share_q16 = spin_share_q16,
		.entry_cost_tsc = entry_cost_tsc,
		.far_tsc = ns_to_tsc_floor(scale, FAR_NS),
		.far_cap_tsc = ns_to_tsc_floor(scale, FAR_CAP_NS),
		.rounding_tsc = ns_to_tsc_ceil(scale, ROUNDING_NS),
	};
}

/* Past when it was armed: nothing to wait for. */
static void deadline_plan_past(const struct deadline_policy *policy,
			       uint64_t past_tsc, uint64_t now_host_tsc,
			       struct deadline *out)
{
	uint64_t deadline_host_tsc =
		now_host_tsc - min_u64(past_tsc, MAX_PAST_TSC);

	*out = (struct deadline){
		.deadline_host_tsc = deadline_host_tsc,
		.target_host_tsc = deadline_host_tsc - policy->entry_cost_tsc,
		.wake_host_tsc = now_host_tsc,
		.past = true,
	};
}

/* On the way of every arm, so not through a call. */
static inline uint64_t advance_of(const struct deadline_policy *policy,
				  uint64_t distance_tsc,
				  uint64_t wanted_advance_tsc)
{
	return min_u64(min_u64(wanted_advance_tsc, policy->max_advance_tsc),
		       share_of(distance_tsc, policy->spin_share_q16));
}

uint64_t deadline_advance(const struct deadline_policy *policy,
			  uint64_t distance_tsc, uint64_t wanted_advance_tsc)
{
	return advance_of(policy, distance_tsc, wanted_advance_tsc);
}

enum deadline_action deadline_plan(const struct deadline_policy *policy,
				   uint64_t deadline_guest_tsc,
				   uint64_t tsc_offset, uint64_t now_host_tsc,
				   uint64_t wanted_advance_tsc,
				   struct deadline *out, uint64_t *arm_ns)
{
	uint64_t now_guest_tsc = guest_from_host(now_host_tsc, tsc_offset);
	uint64_t distance_tsc, advance_tsc, before_tsc;

	if (deadline_guest_tsc <= now_guest_tsc) {
		deadline_plan_past(policy, now_guest_tsc - deadline_guest_tsc,
				   now_host_tsc, out);
		return DEADLINE_DUE_NOW;
	}

	distance_tsc =
		min_u64(deadline_guest_tsc - now_guest_tsc, MAX_LEFT_TSC);
	advance_tsc = advance_of(policy, distance_tsc, wanted_advance_tsc);

	*out = (struct deadline){
		.deadline_host_tsc = now_host_tsc + distance_tsc,
		.advance_tsc = advance_tsc,
		.advance_cut = advance_tsc < wanted_advance_tsc,
	};
	out->target_host_tsc = out->deadline_host_tsc - policy->entry_cost_tsc;

	/* Below 2^62 and at most INT64_MAX: the sum does not wrap. */
	before_tsc = policy->entry_cost_tsc + advance_tsc;
	if (distance_tsc <= before_tsc) {
		out->wake_host_tsc = now_host_tsc;
		return DEADLINE_DUE_NOW;
	}
	out->wake_host_tsc = out->target_host_tsc - advance_tsc;
	*arm_ns = deadline_arm(policy, out, distance_tsc - before_tsc);
	return DEADLINE_ARM;
}

bool deadline_due(const struct deadline_policy *policy,
		  const struct deadline *deadline, uint64_t now_host_tsc)
{
	int64_t left_tsc = tsc_diff(deadline->wake_host_tsc, now_host_tsc);
	uint64_t wait_tsc = deadline->target_host_tsc - now_host_tsc;

	/* From wake on the wait is within the advance of this fire, which
	 * deadline_plan() kept below the ceiling. */
	if (left_tsc <= 0)
		return true;
	return (uint64_t)left_tsc <= deadline->slack_tsc &&
	       wait_tsc <= policy->max_advance_tsc;
}

enum deadline_action deadline_check(const struct deadline_policy *policy,
				    struct deadline *deadline,
				    uint64_t now_host_tsc, uint64_t *arm_ns)
{
	int64_t left_tsc = tsc_diff(deadline->wake_host_tsc, now_host_tsc);

	if (deadline_due(policy, deadline, now_host_tsc))
		return DEADLINE_DUE_NOW;
	*arm_ns = deadline_arm(policy, deadline, (uint64_t)left_tsc);
	return DEADLINE_ARM;
}
