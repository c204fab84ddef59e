/* SPDX-License-Identifier: MIT */
/*
 * Intervals by order statistics against literal ranks and levels, and the
 * verdicts of whole benchmarks on a simulated host: a mood that all runs of a
 * round share, noise of each run, and now and then a run that is far off.
 */
#include "bench_verdict.h"

#include <check.h>
#include <stdint.h>

#include "bench_stats.h"
#include "prng.h"
#include "tap.h"

/* 1 - 2 P(B < r) in exact fractions, rounded down to millionths. */
START_TEST(test_verdict_interval_ranks)
{
	static const struct {
		size_t n, rank;
		int64_t level_ppm;
	} cases[] = {
		{0, 0, 0},	 {1, 0, 0},	   {2, 0, 0},
		{5, 0, 0},	 {6, 1, 968750},   {7, 1, 984375},
		{8, 1, 992187},	 {9, 2, 960937},   {10, 2, 978515},
		{12, 3, 961425}, {17, 5, 950958},  {20, 6, 958610},
		{25, 8, 956714}, {30, 10, 957226},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t level_ppm = -1;
		size_t rank = bench_interval_rank(cases[i].n, &level_ppm);

		ck_assert_uint_eq(rank, cases[i].rank);
		ck_assert_int_eq(level_ppm, cases[i].level_ppm);
	}
}
END_TEST

/* From some hundred rounds on it is the normal law's n/2 - 0.98 sqrt(n). */
START_TEST(test_verdict_interval_of_many_rounds)
{
	int64_t level_ppm;

	ck_assert_uint_eq(bench_interval_rank(10000, &level_ppm), 4902);
	ck_assert_int_ge(level_ppm, 950000);
	ck_assert_int_le(level_ppm, 952000);
	ck_assert_uint_eq(bench_interval_rank(1000000, &level_ppm), 499020);
	ck_assert_int_ge(level_ppm, 950000);
}
END_TEST

static struct bench_ratio of(const int64_t *thousandths, size_t n,
			     bool is_more_better)
{
	int64_t ppm[32];

	for (size_t i = 0; i < n; i++)
		ppm[i] = thousandths[i] * 1000;
	return bench_ratio_of(ppm, n, is_more_better);
}

static void expect(const int64_t *six, enum bench_verdict less,
		   enum bench_verdict more)
{
	ck_assert_int_eq(of(six, 6, false).verdict, less);
	ck_assert_int_eq(of(six, 6, true).verdict, more);
}

START_TEST(test_verdict_of_an_interval)
{
	expect((int64_t[]){999, 500, 600, 700, 800, 900}, BENCH_BETTER,
	       BENCH_WORSE);
	expect((int64_t[]){1001, 1500, 1600, 1700, 9800, 1900}, BENCH_WORSE,
	       BENCH_BETTER);
	expect((int64_t[]){1000, 1000, 1000, 1000, 1000, 1000},
	       BENCH_NO_DIFFERENCE, BENCH_NO_DIFFERENCE);
	expect((int64_t[]){980, 990, 990, 990, 990, 999}, BENCH_NO_DIFFERENCE,
	       BENCH_NO_DIFFERENCE);
	expect((int64_t[]){1001, 1010, 1010, 1010, 1010, 1020},
	       BENCH_NO_DIFFERENCE, BENCH_NO_DIFFERENCE);
	expect((int64_t[]){979, 990, 990, 990, 990, 999}, BENCH_BETTER,
	       BENCH_WORSE);
	expect((int64_t[]){1001, 1010, 1010, 1010, 1010, 1021}, BENCH_WORSE,
	       BENCH_BETTER);
	expect((int64_t[]){750, 1000, 1000, 1000, 1000, 1250},
	       BENCH_NO_DIFFERENCE, BENCH_NO_DIFFERENCE);
	expect((int64_t[]){749, 1000, 1000, 1000, 1000, 1000},
	       BENCH_CANNOT_TELL, BENCH_CANNOT_TELL);
	expect((int64_t[]){1000, 1000, 1000, 1000, 1000, 1251},
	       BENCH_CANNOT_TELL, BENCH_CANNOT_TELL);
	expect((int64_t[]){1000, 2000, 2000, 2000, 2000, 2000},
	       BENCH_CANNOT_TELL, BENCH_CANNOT_TELL);
}
END_TEST

START_TEST(test_verdict_numbers)
{
	const int64_t nine[] = {900, 100, 800, 200, 700, 300, 600, 400, 500};
	struct bench_ratio r = of(nine, 9, false);

	ck_assert(r.is_known && r.has_interval);
	ck_assert_uint_eq(r.pairs, 9);
	ck_assert_int_eq(r.median_ppm, 500000);
	ck_assert_int_eq(r.low_ppm, 200000);
	ck_assert_int_eq(r.high_ppm, 800000);
	ck_assert_int_eq(r.level_ppm, 960937);
	r = of(nine, 5, false);
	ck_assert(r.is_known);
	ck_assert(!r.has_interval);
	ck_assert_int_eq(r.median_ppm, 700000);
	ck_assert_int_eq(r.verdict, BENCH_CANNOT_TELL);
	r = of(nine, 0, false);
	ck_assert(!r.is_known);
	ck_assert_int_eq(r.verdict, BENCH_CANNOT_TELL);
	ck_assert_str_eq(bench_verdict_name(BENCH_CANNOT_TELL), "cannot tell");
	ck_assert_str_eq(bench_verdict_name(BENCH_WORSE), "worse");
}
END_TEST

enum {
	SIM_ROUNDS = 20,
	SIM_P50_TSC = 10000,
};

/* 0 to 1, never 0. */
static double uniform(uint64_t *state)
{
	return ((double)(prng_next(state) >> 11) + 1) / 9007199254740993.0;
}

/* A round's: from day to day twice as slow, in one of ten far slower, with the
 * tail of a Pareto law. */
static double mood(uint64_t *state)
{
	double factor = 0.7 + 0.7 * uniform(state);

	return uniform(state) < 0.1 ? factor / uniform(state) : factor;
}

/* A run's own: 5 % around 1, and one of sixteen far off. */
static double noise(uint64_t *state)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += uniform(state);
	sum = 1 + 0.09 * (sum - 2);
	return uniform(state) < 0.0625 ? sum / uniform(state) : sum;
}

static struct bench_run simulated(uint64_t *state, double base, double factor)
{
	double p50 = base * factor * noise(state);

	return (struct bench_run){
		.is_done = true,
		.is_ok = true,
		.has_sample = true,
		.sample = {.samples = 1,
			   .fires = 1,
			   .p50_tsc = (int64_t)(p50 < 1e9 ? p50 : 1e9),
			   .p99_tsc = 1,
			   .user_cpu_ns = 1},
	};
}

/* One benchmark of two rows, of which the second is slower by so much. */
static enum bench_verdict simulate(uint64_t *state, double slower_tsc)
{
	struct bench_run first[SIM_ROUNDS], second[SIM_ROUNDS];
	int64_t scratch[SIM_ROUNDS];
	struct bench_summary s;

	for (int i = 0; i < SIM_ROUNDS; i++) {
		double factor = mood(state);

		first[i] = simulated(state, SIM_P50_TSC, factor);
		second[i] = simulated(state, SIM_P50_TSC + slower_tsc, factor);
	}
	bench_summarize(second, first, SIM_ROUNDS, scratch, &s);
	return s.ratios[BENCH_P50].verdict;
}

/* 19 of 20, over 2000 benchmarks: 20 alone would be luck. */
START_TEST(test_verdict_of_equal_rows)
{
	uint64_t state = 20261130;
	int equal = 0, better = 0, worse = 0, cannot_tell = 0;

	for (int i = 0; i < 2000; i++) {
		enum bench_verdict verdict = simulate(&state, 0);

		equal += verdict == BENCH_NO_DIFFERENCE;
		better += verdict == BENCH_BETTER;
		worse += verdict == BENCH_WORSE;
		cannot_tell += verdict == BENCH_CANNOT_TELL;
	}
	ck_assert_msg(equal >= 1900, "%d equal, %d better, %d worse, %d ?",
		      equal, better, worse, cannot_tell);
	/* What misses, misses on both sides. */
	ck_assert_int_ge(better, 20);
	ck_assert_int_ge(worse, 20);
}
END_TEST

START_TEST(test_verdict_of_a_slower_row)
{
	uint64_t state = 20261130;
	int worse = 0, better = 0;

	for (int i = 0; i < 20; i++)
		worse += simulate(&state, 2000) == BENCH_WORSE;
	ck_assert_int_eq(worse, 20);
	for (int i = 0; i < 20; i++)
		better += simulate(&state, -2000) == BENCH_BETTER;
	ck_assert_int_eq(better, 20);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_verdict");
	TCase *tc = tcase_create("bench_verdict");

	tcase_add_test(tc, test_verdict_interval_ranks);
	tcase_add_test(tc, test_verdict_interval_of_many_rounds);
	tcase_add_test(tc, test_verdict_of_an_interval);
	tcase_add_test(tc, test_verdict_numbers);
	tcase_add_test(tc, test_verdict_of_equal_rows);
	tcase_add_test(tc, test_verdict_of_a_slower_row);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
