/* SPDX-License-Identifier: MIT */
/*
 * Proves that what is taken off a wait for the entry into the guest is never
 * more than an entry costs. What calibrations answer is compared with what
 * fires without compensation cost, each kind in many VMs: the largest of the
 * one must not be above the smallest of the other. And a number that the user
 * gives is refused if it is above what was measured, unless he insists; then
 * the timer may be early, and the result says so.
 *
 * PUNCTUAL_TEST_CALIBRATIONS=N (3) and PUNCTUAL_TEST_COST_RUNS=N (2 of each
 * wait, FIRES each) for more of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "end.h"
#include "env.h"

enum {
	FIRES = 1000,
	RETRIES = 20,
};

static struct env env;

static const char *const states[] = {"running", "halted"};

/* Ring 0 is a running vCPU as well. */
static const struct {
	const char *wait;
	int state;
} costs[] = {{"spin", 0}, {"spin0", 0}, {"hlt", 1}};

/* The interpreter of kvm_pvm may miss an interrupt in ring 0. */
static bool can_be_had(const char *wait)
{
	return strcmp(wait, "spin0") != 0 ||
	       strcmp(env.backend, "kvm_pvm") != 0;
}

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);
	unsigned long n = text ? strtoul(text, NULL, 10) : otherwise;

	ck_assert_uint_ge(n, 1);
	return n;
}

/* Raises *largest_tsc to what one calibration found. */
static void calibrate(uint64_t largest_tsc[2])
{
	char config[PATH_MAX], path[PATH_MAX], option[PATH_MAX + 16];
	struct json_doc doc;
	struct run run;

	snprintf(config, sizeof(config), "%s/lateness.json", env.configs);
	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "calibration.json", path));
	env_punctual(&env, &run,
		     SETS("bench", config, "--rounds", "1", "-q", "--vary",
			  "timer.mode=userspace", "--vary",
			  "boot_args.wait=hlt", "--set", "boot_args.fires=1",
			  "--set", "boot_args.warmup=0", option));
	env_expect_status(&run, 0);
	doc_load(&doc, path);
	for (int i = 0; i < 2; i++) {
		uint64_t tsc = doc_u64(&doc, "calibrations[0].%s.result_tsc",
				       states[i]);

		if (tsc > largest_tsc[i])
			largest_tsc[i] = tsc;
	}
	json_free(&doc);
	run_free(&run);
}

/* The smallest lateness of a run in which nothing is compensated. */
static uint64_t smallest_cost(const char *wait)
{
	char path[PATH_MAX], option[PATH_MAX + 16], words[96];
	struct json_doc doc;
	struct run run;
	uint64_t min_tsc;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "cost.json", path));
	snprintf(words, sizeof(words),
		 "wait=%s fires=%d period_us=400 dist=random", wait, FIRES);
	env_guest(&env, &run, "lateness.elf", words,
		  SETS("timer.mode=userspace", "timer.vmentry_advance=off",
		       "run.timeout_ms=60000", option));
	env_expect_status(&run, 0);
	doc_load(&doc, path);
	min_tsc = doc_u64(&doc, "lateness[0].min_tsc");
	json_free(&doc);
	run_free(&run);
	return min_tsc;
}

START_TEST(test_entry_cost_is_never_overestimated)
{
	unsigned long calibrations =
		from_environment("PUNCTUAL_TEST_CALIBRATIONS", 3);
	unsigned long runs = from_environment("PUNCTUAL_TEST_COST_RUNS", 2);
	uint64_t largest_tsc[2] = {0, 0};
	uint64_t smallest_tsc[2] = {UINT64_MAX, UINT64_MAX};

	/* A noisy host may need some more before one finds anything. */
	for (unsigned long n = 0;
	     n < calibrations || (n < calibrations + RETRIES &&
				  !(largest_tsc[0] && largest_tsc[1]));
	     n++)
		calibrate(largest_tsc);
	for (unsigned long n = 0; n < runs; n++)
		for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
			uint64_t *least_tsc = &smallest_tsc[costs[i].state];
			uint64_t tsc = UINT64_MAX;

			if (can_be_had(costs[i].wait))
				tsc = smallest_cost(costs[i].wait);
			if (tsc < *least_tsc)
				*least_tsc = tsc;
		}
	for (int i = 0; i < 2; i++) {
		printf("# %s: largest of %lu calibrations %llu cycles, smallest "
		       "cost of %lu fires of each kind %llu\n",
		       states[i], calibrations,
		       (unsigned long long)largest_tsc[i], runs * FIRES,
		       (unsigned long long)smallest_tsc[i]);
		/* None that found anything would prove nothing. */
		ck_assert_uint_gt(largest_tsc[i], 0);
		ck_assert_uint_le(largest_tsc[i], smallest_tsc[i]);
	}
	fflush(stdout);
}
END_TEST

/* A run of the guest with a vmentry_advance in ns. */
static void run_fixed(struct run *run, const char *fixed, const char *more,
		      char path[PATH_MAX])
{
	char option[PATH_MAX + 16];

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "fixed.json", path));
	env_guest(&env, run, "lateness.elf", "wait=hlt fires=50 period_us=1000",
		  SETS("timer.mode=userspace", option, fixed, more));
}

/* So few cycles are above what was measured only where that is nothing: a host
 * too noisy to tell. */
static void expect_nothing_measured(const struct run *run)
{
	unsigned long long running_tsc, halted_tsc;
	const char *at = strstr(run->err.text, "to allow ");

	env_expect_status(run, EXIT_STATUS_CONFIG);
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(sscanf(at, "to allow %llu (running) and %llu",
				&running_tsc, &halted_tsc),
			 2);
	ck_assert(!running_tsc || !halted_tsc);
}

START_TEST(test_entry_cost_fixed_below_is_used)
{
	char path[PATH_MAX];
	struct json_doc doc;
	struct run run;

	run_fixed(&run, "timer.vmentry_advance=10", NULL, path);
	if (run_status(&run)) {
		expect_nothing_measured(&run);
		run_free(&run);
		return;
	}
	doc_load(&doc, path);
	ck_assert_uint_gt(doc_u64(&doc, "entry_cost_tsc"), 0);
	ck_assert_uint_le(doc_u64(&doc, "entry_cost_tsc"), 100);
	ck_assert(doc_bool(&doc, "calibration.done"));
	ck_assert(!doc_bool(&doc, "early_allowed"));
	json_free(&doc);
	run_free(&run);
}
END_TEST

START_TEST(test_entry_cost_fixed_above_is_refused)
{
	char path[PATH_MAX];
	struct run run;

	run_fixed(&run, "timer.vmentry_advance=10000000", NULL, path);
	env_expect_status(&run, EXIT_STATUS_CONFIG);
	ck_assert_str_eq(run.out.text, "");
	env_expect_complaint(&run, "timer.allow_early");
	run_free(&run);
}
END_TEST

/* The guest itself is the witness: it ends with 1 if any fire was early. */
START_TEST(test_entry_cost_fixed_above_is_early_if_allowed)
{
	char path[PATH_MAX];
	struct json_doc doc;
	struct run run;

	run_fixed(&run, "timer.vmentry_advance=10000000",
		  "timer.allow_early=true", path);
	env_expect_status(&run, 1);
	doc_load(&doc, path);
	ck_assert(doc_bool(&doc, "early_allowed"));
	ck_assert_uint_gt(doc_u64(&doc, "lateness[0].early"), 0);
	json_free(&doc);
	run_free(&run);
}
END_TEST

static Suite *entry_cost_suite(void)
{
	Suite *suite = suite_create("entry_cost");
	TCase *tcase = env_case(suite, "calibration");

	/* Where TSCs disagree nothing is known of costs. */
	if (!env.userspace || env.allow_unstable)
		return suite;
	tcase_add_test(tcase, test_entry_cost_is_never_overestimated);
	tcase = env_case(suite, "fixed");
	tcase_add_test(tcase, test_entry_cost_fixed_below_is_used);
	tcase_add_test(tcase, test_entry_cost_fixed_above_is_refused);
	tcase_add_test(tcase, test_entry_cost_fixed_above_is_early_if_allowed);
	return suite;
}

int main(void)
{
	return env_run(&env, entry_cost_suite);
}
