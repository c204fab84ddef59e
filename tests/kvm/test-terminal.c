/* SPDX-License-Identifier: MIT */
/*
 * Proves that a terminal is the guest's while it runs, Ctrl-C and all; that it
 * is left as it was found by every end of a run; and that a job in the
 * background leaves it alone.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"
#include "env.h"
#include "tty.h"

enum {
	READY_MS = 20000,
	WAIT_MS = 20000,
};

static struct env env;
static struct tty tty;

static bool use_terminal(void *arg)
{
	return tty_become_controlling(arg);
}

static void start_on_terminal(struct run *run, const char *boot_args,
			      const char *set)
{
	tty_open(&tty);
	env_start_with(&env, run, -1, use_terminal, &tty, "echo.elf", boot_args,
		       SETS(env_any_mode(&env), set));
	ck_assert(run_await_out(run, "ready", env_ms(&env, READY_MS)));
	ck_assert(tty_is_raw(&tty));
}

static void type(const char *keys)
{
	ck_assert_int_eq(write(tty.screen, keys, strlen(keys)),
			 (ssize_t)strlen(keys));
}

static void finish_on_terminal(struct run *run, int status)
{
	env_finish(&env, run);
	env_expect_status(run, status);
	ck_assert(tty_is_as_before(&tty));
	run_free(run);
	tty_close(&tty);
}

/* The keys that stop programs are the guest's, and its echo comes at once,
 * without a newline. */
START_TEST(test_terminal_keys)
{
	struct run run;

	start_on_terminal(&run, "until=4", "run.timeout_ms=0");
	ck_assert_ptr_nonnull(strstr(run.err.text, "Ctrl-A x"));
	type("abc\x03\x1a\r\x01\x01.");
	ck_assert(run_await_out(&run, "abc\x03\x1a\r\x01.",
				env_ms(&env, WAIT_MS)));
	type("\x01h");
	ck_assert(run_await_err(&run, "all other keys are the guest's\r\n",
				env_ms(&env, WAIT_MS)));
	type("\x04");
	finish_on_terminal(&run, 0);
}
END_TEST

static const struct {
	const char *keys;
	int number, status;
} ends[] = {
	{"\x01x", 0, EXIT_STATUS_SIGNAL + SIGINT},
	{"\x04", 0, 0},
	{NULL, SIGTERM, EXIT_STATUS_SIGNAL + SIGTERM},
	{NULL, SIGINT, EXIT_STATUS_SIGNAL + SIGINT},
	{NULL, SIGHUP, EXIT_STATUS_SIGNAL + SIGHUP},
	{NULL, SIGABRT, RUN_SIGNALLED + SIGABRT},
	{NULL, SIGSEGV, RUN_SIGNALLED + SIGSEGV},
	{NULL, SIGUSR1, RUN_SIGNALLED + SIGUSR1},
};

START_TEST(test_terminal_ends)
{
	struct run run;

	start_on_terminal(&run, "", "run.timeout_ms=0");
	if (ends[_i].keys)
		type(ends[_i].keys);
	else
		run_signal(&run, ends[_i].number);
	finish_on_terminal(&run, ends[_i].status);
}
END_TEST

START_TEST(test_terminal_time_limit)
{
	char limit[64];
	struct run run;

	snprintf(limit, sizeof(limit), "run.timeout_ms=%d", env_ms(&env, 1500));
	start_on_terminal(&run, "", limit);
	finish_on_terminal(&run, EXIT_STATUS_TIME_LIMIT);
}
END_TEST

/* A guest that never looks for input, and one that is stuck. */
START_TEST(test_terminal_ends_without_the_guest)
{
	struct run run;

	tty_open(&tty);
	env_start_with(&env, &run, -1, use_terminal, &tty, "hello.elf",
		       _i ? "hang" : "stihlt",
		       SETS(env_any_mode(&env), "run.timeout_ms=0"));
	ck_assert(run_await_out(&run, "command line", env_ms(&env, READY_MS)));
	type("\x03\x01x");
	finish_on_terminal(&run, EXIT_STATUS_SIGNAL + SIGINT);
}
END_TEST

START_TEST(test_terminal_bad_image)
{
	struct run run;

	tty_open(&tty);
	env_start_with(&env, &run, -1, use_terminal, &tty, "no-such.elf", "",
		       SETS(env_any_mode(&env)));
	finish_on_terminal(&run, EXIT_STATUS_CONFIG);
}
END_TEST

/* As a shell does it: stopped, the terminal is as it was; and raw again. */
START_TEST(test_terminal_stop_and_continue)
{
	struct run run;
	siginfo_t info;

	start_on_terminal(&run, "", "run.timeout_ms=0");
	for (int i = 0; i < 2; i++) {
		run_signal(&run, SIGTSTP);
		ck_assert_int_eq(waitid(P_PID, (id_t)run.pid, &info, WSTOPPED),
				 0);
		ck_assert(tty_is_as_before(&tty));
		run_signal(&run, SIGCONT);
		for (int waited_ms = 0; !tty_is_raw(&tty); waited_ms += 10) {
			ck_assert_int_lt(waited_ms, env_ms(&env, WAIT_MS));
			ck_assert(!run_await_err(&run, "no such text", 10));
		}
	}
	type("still here\x04");
	ck_assert(run_await_out(&run, "still here", env_ms(&env, WAIT_MS)));
	finish_on_terminal(&run, 0);
}
END_TEST

/* The job of a shell that has the terminal itself. */
static bool use_terminal_in_background(void *arg)
{
	int status;
	pid_t pid;

	if (!tty_become_controlling(arg))
		return false;
	pid = fork();
	if (pid == 0)
		return !setpgid(0, 0);
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid)
		return false;
	if (WIFSTOPPED(status))
		kill(pid, SIGKILL);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

START_TEST(test_terminal_background)
{
	char limit[64];
	struct run run;

	snprintf(limit, sizeof(limit), "run.timeout_ms=%d", env_ms(&env, 1500));
	tty_open(&tty);
	env_start_with(&env, &run, -1, use_terminal_in_background, &tty,
		       "echo.elf", "", SETS(env_any_mode(&env), limit));
	ck_assert(run_await_out(&run, "ready", env_ms(&env, READY_MS)));
	ck_assert(tty_is_as_before(&tty));
	/* For the shell. */
	type("ls\n");
	finish_on_terminal(&run, EXIT_STATUS_TIME_LIMIT);
}
END_TEST

static Suite *terminal_suite(void)
{
	Suite *suite = suite_create("terminal");
	TCase *tcase = env_case(suite, "keys");

	tcase_add_test(tcase, test_terminal_keys);
	tcase = env_case(suite, "ends");
	tcase_add_loop_test(tcase, test_terminal_ends, 0,
			    sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tcase, test_terminal_time_limit);
	tcase_add_loop_test(tcase, test_terminal_ends_without_the_guest, 0, 2);
	tcase_add_test(tcase, test_terminal_bad_image);
	tcase = env_case(suite, "jobs");
	tcase_add_test(tcase, test_terminal_stop_and_continue);
	tcase_add_test(tcase, test_terminal_background);
	return suite;
}

int main(void)
{
	return env_run(&env, terminal_suite);
}
