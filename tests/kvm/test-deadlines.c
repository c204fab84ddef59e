/* SPDX-License-Identifier: MIT */
/*
 * Proves that the timer keeps its word in every mode, as the guest itself
 * sees it: as many interrupts as deadlines, none early, none lost, none twice,
 * however it waits and on however many CPUs; that odd deadlines end as with
 * KVM's own timer; that far ones cost nothing; and that the counters in the
 * result agree with what the guest counted. How late a fire comes is not
 * judged here.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "end.h"
#include "env.h"

enum {
	WARMUP = 20, /* the guest's default */
	FIRES = 100,
	FIXED_NS = 20000,
};

static struct env env;

static const struct {
	bool userspace, advances;
	const char *sets[4];
} modes[] = {
	{false, false, {"timer.mode=kernel"}},
	{true,
	 false,
	 {"timer.mode=userspace", "timer.advance=off",
	  "timer.vmentry_advance=off"}},
	{true, true, {"timer.mode=userspace", "timer.advance=auto"}},
	{true, true, {"timer.mode=userspace", "timer.advance=20000"}},
	{true,
	 true,
	 {"timer.mode=userspace", "timer.advance=auto",
	  "timer.strict_lvtt=true"}},
	{true,
	 true,
	 {"timer.mode=userspace", "timer.advance=auto", "timer.source=posix"}},
};

enum {
	MODE_KERNEL = 0,
	MODE_AUTO = 2,
	MODE_FIXED = 3,
};

/* How many of them there are here: the kernel's is the first. */
static int mode_count(void)
{
	return env.userspace ? (int)(sizeof(modes) / sizeof(modes[0])) : 1;
}

/* One run in modes[m], with its result; "set" may be NULL. */
static void run_in_mode(struct run *run, struct json_doc *doc, int m,
			const char *image, const char *boot_args,
			const char *set)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	const char *sets[8] = {option, "run.timeout_ms=50000"};
	size_t n = 2;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "deadlines.json", path));
	if (set)
		sets[n++] = set;
	for (const char *const *one = modes[m].sets; *one; one++)
		sets[n++] = *one;
	env_guest(&env, run, image, boot_args, sets);
	doc_load(doc, path);
}

static void run_lateness(struct run *run, struct json_doc *doc, int m,
			 const char *boot_args, const char *set)
{
	run_in_mode(run, doc, m, "lateness.elf", boot_args, set);
	/* On a host whose TSCs disagree nothing can be promised but an end:
	 * the guest's verdict may be early (1) or lost (2). */
	if (!env.allow_unstable || run_status(run) > 2)
		env_expect_status(run, 0);
	ck_assert_str_eq(run->err.text, "");
}

/* The lines that begin with "edge:", in one string to be freed. */
static char *edge_lines(const char *text)
{
	char *all = strdup(text), *out = calloc(1, strlen(text) + 1);
	char *rest = all;

	for (char *line; (line = strsep(&rest, "\n"));)
		if (!strncmp(line, "edge:", 5))
			strcat(strcat(out, line), "\n");
	free(all);
	return out;
}

/* The period is long, so that a slow host can be as quick as some of the
 * checks need it to be. */
START_TEST(test_deadline_edges_as_in_the_kernel)
{
	char *kernel = NULL;

	for (int m = 0; m < mode_count(); m++) {
		struct json_doc doc;
		struct run run;
		char *lines;

		run_lateness(&run, &doc, m, "edge period_tsc=20000000", NULL);
		lines = edge_lines(run.out.text);
		ck_assert_ptr_nonnull(strstr(lines, "edge: 0 failed\n"));
		if (kernel)
			ck_assert_str_eq(lines, kernel);
		else
			kernel = strdup(lines);
		free(lines);
		json_free(&doc);
		run_free(&run);
	}
	free(kernel);
}
END_TEST

/* What the guest of CPU i counted. */
static void expect_guest_content(const struct json_doc *doc, unsigned int i)
{
	ck_assert_uint_eq(doc_u64(doc, "lateness[%u].cpu", i), i);
	ck_assert_uint_eq(doc_u64(doc, "lateness[%u].fires", i),
			  WARMUP + FIRES);
	ck_assert_uint_eq(doc_u64(doc, "lateness[%u].samples", i), FIRES);
	ck_assert_uint_eq(doc_u64(doc, "lateness[%u].lost", i), 0);
	ck_assert_uint_eq(doc_u64(doc, "lateness[%u].doubled", i), 0);
	ck_assert_uint_eq(doc_u64(doc, "lateness[%u].early", i), 0);
}

/* What punctual counted for vCPU i, against that and against itself. */
static void expect_counters(const struct json_doc *doc, unsigned int i,
			    bool advance, bool rests)
{
	uint64_t arms = doc_u64(doc, "vcpus[%u].timer.arms", i);
	uint64_t fires = doc_u64(doc, "vcpus[%u].timer.fires", i);
	uint64_t in_time = doc_u64(doc, "vcpus[%u].timer.arrived_in_time", i);
	uint64_t late = doc_u64(doc, "vcpus[%u].timer.arrived_late", i);
	uint64_t past = doc_u64(doc, "vcpus[%u].timer.past_at_arm", i);
	uint64_t max_spin_tsc = doc_u64(doc, "vcpus[%u].timer.max_spin_tsc", i);
	uint64_t ceiling_tsc = doc_u64(doc, "config.timer.max_advance_ns") *
			       doc_u64(doc, "tsc_khz") / 1000000;

	/* A CPU that is done rests until the others are; by deadlines again
	 * where it waits in HLT. */
	if (rests)
		ck_assert_uint_ge(arms, WARMUP + FIRES);
	else
		ck_assert_uint_eq(arms, WARMUP + FIRES);
	/* None was replaced or disarmed before it fired. */
	ck_assert_uint_eq(fires, arms);
	ck_assert_uint_eq(doc_u64(doc, "vcpus[%u].exits.wrmsr", i),
			  arms + doc_u64(doc, "vcpus[%u].timer.disarms", i));
	/* Those that were past when they were armed are neither. */
	ck_assert_uint_le(in_time + late, advance ? fires - past : 0);
	ck_assert_uint_eq(
		doc_u64(doc, "vcpus[%u].timer.arrived_late_tsc.count", i),
		late);
	ck_assert_uint_eq(doc_u64(doc, "vcpus[%u].timer.spin_end_tsc.count", i),
			  in_time);
	/* A spin ends at its target, or as much later as the host stopped
	 * the thread; up to the target it never takes more than the ceiling. */
	if (in_time)
		ceiling_tsc +=
			doc_u64(doc, "vcpus[%u].timer.spin_end_tsc.max", i);
	ck_assert_uint_le(max_spin_tsc, ceiling_tsc);
}

static void expect_tuner(const struct json_doc *doc, unsigned int i)
{
	uint64_t advance_tsc =
		doc_u64(doc, "vcpus[%u].timer.tuner.advance_tsc", i);

	ck_assert_uint_ge(advance_tsc,
			  doc_u64(doc, "vcpus[%u].timer.tuner.min_tsc", i));
	ck_assert_uint_le(advance_tsc,
			  doc_u64(doc, "vcpus[%u].timer.tuner.max_tsc", i));
	ck_assert_uint_le(doc_u64(doc, "vcpus[%u].timer.tuner.samples", i),
			  doc_u64(doc, "vcpus[%u].timer.fires", i));
}

static const struct {
	const char *words;
	unsigned int cpus;
} loads[] = {
	{"wait=spin", 1},
	{"wait=spin dist=random", 1},
	{"wait=hlt", 1},
	{"wait=hlt dist=random seed=7", 1},
	/* Nearer than anybody can be in time for. */
	{"wait=spin period_tsc=1000", 1},
	{"wait=hlt period_tsc=1000", 1},
	{"wait=spin", 2},
	{"wait=hlt dist=random", 2},
	{"wait=spin dist=random", 4},
	{"wait=hlt", 4},
	/* The last one: not to be had everywhere. */
	{"wait=spin0", 1},
};

/* The interpreter of kvm_pvm may miss an interrupt that is enabled in ring 0
 * for a short while. */
static int load_count(void)
{
	int n = (int)(sizeof(loads) / sizeof(loads[0]));

	return strcmp(env.backend, "kvm_pvm") ? n : n - 1;
}

START_TEST(test_deadline_fires_once_and_never_early)
{
	unsigned int cpus = loads[_i / mode_count()].cpus;
	const char *words = loads[_i / mode_count()].words;
	int m = _i % mode_count();
	char boot_args[128], set[64];
	struct json_doc doc;
	struct run run;

	snprintf(boot_args, sizeof(boot_args), "%s fires=%d", words, FIRES);
	snprintf(set, sizeof(set), "machine-config.vcpu_count=%u", cpus);
	run_lateness(&run, &doc, m, boot_args, set);
	for (unsigned int i = 0; i < cpus && !env.allow_unstable; i++) {
		expect_guest_content(&doc, i);
		if (!modes[m].userspace)
			continue;
		expect_counters(&doc, i, modes[m].advances,
				cpus > 1 && strstr(words, "hlt"));
		if (modes[m].advances && m != MODE_FIXED)
			expect_tuner(&doc, i);
	}
	json_free(&doc);
	run_free(&run);
}
END_TEST

START_TEST(test_deadline_arms_without_fires)
{
	struct json_doc doc;
	struct run run;

	for (int m = 0; m < mode_count(); m++) {
		run_lateness(&run, &doc, m, "arms_only fires=1000", NULL);
		ck_assert_ptr_nonnull(
			strstr(run.out.text, "armed 1000 deadlines"));
		if (modes[m].userspace) {
			ck_assert_uint_eq(doc_u64(&doc, "vcpus[0].timer.arms"),
					  1000);
			ck_assert_uint_eq(
				doc_u64(&doc, "vcpus[0].timer.host_arms"),
				1000);
			ck_assert_uint_eq(doc_u64(&doc, "vcpus[0].timer.fires"),
					  0);
		}
		json_free(&doc);
		run_free(&run);
	}
}
END_TEST

/* Half a day to a million years ahead. plain64 has no IDT: a fire would be a
 * triple fault. It waits in HLT, so that all CPU time is punctual's. */
static const char *const far_deadlines[] = {
	"arm_ahead=1099511627776",
	"arm_ahead=4611686018427387904",
	"arm=9223372036854775808",
	"arm=18446744073709551615",
};

#define FAR ((int)(sizeof(far_deadlines) / sizeof(far_deadlines[0])))

START_TEST(test_deadline_far_is_silent_and_free)
{
	int m = _i / FAR ? MODE_AUTO : MODE_KERNEL;
	struct json_doc doc;
	struct run run;

	run_in_mode(&run, &doc, m, "plain64.elf", far_deadlines[_i % FAR],
		    "run.timeout_ms=2000");
	env_expect_status(&run, EXIT_STATUS_TIME_LIMIT);
	ck_assert_ptr_nonnull(strstr(run.out.text, "plain64: armed\n"));
	/* The start of the process, a look or two, and its end. */
	ck_assert_uint_le(doc_u64(&doc, "vcpus[0].exits.interrupted"), 8);
	ck_assert_uint_le(doc_u64(&doc, "user_cpu_ns") +
				  doc_u64(&doc, "system_cpu_ns"),
			  (uint64_t)env_ms(&env, 200) * 1000000);
	if (modes[m].userspace) {
		ck_assert_uint_eq(doc_u64(&doc, "vcpus[0].timer.arms"), 1);
		ck_assert_uint_eq(doc_u64(&doc, "vcpus[0].timer.host_arms"), 1);
		ck_assert_uint_eq(doc_u64(&doc, "vcpus[0].timer.fires"), 0);
	}
	json_free(&doc);
	run_free(&run);
}
END_TEST

/* That a fire would have been seen: the same with a deadline soon due. */
START_TEST(test_deadline_near_is_seen_by_the_same_guest)
{
	int m = _i ? MODE_AUTO : MODE_KERNEL;
	struct json_doc doc;
	struct run run;

	run_in_mode(&run, &doc, m, "plain64.elf", "arm_ahead=10000000", NULL);
	env_expect_status(&run, EXIT_STATUS_TRIPLE_FAULT);
	json_free(&doc);
	run_free(&run);
}
END_TEST

START_TEST(test_deadline_config_is_echoed)
{
	struct json_doc doc;
	struct run run;
	char mode[32];

	for (int m = 0; m < mode_count(); m++) {
		run_lateness(&run, &doc, m, "wait=hlt fires=1",
			     "timer.max_advance_ns=123456");
		ck_assert_str_eq(
			doc_text(&doc, "config.timer.mode", mode, sizeof(mode)),
			modes[m].userspace ? "userspace" : "kernel");
		ck_assert_str_eq(
			doc_text(&doc, "timer_mode", mode, sizeof(mode)),
			modes[m].userspace ? "userspace" : "kernel");
		ck_assert_uint_eq(doc_u64(&doc, "config.timer.max_advance_ns"),
				  123456);
		if (m == MODE_FIXED)
			ck_assert_uint_eq(doc_u64(&doc, "config.timer.advance"),
					  FIXED_NS);
		else
			doc_text(&doc, "config.timer.advance", mode,
				 sizeof(mode));
		ck_assert_int_eq(json_get(&doc, json_root(&doc),
					  "config.unused[0]") == NULL,
				 modes[m].userspace);
		json_free(&doc);
		run_free(&run);
	}
}
END_TEST

static Suite *deadlines_suite(void)
{
	Suite *suite = suite_create("deadlines");
	TCase *tcase = env_case(suite, "edges");
	int timers = env.userspace ? 2 : 1;

	/* Where TSCs disagree the edges are a matter of luck. */
	if (!env.allow_unstable)
		tcase_add_test(tcase, test_deadline_edges_as_in_the_kernel);
	tcase_add_test(tcase, test_deadline_arms_without_fires);
	tcase_add_test(tcase, test_deadline_config_is_echoed);
	tcase = env_case(suite, "far");
	tcase_add_loop_test(tcase, test_deadline_far_is_silent_and_free, 0,
			    timers * FAR);
	tcase_add_loop_test(tcase, test_deadline_near_is_seen_by_the_same_guest,
			    0, timers);
	tcase = env_case(suite, "fires");
	tcase_add_loop_test(tcase, test_deadline_fires_once_and_never_early, 0,
			    mode_count() * load_count());
	return suite;
}

int main(void)
{
	return env_run(&env, deadlines_suite);
}
