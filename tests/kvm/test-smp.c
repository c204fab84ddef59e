/* SPDX-License-Identifier: MIT */
/*
 * Proves, with the guest `smp`, that a machine of 1 to 64 CPUs is one: ids
 * agree wherever they stand, interrupts between CPUs come once and to whom they
 * were sent, in xAPIC and in x2APIC mode, one at a time and in storms, and no
 * TSC is behind another; with either timer. And that the guest would have
 * noticed: its own faults end with 1. How late the deadlines of many CPUs are
 * is the guest `lateness`'s (test-deadlines); that one vCPU's noise is not
 * another's is shown where there is no other noise
 * (tests/unit/test-user_timer_smp).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "env.h"

enum {
	LIMIT_MS = 50000,
};

static const char *const modes[] = {"timer.mode=kernel",
				    "timer.mode=userspace"};

static struct env env;

static int mode_count(void)
{
	return env.userspace ? 2 : 1;
}

/* One run with its result. On a host whose TSCs disagree the guest says so, and
 * that is all that it may say. */
static void run_smp(struct run *run, struct json_doc *doc, unsigned int cpus,
		    const char *mode, const char *words, const char *set)
{
	char path[PATH_MAX], option[PATH_MAX + 16], count[64], limit[64];

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "smp.json", path));
	snprintf(count, sizeof(count), "machine-config.vcpu_count=%u", cpus);
	snprintf(limit, sizeof(limit), "run.timeout_ms=%d",
		 env_ms(&env, LIMIT_MS));
	env_guest(&env, run, "smp.elf", words,
		  SETS(option, count, limit, mode, set));
	ck_assert_str_eq(run->err.text, "");
	doc_load(doc, path);
}

static void check_says(const struct run *run, const char *text)
{
	ck_assert_msg(strstr(run->out.text, text), "no \"%s\" in:\n%s", text,
		      run->out.text);
}

static void check_all_well(const struct run *run)
{
	if (env.allow_unstable && run_status(run) == 1)
		return;
	env_expect_status(run, 0);
	check_says(run, " checks, 0 failed\n");
}

/* 64 on one CPU of the host are a matter of many seconds: the mode that Linux
 * uses with so many, as few interrupts as there can be, and one timer, the
 * last. */
static const struct {
	unsigned int cpus;
	const char *words;
} machines[] = {
	{1, "count=1000"},
	{2, "count=1000 seed=2"},
	{4, "count=2000"},
	{8, "count=500"},
	{64, "count=64 apic=x2apic tsc=1000"},
};

#define MACHINES ((int)(sizeof(machines) / sizeof(machines[0])))

START_TEST(test_smp_all_is_well)
{
	const int m = _i / mode_count();
	const char *mode =
		modes[m == MACHINES - 1 ? mode_count() - 1 : _i % mode_count()];
	unsigned int cpus = machines[m].cpus;
	struct json_doc doc;
	struct run run;

	run_smp(&run, &doc, cpus, mode, machines[m].words, NULL);
	check_all_well(&run);
	check_says(&run, "smp: ids: MADT (by start info): ok\n");
	check_says(&run, "smp: ids: MP table: ok\n");
	check_says(&run, "smp: x2apic: storm, in pairs: ");
	/* None of it is seen by punctual but one deadline in ten seconds. */
	ck_assert_uint_eq(doc_u64(&doc, "bus.msis"), 0);
	json_free(&doc);
	run_free(&run);
}
END_TEST

/* Where there is no other mode. */
START_TEST(test_smp_without_x2apic)
{
	struct json_doc doc;
	struct run run;

	run_smp(&run, &doc, 4, modes[_i], "count=1000",
		"machine-config.hide_cpuid=[\"x2apic\"]");
	check_all_well(&run);
	check_says(&run, "smp: x2apic: CPUID does not offer it\n");
	json_free(&doc);
	run_free(&run);
}
END_TEST

static const struct {
	const char *words, *says;
} faults[] = {
	{"fault=id", "smp: ids: CPUID leaf 1: CPU 1 (APIC id 1) has 0x2"},
	{"fault=lost", "CPU 0 did not take it: FAILED\n"},
	{"fault=stray", "took something else: FAILED\n"},
	{"fault=pong-twice", "doubled 1, pairs amiss 0"},
	/* Then all of them halt, for ever but for the guest's watch: ten
	 * seconds and no more than twice that. */
	{"fault=no-pong", "smp: FAILED: nothing comes any more\n"},
	{"skew=100000000000", "smp: xapic: TSC handed over"},
};

#define FAULTS ((int)(sizeof(faults) / sizeof(faults[0])))

START_TEST(test_smp_faults_are_found)
{
	struct json_doc doc;
	struct run run;
	char words[64];

	snprintf(words, sizeof(words), "count=100 %s", faults[_i].words);
	run_smp(&run, &doc, 2, env_any_mode(&env), words, NULL);
	env_expect_status(&run, 1);
	check_says(&run, faults[_i].says);
	json_free(&doc);
	run_free(&run);
}
END_TEST

/* A TSC that is ahead: by about as much is the other one behind whatever it
 * gets. */
START_TEST(test_smp_skew_is_measured)
{
	unsigned long long backwards, largest_tsc;
	struct json_doc doc;
	const char *line;
	struct run run;

	run_smp(&run, &doc, 2, env_any_mode(&env),
		"count=100 apic=xapic skew=1000000000000", NULL);
	env_expect_status(&run, 1);
	line = strstr(run.out.text, "backwards ");
	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(sscanf(line, "backwards %llu, at most by %llu",
				&backwards, &largest_tsc),
			 2);
	/* Of 50 pings and their pongs half come from CPU 1. */
	ck_assert_uint_eq(backwards, 50);
	ck_assert_uint_le(largest_tsc, 1000000000000);
	ck_assert_uint_ge(largest_tsc, 900000000000);
	json_free(&doc);
	run_free(&run);
}
END_TEST

static Suite *smp_suite(void)
{
	Suite *suite = suite_create("smp");
	TCase *tcase = env_case(suite, "machines");

	tcase_add_loop_test(tcase, test_smp_all_is_well, 0,
			    mode_count() * (MACHINES - 1) + 1);
	tcase_add_loop_test(tcase, test_smp_without_x2apic, 0, mode_count());
	tcase = env_case(suite, "faults");
	tcase_add_loop_test(tcase, test_smp_faults_are_found, 0, FAULTS);
	tcase_add_test(tcase, test_smp_skew_is_measured);
	return suite;
}

int main(void)
{
	return env_run(&env, smp_suite);
}
