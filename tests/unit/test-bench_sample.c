/* SPDX-License-Identifier: MIT */
/*
 * What is taken from a result, and what a result that does not hold together
 * is called.
 */
#define _GNU_SOURCE /* asprintf */
#include "bench_sample.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_hist.h"
#include "tap.h"

#define HEAD                                                        \
	"{\"schema\":\"punctual-result-1\",\"end\":{\"status\":1}," \
	"\"tsc_allowed_unstable\":true,\"early_allowed\":true,"     \
	"\"memory\":{\"prefaulted\":true,\"locked\":false},"        \
	"\"host\":"                                                 \
	"{\"steal_ticks_during_run\":4},\"tsc_khz\":2000000,"       \
	"\"user_cpu_ns\":7000,\"system_cpu_ns\":3000,"
#define COUNTS                                               \
	"\"fires\":10,\"early\":1,\"lost\":2,\"doubled\":3," \
	"\"loop_turns\":500,\"wait_tsc\":100000,"            \
	"\"warmup\":2,\"below_zero\":1,"                     \
	"\"histogram_tsc\":{\"count\":7,\"min\":5,"          \
	"\"max\":900,\"buckets\":[[5,5,3],[896,911,4]]},"
#define PERCENTILES                                       \
	"\"samples\":8,\"p50_tsc\":-300,\"p50_ns\":-150," \
	"\"p99_tsc\":900,\"p99_ns\":450"
#define USERSPACE                                                              \
	HEAD "\"timer_mode\":\"userspace\",\"rung\":\"split\","                \
	     "\"vcpus\":[{\"timer\":{\"arms\":6}},"                            \
	     "{\"timer\":{\"arms\":5}}],\"lateness_all\":{" COUNTS PERCENTILES \
	     "}}"
#define KERNEL                                                          \
	HEAD "\"timer_mode\":\"kernel\",\"rung\":\"-\",\"vcpus\":[{}]," \
	     "\"lateness_all\":{" COUNTS "\"samples\":0}}"

static int sample_of(const char *json, struct bench_sample *sample, char *err)
{
	struct bench_hist hist;
	int ret;

	err[0] = '\0';
	ret = bench_sample_read(json, strlen(json), sample, &hist, err, 256);
	if (ret)
		return ret;
	ck_assert_uint_eq(hist.count, 7);
	ck_assert_uint_eq(hist.used, 2);
	bench_hist_free(&hist);
	/* Who wants none gets the rest. */
	return bench_sample_read(json, strlen(json), sample, NULL, err, 256);
}

START_TEST(test_bench_sample_of_mode_userspace)
{
	struct bench_sample s;
	char err[256];
	int64_t cpu_ns;

	ck_assert_int_eq(sample_of(USERSPACE, &s, err), 0);
	ck_assert_int_eq(s.status, 1);
	ck_assert(s.is_userspace);
	ck_assert(s.is_unstable);
	ck_assert(s.is_early_allowed);
	ck_assert(s.is_prefaulted);
	ck_assert(!s.is_locked);
	ck_assert_str_eq(s.rung, "split");
	ck_assert_uint_eq(s.tsc_khz, 2000000);
	ck_assert_uint_eq(s.samples, 8);
	ck_assert_int_eq(s.p50_tsc, -300);
	ck_assert_int_eq(s.p50_ns, -150);
	ck_assert_int_eq(s.p99_tsc, 900);
	ck_assert_int_eq(s.p99_ns, 450);
	ck_assert_uint_eq(s.fires, 10);
	ck_assert_uint_eq(s.early, 1);
	ck_assert_uint_eq(s.lost, 2);
	ck_assert_uint_eq(s.doubled, 3);
	ck_assert_uint_eq(s.loop_turns, 500);
	ck_assert_uint_eq(s.wait_tsc, 100000);
	ck_assert_uint_eq(s.arms, 11);
	ck_assert_uint_eq(s.steal_ticks, 4);
	ck_assert_uint_eq(s.warmup, 2);
	ck_assert_uint_eq(s.below_zero, 1);
	ck_assert(bench_sample_cpu_per_fire(&s, &cpu_ns));
	ck_assert_int_eq(cpu_ns, 1000);
	ck_assert(bench_sample_is_intercepted(&s));
}
END_TEST

START_TEST(test_bench_sample_of_mode_kernel_needs_no_arms)
{
	struct bench_sample s;
	char err[256];

	ck_assert_int_eq(sample_of(KERNEL, &s, err), 0);
	ck_assert(!s.is_userspace);
	ck_assert_uint_eq(s.arms, 0);
	ck_assert_uint_eq(s.samples, 0);
	ck_assert_int_eq(s.p50_tsc, 0);
	ck_assert(bench_sample_is_intercepted(&s));
}
END_TEST

START_TEST(test_bench_sample_knows_a_swallowed_write)
{
	struct bench_sample s = {.is_userspace = true, .fires = 10};

	s.arms = 10;
	ck_assert(bench_sample_is_intercepted(&s));
	s.arms = 9;
	ck_assert(!bench_sample_is_intercepted(&s));
	s.arms = 0;
	s.fires = 0;
	ck_assert(bench_sample_is_intercepted(&s));
}
END_TEST

START_TEST(test_bench_sample_has_no_cpu_time_without_fires)
{
	struct bench_sample s = {.user_cpu_ns = 1, .system_cpu_ns = 1};
	int64_t cpu_ns;

	ck_assert(!bench_sample_cpu_per_fire(&s, &cpu_ns));
	s.fires = 1;
	s.user_cpu_ns = UINT64_MAX;
	ck_assert(!bench_sample_cpu_per_fire(&s, &cpu_ns));
}
END_TEST

/* Each member in turn is renamed: it is then missing. */
static const char *const members[] = {
	"schema",	 "end",		  "status",
	"timer_mode",	 "rung",	  "tsc_allowed_unstable",
	"early_allowed", "tsc_khz",	  "user_cpu_ns",
	"system_cpu_ns", "host",	  "steal_ticks_during_run",
	"vcpus",	 "arms",	  "lateness_all",
	"samples",	 "p50_tsc",	  "p50_ns",
	"p99_tsc",	 "p99_ns",	  "fires",
	"early",	 "lost",	  "doubled",
	"loop_turns",	 "wait_tsc",	  "warmup",
	"below_zero",	 "histogram_tsc", "memory",
	"prefaulted",	 "locked",
};

START_TEST(test_bench_sample_misses_each_member)
{
	char *json = strdup(USERSPACE), *name, *at, err[256];
	struct bench_sample s;

	ck_assert_int_gt(asprintf(&name, "\"%s\":", members[_i]), 0);
	at = strstr(json, name);
	ck_assert_ptr_nonnull(at);
	at[1] = 'X';
	ck_assert_int_eq(sample_of(json, &s, err), -EINVAL);
	ck_assert_ptr_eq(strstr(err, "result: "), err);
	free(name);
	free(json);
}
END_TEST

static const struct {
	const char *from, *to, *says;
} wrong[] = {
	{"punctual-result-1", "punctual-result-2", "schema"},
	{"\"userspace\"", "\"neither\"", "timer_mode"},
	{"\"split\"", "17", "rung"},
	{"\"status\":1", "\"status\":256", "end.status"},
	{"\"status\":1", "\"status\":-1", "end.status"},
	{"\"fires\":10", "\"fires\":-1", "lateness_all.fires: not a count"},
	{"\"fires\":10", "\"fires\":1.5", "lateness_all.fires: not a count"},
	{"-300", "\"x\"", "lateness_all.p50_tsc: not an integer"},
	{"-300", "9223372036854775808", "lateness_all.p50_tsc"},
	{"{\"timer\":{\"arms\":5}}", "{}", "vcpus[].timer.arms"},
	{"{\"timer\":{\"arms\":5}}", "5", "vcpus[].timer.arms"},
	{"[5,5,3]", "[5,5,2]", "lateness_all.histogram_tsc: not a histogram"},
	{"}}", "}", "result:1:"},
};

START_TEST(test_bench_sample_refuses_wrong_values)
{
	const char *from = wrong[_i].from;
	static const char good[] = USERSPACE;
	const char *at = strstr(good, from);
	struct bench_sample s;
	char *json, err[256];

	/* The last row cuts the end, the others replace in the middle. */
	if (!strcmp(from, "}}"))
		at = good + strlen(good) - strlen(from);
	ck_assert_ptr_nonnull(at);
	ck_assert_int_gt(asprintf(&json, "%.*s%s%s", (int)(at - good), good,
				  wrong[_i].to, at + strlen(from)),
			 0);
	ck_assert_int_eq(sample_of(json, &s, err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err, wrong[_i].says));
	free(json);
}
END_TEST

START_TEST(test_bench_sample_of_nothing_is_an_error)
{
	struct bench_sample s;
	char err[256];

	ck_assert_int_eq(bench_sample_read(NULL, 0, &s, NULL, err, sizeof(err)),
			 -EINVAL);
	ck_assert_int_eq(sample_of("[]", &s, err), -EINVAL);
}
END_TEST

START_TEST(test_bench_sample_saturates_sums)
{
	static const char json[] =
		HEAD "\"timer_mode\":\"userspace\",\"rung\":\"split\","
		     "\"vcpus\":[{\"timer\":{\"arms\":18446744073709551615}},"
		     "{\"timer\":{\"arms\":2}}],\"lateness_all\":{" COUNTS
		     "\"samples\":0}}";
	struct bench_sample s;
	char err[256];

	ck_assert_int_eq(sample_of(json, &s, err), 0);
	ck_assert_uint_eq(s.arms, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_sample");
	TCase *tc = tcase_create("bench_sample");

	tcase_add_test(tc, test_bench_sample_of_mode_userspace);
	tcase_add_test(tc, test_bench_sample_of_mode_kernel_needs_no_arms);
	tcase_add_test(tc, test_bench_sample_knows_a_swallowed_write);
	tcase_add_test(tc, test_bench_sample_has_no_cpu_time_without_fires);
	tcase_add_loop_test(tc, test_bench_sample_misses_each_member, 0,
			    sizeof(members) / sizeof(members[0]));
	tcase_add_loop_test(tc, test_bench_sample_refuses_wrong_values, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(tc, test_bench_sample_of_nothing_is_an_error);
	tcase_add_test(tc, test_bench_sample_saturates_sums);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
