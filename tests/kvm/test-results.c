/* SPDX-License-Identifier: MIT */
/*
 * Proves that the result of a run, in whatever mode and however it ended, is
 * what configs/result.schema.json says: the documents keep to the schema, and
 * the schema is tight enough to notice any value of another kind and any
 * member that is not described. And that members which exist in some runs
 * only are there in those and in no other. A benchmark's keeps to
 * configs/bench.schema.json; how tight that is, a unit test knows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "env.h"
#include "schema_tight.h"

#define SCHEMA "result.schema.json"

static struct env env;

static const struct {
	const char *image, *boot_args;
	const char *set[2]; /* or NULL */
	bool userspace;
} runs[] = {
	{"hello.elf", "status=0", {"timer.mode=kernel"}, false},
	{"hello.elf", "status=300", {"timer.mode=kernel"}, false},
	{"lateness.elf",
	 "wait=hlt fires=50",
	 {"timer.mode=kernel", "--samples"},
	 false},
	{"hello.elf", "status=0", {"timer.mode=userspace"}, true},
	{"hello.elf", "triple", {"timer.mode=userspace"}, true},
	{"hello.elf", "hang", {"run.timeout_ms=200"}, true},
	{"plain64.elf", "fetch_hole", {"timer.mode=userspace"}, true},
	{"lateness.elf", "wait=hlt fires=50", {"timer.advance=off"}, true},
	{"lateness.elf",
	 "wait=hlt fires=50 dist=random",
	 {"timer.advance=auto", "machine-config.vcpu_count=2"},
	 true},
	{"lateness.elf",
	 "wait=spin fires=50",
	 {"timer.advance=5000", "--samples"},
	 true},
	{"lateness.elf",
	 "edge",
	 {"timer.vmentry_advance=10", "timer.allow_early=true"},
	 true},
	{"lateness.elf", "edge", {"timer.vmentry_advance=off"}, true},
	{"lateness.elf", "wait=hlt fires=50", {"timer.source=posix"}, true},
	{"lateness.elf", "arms_only", {"timer.mode=userspace"}, true},
};

enum {
	RUNS_KERNEL = 3,	/* the first ones */
	RUN_KERNEL_SAMPLES = 2, /* with --samples */
	RUN_USER_CPUS = 8,	/* two CPUs, advance auto: most members */
	RUN_USER_SAMPLES = 9,
};

static int run_count(void)
{
	return env.userspace ? (int)(sizeof(runs) / sizeof(runs[0]))
			     : RUNS_KERNEL;
}

static void run_one(int i, struct json_doc *doc)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct run run;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "result.json", path));
	env_guest(&env, &run, runs[i].image, runs[i].boot_args,
		  SETS(option, runs[i].set[0], runs[i].set[1]));
	doc_load(doc, path);
	ck_assert_int_eq(doc_u64(doc, "end.status"),
			 (uint64_t)run_status(&run));
	run_free(&run);
}

static bool has(const struct json_doc *doc, const char *path)
{
	return json_get(doc, json_root(doc), path);
}

/* Is a key that takes a number or a word the word "auto"? */
static bool is_auto(const struct json_doc *doc, const char *path)
{
	return json_equals(doc, doc_get(doc, path), "auto");
}

START_TEST(test_results_keep_to_the_schema)
{
	bool userspace = runs[_i].userspace, calibrates;
	struct json_doc doc;

	run_one(_i, &doc);
	schema_expect(env.configs, SCHEMA, &doc);
	ck_assert(has(&doc, "host.steal_ticks_during_run"));
	ck_assert_int_eq(has(&doc, "vcpus[0].timer"), userspace);
	ck_assert_int_eq(has(&doc, "entry_cost_tsc"), userspace);
	ck_assert_int_eq(has(&doc, "timer_thread"), userspace);
	ck_assert_int_eq(has(&doc, "config.unused"), !userspace);
	ck_assert_int_eq(has(&doc, "vcpus[0].timer.tuner"),
			 userspace && is_auto(&doc, "config.timer.advance"));
	calibrates = userspace && is_auto(&doc, "config.timer.vmentry_advance");
	ck_assert_int_eq(has(&doc, "calibration"), calibrates);
	ck_assert_int_eq(has(&doc, "calibration_dropped"), calibrates);
	json_free(&doc);
}
END_TEST

START_TEST(test_results_samples_are_all_there)
{
	static const int with_samples[] = {RUN_KERNEL_SAMPLES,
					   RUN_USER_SAMPLES};
	struct json_doc doc;
	int i = with_samples[_i];

	run_one(i, &doc);
	/* The guest's warm-up is 20 fires. */
	ck_assert_uint_eq(doc_get(&doc, "lateness[0].samples_tsc")->children,
			  70);
	ck_assert_uint_eq(doc_u64(&doc, "lateness[0].samples"), 50);
	ck_assert_uint_eq(doc_u64(&doc, "lateness_all.samples"), 50);
	json_free(&doc);
}
END_TEST

/* When the guest came to its first line of C, and how far it got: in the order
 * in which it wrote, within the time of the run, and 64 of them at most. */
START_TEST(test_results_markers)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	uint64_t last_ns = 0;
	struct json_doc doc;
	struct run run;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "markers.json", path));
	env_guest(&env, &run, "hello.elf", _i ? "markers=70" : "status=0",
		  SETS(env_any_mode(&env), option, "-v"));
	env_expect_status(&run, 0);
	ck_assert_ptr_nonnull(
		strstr(run.err.text, "marker 1 of vCPU 0 after "));
	doc_load(&doc, path);
	for (unsigned int i = 0; i < (_i ? 64 : 1); i++) {
		uint64_t ns = doc_u64(&doc, "markers[%u].since_start_ns", i);

		ck_assert_uint_eq(doc_u64(&doc, "markers[%u].value", i), 1 + i);
		ck_assert_uint_eq(doc_u64(&doc, "markers[%u].vcpu", i), 0);
		ck_assert_uint_gt(ns, last_ns);
		last_ns = ns;
	}
	ck_assert_uint_lt(last_ns, (uint64_t)run.wall_ns);
	ck_assert_uint_eq(doc_u64(&doc, "markers_dropped"), _i ? 7 : 0);
	json_free(&doc);
	run_free(&run);
	env_guest(&env, &run, "hello.elf", "markers=3",
		  SETS(env_any_mode(&env), option, "run.marker_port=null"));
	env_expect_status(&run, 0);
	run_free(&run);
	doc_load(&doc, path);
	ck_assert_uint_eq(doc_get(&doc, "markers")->children, 0);
	ck_assert_uint_ge(doc_u64(&doc, "bus.unclaimed_out"), 1 + 3 * 4);
	json_free(&doc);
}
END_TEST

START_TEST(test_results_schema_is_tight)
{
	static const int tried[] = {RUN_KERNEL_SAMPLES, RUN_USER_CPUS};
	struct json_doc doc;

	run_one(tried[_i], &doc);
	schema_expect_tight(env.configs, SCHEMA, &doc);
	json_free(&doc);
}
END_TEST

START_TEST(test_results_of_a_benchmark)
{
	char json[PATH_MAX + 16], path[PATH_MAX], config[PATH_MAX];
	struct json_doc doc;
	struct run run;

	snprintf(json, sizeof(json), "--json=%s",
		 env_path(&env, "bench.json", path));
	snprintf(config, sizeof(config), "%s/lateness.json", env.configs);
	env_punctual(&env, &run,
		     SETS("bench", config, "-q", "--rounds=2", json,
			  "--set=boot_args.fires=50",
			  env.userspace ? "--vary=timer.mode=kernel,userspace"
					: "--vary=timer.mode=kernel"));
	env_expect_status(&run, 0);
	run_free(&run);
	doc_load(&doc, path);
	schema_expect(env.configs, "bench.schema.json", &doc);
	ck_assert_uint_eq(doc_u64(&doc, "cells[0].ok"), 2);
	json_free(&doc);
}
END_TEST

static Suite *results_suite(void)
{
	Suite *suite = suite_create("results");
	TCase *tcase = env_case(suite, "schema");
	int timers = env.userspace ? 2 : 1;

	tcase_add_loop_test(tcase, test_results_keep_to_the_schema, 0,
			    run_count());
	tcase_add_loop_test(tcase, test_results_samples_are_all_there, 0,
			    timers);
	tcase_add_loop_test(tcase, test_results_markers, 0, 2);
	tcase_add_loop_test(tcase, test_results_schema_is_tight, 0, timers);
	tcase_add_test(tcase, test_results_of_a_benchmark);
	return suite;
}

int main(void)
{
	return env_run(&env, results_suite);
}
