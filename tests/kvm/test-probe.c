/* SPDX-License-Identifier: MIT */
/*
 * Proves that `punctual probe` tells the truth: what it says of timer mode
 * "userspace" is what a run then meets. Where the deadline writes reach us,
 * they are counted in a run, on the rung that was named; where they do not,
 * or the TSC is not to be trusted, a run is refused with 77 and a line that
 * names the remedy; and mode "kernel" runs in either case.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "end.h"
#include "env.h"

static struct env env;

/* Returns the probe's exit status. */
static int probe(struct json_doc *doc)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct run run;
	int status;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "probe.json", path));
	env_punctual(&env, &run, SETS("probe", option));
	status = run_status(&run);
	ck_assert_str_eq(run.out.text, "");
	ck_assert_str_eq(run.err.text, "");
	run_free(&run);
	doc_load(doc, path);
	return status;
}

/* A run of the lateness guest without our own word for the TSC. */
static void run_plainly(struct run *run, const char *mode_set,
			char path[PATH_MAX])
{
	char config[PATH_MAX], image[PATH_MAX + 64], option[PATH_MAX + 16];

	snprintf(config, sizeof(config), "%s/hello.json", env.configs);
	snprintf(image, sizeof(image),
		 "boot-source.kernel_image_path=%s/lateness.elf", env.guest_fw);
	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "run.json", path));
	env_punctual(&env, run,
		     SETS("run", config, option, "--set", image, "--set",
			  "boot-source.boot_args=wait=hlt fires=20", "--set",
			  mode_set));
}

START_TEST(test_probe_agrees_with_a_run)
{
	char rung[32], ran_on[32], path[PATH_MAX];
	struct json_doc doc, result;
	struct run run;
	int status = probe(&doc);
	bool said_yes = doc_text(&doc, "rung", rung, sizeof(rung))[0];

	/* Both at once would be a contradiction. */
	ck_assert(!(doc_bool(&doc, "intercepted") &&
		    doc_bool(&doc, "swallowed")));
	ck_assert_int_eq(status, said_yes ? 0 : EXIT_STATUS_CANNOT);
	ck_assert_int_eq(doc_get(&doc, "reason")->type == JSON_NULL, said_yes);
	run_plainly(&run, "timer.mode=userspace", path);
	if (said_yes) {
		env_expect_status(&run, 0);
		doc_load(&result, path);
		ck_assert_str_eq(
			doc_text(&result, "rung", ran_on, sizeof(ran_on)),
			rung);
		ck_assert_str_eq(
			doc_text(&result, "timer_mode", ran_on, sizeof(ran_on)),
			"userspace");
		/* The guest's 40 deadlines, its warm-up among them, went
		 * through our hands. */
		ck_assert_uint_eq(doc_u64(&result, "vcpus[0].timer.arms"), 40);
		ck_assert_uint_ge(doc_u64(&result, "vcpus[0].exits.wrmsr"), 40);
		json_free(&result);
	} else {
		env_expect_status(&run, EXIT_STATUS_CANNOT);
		ck_assert_str_eq(run.out.text, "");
		if (doc_bool(&doc, "swallowed"))
			env_expect_complaint(&run, "timer.mode");
		else if (!doc_bool(&doc, "host.tsc_stable"))
			env_expect_complaint(&run, "timer.unstable_tsc");
	}
	run_free(&run);
	json_free(&doc);
}
END_TEST

/* The remedy for a KVM that takes the writes depends on whose it is. */
START_TEST(test_probe_swallowed_names_the_knob)
{
	char path[PATH_MAX];
	struct run run;

	run_plainly(&run, "timer.mode=userspace", path);
	env_expect_complaint(&run, !strcmp(env.backend, "kvm_intel")
					   ? "preemption_timer"
					   : "nrips");
	run_free(&run);
}
END_TEST

/* The user's word for the TSC is what a run asks for, and marks. */
START_TEST(test_probe_unstable_tsc_is_marked)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct json_doc doc;
	struct run run;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "allowed.json", path));
	env_guest(&env, &run, "lateness.elf", "wait=hlt fires=1",
		  SETS("timer.mode=userspace", "timer.unstable_tsc=allow",
		       option));
	env_expect_status(&run, 0);
	doc_load(&doc, path);
	ck_assert_int_eq(doc_bool(&doc, "tsc_allowed_unstable"),
			 env.allow_unstable);
	json_free(&doc);
	run_free(&run);
}
END_TEST

START_TEST(test_probe_mode_kernel_runs)
{
	char path[PATH_MAX];
	struct json_doc doc;
	struct run run;

	run_plainly(&run, "timer.mode=kernel", path);
	env_expect_status(&run, 0);
	doc_load(&doc, path);
	/* No write of the guest's came our way. */
	ck_assert_uint_eq(doc_u64(&doc, "vcpus[0].exits.wrmsr"), 0);
	json_free(&doc);
	run_free(&run);
}
END_TEST

START_TEST(test_probe_says_the_same_as_text)
{
	struct run run;

	env_punctual(&env, &run, SETS("probe"));
	ck_assert_ptr_nonnull(strstr(run.out.text, "timer userspace"));
	ck_assert_int_eq(strstr(run.out.text, "timer userspace   yes") != NULL,
			 env.rung[0] != '\0');
	ck_assert_ptr_nonnull(strstr(run.out.text, env.backend));
	env_expect_status(&run, env.rung[0] ? 0 : EXIT_STATUS_CANNOT);
	run_free(&run);
}
END_TEST

static Suite *probe_suite(void)
{
	Suite *suite = suite_create("probe");
	TCase *tcase = env_case(suite, "probe");

	tcase_add_test(tcase, test_probe_agrees_with_a_run);
	if (env.swallowed)
		tcase_add_test(tcase, test_probe_swallowed_names_the_knob);
	if (env.userspace)
		tcase_add_test(tcase, test_probe_unstable_tsc_is_marked);
	tcase_add_test(tcase, test_probe_mode_kernel_runs);
	tcase_add_test(tcase, test_probe_says_the_same_as_text);
	return suite;
}

int main(void)
{
	return env_run(&env, probe_suite);
}
