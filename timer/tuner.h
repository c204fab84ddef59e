/* SPDX-License-Identifier: MIT */
/*
 * tuner - learns how early the host timer must expire.
 *
 * Pure: a function of state and sample. One per vCPU, used by that vCPU's
 * thread alone. Everything is in host TSC cycles, and nothing in it is tied
 * to the cost of one kind of host: steps are relative to the advance itself, or
 * to how the costs scatter.
 *   step      settles at the mean cost, so half of all fires arrive late: the
 *             algorithm of the KVM list, mended (tuner_step.c)
 *   quantile  a chosen share of fires arrives in time (tuner_quantile.c)
 */
#ifndef TIMER_TUNER_H
#define TIMER_TUNER_H

#include <stdbool.h>
#include <stdint.h>

/* Trajectory entry k is the advance after sample 2^k. */
#define TUNER_TRAJECTORY_MAX 32u

enum tuner_kind {
	TUNER_STEP,
	TUNER_QUANTILE,
};

struct tuner_step {
	bool last_was_spike;
};

struct tuner_quantile {
	uint64_t q16;		/* the share that is to be in time, of 65536 */
	uint64_t fraction_q16;	/* of a cycle, beside advance_tsc */
	uint64_t mean_tsc;	/* of the costs, and how they scatter about */
	uint64_t deviation_tsc; /* it: running, outliers cut */
	uint64_t step_tsc;
	uint32_t late_run;     /* so many late ones in a row, now ... */
	uint32_t late_run_max; /* ... and when that is no chance any more */
	uint64_t run_min_tsc;  /* smallest cost of the run */
	uint32_t block_len, block_left;
	uint64_t block_max_tsc; /* largest cost of the block so far */
};

struct tuner {
	enum tuner_kind kind;
	uint64_t advance_tsc; /* the result, min_tsc..max_tsc */
	uint64_t min_tsc;
	uint64_t max_tsc;
	union {
		struct tuner_step step;
		struct tuner_quantile quantile;
	};

	/* Counters, for the results. */
	uint64_t samples;	/* all of them */
	uint64_t ignored_small; /* step: within the dead band */
	uint64_t limited_spike; /* step: error cut before it was used */
	uint64_t sped_up;	/* quantile: a run of late ones, larger steps */
	uint64_t cut_down;	/* quantile: far above all of a block */
	uint64_t clamped_low;
	uint64_t clamped_high;
	uint64_t trajectory_tsc[TUNER_TRAJECTORY_MAX];
	unsigned int trajectory_len;
};

enum {
	TUNER_Q16_MIN = 32768, /* 0.5 */
	TUNER_Q16_MAX = 65470, /* 0.999 */
};

/*
 * Start at start_tsc, stay within min_tsc..max_tsc for ever, all in cycles;
 * start_tsc is clamped into the range. min_tsc <= max_tsc. q16: the share of
 * fires that is to arrive in time, times 65536, clamped to TUNER_Q16_MIN..MAX;
 * step has no use for it.
 */
void tuner_init(struct tuner *t, enum tuner_kind kind, uint64_t q16,
		uint64_t start_tsc, uint64_t min_tsc, uint64_t max_tsc);

/*
 * One fire: cost_tsc is the owner's arrival minus the instant the host timer
 * was armed for (wake_host_tsc), so an advance that was cut for this fire does
 * not mislead. Negative (clock slew) counts as 0. Returns the new advance_tsc.
 */
uint64_t tuner_sample(struct tuner *t, int64_t cost_tsc);

#endif
