/* SPDX-License-Identifier: MIT */
/*
 * bench_case - a made-up benchmark of two tables: rows that are well, one that
 * lost a round, one that lost them all, one with an early fire, and one whose
 * deadlines were swallowed.
 */
#ifndef TESTS_BENCH_CASE_H
#define TESTS_BENCH_CASE_H

#include <string.h>

#include "bench_calibrate.h"
#include "bench_plan.h"
#include "bench_stats.h"
#include "config.h"
#include "host.h"
#include "noise_floor.h"
#include "tap.h"

enum {
	ROUNDS = 3,
	CELLS = 6,
};

static struct host_info host = {
	.kernel = "6.1.0",
	.machine = "A CPU",
	.clocksource = "tsc",
	.backend = "kvm_amd",
	.cpus = 2,
	.halt_poll_ns = 200000,
	.allowed_cpus = "0-1",
	.scheduler = "other",
	.nice_value = 5,
};

/* The second could not be measured. */
static struct noise_floor noise[2] = {
	{.is_done = true,
	 .cpu = 1,
	 .reads = 4096,
	 .span_tsc = 100000,
	 .p99_9_tsc = 33,
	 .max_tsc = 4000},
};

static struct config configs[CELLS] = {
	{.boot_args = "wait=spin",
	 .mode = TIMER_KERNEL,
	 .halt_poll_ns = {true, 50000}},
};

static char *sets[] = {"timer.mode=kernel"};

/* The first was not measured. */
static struct bench_calibration calibration_items[] = {
	{.cell = 0},
	{
		.cell = 1,
		.measured = {.answered = 8,
			     .done = true,
			     .wall_ns = 5000,
			     .cost = {{.samples = 192,
				       .min_tsc = 1000,
				       .margin_tsc = 100,
				       .result_tsc = 900},
				      {.samples = 191, .min_tsc = 70}}},
	},
};
static struct bench_calibrations calibrations = {calibration_items, 2};

#define NOT_MEASURED (&calibration_items[0])
#define MEASURED     (&calibration_items[1])

static struct bench_cell cells[CELLS] = {
	{.config = "a.json",
	 .sets = sets,
	 .set_count = 1,
	 .mode = "kernel",
	 .group = "wait=spin",
	 .is_kernel = true,
	 .has_image_hash = true,
	 .image_hash = 0xabc},
	{.config = "a.json",
	 .mode = "userspace off",
	 .group = "wait=spin",
	 .calibration = MEASURED},
	{.config = "a.json",
	 .mode = "userspace auto",
	 .group = "wait=spin",
	 .calibration = MEASURED},
	{.config = "b.json",
	 .mode = "advance off",
	 .group = "",
	 .block = 1,
	 .calibration = NOT_MEASURED},
	{.config = "b.json",
	 .mode = "advance auto",
	 .group = "",
	 .block = 1,
	 .calibration = NOT_MEASURED},
	{.config = "b.json",
	 .mode = "advance 123456789",
	 .group = "",
	 .block = 1,
	 .calibration = NOT_MEASURED},
};

static struct bench_plan plan = {cells, CELLS, ROUNDS};
static struct bench_run runs[CELLS * ROUNDS];
static struct bench_summary summaries[CELLS];

static struct bench_report report = {
	.plan = &plan,
	.host = &host,
	.noise = noise,
	.configs = configs,
	.calibrations = &calibrations,
	.runs = runs,
	.summaries = summaries,
	.status = 1,
};

static inline void set_run(size_t cell, size_t round, int64_t p50_tsc)
{
	struct bench_run *run = &runs[cell * ROUNDS + round];

	*run = (struct bench_run){
		.is_done = true,
		.is_ok = true,
		.has_sample = true,
		.position = round,
		.wall_ns = 1000,
		.sample = {.is_userspace = !cells[cell].is_kernel,
			   .rung = "split",
			   .tsc_khz = 2000000,
			   .samples = 9,
			   .p50_tsc = p50_tsc,
			   .p50_ns = p50_tsc / 2,
			   .p99_tsc = 3 * p50_tsc,
			   .p99_ns = 3 * p50_tsc / 2,
			   .fires = 10,
			   .warmup = 1,
			   .below_zero = 2,
			   .is_prefaulted = true,
			   .arms = 10,
			   .loop_turns = cell < 3 ? 1000 - 100 * cell : 0,
			   .wait_tsc = 1000,
			   .user_cpu_ns = 123400,
			   .system_cpu_ns = 100},
	};
}

static struct bench_hist_bucket bucket = {5, 7};
static struct bench_hist hist = {7, 5, 5, &bucket, 1};

static inline void lose_run(size_t cell, size_t round, const char *message)
{
	struct bench_run *run = &runs[cell * ROUNDS + round];

	*run = (struct bench_run){.is_done = true, .status = 122};
	strcpy(run->message, message);
}

static inline void set_up(void)
{
	int64_t scratch[ROUNDS];

	for (size_t round = 0; round < ROUNDS; round++) {
		set_run(0, round, 48000 + 1000 * (int64_t)round);
		set_run(1, round, 24500);
		set_run(2, round, 4900);
		set_run(3, round, 100);
		set_run(4, round, 300);
		lose_run(5, round, "status 122: KVM");
	}
	lose_run(1, 1, "status 122: KVM");
	runs[2 * ROUNDS].sample.early = 1;
	runs[0].sample.steal_ticks = 3;
	runs[0].hist = hist;
	runs[4 * ROUNDS + 2].sample.arms = 9;
	for (size_t i = 0; i < CELLS; i++)
		bench_summarize(bench_runs(&report, i),
				bench_runs(&report, bench_reference(&plan, i)),
				ROUNDS, scratch, &summaries[i]);
}

#endif
