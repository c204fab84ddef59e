/* SPDX-License-Identifier: MIT */
/*
 * Two results side by side: which rows go together, what their medians come
 * to, what is refused, what is said to differ, and that no document, however
 * broken, does harm.
 */
#define _GNU_SOURCE /* asprintf, open_memstream */
#include "compare.h"

#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_config.h"
#include "compare_report.h"
#include "jsonw.h"
#include "prng.h"
#include "tap.h"

enum {
	ROUNDS = 6,
};

/* What a test varies of a document of one row. */
struct made {
	const char *config, *mode, *args, *more, *kernel, *why_not;
	const char *image;
	unsigned int rounds, tsc_khz;
	long long p50_tsc; /* each round one more */
};

static struct made usual(void)
{
	return (struct made){
		.config = "configs/a.json",
		.mode = "kernel",
		.args = "wait=spin",
		.more = "",
		.kernel = "6.1.0",
		.image = "build/lateness.elf",
		.rounds = ROUNDS,
		.tsc_khz = 1000000,
		.p50_tsc = 1000,
	};
}

static char *append(char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static char *append(char *text, const char *format, ...)
{
	char *more, *joined;
	va_list args;

	va_start(args, format);
	ck_assert_int_ge(vasprintf(&more, format, args), 0);
	va_end(args);
	ck_assert_int_ge(asprintf(&joined, "%s%s", text, more), 0);
	free(text);
	free(more);
	return joined;
}

static char *add_cell(char *text, const struct made *m)
{
	text = append(
		text,
		"{\"config\":\"%s\",\"mode\":\"%s\",\"group\":\"wait=spin\","
		"\"comparable\":%s,\"why_not\":%s%s%s,\"image_fnv1a\":\"12\","
		"\"config_in_force\":{\"boot-source\":{\"kernel_image_path\":"
		"\"%s\",\"boot_args\":\"%s\"},\"machine-config\":"
		"{\"vcpu_count\":1,\"cpu_affinity\":[[1],[2]]},\"timer\":"
		"{\"mode\":\"%s\",\"max_spin_share\":0.25%s}},\"rounds\":[",
		m->config, m->mode, m->why_not ? "false" : "true",
		m->why_not ? "\"" : "", m->why_not ? m->why_not : "null",
		m->why_not ? "\"" : "", m->image, m->args, m->mode, m->more);
	for (unsigned int i = 0; i < m->rounds; i++)
		text = append(text,
			      "%s{\"ok\":true,\"tsc_khz\":%u,\"rung\":\"-\","
			      "\"p50_tsc\":%lld,\"p99_tsc\":%lld}",
			      i ? "," : "", m->tsc_khz, m->p50_tsc + i,
			      3 * m->p50_tsc);
	return append(text, "]}");
}

/* A document of one row or two. */
static char *text_of(const struct made *first, const struct made *second)
{
	char *text = strdup("");

	text = append(text,
		      "{\"schema\":\"punctual-bench-2\",\"version\":\"0.1.0\","
		      "\"host\":{\"kernel\":\"%s\"},\"cells\":[",
		      first->kernel);
	text = add_cell(text, first);
	if (second) {
		text = append(text, ",");
		text = add_cell(text, second);
	}
	return append(text, "]}");
}

static struct json_doc docs[2];
static struct compare compare;

static void load(int side, const struct made *first, const struct made *second)
{
	char *text = text_of(first, second), err[256];

	ck_assert_msg(!json_parse(&docs[side], "x", text, strlen(text), 1 << 20,
				  err, sizeof(err)),
		      "%s", err);
	ck_assert_msg(!compare_check(&docs[side], "x", err, sizeof(err)), "%s",
		      err);
	free(text);
}

static void make(const struct made *a, const struct made *b)
{
	load(0, a, NULL);
	load(1, b, NULL);
	ck_assert_int_eq(compare_make(&compare, &docs[0], &docs[1]), 0);
}

static void tear_down(void)
{
	compare_free(&compare);
	json_free(&docs[0]);
	json_free(&docs[1]);
}

START_TEST(test_compare_divides_times_not_cycles)
{
	struct made a = usual(), b = usual();
	const struct compare_side *side;
	const struct bench_ratio *ratio;
	char why[256];

	/* 1000 to 1005 cycles at 1 GHz and at 2 GHz. */
	b.tsc_khz = 2000000;
	b.config = "/elsewhere/a.json";
	b.image = "/elsewhere/lateness.elf";
	make(&a, &b);
	ck_assert_uint_eq(compare.row_count, 1);
	ck_assert_str_eq(compare.rows[0].why_not, "");
	side = compare.rows[0].sides[COMPARE_P50];
	ck_assert_uint_eq(side[0].rounds, 6);
	ck_assert_int_eq(side[0].median_ps, 1002000);
	ck_assert_int_eq(side[0].low_ps, 1000000);
	ck_assert_int_eq(side[0].high_ps, 1005000);
	ck_assert_int_eq(side[0].level_ppm, 968750);
	ck_assert_int_eq(side[1].median_ps, 501000);
	ratio = &compare.rows[0].ratios[COMPARE_P50];
	ck_assert_int_eq(ratio->median_ppm, 500000);
	ck_assert_int_eq(ratio->low_ppm, 497512);  /* 500 / 1005 */
	ck_assert_int_eq(ratio->high_ppm, 502500); /* 502.5 / 1000 */
	ck_assert_int_eq(ratio->level_ppm, 937500);
	ck_assert_int_eq(ratio->verdict, BENCH_BETTER);
	ratio = &compare.rows[0].ratios[COMPARE_P99];
	ck_assert_int_eq(ratio->median_ppm, 500000);
	ck_assert(!compare_is_vain(&compare, why, sizeof(why)));
}
END_TEST

START_TEST(test_compare_verdicts)
{
	struct made a = usual(), b = usual();
	char why[512];

	make(&a, &b);
	ck_assert_int_eq(compare.rows[0].ratios[COMPARE_P50].verdict,
			 BENCH_NO_DIFFERENCE);
	tear_down();
	b.p50_tsc = 1100;
	make(&a, &b);
	ck_assert_int_eq(compare.rows[0].ratios[COMPARE_P50].verdict,
			 BENCH_WORSE);
	tear_down();
	/* Too few rounds, on one side alone. */
	b.rounds = 5;
	make(&a, &b);
	ck_assert(compare.rows[0].ratios[COMPARE_P50].is_known);
	ck_assert(!compare.rows[0].ratios[COMPARE_P50].has_interval);
	ck_assert(compare_is_vain(&compare, why, sizeof(why)));
	ck_assert_str_eq(why, "a.json, wait=spin, kernel: cannot tell");
	tear_down();
	b.rounds = 0;
	make(&a, &b);
	ck_assert(!compare.rows[0].ratios[COMPARE_P50].is_known);
	ck_assert(compare_is_vain(&compare, why, sizeof(why)));
	tear_down();
	/* Nothing can be said of a time of 0, or before the deadline. */
	b = usual();
	a.p50_tsc = -5;
	make(&a, &b);
	ck_assert(!compare.rows[0].ratios[COMPARE_P50].has_interval);
	ck_assert_int_eq(compare.rows[0].ratios[COMPARE_P50].verdict,
			 BENCH_CANNOT_TELL);
}
END_TEST

static void expect_refused(const struct made *b, const char *says)
{
	struct made a = usual();
	char why[512];

	make(&a, b);
	ck_assert_str_eq(compare.rows[0].why_not, says);
	ck_assert_int_eq(compare.rows[0].ratios[COMPARE_P50].verdict,
			 BENCH_NOT_COMPARABLE);
	ck_assert(!compare.rows[0].ratios[COMPARE_P50].is_known);
	ck_assert(compare_is_vain(&compare, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, says));
	tear_down();
}

START_TEST(test_compare_refuses)
{
	struct made b = usual();

	b.args = "wait=spin fires=9";
	expect_refused(&b, "boot-source.boot_args: wait=spin in A, "
			   "wait=spin fires=9 in B");
	b = usual();
	b.image = "build/hello.elf";
	expect_refused(&b, "boot-source.kernel_image_path: lateness.elf in A, "
			   "hello.elf in B");
	b = usual();
	b.why_not = "mode userspace did not intercept: 9 arms, guest fired 10";
	expect_refused(&b, "in B: mode userspace did not intercept: 9 arms, "
			   "guest fired 10");
	b = usual();
	b.why_not = "not comparable: timer.allow_early lets it be early";
	expect_refused(&b, "in B: not comparable: timer.allow_early lets it be "
			   "early");
}
END_TEST

START_TEST(test_compare_pairs_rows_by_name)
{
	struct made a = usual(), b = usual(), other = usual();
	char why[512];

	/* Two rows of one name: first with first, second with second. */
	b.p50_tsc = 2000;
	load(0, &a, &b);
	load(1, &a, &b);
	ck_assert_int_eq(compare_make(&compare, &docs[0], &docs[1]), 0);
	ck_assert_uint_eq(compare.row_count, 2);
	ck_assert_int_eq(compare.rows[1].sides[COMPARE_P50][1].median_ps,
			 2002000);
	ck_assert_uint_eq(compare.only[0] + compare.only[1], 0);
	tear_down();
	other.mode = "userspace auto";
	load(0, &a, &other);
	load(1, &other, NULL);
	ck_assert_int_eq(compare_make(&compare, &docs[0], &docs[1]), 0);
	ck_assert_uint_eq(compare.row_count, 1);
	ck_assert_uint_eq(compare.only[0], 1);
	ck_assert_uint_eq(compare.only[1], 0);
	tear_down();
	make(&a, &other);
	ck_assert_uint_eq(compare.row_count, 0);
	ck_assert(compare_is_vain(&compare, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, "no row of A is in B"));
}
END_TEST

static char *printed(void)
{
	static const char *const names[2] = {"a", "b"};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	compare_print(&compare, names, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

START_TEST(test_compare_says_what_differs)
{
	struct made a = usual(), b = usual();
	char *text;

	b.kernel = "6.12\\u001b[2J\xc2\x9b";
	b.more = ",\"tuner\":\"step\"";
	make(&a, &b);
	text = printed();
	ck_assert_ptr_nonnull(strstr(text, "\n  kernel               6.1.0 / "
					   "6.12\\u001b[2J??\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "\n  timer.tuner          - / step\n"));
	/* Neither what is the same, nor where the files were. */
	ck_assert_ptr_null(strstr(text, "punctual  "));
	ck_assert_ptr_null(strstr(text, "cpu_affinity"));
	ck_assert_ptr_null(strstr(text, "_path"));
	ck_assert_ptr_nonnull(
		strstr(text, "\n  p50          1002 (1000-1005)         "
			     "1002 (1000-1005)   1.000   0.995   1.005  "
			     "no difference\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nwhat differs, A / B:\n"));
	free(text);
}
END_TEST

START_TEST(test_compare_says_that_nothing_differs)
{
	struct made a = usual();
	char *text;

	make(&a, &a);
	text = printed();
	ck_assert_ptr_nonnull(strstr(text, "\nwhat differs, A / B: nothing\n"));
	free(text);
}
END_TEST

static const struct {
	const char *from, *to, *says;
} wrong[] = {
	{"punctual-bench-2", "punctual-bench-1", "run bench --json again"},
	{"punctual-bench-2", "punctual-result-1", "schema is not"},
	{"\"cells\"", "\"sells\"", "cells or host: missing"},
	{"\"cells\":[", "\"cells\":[7,", "cells[0]: not a row of bench"},
	{"\"host\":{", "\"hist\":{", "cells or host: missing"},
	{"\"mode\":\"kernel\",\"g", "\"mode\":[],\"g", "cells[0]: not a row"},
	{"\"rounds\":[", "\"rounds\":7,\"x\":[", "cells[0]: not a row"},
	{"\"config_in_force\":{", "\"config_of_old\":{", "cells[0]: not a"},
	{"\"comparable\":true", "\"comparable\":1", "cells[0]: not a row"},
};

START_TEST(test_compare_refuses_other_documents)
{
	struct made a = usual();
	char *good = text_of(&a, NULL), *bad, err[256];
	const char *from = wrong[_i].from, *at = strstr(good, from);

	ck_assert_ptr_nonnull(at);
	ck_assert_int_gt(asprintf(&bad, "%.*s%s%s", (int)(at - good), good,
				  wrong[_i].to, at + strlen(from)),
			 0);
	ck_assert_msg(!json_parse(&docs[0], "x", bad, strlen(bad), 1 << 20, err,
				  sizeof(err)),
		      "%s", err);
	ck_assert_int_eq(compare_check(&docs[0], "x.json", err, sizeof(err)),
			 -EINVAL);
	ck_assert_msg(strstr(err, wrong[_i].says), "%s", err);
	ck_assert_ptr_eq(strstr(err, "x.json: "), err);
	free(bad);
	free(good);
}
END_TEST

/* All the way through, if it gets so far. True if it did. */
static bool survive(const char *text, size_t len)
{
	static const char *const names[2] = {"a", "b"};
	char err[256], why[512];
	struct jsonw w;
	size_t size;

	if (json_parse(&docs[1], "x", text, len, 1 << 20, err, sizeof(err)) ||
	    compare_check(&docs[1], "x", err, sizeof(err)))
		return false;
	ck_assert_int_eq(compare_make(&compare, &docs[0], &docs[1]), 0);
	free(printed());
	compare_is_vain(&compare, why, sizeof(why));
	jsonw_init(&w, 0, 1 << 20);
	compare_write(&compare, names, 0, &w);
	ck_assert_ptr_nonnull(jsonw_text(&w, &size));
	jsonw_free(&w);
	return true;
}

START_TEST(test_compare_survives_anything)
{
	static const char bytes[] = "\"\\{}[],:0123456789-e.tfn \x7f\xff/";
	struct made a = usual(), b = usual();
	uint64_t state = 99;
	char *good;
	size_t len;
	int through = 0;

	b.mode = "userspace";
	load(0, &a, &b);
	good = text_of(&a, &b);
	len = strlen(good);
	for (int i = 0; i < 4000; i++) {
		char *bad = strdup(good);
		int changes = 1 + (int)(prng_next(&state) % 3);

		while (changes--)
			bad[prng_next(&state) % len] =
				bytes[prng_next(&state) % (sizeof(bytes) - 1)];
		through += survive(bad, len);
		compare_free(&compare);
		json_free(&docs[1]);
		free(bad);
	}
	/* Or it would show nothing. */
	ck_assert_int_ge(through, 400);
	free(good);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compare");
	TCase *tc = tcase_create("compare");

	tcase_add_checked_fixture(tc, NULL, tear_down);
	tcase_add_test(tc, test_compare_divides_times_not_cycles);
	tcase_add_test(tc, test_compare_verdicts);
	tcase_add_test(tc, test_compare_refuses);
	tcase_add_test(tc, test_compare_pairs_rows_by_name);
	tcase_add_test(tc, test_compare_says_what_differs);
	tcase_add_test(tc, test_compare_says_that_nothing_differs);
	tcase_add_loop_test(tc, test_compare_refuses_other_documents, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(tc, test_compare_survives_anything);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
