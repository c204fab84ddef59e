/* SPDX-License-Identifier: MIT */
/* Gaps are counted exactly, percentiles are ranked, and a real measurement
 * leaves the thread as it was. */
#define _GNU_SOURCE
#include "noise_floor.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "fake_clock.h"
#include "hist.h"
#include "tap.h"

static struct hist gaps;
static struct noise_floor noise;

static void set_up(void)
{
	hist_init(&gaps);
	memset(&noise, 0, sizeof(noise));
}

START_TEST(test_noise_floor_counts_every_gap)
{
	struct fake_clock fake = {.now_tsc = 1000, .step_tsc = 30};
	struct clock clock = fake_clock_of(&fake);

	noise_floor_count(&clock, 100, &gaps);
	ck_assert_uint_eq(fake.reads, 101);
	ck_assert_uint_eq(gaps.count, 100);
	ck_assert_uint_eq(gaps.bucket[30], 100);
	noise_floor_sum(&gaps, 3000, &noise);
	ck_assert_uint_eq(noise.reads, 100);
	ck_assert_uint_eq(noise.span_tsc, 3000);
	ck_assert_uint_eq(noise.p99_9_tsc, 30);
	ck_assert_uint_eq(noise.max_tsc, 30);
}
END_TEST

START_TEST(test_noise_floor_of_a_clock_that_steps_back)
{
	struct fake_clock fake = {.now_tsc = 1000,
				  .step_tsc = 30,
				  .back_at_read = 3,
				  .back_tsc = 500};
	struct clock clock = fake_clock_of(&fake);

	noise_floor_count(&clock, 10, &gaps);
	ck_assert_uint_eq(gaps.count, 10);
	ck_assert_uint_eq(gaps.bucket[0], 1);
	ck_assert_uint_eq(gaps.max, 30);
}
END_TEST

static void add(uint64_t gap, int times)
{
	for (int i = 0; i < times; i++)
		hist_add(&gaps, gap);
}

START_TEST(test_noise_floor_ranks)
{
	/* 999 of 1000 are 30: the last is the largest, not the p99.9. */
	add(30, 999);
	add(50000, 1);
	noise_floor_sum(&gaps, 1, &noise);
	ck_assert_uint_eq(noise.p99_9_tsc, 30);
	ck_assert_uint_eq(noise.max_tsc, 50000);
	/* With two of 1001 it is one of the long ones. */
	add(50000, 1);
	noise_floor_sum(&gaps, 1, &noise);
	ck_assert_uint_eq(noise.p99_9_tsc, 50000);
	/* A bucket that is wider than what is in it, but for the last. */
	add(60000, 1);
	noise_floor_sum(&gaps, 1, &noise);
	ck_assert_uint_ge(noise.p99_9_tsc, 50000);
	ck_assert_uint_le(noise.p99_9_tsc, 50000 + 50000 / 32);
}
END_TEST

START_TEST(test_noise_floor_measures_where_it_is_told)
{
	cpu_set_t before, after, last;
	int cpu = -1;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &before))
			cpu = i;
	CPU_ZERO(&last);
	CPU_SET(cpu, &last);
	ck_assert_int_eq(noise_floor_measure(&noise, &last), 0);
	ck_assert(noise.is_done);
	ck_assert_int_eq(noise.cpu, cpu);
	ck_assert_uint_gt(noise.reads, 1000);
	ck_assert_uint_gt(noise.span_tsc, 0);
	ck_assert_uint_le(noise.p99_9_tsc, noise.max_tsc);
	ck_assert_uint_le(noise.max_tsc, noise.span_tsc);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
	ck_assert_int_eq(noise_floor_measure(&noise, NULL), 0);
	ck_assert(CPU_ISSET(noise.cpu, &before));
}
END_TEST

START_TEST(test_noise_floor_where_it_cannot)
{
	cpu_set_t none;

	/* CPUs that no machine of ours has. */
	CPU_ZERO(&none);
	CPU_SET(CPU_SETSIZE - 1, &none);
	ck_assert_int_eq(noise_floor_measure(&noise, &none), -EINVAL);
	ck_assert(!noise.is_done);
	ck_assert_int_eq(noise.cpu, -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("noise_floor");
	TCase *tc = tcase_create("noise_floor");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_noise_floor_counts_every_gap);
	tcase_add_test(tc, test_noise_floor_of_a_clock_that_steps_back);
	tcase_add_test(tc, test_noise_floor_ranks);
	tcase_add_test(tc, test_noise_floor_measures_where_it_is_told);
	tcase_add_test(tc, test_noise_floor_where_it_cannot);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
