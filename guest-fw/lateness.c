/* SPDX-License-Identifier: MIT */
/*
 * lateness - how late does the TSC-deadline timer come? On every CPU at once.
 *
 * Words: wait=spin|spin0|hlt (ring 3, ring 0, HLT), fires=N, warmup=N,
 * period_tsc=N or period_us=N, tsc_khz=N (if the host does not tell),
 * dist=fixed|random (random: uniform in half to one and a half periods),
 * seed=N, cpus=N, print_samples (all of them, for a VMM that takes no report).
 * Other programs in the same image: arms_only (arms `fires`
 * far deadlines, waits for none, tells what an arm costs) and edge
 * (lateness_edge.h).
 * Exit status: 0 all fired, 1 any early, 2 any lost or doubled, else power.h.
 * Not modelled: one-shot and periodic mode; sparse APIC ids (smp.h).
 */
#include "apic.h"
#include "arch.h"
#include "boot.h"
#include "console.h"
#include "cpu.h"
#include "lateness_edge.h"
#include "lateness_run.h"
#include "layout.h"
#include "power.h"
#include "smp.h"
#include "tsc_khz.h"
#include "words.h"

#include "percentile.h"

#include <stddef.h>

#define STATUS_EARLY	      1
#define STATUS_LOST	      2

#define FIRES_DEFAULT	      2000
#define FIRES_MAX	      100000
#define WARMUP_DEFAULT	      20
#define WARMUP_MAX	      1000
#define PERIOD_TSC_DEFAULT    2000000
#define PERIOD_TSC_MAX	      1000000000000ull
#define PERIOD_US_MAX	      100000000

#define ARMS_ONLY_SECONDS     10
#define ARMS_ONLY_UNKNOWN_TSC 40000000000ull

static struct lateness_plan plan;
static bool prints_samples;
static struct lateness_result results[CPUS_MAX];
static unsigned cpu_count;

/* The APs wait for go; all wait until all have fired; CPU 0 for done. */
static unsigned go, fired, done;

static uint64_t period_by_words(uint64_t tsc_khz)
{
	uint64_t period_us = words_u64("period_us", 1, PERIOD_US_MAX, 0);
	uint64_t period_tsc = words_u64("period_tsc", 1, PERIOD_TSC_MAX, 0);

	if (period_us && period_tsc)
		words_refuse("period_us", "given beside period_tsc");
	if (period_us && !tsc_khz)
		words_refuse("period_us",
			     "the host does not tell the TSC frequency; give "
			     "tsc_khz or period_tsc");
	if (period_us)
		return period_us * tsc_khz / 1000;
	return period_tsc ? period_tsc : PERIOD_TSC_DEFAULT;
}

static void plan_by_words(void)
{
	static const char *const waits[] = {"spin", "spin0", "hlt", NULL};
	static const char *const distances[] = {"fixed", "random", NULL};
	const char *khz_source = "the command line";

	plan.tsc_khz = words_u64("tsc_khz", 1000, 100000000, 0);
	if (!plan.tsc_khz)
		plan.tsc_khz = tsc_khz_from_host(&khz_source);
	plan.wait = words_choice("wait", waits, LATENESS_WAIT_SPIN_USER);
	plan.fires = (uint32_t)words_u64("fires", 1, FIRES_MAX, FIRES_DEFAULT);
	plan.warmup =
		(uint32_t)words_u64("warmup", 0, WARMUP_MAX, WARMUP_DEFAULT);
	plan.period_tsc = period_by_words(plan.tsc_khz);
	plan.random_distance = words_choice("dist", distances, 0);
	plan.seed = words_u64("seed", 0, UINT64_MAX, 1);
	cpu_count = smp_count_by_cpuid();
	if (cpu_count > CPUS_MAX)
		cpu_count = CPUS_MAX;
	cpu_count = (unsigned)words_u64("cpus", 1, CPUS_MAX, cpu_count);
	console_printf("lateness: TSC %llu kHz, told by %s; cpus=%u wait=%s, "
		       "%u fires, %s period %llu cycles\n",
		       (unsigned long long)plan.tsc_khz, khz_source, cpu_count,
		       waits[plan.wait], plan.fires,
		       distances[plan.random_distance],
		       (unsigned long long)plan.period_tsc);
}

static void alloc_samples(void)
{
	size_t bytes =
		((size_t)plan.warmup + plan.fires) * sizeof(*results->samples);

	for (unsigned i = 0; i < cpu_count; i++) {
		results[i].samples = boot_alloc(bytes);
		if (!results[i].samples)
			words_refuse("fires",
				     "not enough memory for so many samples");
	}
}

/* One CPU's part, from the common start to the end of the listening. */
static void run_one(unsigned index)
{
	struct lateness_result *result = &results[index];

	lateness_run(&plan, index, result);
	__atomic_fetch_add(&fired, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&fired, __ATOMIC_ACQUIRE) != cpu_count)
		lateness_rest(&plan, index, result);
	lateness_listen(&plan, index, result);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
}

static void ap_run(unsigned index)
{
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		cpu_relax();
	run_one(index);
}

static void run_all(void)
{
	smp_start(cpu_count, ap_run);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	run_one(0);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != cpu_count)
		cpu_relax();
}

static void hand_over_samples(void)
{
	for (unsigned i = 0; i < cpu_count; i++)
		port_out32(LATENESS_REPORT_PORT,
			   (uint32_t)(uintptr_t)&results[i].report);
}

/* Those of [from, to), in the order of the fires. */
static void print_samples(const struct lateness_result *r, const char *name,
			  uint32_t from, uint32_t to)
{
	console_printf("lateness: cpu %u: %s:", (unsigned)r->report.cpu, name);
	for (uint32_t i = from; i < to; i++)
		console_printf(" %lld", (long long)r->samples[i]);
	console_puts(from < to ? "\n" : " none\n");
}

static void sort_in_user(void *samples, uint64_t n)
{
	percentile_sort(samples, n);
}

/* Sorts the samples; ends the line. */
static void print_percentiles(int64_t *samples, uint32_t n)
{
	static const struct {
		const char *name;
		uint32_t num, den;
	} shown[] = {
		{"min", 0, 1},	  {"p50", 1, 2},	{"p90", 9, 10},
		{"p99", 99, 100}, {"p99.9", 999, 1000}, {"max", 1, 1},
	};

	if (n)
		irqwait_call_user(cpu_irqwait(0), sort_in_user, samples, n);
	for (size_t i = 0; n && i < sizeof(shown) / sizeof(shown[0]); i++)
		console_printf(" %s %lld", shown[i].name,
			       (long long)percentile_nearest_rank(
				       samples, n, shown[i].num, shown[i].den));
	console_puts(" cycles\n");
}

static void print_lateness(const struct lateness_result *r)
{
	uint32_t n = r->report.count - r->report.warmup;

	console_printf("lateness: cpu %u: fires %u", (unsigned)r->report.cpu,
		       n);
	print_percentiles(r->samples + r->report.warmup, n);
}

/* From an RDTSC before the write to one after it: what an arm costs. */
static void arms_only(void)
{
	uint64_t far_tsc = plan.tsc_khz
				   ? plan.tsc_khz * 1000 * ARMS_ONLY_SECONDS
				   : ARMS_ONLY_UNKNOWN_TSC;
	int64_t *samples = results[0].samples;

	apic_timer_deadline_mode();
	for (uint32_t i = 0; i < plan.fires; i++) {
		uint64_t start_tsc = tsc_read();

		apic_timer_arm(start_tsc + far_tsc);
		samples[i] = (int64_t)(tsc_read() - start_tsc);
	}
	apic_timer_mask();
	apic_hold_interrupts();
	console_printf("lateness: armed %u deadlines, waited for none\n",
		       plan.fires);
	console_puts("lateness: cost of an arm:");
	print_percentiles(samples, plan.fires);
}

static uint32_t print_result(const struct lateness_result *r)
{
	const struct lateness_report *report = &r->report;

	print_samples(r, "warm-up", 0, report->warmup);
	if (prints_samples)
		print_samples(r, "samples", report->warmup, report->count);
	print_lateness(r);
	console_printf("lateness: cpu %u: early %u lost %u doubled %u "
		       "turns %llu wait %llu cycles\n",
		       report->cpu, report->early, report->lost,
		       report->doubled, (unsigned long long)report->loop_turns,
		       (unsigned long long)report->wait_tsc);
	if (report->early) {
		console_printf("lateness: cpu %u: earliest %lld cycles\n",
			       report->cpu, (long long)r->earliest_tsc);
		return STATUS_EARLY;
	}
	return report->lost || report->doubled ? STATUS_LOST : 0;
}

static uint32_t print_all(void)
{
	bool early = false, lost = false;

	for (unsigned i = 0; i < cpu_count; i++) {
		uint32_t status = print_result(&results[i]);

		early |= status == STATUS_EARLY;
		lost |= status == STATUS_LOST;
	}
	if (early)
		return STATUS_EARLY;
	return lost ? STATUS_LOST : 0;
}

void guest_main(void)
{
	bool only_arms, edge;

	plan_by_words();
	prints_samples = words_flag("print_samples");
	only_arms = words_flag("arms_only");
	edge = words_flag("edge");
	if (edge && only_arms)
		words_refuse("edge", "given beside arms_only");
	words_end();
	if (!apic_has_deadline_timer()) {
		console_puts("lateness: CPUID offers no TSC-deadline timer\n");
		power_exit(STATUS_NO_TIMER);
	}
	apic_init();
	if (edge)
		power_exit(lateness_edge(&plan));
	alloc_samples();
	if (only_arms) {
		arms_only();
		power_exit(0);
	}
	run_all();
	hand_over_samples();
	apic_hold_interrupts();
	power_exit(print_all());
}
