/* SPDX-License-Identifier: MIT */
/*
 * bench_progress - one line on a terminal that says how far a benchmark is.
 * It stands there while a run is on and is gone when there is something to
 * say; a pipe or a file never gets one.
 */
#ifndef VMM_BENCH_PROGRESS_H
#define VMM_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_progress {
	bool is_shown; /* stderr is a terminal, and nobody asked for quiet */
	unsigned int rounds;
	size_t runs, done; /* in all; of them over */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
};

void bench_progress_init(struct bench_progress *progress, bool is_quiet,
			 unsigned int rounds, size_t runs);

/*
 * "round 2 of 6, run 9 of 36, 1 min 20 s left": round from 0. The time is the
 * mean so far for each run that is to come, and left out while there is none.
 * Pure.
 */
void bench_progress_text(const struct bench_progress *progress,
			 unsigned int round, uint64_t now_ns, char *buf,
			 size_t size);

/* Before a run, and when one is over. Main thread. */
void bench_progress_show(const struct bench_progress *progress,
			 unsigned int round);
void bench_progress_clear(struct bench_progress *progress);

#endif
