/* SPDX-License-Identifier: MIT */
/*
 * bench_stats - many rounds of one cell in a few numbers. Pure.
 *
 * Every number is the nearest-rank median over the rounds that succeeded, so
 * it is one that was measured. Ratios are taken within a round, against the
 * reference cell of the same round, and only then are their median and its
 * interval taken: the host's mood changes from round to round and cancels out
 * within one.
 */
#ifndef VMM_BENCH_STATS_H
#define VMM_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_hist.h"
#include "bench_sample.h"
#include "bench_series.h"
#include "bench_verdict.h"

struct bench_calibrations;
struct bench_plan;
struct config;
struct host_info;
struct noise_floor;

enum {
	BENCH_MESSAGE_SIZE = 160,
};

/* One run of one cell. */
struct bench_run {
	bool is_done;	  /* it was started, and it ended */
	bool is_ok;	  /* it counts; else message says why not */
	bool has_sample;  /* there was a result; else sample is zero */
	int status;	  /* exit status */
	size_t position;  /* in its round, from 0 */
	uint64_t wall_ns; /* of the process, from start to end */
	struct bench_sample sample;
	struct bench_hist hist;	    /* its lateness; to be freed */
	struct bench_series series; /* for a plot; to be freed */
	char message[BENCH_MESSAGE_SIZE];
};

struct bench_median {
	bool is_known;
	int64_t value;
};

/* What is compared within a round. */
enum bench_measure {
	BENCH_P50,
	BENCH_P99,
	BENCH_CPU,   /* CPU time of a fire */
	BENCH_SHARE, /* the guest's loop turns per cycle of waiting */
	BENCH_MEASURES,
};

struct bench_summary {
	unsigned int ok, failed;		    /* rounds */
	uint64_t early, lost, doubled, steal_ticks; /* sums */
	struct bench_median p50_tsc, p50_ns, p99_tsc, p99_ns;
	struct bench_median cpu_ns;		   /* of a fire */
	struct bench_ratio ratios[BENCH_MEASURES]; /* to the reference's */
	bool is_early_allowed; /* a round's entry cost was not measured */
	/* A round in which userspace got fewer deadlines than fired. */
	bool is_swallowed;
	uint64_t arms, fires; /* of that round */
};

/* All there is to print. */
struct bench_report {
	const struct bench_plan *plan;
	const struct host_info *host;
	const struct noise_floor *noise; /* before the rounds, after them */
	const struct config *configs;	 /* one a cell */
	const struct bench_calibrations *calibrations;
	const struct bench_run *runs;	       /* see bench_runs() */
	const struct bench_summary *summaries; /* one a cell */
	int status; /* exit status of the benchmark */
};

/* The rounds of a cell, of which there are plan->rounds. */
const struct bench_run *bench_runs(const struct bench_report *report,
				   size_t cell);

/*
 * num over den in millionths, to the nearest. False if den is not above
 * zero, and where the quotient is beyond 10^12.
 */
bool bench_ppm(double num, double den, int64_t *ppm);

/*
 * A measure of a run over the reference's of the same round. False if either
 * run does not count or the ratio has no meaning; the share has none where the
 * reference turned no loop (HLT).
 */
bool bench_ratio_ppm(enum bench_measure measure, const struct bench_run *run,
		     const struct bench_run *reference, int64_t *ppm);

/* "p50", "p99", "CPU/fire", "guest share" */
const char *bench_measure_name(enum bench_measure measure);

/*
 * Sums up the rounds of one cell. reference: the rounds of the cell it is
 * compared with, which may be itself. A cell that was swallowed gets no ratio,
 * nor does one whose reference was; what must not be compared for another
 * reason, see bench_is_comparable(), gets its ratios without a verdict. scratch
 * has room for one number a round.
 */
void bench_summarize(const struct bench_run *runs,
		     const struct bench_run *reference, unsigned int rounds,
		     int64_t *scratch, struct bench_summary *summary);

/*
 * The cell that a block's others are compared with: its first in mode
 * kernel, or else its first. cell may be any of the block.
 */
size_t bench_reference(const struct bench_plan *plan, size_t cell);

/*
 * May the summaries be compared? False with one line in why, if not all of
 * them: a cell without a round, one that was swallowed, or one with early,
 * lost or doubled fires, where a late timer would only be the lesser evil.
 */
bool bench_is_comparable(const struct bench_summary *summary, char *why,
			 size_t why_size);

/*
 * Were there rounds enough to tell whether p50 differs, and yet nothing can be
 * told? Then one line in why. rounds: as many as were asked for; fewer than
 * BENCH_PAIRS_MIN ask for no verdict.
 */
bool bench_is_undecided(const struct bench_summary *summary,
			unsigned int rounds, char *why, size_t why_size);

#endif
