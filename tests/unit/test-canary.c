/* SPDX-License-Identifier: MIT */
/*
 * The canary that tells of LVTT: by itself against a fake KVM, and under
 * user_timer with strict_lvtt, where it decides whether a deadline stands.
 */
#include "canary.h"

#include "fake_hosttimer.h"
#include "fake_kvm.h"
#include "tap.h"
#include "user_timer.h"

#define HOST_START UINT64_C(1000000000000)
#define OFFSET	   (0 - UINT64_C(900000000000))

static struct user_timer_setup plan;
static struct user_timer timer;
static struct canary canary;

static void setup(void)
{
	fake_kvm_init(HOST_START, OFFSET);
}

/* 4 GHz, at which the hour that a single arm may take is longer than a canary
 * may live; 10 us ahead of time. */
static void strict_setup(void)
{
	setup();
	ck_assert_int_eq(user_timer_setup_init(&plan, 4000000,
					       USER_TIMER_ADVANCE_FIXED, 10000,
					       400000, 0.25, 0),
			 0);
	user_timer_setup_strict(&plan);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 0);
}

static bool is_alive(void)
{
	bool alive;

	ck_assert_int_eq(canary_check(&canary, FAKE_KVM_FD, &alive), 0);
	return alive;
}

static void set(void)
{
	ck_assert_int_eq(canary_set(&canary, FAKE_KVM_FD, fake_kvm_guest_tsc()),
			 0);
}

START_TEST(test_canary_none)
{
	ck_assert(!is_alive());
	/* Nor is KVM's 0 one, where none was set. */
	ck_assert_uint_eq(fake_kvm.deadline_guest_tsc, 0);
}
END_TEST

START_TEST(test_canary_lives_on)
{
	set();
	ck_assert(is_alive());
	/* KVM multiplies the distance by a million, in 64 bits. */
	ck_assert_uint_lt(fake_kvm.deadline_guest_tsc - fake_kvm_guest_tsc(),
			  UINT64_MAX / 1000000);
	ck_assert(is_alive());
	/* Masked or not is another matter. */
	fake_kvm_write_lvtt(true, true);
	ck_assert(is_alive());
	/* As long as its owner says that it may need to. */
	fake_kvm.clock.now_tsc += CANARY_CARE_TSC;
	ck_assert(!fake_kvm_enter());
	ck_assert(is_alive());
	canary_forget(&canary);
	ck_assert(!is_alive());
}
END_TEST

START_TEST(test_canary_dies_with_the_mode)
{
	set();
	fake_kvm_write_lvtt(false, false);
	ck_assert(!is_alive());
	fake_kvm_write_lvtt(true, false);
	ck_assert(!is_alive());
}
END_TEST

START_TEST(test_canary_not_set_in_other_mode)
{
	fake_kvm_write_lvtt(false, false);
	set();
	ck_assert(!is_alive());
}
END_TEST

START_TEST(test_canary_overwritten)
{
	set();
	fake_kvm_write_deadline(fake_kvm_guest_tsc() + 5000);
	ck_assert(!is_alive());
}
END_TEST

/* KVM drops an expiry that it holds back when its register is written. */
START_TEST(test_canary_set_drops_what_is_held_back)
{
	fake_kvm_write_lvtt(true, true);
	fake_kvm_write_deadline(1);
	set();
	fake_kvm_write_lvtt(true, false);
	ck_assert(!fake_kvm_enter());
}
END_TEST

/* A TSC that is about to wrap: the canary must be neither past nor 0. */
START_TEST(test_canary_below_the_wrap)
{
	static const uint64_t below[] = {1, 2, UINT64_C(1) << 40,
					 UINT64_C(1) << 43};

	fake_kvm.tsc_offset = 0 - HOST_START - below[_i];
	ck_assert_int_eq(canary_set(&canary, FAKE_KVM_FD, fake_kvm_guest_tsc()),
			 0);
	ck_assert(is_alive());
	ck_assert(below[_i] == 1 || !fake_kvm.pending);
}
END_TEST

START_TEST(test_canary_errors)
{
	bool alive = true;

	fake_kvm.set_msr_error = -EIO;
	ck_assert_int_eq(canary_set(&canary, FAKE_KVM_FD, 1), -EIO);
	fake_kvm.get_msr_error = -EIO;
	ck_assert_int_eq(canary_check(&canary, FAKE_KVM_FD, &alive), -EIO);
	ck_assert(!alive);
	ck_assert_int_eq(canary_look_at_lvtt(-1, &alive), -EINVAL);
}
END_TEST

START_TEST(test_canary_look_at_lvtt)
{
	bool deadline_mode;

	ck_assert_int_eq(canary_look_at_lvtt(FAKE_KVM_FD, &deadline_mode), 0);
	ck_assert(deadline_mode);
	fake_kvm_write_lvtt(false, true);
	ck_assert_int_eq(canary_look_at_lvtt(FAKE_KVM_FD, &deadline_mode), 0);
	ck_assert(!deadline_mode);
}
END_TEST

static uint64_t arm_in(int64_t ahead_tsc)
{
	uint64_t deadline = fake_kvm_guest_tsc() + (uint64_t)ahead_tsc;

	ck_assert_int_eq(user_timer_write_deadline(&timer, deadline), 0);
	return deadline;
}

static void kick_at(uint64_t host_tsc)
{
	fake_kvm.clock.now_tsc = host_tsc;
	ck_assert_int_eq(user_timer_expired(&timer), 0);
}

static void fire(void)
{
	arm_in(1000000);
	kick_at(fake_kvm.clock.now_tsc + 985000);
	ck_assert_uint_eq(fake_kvm_last_write(0).value, 1);
}

static void check_read(uint64_t expected)
{
	uint64_t value = ~expected;

	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), 0);
	ck_assert_uint_eq(value, expected);
}

START_TEST(test_canary_fires)
{
	uint64_t deadline = arm_in(1000000), value;

	/* The far deadline that KVM holds is no concern of the guest's ... */
	ck_assert_uint_gt(fake_kvm.deadline_guest_tsc,
			  deadline + UINT64_C(1000000000000));
	check_read(deadline);
	/* ... nor of the backstop's. */
	ck_assert_int_eq(user_timer_backstop(&timer, &value), 0);
	kick_at(HOST_START + 985000);
	ck_assert(fake_kvm_enter());
	ck_assert_int_eq(user_timer_backstop(&timer, &value), 0);
	check_read(0);
	fire();
	ck_assert(fake_kvm_enter());
	ck_assert_uint_eq(timer.stats.dropped_by_mode, 0);
	ck_assert_uint_eq(fake_kvm.own_expiries, 0);
}
END_TEST

START_TEST(test_canary_disarm_leaves_nothing)
{
	arm_in(1000000);
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), 0);
	ck_assert_uint_eq(fake_kvm.deadline_guest_tsc, 0);
	check_read(0);
	/* And nothing to take away a second time. */
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), 0);
	ck_assert_uint_eq(fake_kvm.write_count, 2);
}
END_TEST

/* A deadline that was written outside deadline mode is none, even if the
 * guest is in that mode at expiry. */
START_TEST(test_canary_written_in_other_mode)
{
	fake_kvm_write_lvtt(false, false);
	arm_in(1000000);
	check_read(0);
	fake_kvm_write_lvtt(true, false);
	check_read(0);
	kick_at(HOST_START + 985000);
	ck_assert(!fake_kvm_enter());
	ck_assert_uint_eq(timer.stats.dropped_by_mode, 1);
	ck_assert_uint_eq(timer.stats.fires, 0);
	check_read(0);
	fire();
	ck_assert(fake_kvm_enter());
}
END_TEST

/* A change of mode disarms, and so does one there and back. */
START_TEST(test_canary_mode_change_disarms)
{
	arm_in(1000000);
	fake_kvm_write_lvtt(false, false);
	fake_kvm_write_lvtt(true, false);
	check_read(0);
	if (_i) {
		fake_kvm.clock.now_tsc = HOST_START + 999000;
		ck_assert_int_eq(user_timer_poll(&timer), 0);
		ck_assert(!fake_hosttimer.running);
	} else {
		kick_at(HOST_START + 985000);
	}
	ck_assert(!fake_kvm_enter());
	ck_assert_uint_eq(timer.stats.dropped_by_mode, 1);
	kick_at(HOST_START + 1000000);
	ck_assert_uint_eq(timer.stats.stale, 1);
	/* It is gone for good: dropped once, and nothing left in KVM. */
	ck_assert_int_eq(user_timer_write_tsc(&timer, 5), 0);
	ck_assert_uint_eq(timer.stats.dropped_by_mode, 1);
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), 0);
	ck_assert_uint_eq(fake_kvm.write_count, 1);
}
END_TEST

START_TEST(test_canary_void_at_a_tsc_write)
{
	uint64_t deadline = arm_in(100000000);

	fake_kvm_write_lvtt(false, false);
	fake_kvm_write_lvtt(true, false);
	ck_assert_int_eq(user_timer_write_tsc(&timer, deadline + 5), 0);
	ck_assert(!fake_kvm_enter());
	ck_assert_uint_eq(timer.stats.dropped_by_mode, 1);
	/* And once: it is forgotten now. */
	ck_assert_int_eq(user_timer_write_tsc(&timer, deadline + 9), 0);
	ck_assert_uint_eq(timer.stats.dropped_by_mode, 1);
}
END_TEST

/* However far the deadline, the canary is set anew in time. */
START_TEST(test_canary_far)
{
	uint64_t distance_tsc = UINT64_C(1) << 45;
	unsigned int kicks = 0;

	arm_in((int64_t)distance_tsc);
	while (!timer.stats.fires) {
		ck_assert_uint_le(++kicks, 64);
		fake_kvm.clock.now_tsc += fake_hosttimer.ns * 4;
		fake_kvm_tick();
		ck_assert_uint_eq(fake_kvm.own_expiries, 0);
		kick_at(fake_kvm.clock.now_tsc);
	}
	ck_assert_uint_ge(fake_kvm.clock.now_tsc, HOST_START + distance_tsc);
	ck_assert(fake_kvm_enter());
	ck_assert_uint_eq(fake_kvm.own_expiries, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("canary");
	TCase *tc = tcase_create("canary");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_canary_none);
	tcase_add_test(tc, test_canary_lives_on);
	tcase_add_test(tc, test_canary_dies_with_the_mode);
	tcase_add_test(tc, test_canary_not_set_in_other_mode);
	tcase_add_test(tc, test_canary_overwritten);
	tcase_add_test(tc, test_canary_set_drops_what_is_held_back);
	tcase_add_loop_test(tc, test_canary_below_the_wrap, 0, 4);
	tcase_add_test(tc, test_canary_errors);
	tcase_add_test(tc, test_canary_look_at_lvtt);
	suite_add_tcase(suite, tc);
	tc = tcase_create("strict");
	tcase_add_checked_fixture(tc, strict_setup, NULL);
	tcase_add_test(tc, test_canary_fires);
	tcase_add_test(tc, test_canary_disarm_leaves_nothing);
	tcase_add_test(tc, test_canary_written_in_other_mode);
	tcase_add_loop_test(tc, test_canary_mode_change_disarms, 0, 2);
	tcase_add_test(tc, test_canary_void_at_a_tsc_write);
	tcase_add_test(tc, test_canary_far);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
