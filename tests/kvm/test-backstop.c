/* SPDX-License-Identifier: MIT */
/*
 * Proves that a timer which was never ours is noticed while the guest runs,
 * even if the probe was told otherwise: punctual-unprobed takes the plain rung
 * without trying. Where KVM keeps the writes there, every run ends with 123 and
 * says so, and bench shows no ratio; where KVM hands them over, the same
 * program is as good as punctual, or the tests would prove nothing.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "end.h"
#include "env.h"

static struct env env;

/* Does this KVM keep to itself what the plain rung is to get? */
static bool keeps_the_write;

/* What the guests do with their timer, and how they end if it is ours. */
static const struct {
	const char *image, *words;
	int status;
} guests[] = {
	{"lateness.elf", "wait=hlt fires=20", 0},
	{"lateness.elf", "wait=spin fires=20", 0},
	/* No fire is lost to time by the end: the report alone tells. */
	{"lateness.elf", "wait=hlt fires=1 warmup=0", 0},
	/* Nothing is reported, but KVM holds a deadline of a guest that halts
	 * and never exits. */
	{"plain64.elf", "arm_ahead=1099511627776", EXIT_STATUS_TIME_LIMIT},
};

START_TEST(test_backstop_ends_the_run)
{
	char path[PATH_MAX], option[PATH_MAX + 16], kind[64];
	struct json_doc doc;
	struct run run;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "run.json", path));
	env_guest(&env, &run, guests[_i].image, guests[_i].words,
		  SETS("timer.mode=userspace", "run.timeout_ms=4000", option));
	env_expect_status(&run, keeps_the_write ? EXIT_STATUS_NOT_INTERCEPTED
						: guests[_i].status);
	doc_load(&doc, path);
	doc_text(&doc, "end.kind", kind, sizeof(kind));
	ck_assert_int_eq(!strcmp(kind, "timer-not-intercepted"),
			 keeps_the_write);
	if (keeps_the_write) {
		ck_assert_ptr_nonnull(
			strstr(run.err.text, "go past the MSR filter"));
		ck_assert_ptr_nonnull(strstr(run.err.text, "rip "));
	}
	json_free(&doc);
	run_free(&run);
}
END_TEST

START_TEST(test_backstop_no_ratio_from_a_benchmark)
{
	char path[PATH_MAX], config[PATH_MAX], option[PATH_MAX + 16];
	struct json_doc doc;
	struct run run;

	snprintf(config, sizeof(config), "%s/lateness.json", env.configs);
	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "bench.json", path));
	env_punctual(&env, &run,
		     SETS("bench", config, "--rounds", "1", "-q", "--set",
			  "boot_args.fires=50", "--vary", "boot_args.wait=hlt",
			  "--vary", "timer.mode=kernel,userspace", option));
	env_expect_status(&run, keeps_the_write ? 1 : 0);
	doc_load(&doc, path);
	ck_assert_int_eq(doc_bool(&doc, "cells[1].comparable"),
			 !keeps_the_write);
	ck_assert_int_eq(doc_get(&doc, "cells[1].ratios.p50.median")->type ==
				 JSON_NULL,
			 keeps_the_write);
	json_free(&doc);
	run_free(&run);
}
END_TEST

static Suite *backstop_suite(void)
{
	Suite *suite = suite_create("backstop");
	TCase *tcase = env_case(suite, "unprobed");

	env.punctual = getenv("UNPROBED");
	if (!env.punctual)
		exit(puts("Bail out! UNPROBED is not set") < 0 ? 2 : 1);
	keeps_the_write = strcmp(env.rung, "split") != 0;
	/* Whether it keeps the write cannot be known without a TSC. */
	if (env.allow_unstable)
		return suite;
	tcase_add_loop_test(tcase, test_backstop_ends_the_run, 0,
			    (int)(sizeof(guests) / sizeof(guests[0])));
	tcase_add_test(tcase, test_backstop_no_ratio_from_a_benchmark);
	return suite;
}

int main(void)
{
	return env_run(&env, backstop_suite);
}
