/* SPDX-License-Identifier: MIT */
/*
 * IA32_TSC_DEADLINE as a guest sees it, driven as the vCPU's thread does:
 * writes, reads, expiries, and KVM holding a delivery back.
 */
#include "lapic_timer.h"

#include "tap.h"

static struct lapic_timer timer;

static void setup(void)
{
	lapic_timer_reset(&timer);
}

static void check_write(uint64_t deadline_guest_tsc, enum lapic_timer_op op,
			bool clear_latched)
{
	struct lapic_timer_action action =
		lapic_timer_write(&timer, deadline_guest_tsc);

	ck_assert_int_eq(action.op, op);
	ck_assert_int_eq(action.clear_latched, clear_latched);
}

START_TEST(test_lapic_timer_idle)
{
	ck_assert_uint_eq(lapic_timer_read(&timer, false), 0);
	ck_assert(!lapic_timer_maybe_latched(&timer));
	ck_assert(!lapic_timer_expired(&timer));
	check_write(0, LAPIC_TIMER_DISARM, false);
	ck_assert_int_eq(timer.state, LAPIC_TIMER_IDLE);
}
END_TEST

START_TEST(test_lapic_timer_fires_once)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	ck_assert_uint_eq(lapic_timer_read(&timer, false), 5000);
	ck_assert(lapic_timer_expired(&timer));
	ck_assert(!lapic_timer_expired(&timer));
	ck_assert_int_eq(timer.state, LAPIC_TIMER_DELIVERED);
	ck_assert_uint_eq(lapic_timer_read(&timer, false), 0);
}
END_TEST

START_TEST(test_lapic_timer_zero_disarms)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	check_write(0, LAPIC_TIMER_DISARM, false);
	ck_assert_uint_eq(lapic_timer_read(&timer, false), 0);
	ck_assert(!lapic_timer_expired(&timer));
}
END_TEST

/* Whether it is past is for the plan to find out. */
START_TEST(test_lapic_timer_every_other_value_arms)
{
	static const uint64_t values[] = {1, UINT64_C(1) << 63, UINT64_MAX};

	check_write(values[_i], LAPIC_TIMER_ARM, false);
	ck_assert_uint_eq(lapic_timer_read(&timer, false), values[_i]);
	ck_assert(lapic_timer_expired(&timer));
}
END_TEST

START_TEST(test_lapic_timer_rearm_while_armed)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	check_write(9000, LAPIC_TIMER_ARM, false);
	ck_assert_uint_eq(lapic_timer_read(&timer, false), 9000);
	ck_assert(lapic_timer_expired(&timer));
	ck_assert(!lapic_timer_expired(&timer));
}
END_TEST

/* Masked at expiry: the old value stays readable while KVM holds it, and 0
 * shows once KVM has injected it. */
START_TEST(test_lapic_timer_read_while_latched)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	ck_assert(lapic_timer_expired(&timer));
	ck_assert(lapic_timer_maybe_latched(&timer));
	ck_assert_uint_eq(lapic_timer_read(&timer, true), 5000);
	ck_assert_uint_eq(lapic_timer_read(&timer, true), 5000);
	ck_assert_uint_eq(lapic_timer_read(&timer, false), 0);
	lapic_timer_injected(&timer);
	ck_assert(!lapic_timer_maybe_latched(&timer));
	ck_assert_uint_eq(lapic_timer_read(&timer, true), 0);
}
END_TEST

/* A write drops what KVM holds: once, by either kind of write. */
START_TEST(test_lapic_timer_write_clears_latched)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	ck_assert(lapic_timer_expired(&timer));
	check_write(9000, LAPIC_TIMER_ARM, true);
	check_write(9500, LAPIC_TIMER_ARM, false);
	ck_assert_uint_eq(lapic_timer_read(&timer, true), 9500);
	ck_assert(lapic_timer_expired(&timer));
	check_write(0, LAPIC_TIMER_DISARM, true);
	check_write(0, LAPIC_TIMER_DISARM, false);
	ck_assert_uint_eq(lapic_timer_read(&timer, true), 0);
}
END_TEST

/* The common case: known to be injected, so the next arm is a plain one. */
START_TEST(test_lapic_timer_injected_spares_the_clear)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	ck_assert(lapic_timer_expired(&timer));
	lapic_timer_injected(&timer);
	ck_assert_int_eq(timer.state, LAPIC_TIMER_IDLE);
	check_write(9000, LAPIC_TIMER_ARM, false);
}
END_TEST

/* News of an old delivery must not undo a newer arm. */
START_TEST(test_lapic_timer_injected_does_not_disarm)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	ck_assert(lapic_timer_expired(&timer));
	check_write(9000, LAPIC_TIMER_ARM, true);
	lapic_timer_injected(&timer);
	ck_assert_uint_eq(lapic_timer_read(&timer, false), 9000);
	ck_assert(lapic_timer_expired(&timer));
}
END_TEST

START_TEST(test_lapic_timer_reset_disarms)
{
	check_write(5000, LAPIC_TIMER_ARM, false);
	lapic_timer_reset(&timer);
	ck_assert(!lapic_timer_expired(&timer));
	ck_assert_uint_eq(lapic_timer_read(&timer, true), 0);

	check_write(5000, LAPIC_TIMER_ARM, false);
	ck_assert(lapic_timer_expired(&timer));
	lapic_timer_reset(&timer);
	check_write(9000, LAPIC_TIMER_ARM, false);
}
END_TEST

static Suite *lapic_timer_suite(void)
{
	Suite *suite = suite_create("lapic_timer");
	TCase *life = tcase_create("life");
	TCase *latch = tcase_create("latch");

	tcase_add_checked_fixture(life, setup, NULL);
	tcase_add_test(life, test_lapic_timer_idle);
	tcase_add_test(life, test_lapic_timer_fires_once);
	tcase_add_test(life, test_lapic_timer_zero_disarms);
	tcase_add_loop_test(life, test_lapic_timer_every_other_value_arms, 0,
			    3);
	tcase_add_test(life, test_lapic_timer_rearm_while_armed);
	tcase_add_test(life, test_lapic_timer_reset_disarms);

	tcase_add_checked_fixture(latch, setup, NULL);
	tcase_add_test(latch, test_lapic_timer_read_while_latched);
	tcase_add_test(latch, test_lapic_timer_write_clears_latched);
	tcase_add_test(latch, test_lapic_timer_injected_spares_the_clear);
	tcase_add_test(latch, test_lapic_timer_injected_does_not_disarm);

	suite_add_tcase(suite, life);
	suite_add_tcase(suite, latch);
	return suite;
}

int main(void)
{
	return tap_run(lapic_timer_suite());
}
