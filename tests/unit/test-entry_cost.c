/* SPDX-License-Identifier: MIT */
/* Entry costs: never more than what was seen, however the samples lie. */
#include <check.h>
#include <stdint.h>

#include "entry_cost.h"
#include "prng.h"
#include "tap.h"

enum {
	N = 192,
};

static int64_t samples[N];

static void fill(int64_t value_tsc)
{
	for (int i = 0; i < N; i++)
		samples[i] = value_tsc;
}

START_TEST(test_entry_cost_of_a_host_that_repeats)
{
	struct entry_cost cost;

	fill(3200);
	entry_cost_judge(&cost, samples, N);
	ck_assert_uint_eq(cost.samples, N);
	ck_assert_uint_eq(cost.min_tsc, 3200);
	ck_assert_uint_eq(cost.max_tsc, 3200);
	ck_assert_uint_eq(cost.margin_tsc, 50);
	ck_assert_uint_eq(cost.result_tsc, 3150);
}
END_TEST

START_TEST(test_entry_cost_one_low_sample_rules)
{
	struct entry_cost cost;

	fill(45000);
	samples[17] = 31000;
	entry_cost_judge(&cost, samples, N);
	ck_assert_uint_eq(cost.min_tsc, 31000);
	/* Four times the distance to the lowest tenth: nothing is left. */
	ck_assert_uint_eq(cost.p10_tsc, 45000);
	ck_assert_uint_eq(cost.result_tsc, 0);
}
END_TEST

START_TEST(test_entry_cost_a_slow_vm_changes_nothing)
{
	struct entry_cost cost;

	fill(31000);
	for (int i = 0; i < N / 8; i++)
		samples[i] = 44000;
	entry_cost_judge(&cost, samples, N);
	ck_assert_uint_eq(cost.min_tsc, 31000);
	ck_assert_uint_eq(cost.result_tsc, 31000 - 31000 / 64);
}
END_TEST

START_TEST(test_entry_cost_needs_enough_samples)
{
	struct entry_cost cost;

	fill(1000);
	entry_cost_judge(&cost, samples, ENTRY_COST_SAMPLES_MIN - 1);
	ck_assert_uint_eq(cost.result_tsc, 0);
	ck_assert_uint_eq(cost.samples, ENTRY_COST_SAMPLES_MIN - 1);
	entry_cost_judge(&cost, samples, ENTRY_COST_SAMPLES_MIN);
	ck_assert_uint_gt(cost.result_tsc, 0);
	entry_cost_judge(&cost, samples, 0);
	ck_assert_uint_eq(cost.result_tsc, 0);
}
END_TEST

START_TEST(test_entry_cost_a_negative_sample_voids_all)
{
	struct entry_cost cost;

	fill(1000);
	samples[N - 1] = -1;
	entry_cost_judge(&cost, samples, N);
	ck_assert_uint_eq(cost.result_tsc, 0);
}
END_TEST

START_TEST(test_entry_cost_never_above_a_sample)
{
	struct entry_cost cost;
	uint64_t seed = 1;

	for (int round = 0; round < 2000; round++) {
		uint64_t base = prng_next(&seed) % 100000;
		uint64_t width = 1 + prng_next(&seed) % (base / 8 + 1);
		int64_t lowest = INT64_MAX;

		for (int i = 0; i < N; i++) {
			samples[i] = (int64_t)(base + prng_next(&seed) % width);
			if (samples[i] < lowest)
				lowest = samples[i];
		}
		entry_cost_judge(&cost, samples, N);
		tap_require((int64_t)cost.result_tsc <= lowest);
		tap_require(cost.result_tsc + cost.margin_tsc <=
				    (uint64_t)lowest ||
			    cost.result_tsc == 0);
	}
}
END_TEST

/* In every state, and never where nothing is known. */
START_TEST(test_entry_cost_covers)
{
	struct entry_cost costs[2] = {{.result_tsc = 3000},
				      {.result_tsc = 3900}};

	ck_assert(entry_cost_covers(costs, 2, 3000));
	ck_assert(!entry_cost_covers(costs, 2, 3001));
	costs[1].result_tsc = 0;
	ck_assert(!entry_cost_covers(costs, 2, 1));
	ck_assert(entry_cost_covers(costs, 2, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("entry_cost");
	TCase *tc = tcase_create("entry_cost");

	tcase_add_test(tc, test_entry_cost_of_a_host_that_repeats);
	tcase_add_test(tc, test_entry_cost_one_low_sample_rules);
	tcase_add_test(tc, test_entry_cost_a_slow_vm_changes_nothing);
	tcase_add_test(tc, test_entry_cost_needs_enough_samples);
	tcase_add_test(tc, test_entry_cost_a_negative_sample_voids_all);
	tcase_add_test(tc, test_entry_cost_never_above_a_sample);
	tcase_add_test(tc, test_entry_cost_covers);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
