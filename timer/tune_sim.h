/* SPDX-License-Identifier: MIT */
/*
 * tune_sim - what a tuner would have made of fires whose delivery costs are
 * known, and what would have been best.
 *
 * Pure: integers, no allocation. The model of fire i, whose delivery cost c and
 * whose distance from arm to deadline is d: the advance in force, a, is what
 * deadline_advance() makes of the one that the tuner wants; the vCPU thread is
 * max(0, c - a) late, or spins for max(0, a - c); then the tuner learns c. A
 * negative cost counts as 0. It is exact as long as the cost of a delivery does
 * not depend on the advance.
 */
#ifndef TIMER_TUNE_SIM_H
#define TIMER_TUNE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deadline.h"
#include "tuner.h"

/* One sample, cycles. */
struct tune_fire {
	int64_t cost_tsc;
	uint64_t distance_tsc;
	uint64_t advance_tsc; /* in force when it was recorded */
	unsigned int group;   /* the caller's, see tune_sim.group */
};

enum tune_way {
	TUNE_WAY_STEP,	   /* the tuners, from rules.start_advance_tsc on */
	TUNE_WAY_QUANTILE, /* ... with q16 */
	TUNE_WAY_FIXED,	   /* fixed_tsc wanted for each fire */
	TUNE_WAY_RECORDED, /* as it was */
};

#define TUNE_ALL_GROUPS UINT32_MAX

struct tune_sim {
	/* max_advance_tsc and spin_share_q16 count, no more. */
	struct deadline_policy policy;
	uint64_t start_advance_tsc;
	size_t warmup; /* the first fires, told apart */
	/* All fires teach, but those of this group alone are counted; or
	 * TUNE_ALL_GROUPS. */
	unsigned int group;
	enum tune_way way;
	uint64_t q16;
	uint64_t fixed_tsc;
};

/* Cycles; of the fires after the warm-up, where nothing else is said. */
struct tune_result {
	size_t warmup_fires, warmup_in_time;
	size_t fires, in_time;
	uint64_t late_p50_tsc, late_p90_tsc, late_p99_tsc, late_max_tsc;
	uint64_t spin_tsc;    /* of all of them */
	uint64_t advance_tsc; /* wanted after the last fire */
};

/* Runs through n fires. late_tsc has room for n. */
void tune_sim_run(const struct tune_sim *sim, const struct tune_fire *fires,
		  size_t n, int64_t *late_tsc, struct tune_result *result);

/*
 * The smallest fixed advance with which a share of q16 / 65536 of the fires
 * after the warm-up would have been in time. False if there is none, since the
 * policy cuts too many, or no fire counts. cost_tsc has room for n.
 */
bool tune_sim_optimum(const struct tune_sim *sim, const struct tune_fire *fires,
		      size_t n, int64_t *cost_tsc, uint64_t *advance_tsc);

#endif
