/* SPDX-License-Identifier: MIT */
/*
 * bench_rounds - the runs of a benchmark, one after the other. Part of the
 * program, not of its library: it says on stderr what went wrong.
 */
#ifndef VMM_BENCH_ROUNDS_H
#define VMM_BENCH_ROUNDS_H

#include <stddef.h>

#include "bench_calibrate.h"
#include "bench_child.h"
#include "bench_plan.h"
#include "bench_progress.h"
#include "bench_stats.h"
#include "guard.h"
#include "host.h"
#include "noise_floor.h"
#include "output.h"

struct config;
struct options;

struct bench {
	const struct options *options;
	struct bench_plan plan;
	struct bench_calibrations calibrations;
	struct guard guard;	/* of the calibrations */
	struct bench_run *runs; /* a cell's rounds side by side */
	struct bench_summary *summaries;
	struct bench_signals signals;
	struct bench_progress progress;
	struct config *configs; /* one a cell, as check_cells() found it */
	struct host_info host;
	struct noise_floor noise[2]; /* before the rounds, and after them */
	struct output json, plot;
	char err[512];
};

/* The overrides of a cell as config_load() and a child take them. */
const char *const *bench_sets(const struct bench_cell *cell);

/* Which cell, in words. */
void bench_describe(const struct bench_cell *cell, char *buf, size_t size);

/*
 * Calibrates and runs every cell of every round. What a run did wrong costs
 * that round and is said at once. 0, or the status to end with, with one line
 * in bench->err; above EXIT_STATUS_SIGNAL a signal ended it, and the rounds
 * before it are there. Main thread of a process without other threads.
 */
int bench_rounds_run(struct bench *bench);

#endif
