/* SPDX-License-Identifier: MIT */
/*
 * user_timer with measured entry costs, which differ between a vCPU that runs
 * and one that has halted, and which the main thread publishes, and takes
 * back, at any time. A guest may be late by what is not known; never early.
 */
#include "user_timer.h"

#include "fake_hosttimer.h"
#include "fake_kvm.h"
#include "tap.h"

#define HOST_START  UINT64_C(1000000000000)
#define OFFSET	    (0 - UINT64_C(900000000000))

#define RUNNING_TSC 3000u
#define HALTED_TSC  5000u

static struct user_timer_costs costs;
static struct user_timer_setup plan;
static struct user_timer timer;

/* 2 GHz, 10 us ahead of time. */
static void setup(void)
{
	fake_kvm_init(HOST_START, OFFSET);
	ck_assert_int_eq(user_timer_setup_init(&plan, 2000000,
					       USER_TIMER_ADVANCE_FIXED, 10000,
					       400000, 0.25, 0),
			 0);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	plan.costs = &costs;
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 0);
}

static void publish(unsigned int running_tsc, unsigned int halted_tsc)
{
	atomic_store(&costs.tsc[USER_TIMER_RUNNING], running_tsc);
	atomic_store(&costs.tsc[USER_TIMER_HALTED], halted_tsc);
}

static void arm(void)
{
	ck_assert_int_eq(user_timer_write_deadline(
				 &timer, fake_kvm_guest_tsc() + 1000000),
			 0);
}

/* The kick arrives in time; the guest is entered so long before the deadline,
 * or up to two reads of the clock later. */
static void check_entered_before(uint64_t ahead_tsc)
{
	fake_kvm.clock.now_tsc = HOST_START + 980000;
	ck_assert_int_eq(user_timer_expired(&timer), 0);
	ck_assert_uint_ge(fake_kvm.delivery_count, 1);
	ck_assert_uint_ge(fake_kvm.clock.now_tsc,
			  HOST_START + 1000000 - ahead_tsc);
	ck_assert_uint_le(fake_kvm.clock.now_tsc,
			  HOST_START + 1000000 - ahead_tsc + 20);
}

START_TEST(test_user_timer_cost_of_its_state)
{
	publish(RUNNING_TSC, HALTED_TSC);
	fake_kvm.halted = _i;
	arm();
	/* The larger one decides when to wake, rounded down. */
	ck_assert_uint_eq(fake_hosttimer.ns,
			  (1000000 - 20000 - HALTED_TSC) / 2);
	check_entered_before(_i ? HALTED_TSC : RUNNING_TSC);
	ck_assert_uint_eq(fake_kvm.state_reads, 1);
}
END_TEST

START_TEST(test_user_timer_running_costs_more)
{
	publish(HALTED_TSC, RUNNING_TSC);
	fake_kvm.halted = _i;
	arm();
	ck_assert_uint_eq(fake_hosttimer.ns,
			  (1000000 - 20000 - HALTED_TSC) / 2);
	check_entered_before(_i ? RUNNING_TSC : HALTED_TSC);
}
END_TEST

/* Nothing known, nothing compensated, and the state is not asked for. */
START_TEST(test_user_timer_costs_unknown)
{
	publish(0, 0);
	arm();
	ck_assert_uint_eq(fake_hosttimer.ns, (1000000 - 20000) / 2);
	check_entered_before(0);
	ck_assert_uint_eq(fake_kvm.state_reads, 0);
}
END_TEST

/* A plan that was made without them is kept. */
START_TEST(test_user_timer_costs_published_after_the_arm)
{
	publish(0, 0);
	arm();
	publish(RUNNING_TSC, HALTED_TSC);
	check_entered_before(0);
	arm();
	ck_assert_uint_eq(fake_hosttimer.ns,
			  (1000000 - 20000 - HALTED_TSC) / 2);
}
END_TEST

START_TEST(test_user_timer_costs_grow_after_the_arm)
{
	publish(RUNNING_TSC, RUNNING_TSC);
	arm();
	publish(3 * RUNNING_TSC, HALTED_TSC);
	fake_kvm.halted = _i;
	check_entered_before(RUNNING_TSC);
}
END_TEST

START_TEST(test_user_timer_costs_withdrawn_after_the_arm)
{
	publish(RUNNING_TSC, HALTED_TSC);
	arm();
	publish(0, 0);
	check_entered_before(0);
}
END_TEST

START_TEST(test_user_timer_state_cannot_be_read)
{
	publish(RUNNING_TSC, HALTED_TSC);
	arm();
	fake_kvm.is_halted_error = -EIO;
	fake_kvm.clock.now_tsc = HOST_START + 980000;
	ck_assert_int_eq(user_timer_expired(&timer), -EIO);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
}
END_TEST

/* A fixed cost, at a rate where it is 1711.6 cycles: the rest makes late. */
START_TEST(test_user_timer_fixed_cost_rounds_down)
{
	ck_assert_int_eq(user_timer_setup_init(&plan, 2445123,
					       USER_TIMER_ADVANCE_FIXED, 10000,
					       400000, 0.25, 700),
			 0);
	ck_assert_uint_eq(plan.policy.entry_cost_tsc, 1711);
}
END_TEST

/* For a calibration: where each spin ended, relative to its target. */
START_TEST(test_user_timer_log)
{
	static struct user_timer_log log;

	publish(0, 0);
	timer.log = &log;
	arm();
	check_entered_before(0);
	ck_assert_uint_eq(log.used, 0);
	/* The next write counts what the last one left. */
	arm();
	ck_assert_uint_eq(log.used, 1);
	ck_assert_uint_le(log.spin_end_tsc[0], 10);
	fake_kvm.clock.now_tsc += 1000000 + 500;
	ck_assert_int_eq(user_timer_expired(&timer), 0);
	user_timer_settle(&timer);
	user_timer_settle(&timer);
	ck_assert_uint_eq(log.used, 2);
	ck_assert_uint_ge(log.spin_end_tsc[1], 500);
	ck_assert_uint_le(log.spin_end_tsc[1], 550);
	log.used = USER_TIMER_LOG_ROOM;
	ck_assert_int_eq(user_timer_write_deadline(&timer, 1), 0);
	user_timer_settle(&timer);
	ck_assert_uint_eq(log.used, USER_TIMER_LOG_ROOM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("user_timer_costs");
	TCase *tc = tcase_create("costs");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_user_timer_cost_of_its_state, 0, 2);
	tcase_add_loop_test(tc, test_user_timer_running_costs_more, 0, 2);
	tcase_add_test(tc, test_user_timer_costs_unknown);
	tcase_add_test(tc, test_user_timer_costs_published_after_the_arm);
	tcase_add_loop_test(tc, test_user_timer_costs_grow_after_the_arm, 0, 2);
	tcase_add_test(tc, test_user_timer_costs_withdrawn_after_the_arm);
	tcase_add_test(tc, test_user_timer_state_cannot_be_read);
	tcase_add_test(tc, test_user_timer_fixed_cost_rounds_down);
	tcase_add_test(tc, test_user_timer_log);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
