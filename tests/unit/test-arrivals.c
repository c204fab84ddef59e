/* SPDX-License-Identifier: MIT */
/*
 * Arrivals against targets, and how the wait that follows is counted: once,
 * later, and only after an arrival in time.
 */
#include "arrivals.h"

#include "tap.h"

#define TARGET 1000000ull

static struct arrivals arrivals;

static void setup(void)
{
	arrivals_init(&arrivals);
}

static void wait_from(uint64_t start_host_tsc, uint64_t end_host_tsc)
{
	arrivals.wait = (struct wait_stats){
		.start_host_tsc = start_host_tsc,
		.end_host_tsc = end_host_tsc,
		.reads = 2,
	};
}

START_TEST(test_arrivals_none)
{
	arrivals_settle(&arrivals);
	ck_assert_uint_eq(arrivals.in_time + arrivals.late + arrivals.spins, 0);
	ck_assert_uint_eq(arrivals.late_tsc.count, 0);
	ck_assert_uint_eq(arrivals.spin_end_tsc.count, 0);
}
END_TEST

START_TEST(test_arrivals_in_time)
{
	/* At the target is in time, too. */
	static const uint64_t starts[] = {TARGET - 4000, TARGET};

	arrivals_note(&arrivals, starts[_i], TARGET);
	wait_from(starts[_i], TARGET + 7);
	ck_assert_uint_eq(arrivals.in_time, 1);
	ck_assert_uint_eq(arrivals.spins, 0);
	for (int twice = 0; twice < 2; twice++)
		arrivals_settle(&arrivals);
	ck_assert_uint_eq(arrivals.late, 0);
	ck_assert_uint_eq(arrivals.spins, 1);
	ck_assert_uint_eq(arrivals.spin_tsc, TARGET + 7 - starts[_i]);
	ck_assert_uint_eq(arrivals.max_spin_tsc, TARGET + 7 - starts[_i]);
	ck_assert_uint_eq(arrivals.spin_end_tsc.count, 1);
	ck_assert_uint_eq(arrivals.spin_end_tsc.max, 7);
}
END_TEST

START_TEST(test_arrivals_late)
{
	arrivals_note(&arrivals, TARGET + 1, TARGET);
	wait_from(TARGET + 2, TARGET + 2);
	arrivals_settle(&arrivals);
	arrivals_note(&arrivals, TARGET + 900, TARGET);
	wait_from(TARGET + 901, TARGET + 901);
	arrivals_settle(&arrivals);
	ck_assert_uint_eq(arrivals.in_time, 0);
	ck_assert_uint_eq(arrivals.late, 2);
	ck_assert_uint_eq(arrivals.max_late_tsc, 900);
	ck_assert_uint_eq(arrivals.late_tsc.count, 2);
	ck_assert_uint_eq(arrivals.late_tsc.min, 1);
	ck_assert_uint_eq(arrivals.spins, 0);
	ck_assert_uint_eq(arrivals.spin_end_tsc.count, 0);
}
END_TEST

START_TEST(test_arrivals_sums)
{
	static const uint64_t spins_tsc[] = {300, 900, 100};

	for (int i = 0; i < 3; i++) {
		arrivals_note(&arrivals, TARGET - spins_tsc[i], TARGET);
		wait_from(TARGET - spins_tsc[i], TARGET);
		arrivals_settle(&arrivals);
	}
	ck_assert_uint_eq(arrivals.spins, 3);
	ck_assert_uint_eq(arrivals.spin_tsc, 1300);
	ck_assert_uint_eq(arrivals.max_spin_tsc, 900);
}
END_TEST

/* Across the wrap of the counter. */
START_TEST(test_arrivals_wrap)
{
	arrivals_note(&arrivals, UINT64_MAX - 9, 5);
	wait_from(UINT64_MAX - 9, 6);
	arrivals_settle(&arrivals);
	ck_assert_uint_eq(arrivals.in_time, 1);
	ck_assert_uint_eq(arrivals.spin_tsc, 16);
	ck_assert_uint_eq(arrivals.spin_end_tsc.max, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arrivals");
	TCase *tcase = tcase_create("arrivals");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_arrivals_none);
	tcase_add_loop_test(tcase, test_arrivals_in_time, 0, 2);
	tcase_add_test(tcase, test_arrivals_late);
	tcase_add_test(tcase, test_arrivals_sums);
	tcase_add_test(tcase, test_arrivals_wrap);
	suite_add_tcase(suite, tcase);
	return tap_run(suite);
}
