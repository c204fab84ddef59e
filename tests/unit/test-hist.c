/* SPDX-License-Identifier: MIT */
/*
 * The buckets tile the whole range of uint64 without gap or overlap, no bucket
 * is wider than 1/32 of its values, and nothing counted is lost.
 */
#include "hist.h"

#include "prng.h"
#include "tap.h"

static struct hist h;

static void setup(void)
{
	hist_init(&h);
}

START_TEST(test_hist_buckets_tile_the_range)
{
	uint64_t expected_low = 0;
	size_t i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_low(i);
		uint64_t high = hist_high(i);

		tap_require(low == expected_low && high >= low);
		tap_require(high - low <= low / HIST_SUB);
		tap_require(hist_index(low) == i);
		tap_require(hist_index(low + (high - low) / 2) == i);
		tap_require(hist_index(high) == i);
		expected_low = high + 1;
	}
	/* The last one ended at UINT64_MAX. */
	ck_assert_uint_eq(expected_low, 0);
}
END_TEST

START_TEST(test_hist_small_values_are_exact)
{
	uint64_t value;

	for (value = 0; value < 2 * HIST_SUB; value++) {
		ck_assert_uint_eq(hist_low(hist_index(value)), value);
		ck_assert_uint_eq(hist_high(hist_index(value)), value);
	}
}
END_TEST

START_TEST(test_hist_empty)
{
	ck_assert_uint_eq(h.count, 0);
	ck_assert_uint_eq(h.min, UINT64_MAX);
	ck_assert_uint_eq(h.max, 0);
	ck_assert_uint_eq(hist_next(&h, 0), HIST_BUCKETS);
	ck_assert_uint_eq(hist_next(&h, HIST_BUCKETS), HIST_BUCKETS);
}
END_TEST

START_TEST(test_hist_counts_extremes)
{
	hist_add(&h, 0);
	hist_add(&h, UINT64_MAX);
	hist_add(&h, UINT64_MAX);
	ck_assert_uint_eq(h.count, 3);
	ck_assert_uint_eq(h.min, 0);
	ck_assert_uint_eq(h.max, UINT64_MAX);
	ck_assert_uint_eq(h.bucket[0], 1);
	ck_assert_uint_eq(h.bucket[HIST_BUCKETS - 1], 2);
	ck_assert_uint_eq(hist_next(&h, 0), 0);
	ck_assert_uint_eq(hist_next(&h, 1), HIST_BUCKETS - 1);
}
END_TEST

START_TEST(test_hist_iteration_finds_every_value)
{
	uint64_t seed = 0x4157;
	uint64_t sum = 0;
	size_t i;
	int k;

	for (k = 0; k < 20000; k++)
		hist_add(&h, prng_any_size(&seed));
	for (i = hist_next(&h, 0); i < HIST_BUCKETS; i = hist_next(&h, i + 1)) {
		ck_assert_uint_gt(h.bucket[i], 0);
		sum += h.bucket[i];
	}
	ck_assert_uint_eq(sum, 20000);
	ck_assert_uint_eq(h.count, 20000);
	ck_assert_uint_eq(hist_index(h.min), hist_next(&h, 0));
}
END_TEST

static Suite *hist_suite(void)
{
	Suite *suite = suite_create("hist");
	TCase *buckets = tcase_create("buckets");
	TCase *counts = tcase_create("counts");

	tcase_add_test(buckets, test_hist_buckets_tile_the_range);
	tcase_add_test(buckets, test_hist_small_values_are_exact);
	tcase_add_checked_fixture(counts, setup, NULL);
	tcase_add_test(counts, test_hist_empty);
	tcase_add_test(counts, test_hist_counts_extremes);
	tcase_add_test(counts, test_hist_iteration_finds_every_value);
	suite_add_tcase(suite, buckets);
	suite_add_tcase(suite, counts);
	return suite;
}

int main(void)
{
	return tap_run(hist_suite());
}
