/* SPDX-License-Identifier: MIT */
/*
 * tuner - learns how early the host timer must expire ("step" algorithm).
 *
 * Pure: a function of state and sample. One per vCPU, used by that vCPU's
 * thread alone. Everything is in host TSC cycles, and nothing in it is tied
 * to the cost of one kind of host: steps are relative to the advance itself.
 */
#ifndef TIMER_TUNER_H
#define TIMER_TUNER_H

#include <stdbool.h>
#include <stdint.h>

/* Trajectory entry k is the advance after sample 2^k. */
#define TUNER_TRAJECTORY_MAX 32u

struct tuner {
	uint64_t advance_tsc; /* the result, min_tsc..max_tsc */
	uint64_t min_tsc;
	uint64_t max_tsc;
	bool last_was_spike;

	/* Counters, for the results. */
	uint64_t samples;	/* all of them */
	uint64_t ignored_small; /* within the dead band */
	uint64_t limited_spike; /* error cut before it was used */
	uint64_t clamped_low;
	uint64_t clamped_high;
	uint64_t trajectory_tsc[TUNER_TRAJECTORY_MAX];
	unsigned int trajectory_len;
};

/*
 * Start at start_tsc, stay within min_tsc..max_tsc for ever, all in cycles;
 * start_tsc is clamped into the range. min_tsc <= max_tsc.
 */
void tuner_init(struct tuner *t, uint64_t start_tsc, uint64_t min_tsc,
		uint64_t max_tsc);

/*
 * One fire: cost_tsc is the owner's arrival minus the instant the host timer
 * was armed for (wake_host_tsc), so an advance that was cut for this fire does
 * not mislead. Negative (clock slew) counts as 0. Moves advance_tsc by 1/8 of
 * the difference, limited; returns the new advance_tsc.
 */
uint64_t tuner_sample(struct tuner *t, int64_t cost_tsc);

#endif
