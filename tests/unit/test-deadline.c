/* SPDX-License-Identifier: MIT */
/*
 * The life of a deadline without a timer: what is armed, and when it is due.
 * One tick is one nanosecond here (1 GHz) unless a case says otherwise, so
 * arm_ns can be read as cycles.
 */
#include "deadline.h"

#include "prng.h"
#include "tap.h"
#include "tsc.h"

#define NOW	    UINT64_C(1000000000000)
#define MS	    UINT64_C(1000000)
#define MAX_ADVANCE UINT64_C(400000)
#define FULL_SHARE  65536u
#define QUARTER	    16384u
#define OFFSET	    (0 - UINT64_C(900000000000)) /* guest is behind */
#define GUEST_NOW   (NOW + OFFSET)

static struct tsc_scale scale;
static struct deadline_policy policy;
static struct deadline d;
static uint64_t arm_ns;

static void setup_rate(uint32_t tsc_khz, uint32_t share_q16, uint64_t entry_tsc)
{
	ck_assert_int_eq(tsc_scale_init(&scale, tsc_khz), 0);
	deadline_policy_init(&policy, &scale, MAX_ADVANCE, share_q16,
			     entry_tsc);
	arm_ns = 0;
}

static void setup(void)
{
	setup_rate(1000000, FULL_SHARE, 0);
}

/* Plan at NOW, with the guest's clock behind the host's. */
static enum deadline_action plan(uint64_t deadline_guest_tsc,
				 uint64_t advance_tsc)
{
	return deadline_plan(&policy, deadline_guest_tsc, OFFSET, NOW,
			     advance_tsc, &d, &arm_ns);
}

static enum deadline_action check_at(uint64_t now_host_tsc)
{
	return deadline_check(&policy, &d, now_host_tsc, &arm_ns);
}

START_TEST(test_deadline_future_arms_for_wake)
{
	setup_rate(1000000, FULL_SHARE, 3000);
	ck_assert_int_eq(plan(GUEST_NOW + MS, 20000), DEADLINE_ARM);
	ck_assert_uint_eq(d.deadline_host_tsc, NOW + MS);
	ck_assert_uint_eq(d.target_host_tsc, NOW + MS - 3000);
	ck_assert_uint_eq(d.wake_host_tsc, NOW + MS - 3000 - 20000);
	ck_assert_uint_eq(d.advance_tsc, 20000);
	ck_assert(!d.advance_cut);
	ck_assert(!d.far);
	ck_assert_uint_eq(arm_ns, MS - 23000);
}
END_TEST

/* The pattern of every timer test: nothing at T-1, due at T, still due after,
 * and a new plan replaces it. */
START_TEST(test_deadline_due_at_wake_and_not_before)
{
	ck_assert_int_eq(plan(GUEST_NOW + MS, 20000), DEADLINE_ARM);
	d.slack_tsc = 0;
	ck_assert(!deadline_due(&policy, &d, NOW));
	ck_assert(!deadline_due(&policy, &d, d.wake_host_tsc - 1));
	ck_assert(deadline_due(&policy, &d, d.wake_host_tsc));
	ck_assert(deadline_due(&policy, &d, NOW + MS));
	ck_assert(deadline_due(&policy, &d, NOW + 5 * MS));
	ck_assert_int_eq(plan(GUEST_NOW + 3 * MS, 20000), DEADLINE_ARM);
	ck_assert(!deadline_due(&policy, &d, NOW + MS));
	ck_assert(deadline_due(&policy, &d, NOW + 3 * MS - 20000));
}
END_TEST

START_TEST(test_deadline_past_is_due_now)
{
	static const uint64_t past_tsc[] = {
		0, 1, 100, GUEST_NOW - 1, /* deadline 1 */
	};

	ck_assert_int_eq(plan(GUEST_NOW - past_tsc[_i], 20000),
			 DEADLINE_DUE_NOW);
	ck_assert_uint_eq(d.deadline_host_tsc, NOW - past_tsc[_i]);
	ck_assert_uint_eq(d.wake_host_tsc, NOW);
	ck_assert_uint_eq(d.advance_tsc, 0);
	ck_assert_int_le(tsc_diff(d.target_host_tsc, NOW), 0);
	ck_assert_int_eq(check_at(NOW), DEADLINE_DUE_NOW);
	ck_assert_int_eq(check_at(NOW + MS), DEADLINE_DUE_NOW);
	ck_assert_uint_eq(arm_ns, 0);
}
END_TEST

/* A guest clock near 2^64 makes deadline 1 almost 2^64 cycles old. It must
 * not come out as a target in the future. */
START_TEST(test_deadline_ancient_past_has_no_wait)
{
	setup_rate(1000000, FULL_SHARE, 50000);
	ck_assert_int_eq(deadline_plan(&policy, 1, UINT64_MAX - 10 - NOW, NOW,
				       20000, &d, &arm_ns),
			 DEADLINE_DUE_NOW);
	ck_assert_int_lt(tsc_diff(d.deadline_host_tsc, NOW), 0);
	ck_assert_int_lt(tsc_diff(d.target_host_tsc, NOW), 0);
	ck_assert_int_lt(tsc_diff(deadline_wait_end(&d, 50000), NOW), 0);
	ck_assert_int_eq(check_at(NOW + MS), DEADLINE_DUE_NOW);
}
END_TEST

START_TEST(test_deadline_nearer_than_advance_is_due_now)
{
	static const uint64_t ahead_tsc[] = {1, 50, 100, 1000, 5000, 23000};

	setup_rate(1000000, FULL_SHARE, 3000);
	ck_assert_int_eq(plan(GUEST_NOW + ahead_tsc[_i], 20000),
			 DEADLINE_DUE_NOW);
	ck_assert_uint_eq(d.deadline_host_tsc, NOW + ahead_tsc[_i]);
	ck_assert_uint_eq(d.target_host_tsc, NOW + ahead_tsc[_i] - 3000);
	ck_assert_uint_eq(d.wake_host_tsc, NOW);
	ck_assert_int_le(tsc_diff(d.target_host_tsc, NOW), MAX_ADVANCE);
	ck_assert_uint_eq(arm_ns, 0);
}
END_TEST

START_TEST(test_deadline_one_beyond_advance_arms_one_ns)
{
	setup_rate(1000000, FULL_SHARE, 3000);
	ck_assert_int_eq(plan(GUEST_NOW + 23001, 20000), DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, 1);
}
END_TEST

/* At 16 GHz a few cycles are less than a nanosecond, and 0 would disarm. */
START_TEST(test_deadline_never_arms_zero_ns)
{
	uint64_t ahead_tsc;

	setup_rate(TSC_KHZ_MAX, FULL_SHARE, 0);
	for (ahead_tsc = 1; ahead_tsc < 100; ahead_tsc++) {
		ck_assert_int_eq(plan(GUEST_NOW + ahead_tsc, 0), DEADLINE_ARM);
		ck_assert_uint_ge(arm_ns, 1);
		ck_assert_int_eq(plan(GUEST_NOW + 1000 + ahead_tsc, 1000),
				 DEADLINE_ARM);
		ck_assert_uint_ge(arm_ns, 1);
	}
}
END_TEST

/* Early with an advance, never early without one. */
START_TEST(test_deadline_rounding_direction)
{
	uint64_t seed = 0xd0d0;
	int i;

	setup_rate(2445426, FULL_SHARE, 0);
	for (i = 0; i < 5000; i++) {
		uint64_t ahead_tsc = 100000 + prng_next(&seed) % (40 * MS);
		uint64_t left_tsc;

		tap_require(plan(GUEST_NOW + ahead_tsc, 20000) == DEADLINE_ARM);
		left_tsc = d.wake_host_tsc - NOW;
		tap_require(ns_to_tsc_floor(&scale, arm_ns) <= left_tsc);

		tap_require(plan(GUEST_NOW + ahead_tsc, 0) == DEADLINE_ARM);
		tap_require(ns_to_tsc_ceil(&scale, arm_ns) >= ahead_tsc);
	}
}
END_TEST

START_TEST(test_deadline_advance_cut_to_share_of_distance)
{
	setup_rate(1000000, QUARTER, 0);
	ck_assert_int_eq(plan(GUEST_NOW + 40000, 20000), DEADLINE_ARM);
	ck_assert_uint_eq(d.advance_tsc, 10000);
	ck_assert(d.advance_cut);
	ck_assert_uint_eq(arm_ns, 30000);

	ck_assert_int_eq(plan(GUEST_NOW + 80000, 20000), DEADLINE_ARM);
	ck_assert_uint_eq(d.advance_tsc, 20000);
	ck_assert(!d.advance_cut);

	/* Too near for any advance: rounded as without one. */
	ck_assert_int_eq(plan(GUEST_NOW + 3, 20000), DEADLINE_ARM);
	ck_assert_uint_eq(d.advance_tsc, 0);
	ck_assert(d.advance_cut);
	ck_assert_uint_eq(arm_ns, 3);
}
END_TEST

START_TEST(test_deadline_advance_cut_to_ceiling)
{
	ck_assert_int_eq(plan(GUEST_NOW + 10 * MS, UINT64_MAX), DEADLINE_ARM);
	ck_assert_uint_eq(d.advance_tsc, MAX_ADVANCE);
	ck_assert(d.advance_cut);
	ck_assert_int_eq(plan(GUEST_NOW + 10 * MS, MAX_ADVANCE), DEADLINE_ARM);
	ck_assert(!d.advance_cut);
}
END_TEST

START_TEST(test_deadline_share_bounds)
{
	setup_rate(1000000, 0, 0);
	ck_assert_int_eq(plan(GUEST_NOW + MS, 20000), DEADLINE_ARM);
	ck_assert_uint_eq(d.advance_tsc, 0);

	setup_rate(1000000, UINT32_MAX, 0);
	ck_assert_uint_eq(policy.spin_share_q16, FULL_SHARE);
	ck_assert_int_eq(plan(GUEST_NOW + 10000, 20000), DEADLINE_DUE_NOW);
	ck_assert_uint_eq(d.advance_tsc, 10000);
}
END_TEST

/* The expiry of a deadline the guest has replaced reaches the thread late:
 * neither spin towards the new one nor lose it. */
START_TEST(test_deadline_stale_expiry_arms_again)
{
	ck_assert_int_eq(plan(GUEST_NOW + 10 * MS, 20000), DEADLINE_ARM);
	ck_assert_int_eq(check_at(NOW + 2 * MS), DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, 8 * MS - 20000);
	ck_assert_uint_eq(d.wake_host_tsc, NOW + 10 * MS - 20000);
	ck_assert_uint_eq(d.advance_tsc, 20000);
	ck_assert_int_eq(check_at(d.wake_host_tsc), DEADLINE_DUE_NOW);
}
END_TEST

/* Within the ceiling, but far more than this fire was allowed to spin. */
START_TEST(test_deadline_stale_expiry_does_not_defeat_the_cut)
{
	setup_rate(1000000, QUARTER, 0);
	ck_assert_int_eq(plan(GUEST_NOW + 40000, 20000), DEADLINE_ARM);
	ck_assert_int_eq(check_at(NOW + 1000), DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, 29000);
	ck_assert_int_eq(check_at(NOW + 30000), DEADLINE_DUE_NOW);
}
END_TEST

START_TEST(test_deadline_slewed_expiry_is_waited_out)
{
	static const uint64_t advance_tsc[] = {0, 20000};
	uint64_t wake_host_tsc;

	ck_assert_int_eq(plan(GUEST_NOW + 10 * MS, advance_tsc[_i]),
			 DEADLINE_ARM);
	wake_host_tsc = d.wake_host_tsc;
	/* 500 ppm of 10 ms. */
	ck_assert_int_eq(check_at(wake_host_tsc - 5000), DEADLINE_DUE_NOW);
	/* 1500 ppm is not slew. */
	ck_assert_int_eq(check_at(wake_host_tsc - 15000), DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, 15000);
}
END_TEST

/* Slack is measured by the arm in force, not by the first one. */
START_TEST(test_deadline_slack_shrinks_on_a_second_arm)
{
	ck_assert_int_eq(plan(GUEST_NOW + 40 * MS, 0), DEADLINE_ARM);
	ck_assert_int_eq(check_at(NOW + 39 * MS), DEADLINE_ARM);
	ck_assert_int_eq(check_at(NOW + 40 * MS - 10000), DEADLINE_ARM);
	ck_assert_int_eq(check_at(NOW + 40 * MS), DEADLINE_DUE_NOW);
}
END_TEST

START_TEST(test_deadline_ceiling_beats_slack)
{
	ck_assert_int_eq(plan(GUEST_NOW + 40 * MS, MAX_ADVANCE), DEADLINE_ARM);
	ck_assert_int_eq(check_at(d.wake_host_tsc - 1), DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, 1);
	ck_assert_int_eq(check_at(d.wake_host_tsc), DEADLINE_DUE_NOW);
}
END_TEST

START_TEST(test_deadline_far_wakes_early_once)
{
	uint64_t left_tsc = 1000 * MS - 20000;

	ck_assert_int_eq(plan(GUEST_NOW + 1000 * MS, 20000), DEADLINE_ARM);
	ck_assert(d.far);
	ck_assert_uint_eq(arm_ns, left_tsc - left_tsc / 512);
	ck_assert_int_eq(check_at(NOW + arm_ns), DEADLINE_ARM);
	ck_assert(!d.far);
	ck_assert_uint_eq(arm_ns, left_tsc / 512);
	ck_assert_int_eq(check_at(d.wake_host_tsc), DEADLINE_DUE_NOW);
}
END_TEST

/* What a far arm leaves may lie within the ceiling; it is not slew for all
 * that, and must not be spun away. */
START_TEST(test_deadline_far_remainder_is_armed_not_spun)
{
	ck_assert_int_eq(plan(GUEST_NOW + 60 * MS, 0), DEADLINE_ARM);
	ck_assert(d.far);
	ck_assert_int_eq(check_at(NOW + arm_ns), DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, 60 * MS / 512);
}
END_TEST

START_TEST(test_deadline_far_threshold)
{
	ck_assert_int_eq(plan(GUEST_NOW + 50 * MS, 0), DEADLINE_ARM);
	ck_assert(!d.far);
	ck_assert_uint_eq(arm_ns, 50 * MS);
	ck_assert_int_eq(plan(GUEST_NOW + 50 * MS + 1, 0), DEADLINE_ARM);
	ck_assert(d.far);
	ck_assert_uint_lt(arm_ns, 50 * MS);
}
END_TEST

/* Armed but far, never past, and an hour a time; then near ones again. */
START_TEST(test_deadline_extremes_are_far)
{
	static const uint64_t deadlines[] = {
		GUEST_NOW + (UINT64_C(1) << 40),
		GUEST_NOW + (UINT64_C(1) << 62),
		UINT64_C(1) << 63,
		UINT64_MAX,
	};

	ck_assert_int_eq(plan(deadlines[_i], 20000), DEADLINE_ARM);
	ck_assert(d.far);
	ck_assert_uint_le(arm_ns, 3600000 * MS);
	ck_assert_uint_ge(arm_ns, 1000 * MS);
	ck_assert(!deadline_due(&policy, &d, NOW + 2000 * MS));
	ck_assert_int_eq(check_at(NOW + 600 * MS), DEADLINE_ARM);
	ck_assert(d.far);
	ck_assert_int_eq(plan(GUEST_NOW + MS, 20000), DEADLINE_ARM);
	ck_assert(!d.far);
	ck_assert_int_eq(check_at(NOW + MS), DEADLINE_DUE_NOW);
}
END_TEST

/* Guest time 0 and a deadline of ~0 would wrap to a host instant just passed;
 * so would any deadline more than 2^63 away. */
START_TEST(test_deadline_beyond_the_host_frame_is_far)
{
	ck_assert_int_eq(deadline_plan(&policy, UINT64_MAX, 0 - NOW, NOW, 20000,
				       &d, &arm_ns),
			 DEADLINE_ARM);
	ck_assert(d.far);
	ck_assert_uint_eq(arm_ns, 3600000 * MS);
	ck_assert(!deadline_due(&policy, &d, NOW + arm_ns));
	ck_assert_int_eq(check_at(NOW + arm_ns), DEADLINE_ARM);
	ck_assert(d.far);
}
END_TEST

/* Either counter may wrap between the arm and the fire. */
START_TEST(test_deadline_wrap_of_host_tsc)
{
	uint64_t now_host_tsc = UINT64_MAX - 1000;

	ck_assert_int_eq(deadline_plan(&policy, 5000 + MS, 5000 - now_host_tsc,
				       now_host_tsc, 20000, &d, &arm_ns),
			 DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, MS - 20000);
	ck_assert_uint_eq(d.deadline_host_tsc, MS - 1001);
	ck_assert(!deadline_due(&policy, &d, UINT64_MAX));
	ck_assert(!deadline_due(&policy, &d, 0));
	ck_assert(!deadline_due(&policy, &d, MS / 2));
	ck_assert(deadline_due(&policy, &d, d.wake_host_tsc));
	ck_assert_uint_eq(d.wake_host_tsc, MS - 21001);
}
END_TEST

START_TEST(test_deadline_wrap_of_guest_tsc)
{
	/* The guest's clock wraps 100 cycles after the deadline; the expiry
	 * is seen only afterwards. */
	uint64_t offset = UINT64_MAX - MS - NOW;

	ck_assert_int_eq(deadline_plan(&policy, UINT64_MAX - 100, offset, NOW,
				       20000, &d, &arm_ns),
			 DEADLINE_ARM);
	ck_assert_uint_eq(arm_ns, MS - 20100);
	ck_assert_int_eq(check_at(NOW + 2 * MS), DEADLINE_DUE_NOW);
	/* A deadline beyond the wrap is in the past, as KVM has it. */
	ck_assert_int_eq(
		deadline_plan(&policy, 5, offset, NOW, 20000, &d, &arm_ns),
		DEADLINE_DUE_NOW);
}
END_TEST

START_TEST(test_deadline_entry_cost_larger_than_distance)
{
	setup_rate(1000000, QUARTER, 45000);
	ck_assert_int_eq(plan(GUEST_NOW + 20000, 20000), DEADLINE_DUE_NOW);
	ck_assert_uint_eq(d.target_host_tsc, NOW - 25000);
	/* A vCPU in the cheaper state still has something to wait for. */
	ck_assert_uint_eq(deadline_wait_end(&d, 500), NOW + 19500);
}
END_TEST

/* Whatever the numbers: due implies that no more than the ceiling is left,
 * an arm is never 0, and following the arms ends in a fire. */
START_TEST(test_deadline_random_plans_keep_the_contract)
{
	uint64_t seed = 0xfade + (uint64_t)_i;
	int i, turn;

	for (i = 0; i < 5000; i++) {
		uint64_t now_tsc = prng_next(&seed);
		uint64_t offset = prng_next(&seed);
		uint64_t ahead_tsc = prng_any_size(&seed) >> 12;
		enum deadline_action action;
		uint64_t passed_tsc;

		setup_rate(1000 + (uint32_t)(prng_next(&seed) % 15999000),
			   (uint32_t)(prng_next(&seed) % 65537),
			   prng_next(&seed) % 60000);
		action = deadline_plan(
			&policy, guest_from_host(now_tsc, offset) + ahead_tsc,
			offset, now_tsc, prng_any_size(&seed), &d, &arm_ns);
		for (turn = 0; action == DEADLINE_ARM && turn < 200; turn++) {
			tap_require(arm_ns >= 1);
			tap_require(arm_ns <= 3600000 * MS);
			/* On time, or early by some 500 ppm. */
			passed_tsc = ns_to_tsc_ceil(&scale, arm_ns);
			if (prng_next(&seed) & 1)
				passed_tsc -= passed_tsc >> 11;
			now_tsc += passed_tsc;
			action = deadline_check(&policy, &d, now_tsc, &arm_ns);
			/* Only the capped hours of a very far one last. */
			if (d.far && turn > 100)
				break;
		}
		if (action == DEADLINE_DUE_NOW)
			tap_require(tsc_diff(d.target_host_tsc, now_tsc) <=
				    (int64_t)MAX_ADVANCE);
		else
			tap_require(d.far);
	}
}
END_TEST

static Suite *deadline_suite(void)
{
	Suite *suite = suite_create("deadline");
	TCase *plans = tcase_create("plan");
	TCase *checks = tcase_create("check");
	TCase *ends = tcase_create("extremes");

	tcase_add_checked_fixture(plans, setup, NULL);
	tcase_add_test(plans, test_deadline_future_arms_for_wake);
	tcase_add_loop_test(plans, test_deadline_past_is_due_now, 0, 4);
	tcase_add_test(plans, test_deadline_ancient_past_has_no_wait);
	tcase_add_loop_test(plans, test_deadline_nearer_than_advance_is_due_now,
			    0, 6);
	tcase_add_test(plans, test_deadline_one_beyond_advance_arms_one_ns);
	tcase_add_test(plans, test_deadline_never_arms_zero_ns);
	tcase_add_test(plans, test_deadline_rounding_direction);
	tcase_add_test(plans, test_deadline_advance_cut_to_share_of_distance);
	tcase_add_test(plans, test_deadline_advance_cut_to_ceiling);
	tcase_add_test(plans, test_deadline_share_bounds);
	tcase_add_test(plans, test_deadline_entry_cost_larger_than_distance);

	tcase_add_checked_fixture(checks, setup, NULL);
	tcase_add_test(checks, test_deadline_due_at_wake_and_not_before);
	tcase_add_test(checks, test_deadline_stale_expiry_arms_again);
	tcase_add_test(checks,
		       test_deadline_stale_expiry_does_not_defeat_the_cut);
	tcase_add_loop_test(checks, test_deadline_slewed_expiry_is_waited_out,
			    0, 2);
	tcase_add_test(checks, test_deadline_slack_shrinks_on_a_second_arm);
	tcase_add_test(checks, test_deadline_ceiling_beats_slack);
	tcase_add_loop_test(checks,
			    test_deadline_random_plans_keep_the_contract, 0, 4);

	tcase_add_checked_fixture(ends, setup, NULL);
	tcase_add_test(ends, test_deadline_far_wakes_early_once);
	tcase_add_test(ends, test_deadline_far_remainder_is_armed_not_spun);
	tcase_add_test(ends, test_deadline_far_threshold);
	tcase_add_loop_test(ends, test_deadline_extremes_are_far, 0, 4);
	tcase_add_test(ends, test_deadline_beyond_the_host_frame_is_far);
	tcase_add_test(ends, test_deadline_wrap_of_host_tsc);
	tcase_add_test(ends, test_deadline_wrap_of_guest_tsc);

	suite_add_tcase(suite, plans);
	suite_add_tcase(suite, checks);
	suite_add_tcase(suite, ends);
	return suite;
}

int main(void)
{
	return tap_run(deadline_suite());
}
