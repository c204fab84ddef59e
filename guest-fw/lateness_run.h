/* SPDX-License-Identifier: MIT */
/*
 * lateness_run - one CPU's series of deadlines.
 */
#ifndef GUEST_LATENESS_RUN_H
#define GUEST_LATENESS_RUN_H

#include "report.h"

#include <stdbool.h>
#include <stdint.h>

/* The same for all CPUs, read-only during the run. */
struct lateness_plan {
	enum lateness_wait wait;
	uint32_t fires;
	uint32_t warmup;
	uint64_t period_tsc;
	bool random_distance;
	uint64_t seed;
	uint64_t tsc_khz; /* 0: unknown */
};

struct lateness_result {
	struct lateness_report report;
	int64_t *samples; /* room for warmup + fires, set by the caller */
	/* Smallest lateness ever, warm-up included, if early is not 0. */
	int64_t earliest_tsc;
};

/*
 * Arms warmup + fires deadlines one after the other on the calling CPU
 * (index: its number) and fills result. A deadline is the TSC right before
 * the arm plus the distance, so that no fire depends on the one before it.
 * Early, lost and doubled count the warm-up too; loop_turns and wait_tsc do
 * not. Ring 0, IF clear, APIC on; leaves the timer in deadline mode.
 */
void lateness_run(const struct lateness_plan *plan, unsigned index,
		  struct lateness_result *result);

/*
 * Passes a little time on a CPU that is done while others are not. It waits
 * as the run did, halted or busy: with fewer host CPUs than virtual ones a
 * busy CPU would spoil what the halting ones still measure. A second
 * interrupt for the last fire is counted as doubled.
 */
void lateness_rest(const struct lateness_plan *plan, unsigned index,
		   struct lateness_result *result);

/* After all that: listens a while for interrupts nobody asked for, counts
 * them as doubled, and leaves the timer masked. */
void lateness_listen(const struct lateness_plan *plan, unsigned index,
		     struct lateness_result *result);

/* How long a wait may take beyond its deadline before the fire is lost:
 * 100 times the distance and one second, in TSC cycles. */
uint64_t lateness_patience_tsc(uint64_t distance_tsc, uint64_t tsc_khz);

#endif
