/* SPDX-License-Identifier: MIT */
/*
 * Which cells a command line makes, with which overrides in which order, and
 * in which order they run. bench_axes.c is tested through it.
 */
#define _GNU_SOURCE /* strsep */
#include "bench_plan.h"

#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tap.h"

enum {
	WORDS_MAX = 40,
};

/* A command line, parsed by the real parser. */
struct line {
	char *argv[WORDS_MAX];
	int argc;
	struct options options;
	struct bench_plan plan;
	bool has_wait[8];
	char err[256];
};

/* Words separated by spaces; configs whose names start with w can be told
 * how to wait. */
static int plan(struct line *line, const char *words)
{
	char *copy = strdup(words), *at = copy, *word;

	memset(line, 0, sizeof(*line));
	line->argv[line->argc++] = strdup("punctual");
	while ((word = strsep(&at, " ")))
		line->argv[line->argc++] = strdup(word);
	free(copy);
	ck_assert_int_eq(options_parse(line->argc, line->argv, &line->options,
				       line->err, sizeof(line->err)),
			 0);
	for (size_t i = 0; i < line->options.config_count; i++)
		line->has_wait[i] = line->options.configs[i][0] == 'w';
	return bench_plan_make(&line->plan, &line->options, line->has_wait,
			       line->err, sizeof(line->err));
}

static void line_free(struct line *line)
{
	bench_plan_free(&line->plan);
	options_free(&line->options);
	for (int i = 0; i < line->argc; i++)
		free(line->argv[i]);
}

static void expect_cell(const struct line *line, size_t i, const char *config,
			const char *mode, const char *group, size_t block)
{
	const struct bench_cell *cell = &line->plan.cells[i];

	ck_assert_uint_lt(i, line->plan.cell_count);
	ck_assert_str_eq(cell->config, config);
	ck_assert_str_eq(cell->mode, mode);
	ck_assert_str_eq(cell->group, group);
	ck_assert_uint_eq(cell->block, block);
}

/* The overrides of a cell after bench's own two, joined by spaces. */
static void expect_sets(const struct line *line, size_t i, const char *sets)
{
	const struct bench_cell *cell = &line->plan.cells[i];
	char joined[256] = "";

	ck_assert_uint_ge(cell->set_count, 2);
	ck_assert_str_eq(cell->sets[0], "console.serial=off");
	ck_assert_str_eq(cell->sets[1], "run.stats_path=null");
	for (size_t j = 2; j < cell->set_count; j++) {
		strcat(joined, j > 2 ? " " : "");
		strcat(joined, cell->sets[j]);
	}
	ck_assert_str_eq(joined, sets);
}

START_TEST(test_bench_plan_varies_modes_by_itself)
{
	struct line l;

	ck_assert_int_eq(plan(&l, "bench a.json"), 0);
	ck_assert_uint_eq(l.plan.cell_count, 3);
	ck_assert_uint_eq(l.plan.rounds, BENCH_ROUNDS_DEFAULT);
	expect_cell(&l, 0, "a.json", "kernel", "", 0);
	expect_cell(&l, 1, "a.json", "userspace off", "", 0);
	expect_cell(&l, 2, "a.json", "userspace auto", "", 0);
	expect_sets(&l, 0, "timer.mode=kernel");
	expect_sets(&l, 1, "timer.mode=userspace timer.advance=off");
	expect_sets(&l, 2, "timer.mode=userspace timer.advance=auto");
	line_free(&l);
}
END_TEST

START_TEST(test_bench_plan_varies_wait_where_there_is_the_word)
{
	struct line l;

	ck_assert_int_eq(plan(&l, "bench a.json w.json --rounds 7"), 0);
	ck_assert_uint_eq(l.plan.cell_count, 3 + 6);
	ck_assert_uint_eq(l.plan.rounds, 7);
	expect_cell(&l, 2, "a.json", "userspace auto", "", 0);
	expect_cell(&l, 3, "w.json", "kernel", "wait=spin", 1);
	expect_cell(&l, 5, "w.json", "userspace auto", "wait=spin", 1);
	expect_cell(&l, 6, "w.json", "kernel", "wait=hlt", 2);
	expect_sets(&l, 6, "boot_args.wait=hlt timer.mode=kernel");
	line_free(&l);
}
END_TEST

START_TEST(test_bench_plan_leaves_wait_to_the_user)
{
	struct line l;

	ck_assert_int_eq(plan(&l, "bench w --set boot_args.wait=hlt"), 0);
	ck_assert_uint_eq(l.plan.cell_count, 3);
	expect_sets(&l, 0, "boot_args.wait=hlt timer.mode=kernel");
	line_free(&l);

	ck_assert_int_eq(plan(&l, "bench w --vary boot_args.wait=spin0"), 0);
	ck_assert_uint_eq(l.plan.cell_count, 3);
	expect_cell(&l, 0, "w", "kernel", "wait=spin0", 0);
	line_free(&l);
}
END_TEST

START_TEST(test_bench_plan_sets_a_whole_command_line_first)
{
	struct line l;

	ck_assert_int_eq(plan(&l, "bench w --set boot_args.x=1 "
				  "--vary boot-source.boot_args=wait=hlt,a"),
			 0);
	ck_assert_uint_eq(l.plan.cell_count, 6);
	expect_cell(&l, 0, "w", "kernel", "boot-source.boot_args=wait=hlt", 0);
	expect_sets(&l, 3,
		    "boot-source.boot_args=a boot_args.x=1 timer.mode=kernel");
	line_free(&l);
}
END_TEST

START_TEST(test_bench_plan_crosses_all_that_varies)
{
	struct line l;

	ck_assert_int_eq(plan(&l, "bench a b --vary boot_args.p=1,2 "
				  "--vary timer.max_advance_ns=5000,6000,7000"),
			 0);
	ck_assert_uint_eq(l.plan.cell_count, 2 * 2 * 3 * 3);
	expect_cell(&l, 0, "a", "kernel", "p=1, timer.max_advance_ns=5000", 0);
	expect_cell(&l, 17, "a", "userspace auto",
		    "p=2, timer.max_advance_ns=7000", 5);
	expect_cell(&l, 18, "b", "kernel", "p=1, timer.max_advance_ns=5000", 6);
	expect_sets(&l, 10,
		    "boot_args.p=2 timer.max_advance_ns=5000 "
		    "timer.mode=userspace timer.advance=off");
	for (size_t i = 0; i < l.plan.cell_count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct bench_cell *c = l.plan.cells;

			ck_assert(strcmp(c[i].config, c[j].config) ||
				  strcmp(c[i].mode, c[j].mode) ||
				  strcmp(c[i].group, c[j].group));
		}
	line_free(&l);
}
END_TEST

START_TEST(test_bench_plan_makes_rows_of_the_users_modes)
{
	struct line l;

	/* The mode turns slower and is named first, however it was given. */
	ck_assert_int_eq(plan(&l, "bench a --vary timer.advance=off,9000 "
				  "--vary timer.mode=kernel,userspace"),
			 0);
	ck_assert_uint_eq(l.plan.cell_count, 4);
	expect_cell(&l, 0, "a", "kernel off", "", 0);
	expect_cell(&l, 3, "a", "userspace 9000", "", 0);
	expect_sets(&l, 3, "timer.mode=userspace timer.advance=9000");
	line_free(&l);

	ck_assert_int_eq(plan(&l, "bench a --vary timer.advance=off,auto "
				  "--set timer.mode=userspace"),
			 0);
	ck_assert_uint_eq(l.plan.cell_count, 2);
	expect_cell(&l, 1, "a", "advance auto", "", 0);
	expect_sets(&l, 1, "timer.mode=userspace timer.advance=auto");
	line_free(&l);
}
END_TEST

START_TEST(test_bench_plan_splits_values_at_outer_commas_only)
{
	struct line l;

	ck_assert_int_eq(plan(&l, "bench a --vary "
				  "machine-config.cpu_affinity=[[0,1],[2]],"
				  "[[3]],null --vary boot_args.s=\"x,y\",z"),
			 0);
	ck_assert_uint_eq(l.plan.cell_count, 3 * 2 * 3);
	expect_cell(&l, 0, "a", "kernel",
		    "machine-config.cpu_affinity=[[0,1],[2]], s=\"x,y\"", 0);
	expect_cell(&l, 17, "a", "userspace auto",
		    "machine-config.cpu_affinity=null, s=z", 5);
	line_free(&l);
}
END_TEST

START_TEST(test_bench_plan_allows_a_value_twice)
{
	struct line l;

	/* Two equal rows: how far apart are two runs of the same? */
	ck_assert_int_eq(plan(&l, "bench a --vary timer.mode=kernel,kernel"),
			 0);
	ck_assert_uint_eq(l.plan.cell_count, 2);
	line_free(&l);
}
END_TEST

static const struct {
	const char *words, *says;
} mistakes[] = {
	{"bench a --vary timer.mode", "expected KEY=VALUE,VALUE..."},
	{"bench a --vary =kernel", "expected KEY=VALUE,VALUE..."},
	{"bench a --vary timer.mode=", "an empty value"},
	{"bench a --vary timer.mode=kernel,", "an empty value"},
	{"bench a --vary timer.mode=,kernel", "an empty value"},
	{"bench a --vary x.y=1 --vary x.y=2", "x.y: --vary twice"},
	{"bench a --vary timer.mode=kernel --vary timer.mode=userspace",
	 "timer.mode: --vary twice"},
	{"bench a --vary x.y=1 --set x.y=2", "x.y: both --vary and --set"},
	{"bench a --set timer.mode=kernel", "--vary says how"},
	{"bench a --set timer.advance=off", "--vary says how"},
	{"bench a --set console.serial=off", "bench sets it itself"},
	{"bench a --set run.stats_path=x", "bench sets it itself"},
	{"bench a --vary run.stats_path=x", "bench sets it itself"},
	{"bench a --rounds 10000 --vary x.y=1,2,3,4", "more than 100000 runs"},
	{"bench a --vary a.a=1,2,3,4,5,6,7,8,9,10 --vary "
	 "b.b=1,2,3,4,5,6,7,8,9,10 --vary c.c=1,2,3,4,5,6,7,8,9,10",
	 "more than 1024 combinations"},
};

START_TEST(test_bench_plan_refuses_mistakes)
{
	struct line l;

	ck_assert_int_eq(plan(&l, mistakes[_i].words), -EINVAL);
	ck_assert_ptr_nonnull(strstr(l.err, mistakes[_i].says));
	ck_assert_ptr_null(l.plan.cells);
	line_free(&l);
}
END_TEST

/* Each round runs every cell once; over two turns each cell stands equally
 * often in every place; no pair of neighbours is always the same. */
START_TEST(test_bench_plan_order_is_fair)
{
	enum {
		CELLS_MAX = 12,
	};

	for (size_t n = 1; n <= CELLS_MAX; n++) {
		unsigned int at[CELLS_MAX][CELLS_MAX] = {{0}};

		for (unsigned int round = 0; round < 2 * n; round++) {
			bool seen[CELLS_MAX] = {false};

			for (size_t i = 0; i < n; i++) {
				size_t cell = bench_plan_cell_at(n, round, i);

				ck_assert_uint_lt(cell, n);
				ck_assert(!seen[cell]);
				seen[cell] = true;
				at[cell][i]++;
			}
		}
		for (size_t cell = 0; cell < n; cell++)
			for (size_t i = 0; i < n; i++)
				ck_assert_uint_eq(at[cell][i], 2);
	}
	for (size_t i = 0; i < 3; i++) {
		static const size_t rounds[3][3] = {
			{0, 1, 2}, {1, 0, 2}, {2, 0, 1}};

		for (unsigned int round = 0; round < 3; round++)
			ck_assert_uint_eq(bench_plan_cell_at(3, round, i),
					  rounds[round][i]);
	}
}
END_TEST

START_TEST(test_bench_plan_finds_the_word_wait)
{
	ck_assert(bench_plan_has_wait("wait=spin"));
	ck_assert(bench_plan_has_wait("fires=3  wait="));
	ck_assert(!bench_plan_has_wait(""));
	ck_assert(!bench_plan_has_wait("await=spin wait waits=1"));
}
END_TEST

START_TEST(test_bench_plan_baseline)
{
	struct line line;

	ck_assert_int_eq(plan(&line, "bench w.json --baseline=qemu"), 0);
	ck_assert_uint_eq(line.plan.cell_count, 8);
	expect_cell(&line, 2, "w.json", "userspace auto", "wait=spin", 0);
	expect_cell(&line, 3, "w.json", "qemu", "wait=spin", 0);
	expect_cell(&line, 4, "w.json", "kernel", "wait=hlt", 1);
	expect_cell(&line, 7, "w.json", "qemu", "wait=hlt", 1);
	ck_assert(line.plan.cells[7].is_qemu && !line.plan.cells[6].is_qemu);
	expect_sets(&line, 3,
		    "boot_args.wait=spin timer.mode=userspace "
		    "timer.advance=auto timer.mode=kernel");
	line_free(&line);
	/* Also where no mode is varied. */
	ck_assert_int_eq(plan(&line, "bench a.json --vary timer.mode=userspace "
				     "--baseline=qemu"),
			 0);
	ck_assert_uint_eq(line.plan.cell_count, 2);
	expect_cell(&line, 1, "a.json", "qemu", "", 0);
	line_free(&line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_plan");
	TCase *tc = tcase_create("bench_plan");

	tcase_add_test(tc, test_bench_plan_varies_modes_by_itself);
	tcase_add_test(tc, test_bench_plan_baseline);
	tcase_add_test(tc, test_bench_plan_varies_wait_where_there_is_the_word);
	tcase_add_test(tc, test_bench_plan_leaves_wait_to_the_user);
	tcase_add_test(tc, test_bench_plan_sets_a_whole_command_line_first);
	tcase_add_test(tc, test_bench_plan_crosses_all_that_varies);
	tcase_add_test(tc, test_bench_plan_makes_rows_of_the_users_modes);
	tcase_add_test(tc, test_bench_plan_splits_values_at_outer_commas_only);
	tcase_add_test(tc, test_bench_plan_allows_a_value_twice);
	tcase_add_loop_test(tc, test_bench_plan_refuses_mistakes, 0,
			    sizeof(mistakes) / sizeof(mistakes[0]));
	tcase_add_test(tc, test_bench_plan_order_is_fair);
	tcase_add_test(tc, test_bench_plan_finds_the_word_wait);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
