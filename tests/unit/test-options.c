/* SPDX-License-Identifier: MIT */
/* The command line: every option, and every way to get it wrong. */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "trace_format.h"

enum {
	ARGS_MAX = 16,
};

static struct options options;
static char err[200];
static char *args[ARGS_MAX + 1];
static int arg_count;

static void teardown(void)
{
	options_free(&options);
	for (int i = 0; i < arg_count; i++)
		free(args[i]);
	arg_count = 0;
}

/* Parses "punctual" and the words of `line`, split at blanks. */
static int parse(const char *line)
{
	char *copy = strdup(line), *rest = copy, *word;

	teardown();
	args[arg_count++] = strdup("punctual");
	while ((word = strsep(&rest, " ")))
		if (*word && arg_count < ARGS_MAX)
			args[arg_count++] = strdup(word);
	args[arg_count] = NULL;
	free(copy);
	err[0] = '\0';
	return options_parse(arg_count, args, &options, err, sizeof(err));
}

static void good(const char *line, enum command command)
{
	ck_assert_msg(!parse(line), "%s: %s", line, err);
	ck_assert_int_eq(options.command, command);
	ck_assert_str_eq(err, "");
}

/* The message is one line and says `what`. */
static void bad(const char *line, const char *what)
{
	ck_assert_int_eq(parse(line), -EINVAL);
	ck_assert_msg(strstr(err, what) != NULL, "%s: \"%s\" says not \"%s\"",
		      line, err, what);
	ck_assert_ptr_null(strchr(err, '\n'));
}

START_TEST(test_options_run)
{
	good("run a.json", COMMAND_RUN);
	ck_assert_uint_eq(options.config_count, 1);
	ck_assert_str_eq(options.configs[0], "a.json");
	ck_assert_uint_eq(options.set_count, 0);
	ck_assert_ptr_null(options.json_path);
	ck_assert(!options.samples && !options.quiet && !options.verbose);
	ck_assert_uint_eq(options.rounds, 0);
}
END_TEST

START_TEST(test_options_run_all)
{
	good("run -v a.json --set k=v --samples --set=x.y=z --json=out.json",
	     COMMAND_RUN);
	ck_assert_uint_eq(options.set_count, 2);
	ck_assert_str_eq(options.sets[0], "k=v");
	ck_assert_str_eq(options.sets[1], "x.y=z");
	ck_assert_str_eq(options.json_path, "out.json");
	ck_assert(options.samples && options.verbose && !options.quiet);
	good("run a.json --quiet", COMMAND_RUN);
	ck_assert(options.quiet);
	good("run a.json --verbose", COMMAND_RUN);
	ck_assert(options.verbose);
}
END_TEST

START_TEST(test_options_bench)
{
	good("bench a.json b.json --rounds 12 --vary k=1,2 --vary j=3 -q "
	     "--set a=b --json",
	     COMMAND_BENCH);
	ck_assert_uint_eq(options.config_count, 2);
	ck_assert_str_eq(options.configs[1], "b.json");
	ck_assert_uint_eq(options.rounds, 12);
	ck_assert_uint_eq(options.vary_count, 2);
	ck_assert_str_eq(options.vary[0], "k=1,2");
	ck_assert_str_eq(options.vary[1], "j=3");
	ck_assert_str_eq(options.json_path, "-");
	ck_assert(options.quiet);
	good("bench a.json -v", COMMAND_BENCH);
	ck_assert(options.verbose);
}
END_TEST

START_TEST(test_options_check)
{
	good("check a.json --set k=v --json -q", COMMAND_CHECK);
	ck_assert_str_eq(options.configs[0], "a.json");
	ck_assert(options.quiet);
}
END_TEST

START_TEST(test_options_probe)
{
	good("probe", COMMAND_PROBE);
	ck_assert_uint_eq(options.config_count, 0);
	good("probe --json=p.json -q", COMMAND_PROBE);
	ck_assert_str_eq(options.json_path, "p.json");
}
END_TEST

START_TEST(test_options_help_and_version)
{
	static const char *const help[] = {"-h",
					   "--help",
					   "run -h",
					   "-h run",
					   "bench --rounds 3 --help a b c",
					   "-qvh"};

	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		good(help[i], COMMAND_HELP);
	good("--version", COMMAND_VERSION);
	good("run --version", COMMAND_VERSION);
	good("--version whatever", COMMAND_VERSION);
}
END_TEST

/* Options may stand anywhere, a value may look like an option, and what
 * follows -- is an operand. */
START_TEST(test_options_order)
{
	good("--set k=v run --samples a.json -q", COMMAND_RUN);
	ck_assert_str_eq(options.configs[0], "a.json");
	ck_assert_str_eq(options.sets[0], "k=v");
	ck_assert(options.samples && options.quiet);
	good("run --set -q a.json", COMMAND_RUN);
	ck_assert_str_eq(options.sets[0], "-q");
	ck_assert(!options.quiet);
	good("run -- --odd.json", COMMAND_RUN);
	ck_assert_str_eq(options.configs[0], "--odd.json");
	/* --json takes its value with = only. */
	good("run --json a.json", COMMAND_RUN);
	ck_assert_str_eq(options.json_path, "-");
	ck_assert_str_eq(options.configs[0], "a.json");
}
END_TEST

START_TEST(test_options_abbreviated)
{
	good("bench a.json --rou 3 --verb", COMMAND_BENCH);
	ck_assert_uint_eq(options.rounds, 3);
	bad("run a.json --s k=v", "--s");
	bad("run a.json --ver", "--ver");
}
END_TEST

START_TEST(test_options_no_command)
{
	bad("", "a command is missing");
	bad("-q", "a command is missing");
	bad("--json", "a command is missing");
	bad("start a.json", "unknown command: start");
	bad("a.json run", "unknown command: a.json");
	bad("Run a.json", "unknown command: Run");
	bad("ru a.json", "unknown command: ru");
}
END_TEST

START_TEST(test_options_operands)
{
	bad("run", "CONFIG file is missing");
	bad("bench", "CONFIG file is missing");
	bad("check", "CONFIG file is missing");
	bad("run -q --set a=b", "CONFIG file is missing");
	bad("compare a", "compare takes two results of bench");
	bad("compare a b c", "one operand too many: c");
	bad("compare a b --set k=1", "--set is for run, bench and check");
	bad("compare a b -v", "-v is for run and bench");
	good("compare a b -q --json=c", COMMAND_COMPARE);
	bad("run a.json b.json", "one operand too many: b.json");
	bad("check a.json b.json c.json", "one operand too many: b.json");
	bad("probe a.json", "one operand too many: a.json");
}
END_TEST

START_TEST(test_options_of_another_command)
{
	bad("run a.json --rounds 3", "--rounds is for bench");
	bad("check a.json --rounds 3", "--rounds is for bench");
	bad("run a.json --vary a=1,2", "--vary is for bench");
	bad("run a.json --hgrm=x", "--hgrm is for bench");
	bad("run a.json --baseline=qemu", "--baseline is for bench");
	bad("run a.json --plot=x", "--plot is for bench");
	bad("bench a.json --prefault", "--prefault is for run");
	good("run a.json --prefault", COMMAND_RUN);
	ck_assert(options.prefault);
	bad("probe --vary a=1,2", "--vary is for bench");
	bad("bench a.json --entry-cost=1,2", "--entry-cost is for run");
	bad("check a.json --entry-cost=1,2", "--entry-cost is for run");
	bad("bench a.json --samples", "--samples is for run");
	bad("check a.json --samples", "--samples is for run");
	bad("probe --samples", "--samples is for run");
	bad("probe --set a=b", "--set is for run, bench and check");
	bad("check a.json -v", "-v is for run and bench");
	bad("probe -v", "-v is for run and bench");
}
END_TEST

START_TEST(test_options_trace)
{
	good("run a.json", COMMAND_RUN);
	ck_assert_ptr_null(options.trace_path);
	good("run a.json --trace=t --trace-events=arrive", COMMAND_RUN);
	ck_assert_str_eq(options.trace_path, "t");
	ck_assert_uint_eq(options.trace_events,
			  1u << TRACE_ARRIVE | 1u << TRACE_END);
	good("run a.json --trace t", COMMAND_RUN);
	ck_assert_uint_eq(options.trace_events, TRACE_ALL_EVENTS);
	bad("run a.json --trace=-", "--trace: not the name of a file: -");
	bad("run a.json --trace=", "--trace: not the name of a file");
	bad("run a.json --trace-events=kick", "there is no --trace");
	bad("run a.json --trace=t --trace-events=kick,kicks,drop",
	    "\"kicks\" is not timer_arm");
	bad("run a.json --trace=t --trace-events=", "\"\" is not timer_arm");
	bad("bench a.json --trace=t", "--trace is for run");
	bad("check a.json --trace-events=drop", "--trace-events is for run");
}
END_TEST

START_TEST(test_options_read_traces)
{
	good("trace t", COMMAND_TRACE);
	ck_assert_str_eq(options.configs[0], "t");
	bad("trace", "a trace FILE is missing");
	bad("trace a b", "one operand too many: b");
	bad("trace a --set k=v", "--set is for run, bench and check");
	bad("trace a --json",
	    "--json is for run, bench, compare, check and probe");
	bad("trace a -q", "-q is for run, bench, compare, check and probe");
	good("tune-sim t u --plot=p.svg", COMMAND_TUNE_SIM);
	ck_assert_uint_eq(options.config_count, 2);
	ck_assert_str_eq(options.plot_path, "p.svg");
	good("tune-sim t", COMMAND_TUNE_SIM);
	ck_assert_ptr_null(options.plot_path);
	bad("tune-sim", "a trace FILE is missing");
	bad("tune-sim t --plot=-", "--plot: not the name of a file: -");
	bad("bench t --plot=", "--plot: not the name of a file");
	bad("tune-sim t --json", "--json is for run");
	bad("trace t --plot=p", "--plot is for bench and tune-sim");
	bad("trace a -v", "-v is for run and bench");
	bad("trace a --trace=b", "--trace is for run");
}
END_TEST

START_TEST(test_options_quiet_and_verbose)
{
	bad("run a.json -q -v", "exclude each other");
	bad("bench a.json -vq", "exclude each other");
}
END_TEST

START_TEST(test_options_rounds)
{
	static const char *const wrong[] = {
		"0",	"-1",  "10001",
		"1e3",	"3x",  "three",
		"0x10", "1.5", "99999999999999999999"};
	char line[80];

	good("bench a --rounds 1", COMMAND_BENCH);
	good("bench a --rounds=10000", COMMAND_BENCH);
	ck_assert_uint_eq(options.rounds, 10000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(line, sizeof(line), "bench a --rounds %s", wrong[i]);
		bad(line, "--rounds: not a number from 1 to 10000");
		ck_assert_ptr_nonnull(strstr(err, wrong[i]));
	}
	bad("bench a --rounds=", "--rounds: not a number from 1 to 10000");
}
END_TEST

START_TEST(test_options_entry_cost)
{
	static const char *const wrong[] = {"1",
					    "1,",
					    ",1",
					    "1,2,3",
					    "1,2x",
					    "-1,2",
					    "1,+2",
					    "0x1,2",
					    "1.5,2",
					    "100000001,1",
					    "1,100000001",
					    "1,1e3",
					    "99999999999999999999,1"};
	char line[80];

	good("run a", COMMAND_RUN);
	ck_assert(!options.has_entry_cost);
	good("run a --entry-cost=900,1200", COMMAND_RUN);
	ck_assert(options.has_entry_cost);
	ck_assert_uint_eq(options.entry_cost_tsc[0], 900);
	ck_assert_uint_eq(options.entry_cost_tsc[1], 1200);
	good("run a --entry-cost 0,100000000", COMMAND_RUN);
	ck_assert(options.has_entry_cost);
	ck_assert_uint_eq(options.entry_cost_tsc[0], 0);
	ck_assert_uint_eq(options.entry_cost_tsc[1], 100000000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(line, sizeof(line), "run a --entry-cost=%s", wrong[i]);
		bad(line, "--entry-cost: not two numbers of cycles");
		ck_assert_ptr_nonnull(strstr(err, wrong[i]));
	}
	bad("run a --entry-cost=", "--entry-cost: not two numbers of cycles");
	bad("run a --entry-cost", ": --entry-cost");
}
END_TEST

/* The message names what is wrong, wherever it stands. */
START_TEST(test_options_unknown)
{
	bad("run a.json --bogus", ": --bogus");
	bad("--bogus run a.json", ": --bogus");
	bad("run a.json -x", ": -x");
	bad("-x", ": -x");
	bad("run a.json -qx", ": -x");
	bad("run a.json -xq", ": -x");
	bad("run a.json -V", ": -V");
	bad("run a.json --json=x --bogus=3 b", ": --bogus=3");
}
END_TEST

START_TEST(test_options_values)
{
	bad("run a.json --set", ": --set");
	bad("bench a.json --rounds", ": --rounds");
	bad("bench a.json --vary", ": --vary");
	bad("bench a.json --hgrm", ": --hgrm");
	bad("bench a.json --baseline=kvmtool", "--baseline: not qemu");
	bad("bench a.json --baseline", ": --baseline");
	bad("bench a.json --plot", ": --plot");
	bad("run a.json --samples=yes", ": --samples=yes");
	bad("run a.json --quiet=yes", ": --quiet=yes");
	bad("--version=2", ": --version=2");
}
END_TEST

/* A long message is cut, not written past the end. */
START_TEST(test_options_long_word)
{
	char line[600];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	ck_assert_int_eq(parse(line), -EINVAL);
	ck_assert_uint_eq(strlen(err), sizeof(err) - 1);
}
END_TEST

/* Whatever is in the usage is accepted, and the other way round. */
START_TEST(test_options_usage)
{
	static const char *const words[] = {"run",
					    "bench",
					    "check",
					    "probe",
					    "--set",
					    "--json",
					    "--samples",
					    "-q",
					    "-v",
					    "--quiet",
					    "--verbose",
					    "--rounds",
					    "--vary",
					    "-h",
					    "--help",
					    "--version",
					    "--entry-cost",
					    "--trace=",
					    "--trace-events",
					    "punctual trace",
					    "punctual tune-sim",
					    "--plot="};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_msg(strstr(options_usage, words[i]) != NULL, "%s",
			      words[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tc = tcase_create("options");

	/* It would end the options at the first operand. */
	unsetenv("POSIXLY_CORRECT");
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, test_options_run);
	tcase_add_test(tc, test_options_run_all);
	tcase_add_test(tc, test_options_bench);
	tcase_add_test(tc, test_options_check);
	tcase_add_test(tc, test_options_probe);
	tcase_add_test(tc, test_options_help_and_version);
	tcase_add_test(tc, test_options_order);
	tcase_add_test(tc, test_options_abbreviated);
	tcase_add_test(tc, test_options_no_command);
	tcase_add_test(tc, test_options_operands);
	tcase_add_test(tc, test_options_of_another_command);
	tcase_add_test(tc, test_options_trace);
	tcase_add_test(tc, test_options_read_traces);
	tcase_add_test(tc, test_options_quiet_and_verbose);
	tcase_add_test(tc, test_options_rounds);
	tcase_add_test(tc, test_options_entry_cost);
	tcase_add_test(tc, test_options_unknown);
	tcase_add_test(tc, test_options_values);
	tcase_add_test(tc, test_options_long_word);
	tcase_add_test(tc, test_options_usage);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
