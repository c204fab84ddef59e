/* SPDX-License-Identifier: MIT */
/*
 * entry_cost - from measured entry costs to a vmentry_advance that is safe.
 *
 * Pure. The entry cost is the time from the end of the wait to the guest's
 * first instruction. A value above the true cost makes the timer early, so it
 * is taken from the low end of what was seen: the smallest sample of several
 * VMs (the cost may differ between VMs of one host), less a margin.
 */
#ifndef VMM_ENTRY_COST_H
#define VMM_ENTRY_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All in TSC cycles; zeroes while nothing is known. */
struct entry_cost {
	uint64_t samples; /* a count */
	uint64_t min_tsc, p10_tsc, p50_tsc, max_tsc;
	uint64_t margin_tsc;
	uint64_t result_tsc; /* what may be compensated */
};

/*
 * Judges n samples, which are sorted in place. Fewer than
 * ENTRY_COST_SAMPLES_MIN, or a negative one, give a result of 0: a sample
 * below 0 means that something else than the entry was measured.
 */
void entry_cost_judge(struct entry_cost *cost, int64_t *samples, size_t n);

/*
 * May cost_tsc be compensated in every state, going by what was measured? Never
 * where a state was not.
 */
bool entry_cost_covers(const struct entry_cost *costs, size_t states,
		       uint64_t cost_tsc);

enum {
	ENTRY_COST_SAMPLES_MIN = 64,
};

#endif
