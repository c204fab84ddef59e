/* SPDX-License-Identifier: MIT */
/*
 * user_timer_setup - the config's times in cycles, rounded so that nothing is
 * early; see user_timer.h.
 */
#include "user_timer.h"

/* The list's tuner starts at 1000 ns. */
#define START_ADVANCE_NS 1000u

int user_timer_setup_init(struct user_timer_setup *setup, uint32_t tsc_khz,
			  enum user_timer_advance advance, uint64_t advance_ns,
			  uint64_t max_advance_ns, double max_spin_share,
			  uint64_t entry_cost_ns)
{
	int ret = tsc_scale_init(&setup->scale, tsc_khz);

	if (ret)
		return ret;
	setup->clock = clock_host;
	setup->advance = advance;
	/* Never early: what is waited out is rounded down, so that the guest
	 * is entered late by the rounding. An advance is rounded as its ceiling
	 * is: one that equals it must not count as cut. */
	setup->fixed_advance_tsc =
		advance == USER_TIMER_ADVANCE_FIXED
			? ns_to_tsc_floor(&setup->scale, advance_ns)
			: 0;
	setup->start_advance_tsc =
		ns_to_tsc_ceil(&setup->scale, START_ADVANCE_NS);
	deadline_policy_init(&setup->policy, &setup->scale,
			     ns_to_tsc_floor(&setup->scale, max_advance_ns),
			     (uint32_t)(max_spin_share * 65536 + 0.5),
			     ns_to_tsc_floor(&setup->scale, entry_cost_ns));
	return 0;
}

void user_timer_setup_tuner(struct user_timer_setup *setup,
			    enum tuner_kind kind, double target_quantile)
{
	setup->tuner = kind;
	setup->target_q16 = (uint64_t)(target_quantile * 65536 + 0.5);
}

void user_timer_setup_strict(struct user_timer_setup *setup)
{
	setup->strict_lvtt = true;
	setup->arms_with_more = true;
	if (setup->policy.far_cap_tsc > CANARY_CARE_TSC)
		setup->policy.far_cap_tsc = CANARY_CARE_TSC;
}

void user_timer_setup_trace(struct user_timer_setup *setup)
{
	setup->arms_with_more = true;
}
