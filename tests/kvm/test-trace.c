/* SPDX-License-Identifier: MIT */
/*
 * Proves that --trace records what happened, all of it and no more: of each
 * event as many records as the result's own counters say, each delivery in its
 * order, the wake before the arrival and the target before the guest; that
 * `punctual trace` prints a line for each; and that a storm of the guest's has
 * bounds.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doc.h"
#include "end.h"
#include "env.h"
#include "trace.h"
#include "trace_file.h"
#include "vcpu.h"

static struct env env;
static struct trace_file file;
static struct json_doc doc;

static uint64_t sum(const char *member)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < file.header->vcpu_count; i++)
		total += doc_u64(&doc, "vcpus[%u].timer.%s", i, member);
	return total;
}

/* Records of an event, or of those with that aux. */
static uint64_t records_of(enum trace_event event, int64_t aux)
{
	uint64_t total = 0;

	for (size_t i = 0; i < file.count; i++)
		if (file.records[i].event == event &&
		    (aux < 0 || file.records[i].aux == aux))
			total++;
	return total;
}

static uint64_t flagged(enum trace_event event, uint8_t flag)
{
	uint64_t total = 0;

	for (size_t i = 0; i < file.count; i++)
		if (file.records[i].event == event &&
		    file.records[i].flags & flag)
			total++;
	return total;
}

static void trace_guest(const char *boot_args, const char *set,
			const char *more)
{
	char json[PATH_MAX], path[PATH_MAX], option[2][PATH_MAX + 16];
	char err[512];
	struct run run;

	snprintf(option[0], sizeof(option[0]), "--json=%s",
		 env_path(&env, "result.json", json));
	snprintf(option[1], sizeof(option[1]), "--trace=%s",
		 env_path(&env, "trace", path));
	env_guest(
		&env, &run, "lateness.elf", boot_args,
		SETS("timer.mode=userspace", option[0], option[1], set, more));
	env_expect_status(&run, 0);
	ck_assert_str_eq(run.err.text, "");
	run_free(&run);
	doc_load(&doc, json);
	ck_assert_msg(!trace_file_load(&file, path, err, sizeof(err)), "%s",
		      err);
	ck_assert_uint_eq(file.end.args[1] + file.end.args[2], 0);
}

static void teardown(void)
{
	trace_file_free(&file);
	json_free(&doc);
}

static const struct {
	const char *boot_args, *set, *more;
} runs[] = {
	{"wait=hlt fires=100", NULL, NULL},
	{"wait=spin fires=100 dist=random", NULL, NULL},
	{"wait=hlt fires=60", "machine-config.vcpu_count=2", NULL},
	{"wait=spin fires=60", "timer.advance=off", NULL},
	{"wait=hlt fires=60", "timer.source=posix", NULL},
	{"wait=hlt fires=60", "timer.advance=20000", "timer.strict_lvtt=true"},
	{"edge", "timer.vmentry_advance=off", NULL},
	{"arms_only fires=50", NULL, NULL},
};

START_TEST(test_trace_counts)
{
	uint64_t fires;

	if (!env.userspace)
		return;
	trace_guest(runs[_i].boot_args, runs[_i].set, runs[_i].more);
	fires = sum("fires");
	ck_assert_uint_eq(records_of(TRACE_TIMER_ARM, -1), sum("host_arms"));
	ck_assert_uint_eq(records_of(TRACE_INJECT, -1), fires);
	ck_assert_uint_eq(records_of(TRACE_ARRIVE, -1), fires);
	ck_assert_uint_eq(records_of(TRACE_SPIN_END, -1), fires);
	/* The last one of each vCPU may have been the end of it. */
	ck_assert_uint_le(records_of(TRACE_ENTRY, -1), fires);
	ck_assert_uint_ge(records_of(TRACE_ENTRY, -1) + file.header->vcpu_count,
			  fires);
	ck_assert_uint_eq(flagged(TRACE_ARRIVE, TRACE_FLAG_PAST),
			  sum("past_at_arm"));
	ck_assert_uint_eq(flagged(TRACE_TIMER_ARM, TRACE_FLAG_CUT) == 0,
			  sum("advance_cut") == 0);
	ck_assert_uint_eq(records_of(TRACE_DROP, TRACE_DROP_STALE),
			  sum("stale"));
	ck_assert_uint_eq(records_of(TRACE_DROP, TRACE_DROP_EARLY),
			  sum("early_expiries"));
	ck_assert_uint_eq(records_of(TRACE_DROP, TRACE_DROP_BY_MODE),
			  sum("dropped_by_mode"));
	ck_assert_uint_eq(records_of(TRACE_DROP, TRACE_DROP_DISARMED),
			  sum("disarms"));
	ck_assert_uint_eq(records_of(TRACE_KICK, KICK_DUE),
			  records_of(TRACE_TIMER_EXPIRE, -1));
	if (file.header->source == USER_TIMER_TIMERFD)
		ck_assert_uint_ge(records_of(TRACE_KICK, -1),
				  flagged(TRACE_ARRIVE, TRACE_FLAG_EXPIRY));
	else
		ck_assert_uint_eq(records_of(TRACE_KICK, -1), 0);
	if (file.header->advance == USER_TIMER_ADVANCE_AUTO) {
		ck_assert_uint_eq(flagged(TRACE_ARRIVE, TRACE_FLAG_EXPIRY),
				  sum("tuner.samples"));
		ck_assert_uint_le(records_of(TRACE_TUNER, -1),
				  sum("tuner.samples"));
	} else {
		ck_assert_uint_eq(records_of(TRACE_TUNER, -1), 0);
	}
	ck_assert_uint_eq(file.header->tsc_khz, doc_u64(&doc, "tsc_khz"));
}
END_TEST

/* The vCPU's records of each delivery, one after the other. */
START_TEST(test_trace_order)
{
	const struct trace_record *arm = NULL, *arrive = NULL, *spin = NULL;
	unsigned int deliveries = 0;

	if (!env.userspace)
		return;
	trace_guest("wait=hlt fires=100 dist=random", NULL, NULL);
	for (size_t i = 0; i < file.count; i++) {
		const struct trace_record *record = &file.records[i];

		switch ((enum trace_event)record->event) {
		case TRACE_TIMER_ARM:
			arm = record;
			break;
		case TRACE_ARRIVE:
			arrive = record;
			ck_assert_ptr_nonnull(arm);
			/* The cost is from the wake to here. */
			if (record->flags & TRACE_FLAG_EXPIRY)
				ck_assert_uint_eq(record->host_tsc -
							  arm->args[1],
						  record->args[0]);
			break;
		case TRACE_SPIN_END:
			spin = record;
			ck_assert_uint_ge(spin->args[1], arrive->host_tsc);
			ck_assert_uint_ge(spin->host_tsc, spin->args[1]);
			ck_assert_uint_ge(spin->host_tsc, spin->args[0]);
			break;
		case TRACE_ENTRY:
			ck_assert_uint_eq(record->host_tsc, spin->host_tsc);
			ck_assert_uint_gt(record->args[0], record->host_tsc);
			deliveries++;
			break;
		default:
			break;
		}
	}
	ck_assert_uint_ge(deliveries, 100);
}
END_TEST

static unsigned int lines_of(const char *text)
{
	unsigned int lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* Some events only; and the file as text. */
START_TEST(test_trace_print)
{
	char path[PATH_MAX];
	struct run run;

	if (!env.userspace)
		return;
	trace_guest("wait=hlt fires=50", "--trace-events=arrive,drop", NULL);
	ck_assert_uint_eq(file.count, records_of(TRACE_ARRIVE, -1) +
					      records_of(TRACE_DROP, -1));
	ck_assert_uint_ge(records_of(TRACE_ARRIVE, -1), 50);
	env_punctual(&env, &run, SETS("trace", env_path(&env, "trace", path)));
	env_expect_status(&run, 0);
	ck_assert_uint_eq(lines_of(run.out.text), file.count + 2);
	ck_assert_ptr_nonnull(strstr(run.out.text, " arrive cost="));
	run_free(&run);
	env_punctual(&env, &run, SETS("trace", env.punctual));
	env_expect_status(&run, EXIT_STATUS_CONFIG);
	env_expect_complaint(&run, "offset 0");
	run_free(&run);
}
END_TEST

/* As fast as a guest can arm, for as long as it may: no file beyond its limit,
 * and every arm is in it or counted as lost. */
START_TEST(test_trace_storm)
{
	char json[PATH_MAX], path[PATH_MAX], option[2][PATH_MAX + 16];
	char err[512];
	uint64_t lost;
	struct stat st;
	struct run run;

	if (!env.userspace)
		return;
	snprintf(option[0], sizeof(option[0]), "--json=%s",
		 env_path(&env, "result.json", json));
	snprintf(option[1], sizeof(option[1]), "--trace=%s",
		 env_path(&env, "trace", path));
	env_guest(&env, &run, "lateness.elf", "arms_only fires=100000",
		  SETS("timer.mode=userspace", "run.timeout_ms=2000", option[0],
		       option[1], "--trace-events=timer_arm"));
	if (run_status(&run) != 0)
		env_expect_status(&run, EXIT_STATUS_TIME_LIMIT);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_le(st.st_size, TRACE_FILE_MAX);
	ck_assert_msg(!trace_file_load(&file, path, err, sizeof(err)), "%s",
		      err);
	doc_load(&doc, json);
	lost = file.end.args[1] + file.end.args[2];
	ck_assert_uint_gt(file.count, 0);
	ck_assert_uint_eq(file.count + lost, sum("host_arms"));
	ck_assert_int_eq(lost != 0,
			 strstr(run.err.text, "records are not in") != NULL);
	run_free(&run);
}
END_TEST

START_TEST(test_trace_mistakes)
{
	static const struct {
		const char *option, *set;
		int status;
		const char *complaint;
	} mistakes[] = {
		{"--trace=/no/such/dir/t", NULL, EXIT_STATUS_OUTPUT,
		 "/no/such/dir/t"},
		{"--trace=/dev/full", NULL, EXIT_STATUS_OUTPUT,
		 "No space left"},
		{"--trace=/dev/null", "timer.mode=kernel", EXIT_STATUS_USAGE,
		 "timer.mode kernel"},
	};
	struct run run;

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		if (!env.userspace && !mistakes[i].set)
			continue;
		env_guest(&env, &run, "hello.elf", "status=0",
			  SETS(mistakes[i].option,
			       mistakes[i].set ? mistakes[i].set
					       : "timer.mode=userspace"));
		env_expect_status(&run, mistakes[i].status);
		env_expect_complaint(&run, mistakes[i].complaint);
		run_free(&run);
	}
}
END_TEST

static Suite *trace_suite(void)
{
	Suite *suite = suite_create("trace");
	TCase *tcase = env_case(suite, "trace");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_loop_test(tcase, test_trace_counts, 0,
			    sizeof(runs) / sizeof(runs[0]));
	tcase_add_test(tcase, test_trace_order);
	tcase_add_test(tcase, test_trace_print);
	tcase_add_test(tcase, test_trace_storm);
	tcase_add_test(tcase, test_trace_mistakes);
	return suite;
}

int main(void)
{
	return env_run(&env, trace_suite);
}
