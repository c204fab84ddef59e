/* SPDX-License-Identifier: MIT */
/* Which rounds go into a row's file, what it is called, and that what cannot
 * be written is known before the first run. */
#define _GNU_SOURCE
#include "bench_hgrm.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_plan.h"
#include "bench_stats.h"
#include "hist.h"
#include "tap.h"

enum {
	ROUNDS = 3,
};

static struct bench_hist_bucket low[] = {{5, 2}}, high[] = {{9, 1}};
static struct bench_run runs[2 * ROUNDS];
static struct bench_summary summaries[2] = {{.ok = 2}};
static struct bench_cell cells[2] = {
	{.config = "dir/a b.json", .mode = "userspace auto", .group = "w=1"},
	{.config = "c.json", .mode = "kernel", .group = ""},
};
static struct bench_plan plan = {cells, 2, ROUNDS};
static struct bench_report report = {
	.plan = &plan, .runs = runs, .summaries = summaries};

static void set_up(void)
{
	memset(runs, 0, sizeof(runs));
	for (int i = 0; i < ROUNDS; i++) {
		runs[i].is_ok = i != 1;
		runs[i].sample.tsc_khz = 1000000;
		runs[i].sample.warmup = 20;
		runs[i].hist = (struct bench_hist){2, 5, 5, low, 1};
	}
	runs[2].hist = (struct bench_hist){1, 9, 9, high, 1};
}

START_TEST(test_bench_hgrm_pools_the_rounds_that_count)
{
	uint64_t below_zero, tsc_khz;
	struct hist sum;

	bench_hgrm_sum(&report, 0, &sum, &below_zero, &tsc_khz);
	ck_assert_uint_eq(sum.count, 3);
	ck_assert_uint_eq(sum.bucket[5], 2);
	ck_assert_uint_eq(sum.bucket[9], 1);
	ck_assert_uint_eq(sum.min, 5);
	ck_assert_uint_eq(sum.max, 9);
	ck_assert_uint_eq(below_zero, 0);
	ck_assert_uint_eq(tsc_khz, 1000000);
	runs[0].sample.below_zero = 4;
	runs[1].sample.below_zero = 100;
	bench_hgrm_sum(&report, 0, &sum, &below_zero, &tsc_khz);
	ck_assert_uint_eq(below_zero, 4);
	ck_assert_uint_eq(sum.count, 7);
	ck_assert_uint_eq(sum.bucket[0], 4);
	ck_assert_uint_eq(sum.min, 0);
	bench_hgrm_sum(&report, 1, &sum, &below_zero, &tsc_khz);
	ck_assert_uint_eq(sum.count, 0);
	ck_assert_uint_eq(tsc_khz, 0);
}
END_TEST

START_TEST(test_bench_hgrm_names)
{
	char *path = bench_hgrm_path(&plan, 0, "/x y/p-");

	ck_assert_str_eq(path, "/x y/p-1-a_b.json-w=1-userspace_auto.hgrm");
	free(path);
	path = bench_hgrm_path(&plan, 1, "");
	ck_assert_str_eq(path, "2-c.json-kernel.hgrm");
	free(path);
}
END_TEST

static char *contents(const char *dir, const char *name)
{
	static char text[8192];
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	return text;
}

START_TEST(test_bench_hgrm_writes_a_file_a_row)
{
	char dir[] = "/tmp/hgrm-XXXXXX", prefix[64], err[256];
	char *text;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(prefix, sizeof(prefix), "%s/p", dir);
	ck_assert_int_eq(bench_hgrm_open(&plan, prefix, err, sizeof(err)), 0);
	ck_assert_int_eq(bench_hgrm_write(&report, prefix, err, sizeof(err)),
			 0);
	text = contents(dir, "p1-a_b.json-w=1-userspace_auto.hgrm");
	ck_assert_ptr_eq(strstr(text, "       Value     Percentile"), text);
	ck_assert_ptr_nonnull(strstr(
		text,
		"\n# lateness in us, dir/a b.json, w=1, userspace auto: 2 "
		"rounds; left out as warm-up: 40 fires; early, counted "
		"as 0: 0\n"));
	/* Nothing was measured. */
	ck_assert_str_eq(contents(dir, "p2-c.json-kernel.hgrm"), "");
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(test_bench_hgrm_where_it_cannot)
{
	char err[256] = "";

	ck_assert_int_eq(
		bench_hgrm_open(&plan, "/nowhere/at/all", err, sizeof(err)),
		-ENOENT);
	ck_assert_ptr_nonnull(strstr(err, "/nowhere/at/all1-a_b.json"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_hgrm");
	TCase *tc = tcase_create("bench_hgrm");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_bench_hgrm_pools_the_rounds_that_count);
	tcase_add_test(tc, test_bench_hgrm_names);
	tcase_add_test(tc, test_bench_hgrm_writes_a_file_a_row);
	tcase_add_test(tc, test_bench_hgrm_where_it_cannot);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
