/* SPDX-License-Identifier: MIT */
/*
 * Proves that a run ends at once on SIGINT, SIGTERM and SIGHUP, with 128 + n
 * and whatever the guest is doing; that what the guest printed before is not
 * lost; and that SIGQUIT shows the state of the machine and lets it go on.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "end.h"
#include "env.h"

#define MS 1000000ll

enum {
	HELLO_MS = 20000, /* for the guest's first line */
	END_MS = 1000,	  /* from the signal to the end */
};

static struct env env;

static void start(struct run *run, const char *boot_args, const char *mode)
{
	env_start(&env, run, -1, "hello.elf", boot_args,
		  SETS(mode, "run.timeout_ms=0"));
	ck_assert_msg(
		run_await_out(run, "command line", env_ms(&env, HELLO_MS)),
		"no sign of life: %.900s", run->err.text);
}

/* Sends the signal; the run must end on it, and soon. */
static void end_by(struct run *run, int signal_number)
{
	int64_t sent_ns = run_now_ns();

	run_signal(run, signal_number);
	env_finish(&env, run);
	env_expect_status(run, EXIT_STATUS_SIGNAL + signal_number);
	ck_assert_int_lt(run_now_ns() - sent_ns,
			 (int64_t)env_ms(&env, END_MS) * MS);
}

static const struct {
	int signal_number;
	const char *boot_args;
} endings[] = {
	{SIGINT, "hang"},   {SIGTERM, "hang"},	       {SIGHUP, "hang"},
	{SIGINT, "stihlt"}, {SIGTERM, "stihlt-timer"}, {SIGTERM, "flood"},
	{SIGTERM, "halt"},
};

START_TEST(test_signal_ends_the_run)
{
	static const char *const modes[] = {"timer.mode=kernel",
					    "timer.mode=userspace"};

	for (int m = 0; m < (env.userspace ? 2 : 1); m++) {
		struct run run;

		start(&run, endings[_i].boot_args, modes[m]);
		end_by(&run, endings[_i].signal_number);
		env_expect_complaint(&run, "signal");
		run_free(&run);
	}
}
END_TEST

/* The guest's vCPU thread sits in a write that nobody takes. */
START_TEST(test_signal_ends_a_run_that_nobody_reads)
{
	struct run run;

	start(&run, "flood", env_any_mode(&env));
	run.pause_reading = true;
	/* Half a second fills any pipe. */
	ck_assert(!run_await_err(&run, "no such text", 500));
	end_by(&run, SIGTERM);
	run_free(&run);
}
END_TEST

static unsigned int count(const char *text, const char *part)
{
	unsigned int n = 0;

	while ((text = strstr(text, part))) {
		n++;
		text++;
	}
	return n;
}

static const struct {
	const char *boot_args, *set;
	unsigned int vcpus;
} dumped[] = {
	{"hang", NULL, 1},
	{"stihlt", NULL, 1},
	{"stihlt-timer", NULL, 1},
	{"hang cpus=3", "machine-config.vcpu_count=4", 4},
};

START_TEST(test_signal_quit_dumps_and_goes_on)
{
	struct run run;

	env_start(&env, &run, -1, "hello.elf", dumped[_i].boot_args,
		  SETS(env_any_mode(&env), "run.timeout_ms=0", dumped[_i].set));
	ck_assert(run_await_out(&run, "command line", env_ms(&env, HELLO_MS)));
	run_signal(&run, SIGQUIT);
	ck_assert(run_await_err(&run, "last console output:\n",
				env_ms(&env, HELLO_MS)));
	ck_assert_uint_eq(count(run.err.text, "  rip "), dumped[_i].vcpus);
	/* Again, and it is still there to be ended. */
	run_signal(&run, SIGQUIT);
	ck_assert(run_await_err(&run, "last console output:\n",
				env_ms(&env, HELLO_MS)));
	end_by(&run, SIGTERM);
	ck_assert_uint_eq(count(run.err.text, "last console output:\n"), 2);
	ck_assert_uint_eq(count(run.err.text, "  rip "), 2 * dumped[_i].vcpus);
	ck_assert_ptr_nonnull(strstr(run.err.text, "signal 15"));
	run_free(&run);
}
END_TEST

static Suite *signals_suite(void)
{
	Suite *suite = suite_create("signals");
	TCase *tcase = env_case(suite, "end");

	tcase_add_loop_test(tcase, test_signal_ends_the_run, 0,
			    sizeof(endings) / sizeof(endings[0]));
	tcase_add_test(tcase, test_signal_ends_a_run_that_nobody_reads);
	tcase = env_case(suite, "quit");
	tcase_add_loop_test(tcase, test_signal_quit_dumps_and_goes_on, 0,
			    sizeof(dumped) / sizeof(dumped[0]));
	return suite;
}

int main(void)
{
	return env_run(&env, signals_suite);
}
