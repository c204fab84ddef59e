/* SPDX-License-Identifier: MIT */
/* Medians over rounds, ratios within rounds, and what forbids comparing. */
#include "bench_stats.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "bench_plan.h"
#include "end.h"
#include "tap.h"

enum {
	ROUNDS = 5,
};

static struct bench_run good(int64_t p50_tsc)
{
	return (struct bench_run){
		.is_done = true,
		.is_ok = true,
		.has_sample = true,
		.sample = {.samples = 1,
			   .p50_tsc = p50_tsc,
			   .p50_ns = p50_tsc / 2,
			   .p99_tsc = 10 * p50_tsc,
			   .p99_ns = 5 * p50_tsc,
			   .fires = 10,
			   .loop_turns = 1000,
			   .wait_tsc = 4000,
			   .user_cpu_ns = 10 * (uint64_t)p50_tsc},
	};
}

static struct bench_run failed(int status)
{
	return (struct bench_run){.is_done = true, .status = status};
}

static void fill(struct bench_run *runs, const int64_t *p50_tsc)
{
	for (int i = 0; i < ROUNDS; i++)
		runs[i] = good(p50_tsc[i]);
}

static struct bench_summary sum(const struct bench_run *runs,
				const struct bench_run *reference)
{
	struct bench_summary s;
	int64_t scratch[ROUNDS];

	bench_summarize(runs, reference, ROUNDS, scratch, &s);
	return s;
}

START_TEST(test_bench_ppm_rounds_and_refuses)
{
	int64_t ppm = 0;

	ck_assert(bench_ppm(1, 3, &ppm));
	ck_assert_int_eq(ppm, 333333);
	ck_assert(bench_ppm(2, 3, &ppm));
	ck_assert_int_eq(ppm, 666667);
	ck_assert(bench_ppm(-2, 3, &ppm));
	ck_assert_int_eq(ppm, -666667);
	ck_assert(bench_ppm(0, 3, &ppm));
	ck_assert_int_eq(ppm, 0);
	ck_assert(!bench_ppm(1, 0, &ppm));
	ck_assert(!bench_ppm(0, 0, &ppm));
	ck_assert(!bench_ppm(1, -1, &ppm));
	ck_assert(!bench_ppm(1e7, 1, &ppm));
	ck_assert(bench_ppm(1e6, 1, &ppm));
}
END_TEST

START_TEST(test_bench_medians_are_measured_values)
{
	struct bench_run runs[ROUNDS];
	struct bench_summary s;

	fill(runs, (int64_t[]){50, 10, 40, 20, 30});
	s = sum(runs, runs);
	ck_assert_int_eq(s.p50_tsc.value, 30);
	ck_assert_int_eq(s.p50_ns.value, 15);
	ck_assert_int_eq(s.p99_tsc.value, 300);
	ck_assert_int_eq(s.p99_ns.value, 150);
	ck_assert_int_eq(s.cpu_ns.value, 30);
	ck_assert_uint_eq(s.ok, 5);
	ck_assert_uint_eq(s.failed, 0);
	/* Of an even number the lower one of the two in the middle. */
	runs[0] = failed(122);
	s = sum(runs, runs);
	ck_assert_int_eq(s.p50_tsc.value, 20);
	ck_assert_uint_eq(s.ok, 4);
	ck_assert_uint_eq(s.failed, 1);
}
END_TEST

START_TEST(test_bench_ratio_is_taken_within_the_round)
{
	struct bench_run runs[ROUNDS], kernel[ROUNDS];
	struct bench_summary s;

	/* Twice, half, equal, thrice, a tenth: the median is 1, though the
	 * ratio of the medians is 100/300. */
	fill(kernel, (int64_t[]){50, 800, 300, 10, 1000});
	fill(runs, (int64_t[]){100, 400, 300, 30, 100});
	s = sum(runs, kernel);
	ck_assert(s.ratios[BENCH_P50].is_known);
	ck_assert_int_eq(s.ratios[BENCH_P50].median_ppm, 1000000);
	ck_assert_int_eq(s.p50_tsc.value, 100);
}
END_TEST

START_TEST(test_bench_ratio_needs_both_runs)
{
	struct bench_run runs[ROUNDS], kernel[ROUNDS];
	struct bench_summary s;

	fill(kernel, (int64_t[]){100, 100, 100, 100, 100});
	fill(runs, (int64_t[]){10, 20, 30, 40, 50});
	runs[0] = failed(124);
	kernel[1] = failed(124);
	kernel[2].sample.p50_tsc = 0;
	kernel[3].sample.p50_tsc = -100;
	s = sum(runs, kernel);
	ck_assert_int_eq(s.ratios[BENCH_P50].median_ppm, 500000);
	kernel[4] = failed(124);
	s = sum(runs, kernel);
	ck_assert(!s.ratios[BENCH_P50].is_known);
	ck_assert(s.p50_tsc.is_known);
}
END_TEST

START_TEST(test_bench_ratio_of_the_reference_is_one)
{
	struct bench_run runs[ROUNDS];
	struct bench_summary s;

	fill(runs, (int64_t[]){7, 9, 11, 13, 15});
	s = sum(runs, runs);
	ck_assert_int_eq(s.ratios[BENCH_P50].median_ppm, 1000000);
	ck_assert_int_eq(s.ratios[BENCH_SHARE].median_ppm, 1000000);
}
END_TEST

START_TEST(test_bench_share_compares_turns_per_cycle)
{
	struct bench_run runs[ROUNDS], kernel[ROUNDS];
	struct bench_summary s;

	fill(kernel, (int64_t[]){5, 5, 5, 5, 5});
	fill(runs, (int64_t[]){5, 5, 5, 5, 5});
	for (int i = 0; i < ROUNDS; i++) {
		runs[i].sample.loop_turns = 900;
		runs[i].sample.wait_tsc = 4500;
	}
	s = sum(runs, kernel);
	ck_assert_int_eq(s.ratios[BENCH_SHARE].median_ppm, 800000);
	/* A guest that never came to turn its loop had no share at all. */
	for (int i = 0; i < ROUNDS; i++)
		runs[i].sample.loop_turns = 0;
	s = sum(runs, kernel);
	ck_assert(s.ratios[BENCH_SHARE].is_known);
	ck_assert_int_eq(s.ratios[BENCH_SHARE].median_ppm, 0);
	/* HLT turns no loop. */
	for (int i = 0; i < ROUNDS; i++)
		runs[i].sample.loop_turns = kernel[i].sample.loop_turns = 0;
	s = sum(runs, kernel);
	ck_assert(!s.ratios[BENCH_SHARE].is_known);
	ck_assert(s.ratios[BENCH_P50].is_known);
	for (int i = 0; i < ROUNDS; i++)
		runs[i].sample.wait_tsc = 0;
	s = sum(runs, kernel);
	ck_assert(!s.ratios[BENCH_SHARE].is_known);
}
END_TEST

START_TEST(test_bench_swallowed_cell_gets_no_ratio)
{
	struct bench_run runs[ROUNDS], kernel[ROUNDS];
	struct bench_summary s;
	char why[128];

	fill(kernel, (int64_t[]){5, 5, 5, 5, 5});
	fill(runs, (int64_t[]){5, 5, 5, 5, 5});
	for (int i = 0; i < ROUNDS; i++) {
		runs[i].sample.is_userspace = true;
		runs[i].sample.arms = 10;
	}
	s = sum(runs, kernel);
	ck_assert(bench_is_comparable(&s, why, sizeof(why)));
	ck_assert(s.ratios[BENCH_P50].is_known);
	runs[3].sample.arms = 9;
	s = sum(runs, kernel);
	ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
	ck_assert_str_eq(why, "mode userspace did not intercept: 9 arms, "
			      "guest fired 10");
	ck_assert(!s.ratios[BENCH_P50].is_known);
	ck_assert(!s.ratios[BENCH_SHARE].is_known);
	/* Nor does one that is compared with it. */
	s = sum(kernel, runs);
	ck_assert(!s.ratios[BENCH_P50].is_known);
	ck_assert(!s.ratios[BENCH_SHARE].is_known);
}
END_TEST

START_TEST(test_bench_swallowed_is_told_by_the_status_too)
{
	struct bench_run runs[ROUNDS], kernel[ROUNDS];
	struct bench_summary s;
	char why[128];

	fill(kernel, (int64_t[]){5, 5, 5, 5, 5});
	fill(runs, (int64_t[]){5, 5, 5, 5, 5});
	runs[4] = failed(EXIT_STATUS_NOT_INTERCEPTED);
	s = sum(runs, kernel);
	ck_assert(!s.ratios[BENCH_P50].is_known);
	ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
	ck_assert_str_eq(why, "mode userspace did not intercept: a round "
			      "ended with status 123");
}
END_TEST

START_TEST(test_bench_cell_without_a_round_cannot_tell)
{
	struct bench_run runs[ROUNDS] = {0};
	struct bench_summary s = sum(runs, runs);
	char why[128];

	ck_assert_uint_eq(s.failed, 0);
	ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
	for (int i = 0; i < ROUNDS; i++)
		runs[i] = failed(122);
	s = sum(runs, runs);
	ck_assert_uint_eq(s.failed, 5);
	ck_assert(!s.p50_tsc.is_known);
	ck_assert(!s.cpu_ns.is_known);
	ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
	ck_assert_str_eq(why, "cannot tell: no round succeeded");
}
END_TEST

START_TEST(test_bench_counts_fires_that_went_wrong)
{
	struct bench_run runs[ROUNDS];
	struct bench_summary s;
	char why[128];

	fill(runs, (int64_t[]){5, 5, 5, 5, 5});
	runs[0].sample.early = 3;
	runs[2].sample.lost = 2;
	runs[3].sample.doubled = 1;
	runs[4].sample.early = 4;
	runs[4].sample.steal_ticks = 6;
	s = sum(runs, runs);
	ck_assert_uint_eq(s.early, 7);
	ck_assert_uint_eq(s.steal_ticks, 6);
	ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
	ck_assert_str_eq(why, "not comparable: early 7, lost 2, doubled 1");
	ck_assert(s.ratios[BENCH_P50].is_known);
	/* Not even without a fire that went wrong. */
	fill(runs, (int64_t[]){5, 5, 5, 5, 5});
	runs[2].sample.is_early_allowed = true;
	s = sum(runs, runs);
	ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, "timer.allow_early"));
	ck_assert(!s.ratios[BENCH_P50].is_known);
	/* One of any kind is enough. */
	for (int i = 0; i < 3; i++) {
		fill(runs, (int64_t[]){5, 5, 5, 5, 5});
		runs[3].sample.early = i == 0;
		runs[3].sample.lost = i == 1;
		runs[3].sample.doubled = i == 2;
		s = sum(runs, runs);
		ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
	}
	/* All fires of a round lost: no percentile, but the count stays. */
	fill(runs, (int64_t[]){5, 5, 5, 5, 5});
	runs[1].is_ok = false;
	runs[1].sample.lost = 9;
	s = sum(runs, runs);
	ck_assert_uint_eq(s.lost, 9);
	ck_assert_uint_eq(s.failed, 1);
	ck_assert(!bench_is_comparable(&s, why, sizeof(why)));
}
END_TEST

START_TEST(test_bench_all_measures_have_ratios)
{
	struct bench_run runs[ROUNDS], kernel[ROUNDS];
	struct bench_summary s;

	fill(kernel, (int64_t[]){100, 100, 100, 100, 100});
	fill(runs, (int64_t[]){50, 50, 50, 50, 50});
	for (int i = 0; i < ROUNDS; i++) {
		runs[i].sample.p99_tsc = 3000;
		runs[i].sample.user_cpu_ns = 0;
		runs[i].sample.system_cpu_ns = 2500;
	}
	s = sum(runs, kernel);
	ck_assert_int_eq(s.ratios[BENCH_P50].median_ppm, 500000);
	ck_assert_int_eq(s.ratios[BENCH_P99].median_ppm, 3000000);
	ck_assert_int_eq(s.ratios[BENCH_CPU].median_ppm, 2500000);
	ck_assert_int_eq(s.ratios[BENCH_SHARE].median_ppm, 1000000);
	ck_assert_str_eq(bench_measure_name(BENCH_CPU), "CPU/fire");
	/* Without a fire there is no cost of one. */
	for (int i = 0; i < ROUNDS; i++)
		kernel[i].sample.fires = 0;
	s = sum(runs, kernel);
	ck_assert(!s.ratios[BENCH_CPU].is_known);
}
END_TEST

static void fill_many(struct bench_run *runs, unsigned int rounds, int64_t p50)
{
	for (unsigned int i = 0; i < rounds; i++)
		runs[i] = good(p50);
}

static struct bench_summary sum_many(const struct bench_run *runs,
				     const struct bench_run *reference)
{
	struct bench_summary s;
	int64_t scratch[BENCH_PAIRS_MIN];

	bench_summarize(runs, reference, BENCH_PAIRS_MIN, scratch, &s);
	return s;
}

START_TEST(test_bench_verdict_needs_sound_rows)
{
	struct bench_run runs[BENCH_PAIRS_MIN], kernel[BENCH_PAIRS_MIN];
	struct bench_summary s;

	fill_many(runs, BENCH_PAIRS_MIN, 50);
	fill_many(kernel, BENCH_PAIRS_MIN, 100);
	s = sum_many(runs, kernel);
	ck_assert_int_eq(s.ratios[BENCH_P50].verdict, BENCH_BETTER);
	ck_assert_int_eq(s.ratios[BENCH_SHARE].verdict, BENCH_NO_DIFFERENCE);
	/* More of the guest's share is what one wants, of all else less. */
	for (unsigned int i = 0; i < BENCH_PAIRS_MIN; i++)
		runs[i].sample.loop_turns *= 2;
	s = sum_many(runs, kernel);
	ck_assert_int_eq(s.ratios[BENCH_SHARE].verdict, BENCH_BETTER);
	s = sum_many(kernel, runs);
	ck_assert_int_eq(s.ratios[BENCH_P50].verdict, BENCH_WORSE);
	ck_assert_int_eq(s.ratios[BENCH_CPU].verdict, BENCH_WORSE);
	/* An early fire, on either side: the ratio stays, the word goes. */
	runs[2].sample.early = 1;
	s = sum_many(runs, kernel);
	ck_assert_int_eq(s.ratios[BENCH_P50].verdict, BENCH_NOT_COMPARABLE);
	ck_assert_int_eq(s.ratios[BENCH_P50].median_ppm, 500000);
	s = sum_many(kernel, runs);
	ck_assert_int_eq(s.ratios[BENCH_P50].verdict, BENCH_NOT_COMPARABLE);
	/* Swallowed: neither. */
	runs[2].status = EXIT_STATUS_NOT_INTERCEPTED;
	s = sum_many(kernel, runs);
	ck_assert_int_eq(s.ratios[BENCH_P99].verdict, BENCH_NOT_COMPARABLE);
	ck_assert(!s.ratios[BENCH_P99].is_known);
}
END_TEST

START_TEST(test_bench_undecided_only_where_it_was_asked)
{
	struct bench_run runs[BENCH_PAIRS_MIN], kernel[BENCH_PAIRS_MIN];
	struct bench_summary s;
	char why[160];

	fill_many(runs, BENCH_PAIRS_MIN, 100);
	fill_many(kernel, BENCH_PAIRS_MIN, 100);
	s = sum_many(runs, kernel);
	ck_assert(!bench_is_undecided(&s, BENCH_PAIRS_MIN, why, sizeof(why)));
	runs[0].sample.p50_tsc = 30;
	runs[1].sample.p50_tsc = 400;
	s = sum_many(runs, kernel);
	ck_assert(bench_is_undecided(&s, BENCH_PAIRS_MIN, why, sizeof(why)));
	ck_assert_str_eq(why, "cannot tell: p50 is 0.300 to 4.000 of the "
			      "reference's (6 rounds); take more rounds, or a "
			      "quieter host");
	kernel[3] = failed(124);
	s = sum_many(runs, kernel);
	ck_assert(bench_is_undecided(&s, BENCH_PAIRS_MIN, why, sizeof(why)));
	ck_assert_str_eq(why, "cannot tell: only 5 rounds of 6 can be "
			      "compared, 6 are needed");
	ck_assert(
		!bench_is_undecided(&s, BENCH_PAIRS_MIN - 1, why, sizeof(why)));
	/* A row that may not be compared says so elsewhere. */
	runs[0].sample.lost = 1;
	s = sum_many(runs, kernel);
	ck_assert(!bench_is_undecided(&s, BENCH_PAIRS_MIN, why, sizeof(why)));
}
END_TEST

START_TEST(test_bench_reference_is_the_first_kernel_row)
{
	struct bench_cell cells[6] = {
		{.block = 0},
		{.block = 0, .is_kernel = true},
		{.block = 0, .is_kernel = true},
		{.block = 1},
		{.block = 1},
		{.block = 2, .is_kernel = true},
	};
	struct bench_plan plan = {.cells = cells, .cell_count = 6};

	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(bench_reference(&plan, i), 1);
	ck_assert_uint_eq(bench_reference(&plan, 3), 3);
	ck_assert_uint_eq(bench_reference(&plan, 4), 3);
	ck_assert_uint_eq(bench_reference(&plan, 5), 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_stats");
	TCase *tc = tcase_create("bench_stats");

	tcase_add_test(tc, test_bench_ppm_rounds_and_refuses);
	tcase_add_test(tc, test_bench_medians_are_measured_values);
	tcase_add_test(tc, test_bench_ratio_is_taken_within_the_round);
	tcase_add_test(tc, test_bench_ratio_needs_both_runs);
	tcase_add_test(tc, test_bench_ratio_of_the_reference_is_one);
	tcase_add_test(tc, test_bench_share_compares_turns_per_cycle);
	tcase_add_test(tc, test_bench_swallowed_cell_gets_no_ratio);
	tcase_add_test(tc, test_bench_swallowed_is_told_by_the_status_too);
	tcase_add_test(tc, test_bench_cell_without_a_round_cannot_tell);
	tcase_add_test(tc, test_bench_counts_fires_that_went_wrong);
	tcase_add_test(tc, test_bench_all_measures_have_ratios);
	tcase_add_test(tc, test_bench_verdict_needs_sound_rows);
	tcase_add_test(tc, test_bench_undecided_only_where_it_was_asked);
	tcase_add_test(tc, test_bench_reference_is_the_first_kernel_row);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
