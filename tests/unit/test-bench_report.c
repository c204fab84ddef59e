/* SPDX-License-Identifier: MIT */
/*
 * The table, line by line, and the JSON, read back: bench_table.c and
 * bench_json.c over the same made-up benchmark.
 */
#define _GNU_SOURCE /* open_memstream */
#include "bench_json.h"
#include "bench_table.h"

#include <stdlib.h>
#include <string.h>

#include "bench_case.h"
#include "json.h"
#include "jsonw.h"

/* The table, with a newline in front; the caller frees it. */
static char *table(void)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	fputc('\n', out);
	bench_table_print(&report, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

/* Names are padded to the longest of all tables. */
static const char *const lines[] = {
	"Linux 6.1.0, kvm_amd, A CPU, 2 CPUs, clocksource tsc",
	"TSC 2000.000 MHz, userspace through rung split; medians over the "
	"ok of 3 rounds",
	"guest memory prefaulted and not locked",
	"governor -, halt_poll_ns 200000, may run on CPUs 0-1, scheduler other, "
	"priority 0, nice 5",
	"noise floor, cycles (p99.9 and longest gap of a loop of TSC reads): "
	"before 33 and 4000, after -",
	"a.json, wait=spin",
	"mode                cycles      ns    cycles       ns  kernel "
	"early lost doubled share  us/fire ok/bad",
	"kernel               49000   24500    147000    73500   1.000 "
	"    0    0       0 1.000     12.3    3/0",
	"userspace off        24500   12250     73500    36750   0.490 "
	"    0    0       0 0.900     12.3    2/1",
	"userspace auto        4900    2450     14700     7350   0.100 "
	"    1    0       0 0.800     12.3    3/0",
	"p50 to that of \"kernel\", each round:",
	"userspace off       0.510       -   0.490",
	"userspace auto      0.102   0.100   0.098",
	"mode              ratio of      median     from       to level % rounds"
	"  verdict",
	"userspace off     p50            0.490        -        -       -      2"
	"  cannot tell: too few rounds",
	"                  p99            0.490        -        -       -      2"
	"  cannot tell: too few rounds",
	"                  CPU/fire       1.000        -        -       -      2"
	"  cannot tell: too few rounds",
	"                  guest share    0.900        -        -       -      2"
	"  cannot tell: too few rounds",
	"userspace auto    p50            0.100        -        -       -      3"
	"  not comparable",
	"warm-up, in no percentile: the first 1 of 10 fires of each run",
	"halt_poll_ns 50000 in all VMs (timer.halt_poll_ns)",
	"vmentry_advance auto, measured before the rounds; 8 of 8 VMs "
	"answered:",
	"  running   900 cycles taken off the wait: min 1000 of 192 samples, "
	"margin 100",
	"  halted      0 cycles taken off the wait: min 70 of 191 samples, "
	"margin 0",
	"! userspace auto: not comparable: early 1, lost 0, doubled 0",
	"CPU time stolen from this host meanwhile, in 1/100 s: kernel 3, "
	"userspace off 0, userspace auto 0",
	"b.json",
	"mode                cycles      ns    cycles       ns   row 1 "
	"early lost doubled share  us/fire ok/bad",
	"advance off            100      50       300      150   1.000 "
	"    0    0       0     -     12.3    3/0",
	"advance auto           300     150       900      450       - "
	"    0    0       0     -     12.3    3/0",
	"advance 123456789        -       -         -        -       - "
	"    0    0       0     -        -    0/3",
	"! advance auto: mode userspace did not intercept: 9 arms, guest "
	"fired 10",
	"! advance 123456789: cannot tell: no round succeeded",
};

START_TEST(test_bench_table_has_the_lines)
{
	char *text = table(), line[128];
	const char *at = text;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "\n%s\n", lines[i]);
		at = strstr(at, line);
		ck_assert_msg(at, "missing or out of order: %s", lines[i]);
	}
	ck_assert_ptr_null(strstr(at + 1, "\n! "));
	at = strstr(text, "vmentry_advance");
	ck_assert_ptr_null(strstr(at + 1, "vmentry_advance"));
	free(text);
}
END_TEST

START_TEST(test_bench_table_says_why_nothing_is_compensated)
{
	char *text;

	calibration_items[1].measured.answered = 2;
	text = table();
	ck_assert_ptr_nonnull(
		strstr(text, "\nvmentry_advance auto, measured before the "
			     "rounds; 2 of 8 VMs answered, so nothing is taken "
			     "off the wait\n"));
	ck_assert_ptr_null(strstr(text, "margin"));
	free(text);
}
END_TEST

START_TEST(test_bench_table_is_no_wider_than_a_page)
{
	char *text, *line, *at;
	size_t longest = 0;

	cells[5].mode = "userspace auto";
	text = at = table();
	while ((line = strsep(&at, "\n")))
		if (strstr(line, "rounds") || strstr(line, "/0"))
			longest =
				strlen(line) > longest ? strlen(line) : longest;
	ck_assert_uint_eq(longest, 99);
	free(text);
}
END_TEST

/* Eleven ratios and more go on the next line, under the first. */
START_TEST(test_bench_table_folds_many_rounds)
{
	enum {
		MANY = 23,
	};
	static struct bench_run many[2 * MANY];
	static struct bench_summary sums[2];
	struct bench_plan two = {cells, 2, MANY};
	struct bench_report r = report;
	int64_t scratch[MANY];
	char *text, *list;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	r.plan = &two;
	r.runs = many;
	r.summaries = sums;
	for (int i = 0; i < MANY; i++) {
		many[i] = runs[0];
		many[MANY + i] = runs[ROUNDS];
	}
	for (size_t i = 0; i < 2; i++)
		bench_summarize(bench_runs(&r, i), many, MANY, scratch,
				&sums[i]);
	bench_table_print(&r, out);
	ck_assert_int_eq(fclose(out), 0);
	list = strstr(text, "each round:\n") + strlen("each round:\n");
	for (int i = 0; i < 3; i++) {
		size_t n = i < 2 ? 10 : 3;
		char *end = strchr(list, '\n');

		ck_assert_ptr_nonnull(end);
		ck_assert_uint_eq((size_t)(end - list), 14 + 8 * n);
		list = end + 1;
	}
	ck_assert_int_eq(*list, 'm'); /* "mode   ratio of ..." */
	free(text);
}
END_TEST

static void expect(const struct json_doc *doc, const char *path, double value)
{
	const struct json_node *node = json_get(doc, json_root(doc), path);
	double found = 0;

	ck_assert_msg(node, "%s", path);
	ck_assert_msg(!json_double(doc, node, &found), "%s", path);
	ck_assert_msg(found == value, "%s is %f", path, found);
}

static void expect_null(const struct json_doc *doc, const char *path)
{
	const struct json_node *node = json_get(doc, json_root(doc), path);

	ck_assert_msg(node && node->type == JSON_NULL, "%s", path);
}

static void expect_text(const struct json_doc *doc, const char *path,
			const char *text)
{
	const struct json_node *node = json_get(doc, json_root(doc), path);

	ck_assert_msg(node && json_equals(doc, node, text), "%s", path);
}

START_TEST(test_bench_json_has_it_all)
{
	struct json_doc doc;
	struct jsonw w;
	const char *text;
	char err[128];
	size_t len;

	jsonw_init(&w, 2, 1 << 20);
	bench_json_write(&report, &w);
	text = jsonw_text(&w, &len);
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(json_parse(&doc, NULL, text, len, JSON_SIZE_MAX, err,
				    sizeof(err)),
			 0);
	expect_text(&doc, "schema", "punctual-bench-2");
	expect(&doc, "status", 1);
	expect(&doc, "rounds", 3);
	expect_text(&doc, "host.kvm_backend", "kvm_amd");
	ck_assert_uint_eq(
		json_get(&doc, json_root(&doc), "calibrations")->children, 2);
	expect(&doc, "calibrations[0].vms_answered", 0);
	expect(&doc, "calibrations[1].vms_answered", 8);
	expect(&doc, "calibrations[1].wall_ns", 5000);
	expect(&doc, "calibrations[1].running.samples", 192);
	expect(&doc, "calibrations[1].running.min_tsc", 1000);
	expect(&doc, "calibrations[1].running.margin_tsc", 100);
	expect(&doc, "calibrations[1].running.result_tsc", 900);
	expect(&doc, "calibrations[1].halted.result_tsc", 0);
	expect_null(&doc, "cells[0].calibration");
	expect(&doc, "cells[2].calibration", 1);
	expect(&doc, "cells[3].calibration", 0);
	expect_text(&doc, "cells[0].set[0]", "timer.mode=kernel");
	expect_text(&doc, "cells[1].mode", "userspace off");
	expect_text(&doc, "cells[1].group", "wait=spin");
	expect(&doc, "cells[1].reference", 0);
	expect(&doc, "cells[1].ok", 2);
	expect(&doc, "cells[1].failed", 1);
	expect(&doc, "cells[1].median.p50_tsc", 24500);
	expect(&doc, "cells[1].ratios.p50.median", 0.49);
	expect(&doc, "cells[1].ratios.p50.rounds", 2);
	expect_null(&doc, "cells[1].ratios.p50.low");
	expect_null(&doc, "cells[1].ratios.p50.level");
	expect_text(&doc, "cells[1].ratios.p50.verdict", "cannot tell");
	expect(&doc, "cells[1].ratios.cpu_per_fire.median", 1);
	expect(&doc, "cells[1].ratios.guest_share.median", 0.9);
	expect(&doc, "cells[1].median.cpu_ns_per_fire", 12350);
	expect_null(&doc, "cells[1].why_not");
	expect(&doc, "cells[1].rounds[0].round", 1);
	expect(&doc, "cells[1].rounds[0].p50_tsc", 24500);
	expect(&doc, "cells[1].rounds[0].p50_ratio", 0.510417);
	expect(&doc, "cells[1].rounds[0].p99_ratio", 0.510417);
	expect(&doc, "cells[1].rounds[0].cpu_ratio", 1);
	expect(&doc, "cells[1].rounds[0].guest_share", 0.9);
	expect_null(&doc, "cells[1].rounds[0].message");
	expect(&doc, "cells[1].rounds[1].status", 122);
	expect_text(&doc, "cells[1].rounds[1].message", "status 122: KVM");
	expect_null(&doc, "cells[1].rounds[1].p50_ratio");
	ck_assert_ptr_null(
		json_get(&doc, json_root(&doc), "cells[1].rounds[1].p50_tsc"));
	expect_text(&doc, "cells[2].why_not",
		    "not comparable: early 1, lost 0, doubled 0");
	expect_text(&doc, "host.allowed_cpus", "0-1");
	expect(&doc, "noise_floor_before.cpu", 1);
	expect(&doc, "noise_floor_before.reads", 4096);
	expect(&doc, "noise_floor_before.span_tsc", 100000);
	expect(&doc, "noise_floor_before.p99_9_tsc", 33);
	expect(&doc, "noise_floor_before.max_tsc", 4000);
	expect_null(&doc, "noise_floor_after");
	expect_text(&doc, "cells[0].config_in_force.boot-source.boot_args",
		    "wait=spin");
	expect_text(&doc, "cells[0].config_in_force.timer.mode", "kernel");
	expect_text(&doc, "cells[1].config_in_force.timer.mode", "userspace");
	expect(&doc, "cells[0].config_in_force.timer.halt_poll_ns", 50000);
	expect_null(&doc, "cells[1].config_in_force.timer.halt_poll_ns");
	expect(&doc, "cells[0].rounds[0].steal_ticks", 3);
	expect(&doc, "cells[0].rounds[0].warmup", 1);
	ck_assert_ptr_nonnull(json_get(&doc, json_root(&doc),
				       "cells[0].rounds[0].memory_locked"));
	expect(&doc, "cells[0].rounds[0].below_zero", 2);
	expect(&doc, "cells[0].rounds[0].lateness_tsc.count", 7);
	expect(&doc, "cells[0].rounds[0].lateness_tsc.buckets[0][0]", 5);
	expect(&doc, "cells[0].rounds[0].lateness_tsc.buckets[0][2]", 7);
	expect(&doc, "cells[0].rounds[1].lateness_tsc.count", 0);
	expect_text(&doc, "cells[0].image_fnv1a", "0000000000000abc");
	expect_null(&doc, "cells[1].image_fnv1a");
	expect(&doc, "cells[3].block", 1);
	expect(&doc, "cells[4].reference", 3);
	/* Swallowed: no ratio, not even of the rounds that look well. */
	expect_null(&doc, "cells[4].ratios.p50.median");
	expect_text(&doc, "cells[4].ratios.p50.verdict", "not comparable");
	expect_null(&doc, "cells[4].rounds[0].p50_ratio");
	expect(&doc, "cells[4].rounds[2].arms", 9);
	expect_null(&doc, "cells[5].median.p50_tsc");
	json_free(&doc);
	jsonw_free(&w);
}
END_TEST

START_TEST(test_bench_json_leaves_out_rounds_not_run)
{
	struct json_doc doc;
	struct jsonw w;
	const char *text;
	char err[128];
	size_t len;

	runs[ROUNDS + 2] = (struct bench_run){0};
	jsonw_init(&w, 0, 1 << 20);
	bench_json_write(&report, &w);
	text = jsonw_text(&w, &len);
	ck_assert_int_eq(json_parse(&doc, NULL, text, len, JSON_SIZE_MAX, err,
				    sizeof(err)),
			 0);
	ck_assert_uint_eq(
		json_get(&doc, json_root(&doc), "cells[0].rounds")->children,
		3);
	ck_assert_uint_eq(
		json_get(&doc, json_root(&doc), "cells[1].rounds")->children,
		2);
	json_free(&doc);
	jsonw_free(&w);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_report");
	TCase *tc = tcase_create("bench_report");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_bench_table_has_the_lines);
	tcase_add_test(tc, test_bench_table_says_why_nothing_is_compensated);
	tcase_add_test(tc, test_bench_table_is_no_wider_than_a_page);
	tcase_add_test(tc, test_bench_table_folds_many_rounds);
	tcase_add_test(tc, test_bench_json_has_it_all);
	tcase_add_test(tc, test_bench_json_leaves_out_rounds_not_run);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
