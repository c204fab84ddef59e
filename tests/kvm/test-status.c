/* SPDX-License-Identifier: MIT */
/*
 * Proves the exit status table (vmm/end.h) with guests that end in each way:
 * the guest's own status, resets, triple fault, halted for ever, an error of
 * KVM's, the time limit; that a guest which is merely waiting goes on; that
 * each failure says why, with the machine's state where that helps; and that
 * no two kinds of end share a status. Signals and mistakes of the user have
 * programs of their own.
 */
#include <stdio.h>
#include <string.h>

#include "end.h"
#include "env.h"

#define MS 1000000ll

static struct env env;

/* What hello says first, with its command line, and nothing after it. */
static void expect_only_hello(const struct run *run, const char *boot_args)
{
	char expected[256];

	snprintf(expected, sizeof(expected),
		 "hello: booted by pvh, command line \"%s\"\n", boot_args);
	ck_assert_str_eq(run->out.text, expected);
}

static const struct {
	const char *boot_args;
	const char *set; /* or NULL */
	int status;
	const char *complaint; /* or NULL: says nothing */
} guest_ends[] = {
	{"status=0", NULL, 0, NULL},
	{"status=1", NULL, 1, NULL},
	{"status=2", NULL, 2, NULL},
	{"status=63", NULL, 63, NULL},
	{"status=64", NULL, EXIT_STATUS_GUEST_RANGE, "64"},
	{"status=127", NULL, EXIT_STATUS_GUEST_RANGE, "127"},
	{"status=255", NULL, EXIT_STATUS_GUEST_RANGE, "255"},
	{"status=256", NULL, EXIT_STATUS_GUEST_RANGE, "256"},
	{"status=-1", NULL, EXIT_STATUS_GUEST_RANGE, "4294967295"},
	{"reset", NULL, 0, NULL},
	{"reset=cf9", NULL, 0, NULL},
	{"poweroff", NULL, 0, NULL},
	/* The device of that name of QEMU's: 2 * value + 1. */
	{"status=0", "run.exit_encoding=isa-debug-exit", 1, NULL},
	{"status=31", "run.exit_encoding=isa-debug-exit", 63, NULL},
	{"status=32", "run.exit_encoding=isa-debug-exit",
	 EXIT_STATUS_GUEST_RANGE, "32"},
	/* Of which a process has the low byte. */
	{"status=128", "run.exit_encoding=isa-debug-exit", 1, NULL},
	/* Where no port is the exit port, hello falls back to a reset. */
	{"status=5", "run.exit_port=null", 0, NULL},
	{"status=5", "run.exit_port=1281", 0, NULL},
};

START_TEST(test_status_of_the_guest)
{
	struct run run;

	env_guest(&env, &run, "hello.elf", guest_ends[_i].boot_args,
		  SETS(env_any_mode(&env), guest_ends[_i].set));
	env_expect_status(&run, guest_ends[_i].status);
	expect_only_hello(&run, guest_ends[_i].boot_args);
	if (guest_ends[_i].complaint)
		env_expect_complaint(&run, guest_ends[_i].complaint);
	else
		ck_assert_str_eq(run.err.text, "");
	run_free(&run);
}
END_TEST

START_TEST(test_status_of_an_exception_in_the_guest)
{
	struct run run;

	env_guest(&env, &run, "hello.elf", "fault", SETS(env_any_mode(&env)));
	env_expect_status(&run, 63);
	ck_assert_str_eq(run.err.text, "");
	run_free(&run);
}
END_TEST

/* A line of ours with text in it, then registers, then the console's tail. */
static void expect_dump(const struct run *run, const char *text)
{
	const char *err = run->err.text;
	const char *why = strstr(err, text);
	const char *rip = strstr(err, "rip ");
	const char *tail = strstr(err, "last console output:\n");

	if (strncmp(err, "punctual: ", 10) || !why || !rip || !tail ||
	    why > strchr(err, '\n') || rip < why || tail < rip)
		ck_abort_msg("no dump for \"%s\" in: %.1500s", text, err);
}

START_TEST(test_status_of_a_triple_fault)
{
	struct run run;

	env_guest(&env, &run, "hello.elf", "triple", SETS(env_any_mode(&env)));
	env_expect_status(&run, EXIT_STATUS_TRIPLE_FAULT);
	expect_only_hello(&run, "triple");
	expect_dump(&run, "triple fault");
	ck_assert_int_lt(run.wall_ns, 2000 * MS * env.slow);
	run_free(&run);
}
END_TEST

START_TEST(test_status_of_what_kvm_cannot_run)
{
	struct run run;

	env_guest(&env, &run, "plain64.elf", "fetch_hole",
		  SETS(env_any_mode(&env)));
	env_expect_status(&run, EXIT_STATUS_KVM);
	expect_dump(&run, "KVM");
	run_free(&run);
}
END_TEST

static const struct {
	const char *boot_args, *set;
} halts[] = {
	{"halt", NULL},
	{"halt cpus=2", "machine-config.vcpu_count=2"},
	/* CPUs that the guest never started are no reason to wait. */
	{"halt", "machine-config.vcpu_count=3"},
};

START_TEST(test_status_of_halted_for_ever)
{
	static const char *const modes[] = {"timer.mode=kernel",
					    "timer.mode=userspace"};

	for (int m = 0; m < (env.userspace ? 2 : 1); m++) {
		struct run run;

		env_guest(&env, &run, "hello.elf", halts[_i].boot_args,
			  SETS(modes[m], halts[_i].set));
		env_expect_status(&run, EXIT_STATUS_HALTED);
		env_expect_complaint(&run, "halted");
		ck_assert_int_lt(run.wall_ns, 2000 * MS * env.slow);
		run_free(&run);
	}
}
END_TEST

static const struct {
	const char *boot_args;
	const char *limit_set;
	int limit_ms;
} endless[] = {
	{"hang", "run.timeout_ms=1000", 1000},
	{"flood", "run.timeout_ms=1000", 1000},
	/* Long enough for a wrong verdict "halted for ever". */
	{"stihlt", "run.timeout_ms=3000", 3000},
	{"stihlt-timer", "run.timeout_ms=3000", 3000},
};

static void expect_limit(const struct run *run, int limit_ms)
{
	env_expect_status(run, EXIT_STATUS_TIME_LIMIT);
	expect_dump(run, "time limit");
	/* The limit counts from the start of the vCPUs: not before it. */
	ck_assert_int_ge(run->wall_ns, limit_ms * MS);
	ck_assert_int_lt(run->wall_ns, (limit_ms + 1000 * env.slow) * MS);
}

START_TEST(test_status_of_the_time_limit)
{
	static const char *const modes[] = {"timer.mode=kernel",
					    "timer.mode=userspace"};

	for (int m = 0; m < (env.userspace ? 2 : 1); m++) {
		struct run run;

		env_guest(&env, &run, "hello.elf", endless[_i].boot_args,
			  SETS(modes[m], endless[_i].limit_set));
		expect_limit(&run, endless[_i].limit_ms);
		run_free(&run);
	}
}
END_TEST

/* The vCPU thread is in a write that blocks when the limit comes. */
START_TEST(test_status_of_the_limit_while_nobody_reads)
{
	struct run run;

	env_start(&env, &run, -1, "hello.elf", "flood",
		  SETS(env_any_mode(&env), "run.timeout_ms=1000"));
	run.pause_reading = true;
	env_finish(&env, &run);
	expect_limit(&run, 1000);
	run_free(&run);
}
END_TEST

/* One run of each kind of end that can be had without root. */
static const struct {
	const char *image, *boot_args, *set;
	int status;
} kinds[] = {
	{"hello.elf", "status=0", NULL, 0},
	{"hello.elf", "status=255", NULL, EXIT_STATUS_GUEST_RANGE},
	{"hello.elf", "triple", NULL, EXIT_STATUS_TRIPLE_FAULT},
	{"hello.elf", "halt", NULL, EXIT_STATUS_HALTED},
	{"plain64.elf", "fetch_hole", NULL, EXIT_STATUS_KVM},
	{"hello.elf", "hang", "run.timeout_ms=100", EXIT_STATUS_TIME_LIMIT},
	{"no-such-image", "", NULL, EXIT_STATUS_CONFIG},
	{"hello.elf", "", "-x", EXIT_STATUS_USAGE},
	{"hello.elf", "", "--json=/dev/full", EXIT_STATUS_OUTPUT},
	/* CPUs that this host does not have. */
	{"hello.elf", "", "machine-config.cpu_affinity=[[1023]]",
	 EXIT_STATUS_CANNOT},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

START_TEST(test_status_differs_for_every_kind)
{
	int seen[KINDS];

	for (size_t i = 0; i < KINDS; i++) {
		struct run run;

		env_guest(&env, &run, kinds[i].image, kinds[i].boot_args,
			  SETS(env_any_mode(&env), kinds[i].set));
		env_expect_status(&run, kinds[i].status);
		seen[i] = run_status(&run);
		ck_assert_msg(!seen[i] == !run.err.len,
			      "a failure says why, a success nothing");
		run_free(&run);
	}
	for (size_t i = 0; i < KINDS; i++)
		for (size_t j = 0; j < i; j++)
			ck_assert_int_ne(seen[i], seen[j]);
}
END_TEST

#define LOOP(tcase, test, table)            \
	tcase_add_loop_test(tcase, test, 0, \
			    (int)(sizeof(table) / sizeof((table)[0])))

static Suite *status_suite(void)
{
	Suite *suite = suite_create("status");
	TCase *tcase = env_case(suite, "guest");

	LOOP(tcase, test_status_of_the_guest, guest_ends);
	tcase_add_test(tcase, test_status_of_an_exception_in_the_guest);
	tcase = env_case(suite, "stopped");
	tcase_add_test(tcase, test_status_of_a_triple_fault);
	tcase_add_test(tcase, test_status_of_what_kvm_cannot_run);
	LOOP(tcase, test_status_of_halted_for_ever, halts);
	tcase = env_case(suite, "limit");
	LOOP(tcase, test_status_of_the_time_limit, endless);
	tcase_add_test(tcase, test_status_of_the_limit_while_nobody_reads);
	tcase = env_case(suite, "table");
	tcase_add_test(tcase, test_status_differs_for_every_kind);
	return suite;
}

int main(void)
{
	return env_run(&env, status_suite);
}
