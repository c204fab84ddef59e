/* SPDX-License-Identifier: MIT */
/*
 * Sorting against qsort, percentiles against the definition by counting.
 */
#include "percentile.h"

#include <stdlib.h>
#include <string.h>

#include "prng.h"
#include "tap.h"

#define MANY 3000

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Nearest rank by its definition: the smallest sample such that at least
 * num/den of all samples are no larger. */
static int64_t by_counting(const int64_t *sorted, size_t n, uint32_t num,
			   uint32_t den)
{
	size_t i;

	for (i = 0; i < n - 1; i++)
		if ((i + 1) * (uint64_t)den >= (uint64_t)num * n)
			break;
	return sorted[i];
}

START_TEST(test_percentile_sort_small_sizes)
{
	uint64_t seed = 0x50f7;
	size_t n;
	int i;

	for (n = 0; n < 40; n++) {
		for (i = 0; i < 50; i++) {
			int64_t samples[41], expected[41];
			size_t k;

			for (k = 0; k <= n; k++)
				samples[k] = (int64_t)(prng_next(&seed) % 16);
			memcpy(expected, samples, sizeof(expected));
			qsort(expected, n, sizeof(expected[0]), compare);
			percentile_sort(samples, n);
			/* One beyond the end is untouched. */
			ck_assert_mem_eq(samples, expected,
					 (n + 1) * sizeof(samples[0]));
		}
	}
}
END_TEST

/* Orders that are bad for other sorts. */
START_TEST(test_percentile_sort_patterns)
{
	static int64_t samples[MANY], expected[MANY];
	uint64_t seed = 0xbad;
	int i;

	for (i = 0; i < MANY; i++) {
		switch (_i) {
		case 0:
			samples[i] = i;
			break;
		case 1:
			samples[i] = -i;
			break;
		case 2:
			samples[i] = 7;
			break;
		case 3:
			samples[i] = i % 2 ? INT64_MAX - i : INT64_MIN + i;
			break;
		default:
			samples[i] = (int64_t)prng_next(&seed);
			break;
		}
	}
	memcpy(expected, samples, sizeof(expected));
	qsort(expected, MANY, sizeof(expected[0]), compare);
	percentile_sort(samples, MANY);
	ck_assert_mem_eq(samples, expected, sizeof(samples));
}
END_TEST

START_TEST(test_percentile_known_values)
{
	static const int64_t sorted[] = {-20, 15, 20, 35, 40};

	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 0, 100), -20);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 5, 100), -20);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 20, 100), -20);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 21, 100), 15);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 40, 100), 15);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 1, 2), 20);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 999, 1000), 40);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 1, 1), 40);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 5, 3, 2), 40);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 1, 1, 2), -20);
}
END_TEST

START_TEST(test_percentile_matches_the_definition)
{
	static const uint32_t dens[] = {1, 2, 3, 7, 100, 1000, 9973};
	static int64_t sorted[300];
	size_t n, k;
	int64_t i;

	for (i = 0; i < 300; i++)
		sorted[i] = i * 3 - 100;
	for (n = 1; n <= 300; n++) {
		for (k = 0; k < 7; k++) {
			uint32_t step = dens[k] / 50 + 1;
			uint32_t num;

			for (num = 0; num <= dens[k]; num += step)
				tap_require(
					percentile_nearest_rank(sorted, n, num,
								dens[k]) ==
					by_counting(sorted, n, num, dens[k]));
		}
	}
}
END_TEST

START_TEST(test_percentile_large_fractions_do_not_overflow)
{
	static const int64_t sorted[] = {1, 2, 3, 4};

	ck_assert_int_eq(
		percentile_nearest_rank(sorted, 4, UINT32_MAX - 1, UINT32_MAX),
		4);
	ck_assert_int_eq(
		percentile_nearest_rank(sorted, 4, UINT32_MAX / 2, UINT32_MAX),
		2);
	ck_assert_int_eq(percentile_nearest_rank(sorted, 4, 1, UINT32_MAX), 1);
}
END_TEST

static Suite *percentile_suite(void)
{
	Suite *suite = suite_create("percentile");
	TCase *sort = tcase_create("sort");
	TCase *rank = tcase_create("rank");

	tcase_add_test(sort, test_percentile_sort_small_sizes);
	tcase_add_loop_test(sort, test_percentile_sort_patterns, 0, 5);
	tcase_add_test(rank, test_percentile_known_values);
	tcase_add_test(rank, test_percentile_matches_the_definition);
	tcase_add_test(rank, test_percentile_large_fractions_do_not_overflow);
	suite_add_tcase(suite, sort);
	suite_add_tcase(suite, rank);
	return suite;
}

int main(void)
{
	return tap_run(percentile_suite());
}
