/* SPDX-License-Identifier: MIT */
/*
 * A shell script stands in for the program: what it is given, what comes back
 * from it, and what becomes of it when somebody presses Ctrl-C.
 */
#define _GNU_SOURCE
#include "bench_child.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sample.h"
#include "tap.h"

#define PRELUDE "#!/bin/sh\n"

static char script_path[] = "/tmp/bench-child-XXXXXX";

/* Of the next script, or 0. */
static uint64_t limit_ms;

static int run_script(const char *script, struct bench_signals *signals,
		      struct bench_output *output)
{
	static const char *const more[] = {"--more=1,2", "--and", NULL};
	static const char *const sets[] = {"a.b=1", "c.d=two words"};
	const char **argv =
		bench_child_run_argv("-odd name.json", sets, 2, more);
	char err[128] = "";
	int fd = mkstemp(script_path);
	int ret;

	ck_assert_ptr_nonnull(argv);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(dprintf(fd, PRELUDE "%s", script), 0);
	ck_assert_int_eq(fchmod(fd, 0700), 0);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(bench_signals_open(signals), 0);
	ret = bench_child_run(script_path, argv, limit_ms, signals, output, err,
			      sizeof(err));
	free(argv);
	bench_signals_close(signals);
	unlink(script_path);
	/* Nobody is left behind. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	return ret;
}

START_TEST(test_bench_child_is_told_what_to_run)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(
		run_script("printf '%s|' \"$@\"\necho\n", &signals, &output),
		0);
	ck_assert_int_eq(output.status, 0);
	ck_assert_uint_gt(output.text_len, 0);
	output.text[output.text_len - 1] = '\0';
	ck_assert_str_eq(output.text,
			 "run|--json|-q|--more=1,2|--and|--set|a.b=1|--set|"
			 "c.d=two words|--|-odd name.json|");
	ck_assert_str_eq(output.line, "");
	ck_assert_int_eq(signals.stopped_by, 0);
	free(output.text);
}
END_TEST

START_TEST(test_bench_child_has_no_stdin)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("[ /proc/$$/fd/0 -ef /dev/null ] &&\n"
				    "exit 3\n",
				    &signals, &output),
			 0);
	ck_assert_int_eq(output.status, 3);
}
END_TEST

static const struct {
	const char *script, *line;
} lines[] = {
	{"echo one >&2; echo two >&2", "two"},
	{"echo 'punctual: why' >&2; echo ' rip 1234' >&2", "why"},
	{"echo 'punctual: a' >&2; echo 'punctual: b' >&2", "b"},
	{"printf 'no end of line' >&2", "no end of line"},
	{"printf 'text\\n\\n\\n' >&2", "text"},
	{"printf 'punctual: x\\npunct' >&2", "x"},
	{":", ""},
};

START_TEST(test_bench_child_line_is_the_programs_last)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script(lines[_i].script, &signals, &output), 0);
	ck_assert_str_eq(output.line, lines[_i].line);
	ck_assert_ptr_null(output.text);
	free(output.text);
}
END_TEST

START_TEST(test_bench_child_line_is_cut)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("head -c 100000 /dev/zero | tr '\\0' x "
				    ">&2; echo >&2\n",
				    &signals, &output),
			 0);
	ck_assert_uint_eq(strlen(output.line), sizeof(output.line) - 1);
}
END_TEST

/* More than a pipe holds, on both at once; neither may block the other. */
START_TEST(test_bench_child_pipes_are_read_while_it_runs)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("head -c 300000 /dev/zero\n"
				    "head -c 300000 /dev/zero >&2\n"
				    "head -c 300000 /dev/zero; exit 9\n",
				    &signals, &output),
			 0);
	ck_assert_int_eq(output.status, 9);
	ck_assert_uint_eq(output.text_len, 600000);
	ck_assert(!output.is_too_long);
	free(output.text);
}
END_TEST

START_TEST(test_bench_child_result_is_bounded)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("head -c 17000000 /dev/zero; exit 4\n",
				    &signals, &output),
			 0);
	ck_assert_int_eq(output.status, 4);
	ck_assert(output.is_too_long);
	ck_assert_uint_le(output.text_len, BENCH_SAMPLE_JSON_MAX);
	free(output.text);
}
END_TEST

START_TEST(test_bench_child_that_dies_has_a_shells_status)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("kill -SEGV $$\n", &signals, &output), 0);
	ck_assert_int_eq(output.status, 128 + SIGSEGV);
	ck_assert_int_eq(signals.stopped_by, 0);
}
END_TEST

START_TEST(test_bench_child_that_cannot_start_says_so)
{
	struct bench_signals signals;
	struct bench_output output;
	const char *argv[] = {"c", NULL};
	char err[128];

	ck_assert_int_eq(bench_signals_open(&signals), 0);
	ck_assert_int_eq(bench_child_run("/nonexistent", argv, 0, &signals,
					 &output, err, sizeof(err)),
			 0);
	bench_signals_close(&signals);
	ck_assert_int_eq(output.status, 70);
	ck_assert_str_eq(output.line, "/nonexistent: No such file or "
				      "directory");
}
END_TEST

/* The script signals its parent and would then wait for ever. */
START_TEST(test_bench_child_gets_the_parents_signal)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("kill -TERM $PPID; exec sleep 1000\n",
				    &signals, &output),
			 0);
	ck_assert_int_eq(output.status, 128 + SIGTERM);
	ck_assert_int_eq(signals.stopped_by, SIGTERM);
}
END_TEST

START_TEST(test_bench_child_that_ignores_the_first_is_killed)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("trap '' INT TERM; kill -INT $PPID\n"
				    "kill -TERM $PPID; exec sleep 1000\n",
				    &signals, &output),
			 0);
	ck_assert_int_eq(output.status, 128 + SIGKILL);
	ck_assert_int_eq(signals.stopped_by, SIGINT);
}
END_TEST

START_TEST(test_bench_child_starts_with_the_old_mask)
{
	struct bench_signals signals;
	struct bench_output output;

	ck_assert_int_eq(run_script("sed -n s/SigBlk:.//p /proc/self/status "
				    "\n",
				    &signals, &output),
			 0);
	ck_assert_uint_eq(output.text_len, 17);
	ck_assert_int_eq(memcmp(output.text, "0000000000000000", 16), 0);
	free(output.text);
}
END_TEST

/* Between two runs there is no child that could be told. */
START_TEST(test_bench_child_signals_without_a_child)
{
	struct bench_signals signals;

	ck_assert_int_eq(bench_signals_open(&signals), 0);
	ck_assert(!bench_signals_take(&signals));
	raise(SIGCHLD);
	ck_assert(!bench_signals_take(&signals));
	raise(SIGHUP);
	ck_assert(bench_signals_take(&signals));
	raise(SIGINT);
	ck_assert(bench_signals_take(&signals));
	ck_assert_int_eq(signals.stopped_by, SIGHUP);
	bench_signals_close(&signals);
}
END_TEST

/* Under nohup(1) a hangup means nothing to the children either. */
START_TEST(test_bench_child_leaves_an_ignored_signal_alone)
{
	struct bench_signals signals;
	struct bench_output output;

	signal(SIGHUP, SIG_IGN);
	ck_assert_int_eq(
		run_script("kill -HUP $PPID; exit 5\n", &signals, &output), 0);
	ck_assert_int_eq(output.status, 5);
	ck_assert_int_eq(signals.stopped_by, 0);
}
END_TEST

START_TEST(test_bench_child_is_killed_at_its_limit)
{
	struct bench_signals signals;
	struct bench_output output;

	limit_ms = 50;
	ck_assert_int_eq(run_script("echo some; trap '' TERM; echo why >&2\n"
				    "exec sleep 1000\n",
				    &signals, &output),
			 0);
	ck_assert_int_eq(output.status, 128 + SIGKILL);
	ck_assert_str_eq(output.line, "time limit");
	ck_assert_int_eq(signals.stopped_by, 0);
	ck_assert_uint_ge(output.wall_ns, 50 * 1000000);
	free(output.text);
}
END_TEST

/* A process that the child left behind holds the pipes open. */
START_TEST(test_bench_child_does_not_wait_for_grandchildren)
{
	struct bench_signals signals;
	struct bench_output output;
	int pid;

	ck_assert_int_eq(run_script("sleep 1000 & echo $! >&2; exit 6\n",
				    &signals, &output),
			 0);
	ck_assert_int_eq(output.status, 6);
	pid = atoi(output.line);
	ck_assert_int_gt(pid, 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_child");
	TCase *tc = tcase_create("bench_child");

	tcase_add_test(tc, test_bench_child_is_told_what_to_run);
	tcase_add_test(tc, test_bench_child_has_no_stdin);
	tcase_add_loop_test(tc, test_bench_child_line_is_the_programs_last, 0,
			    sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(tc, test_bench_child_line_is_cut);
	tcase_add_test(tc, test_bench_child_pipes_are_read_while_it_runs);
	tcase_add_test(tc, test_bench_child_result_is_bounded);
	tcase_add_test(tc, test_bench_child_that_dies_has_a_shells_status);
	tcase_add_test(tc, test_bench_child_that_cannot_start_says_so);
	tcase_add_test(tc, test_bench_child_gets_the_parents_signal);
	tcase_add_test(tc, test_bench_child_that_ignores_the_first_is_killed);
	tcase_add_test(tc, test_bench_child_starts_with_the_old_mask);
	tcase_add_test(tc, test_bench_child_is_killed_at_its_limit);
	tcase_add_test(tc, test_bench_child_signals_without_a_child);
	tcase_add_test(tc, test_bench_child_leaves_an_ignored_signal_alone);
	tcase_add_test(tc, test_bench_child_does_not_wait_for_grandchildren);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
