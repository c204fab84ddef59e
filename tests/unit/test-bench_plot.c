/* SPDX-License-Identifier: MIT */
/*
 * The script: data, names, axes. And the whole way through gnuplot, where it
 * is installed.
 */
#define _GNU_SOURCE /* open_memstream */
#include "bench_plot.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_plan.h"
#include "bench_stats.h"
#include "gnuplot.h"
#include "host.h"
#include "tap.h"

enum {
	ROUNDS = 2,
	CELLS = 3,
};

static struct host_info host = {.kernel = "6.1", .backend = "kvm_o'intel"};
static struct bench_cell cells[CELLS] = {
	{.config = "a.json", .mode = "kernel", .group = "w=1", .block = 0},
	{.config = "a.json", .mode = "o'mode", .group = "w=1", .block = 0},
	{.config = "a.json", .mode = "kernel", .group = "w=2", .block = 1},
};
static struct bench_plan plan = {cells, CELLS, ROUNDS};
static struct bench_run runs[CELLS * ROUNDS];
static struct bench_summary summaries[CELLS];
static struct bench_report report = {
	.plan = &plan, .host = &host, .runs = runs, .summaries = summaries};

/* 0 once, 5 cycles twice, 900 cycles (896 to 911) once. */
static struct bench_hist_bucket buckets[] = {{0, 1}, {5, 2}, {188, 1}};
static int64_t samples[1000];

static void set_up(void)
{
	memset(runs, 0, sizeof(runs));
	for (int i = 0; i < CELLS * ROUNDS; i++) {
		runs[i].is_ok = true;
		runs[i].sample.tsc_khz = 1000000;
		runs[i].hist = (struct bench_hist){4, 0, 900, buckets, 3};
	}
	for (int i = 0; i < 1000; i++)
		samples[i] = i == 501 ? 7000 : i == 500 ? -5 : 1000;
}

/* The caller frees it. */
static char *script(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(bench_plot_write(&report, out), 0);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

START_TEST(test_bench_plot_percentiles)
{
	char *text = script();

	/* 8 samples: 2, 4 and 2; 0 is drawn at one cycle. */
	ck_assert_ptr_nonnull(strstr(text, "$percentiles2 << EOD\n"
					   "1 0.001\n"
					   "1.33333 0.001\n"
					   "1.33333 0.005\n"
					   "4 0.005\n"
					   "4 0.9\n"
					   "8 0.9\n"
					   "EOD\n"));
	ck_assert_ptr_nonnull(strstr(text, "title 'kernel, w=1'"));
	ck_assert_ptr_nonnull(strstr(text, "title 'o''mode, w=1'"));
	ck_assert_ptr_nonnull(strstr(text, "title 'kernel, w=2'"));
	ck_assert_ptr_nonnull(strstr(text, "kvm_o''intel, Linux 6.1, TSC 1000 "
					   "MHz'"));
	ck_assert_ptr_nonnull(strstr(text, "size 900,"));
	ck_assert_ptr_nonnull(strstr(text, "set yrange [0.001:1]\n"
					   "set y2range [1:1000]\n"));
	/* Equal modes have equal colours, blocks differ in the dash. */
	ck_assert_ptr_nonnull(strstr(text, "lc '#D55E00' dt 1 title 'kernel"));
	ck_assert_ptr_nonnull(strstr(text, "lc '#D55E00' dt 2 title 'kernel"));
	ck_assert_ptr_null(strstr(text, "$timeline"));
	free(text);
}
END_TEST

START_TEST(test_bench_plot_timeline)
{
	char *text;

	runs[ROUNDS - 1].series = (struct bench_series){samples, 1000, 3};
	text = script();
	/* 1000 fires are 334 points of three; the one of 7000 is in the
	 * 168th, and the early one hides in it. */
	ck_assert_ptr_nonnull(strstr(text, "$timeline0 << EOD\n1 1\n4 1\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n499 1\n502 7\n505 1\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n1000 1\nEOD\n"));
	ck_assert_ptr_nonnull(strstr(text, "the latest of 3)"));
	ck_assert_ptr_nonnull(strstr(text, "'warm-up ends' at first 3, "));
	ck_assert_ptr_nonnull(strstr(text, "vCPU 0: dots w=1, circles w=2'\n"));
	free(text);
	/* A few are drawn each; early ones at one cycle. */
	runs[ROUNDS - 1].series.lateness_tsc = samples + 499;
	runs[ROUNDS - 1].series.count = 4;
	text = script();
	ck_assert_ptr_nonnull(
		strstr(text, "$timeline0 << EOD\n1 1\n2 0.001\n3 7\n4 1\nEOD"));
	free(text);
}
END_TEST

START_TEST(test_bench_plot_leaves_out_empty_rows)
{
	char *text;
	FILE *null;

	for (int i = 0; i < ROUNDS; i++)
		runs[ROUNDS + i].is_ok = false;
	text = script();
	ck_assert_ptr_null(strstr(text, "o''mode"));
	free(text);
	for (int i = 0; i < CELLS * ROUNDS; i++)
		runs[i].is_ok = false;
	null = fopen("/dev/null", "w");
	ck_assert_int_eq(bench_plot_write(&report, null), -EINVAL);
	fclose(null);
}
END_TEST

START_TEST(test_bench_plot_through_gnuplot)
{
	char path[] = "/tmp/bench_plot-XXXXXX", err[256], svg[65536];
	int fd = mkstemp(path);
	char *text;
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	unlink(path);
	runs[ROUNDS - 1].series = (struct bench_series){samples, 1000, 3};
	text = script();
	signal(SIGPIPE, SIG_IGN);
	if (gnuplot_is_there()) {
		ck_assert_msg(
			!gnuplot_run(text, strlen(text), fd, err, sizeof(err)),
			"%s", err);
		n = pread(fd, svg, sizeof(svg) - 1, 0);
		ck_assert_int_gt(n, 1000);
		svg[n] = '\0';
		ck_assert_ptr_nonnull(strstr(svg, "<svg"));
		ck_assert_ptr_nonnull(strstr(svg, "width=\"900\""));
		ck_assert_int_eq(gnuplot_run("exit status 3\n", 14, fd, err,
					     sizeof(err)),
				 -EIO);
		ck_assert_str_eq(err, "gnuplot: failed, and so there is no "
				      "plot");
	}
	free(text);
	/* Where it is not. */
	setenv("PATH", "/nowhere:/tmp/bench_plot-none", 1);
	ck_assert(!gnuplot_is_there());
	ck_assert_int_eq(gnuplot_run("", 0, fd, err, sizeof(err)), -ENOENT);
	ck_assert_str_eq(err, "gnuplot: No such file or directory (apt-get "
			      "install gnuplot-nox)");
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_plot");
	TCase *tc = tcase_create("bench_plot");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_bench_plot_percentiles);
	tcase_add_test(tc, test_bench_plot_timeline);
	tcase_add_test(tc, test_bench_plot_leaves_out_empty_rows);
	tcase_add_test(tc, test_bench_plot_through_gnuplot);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
