/* SPDX-License-Identifier: MIT */
/*
 * entry_cost - see entry_cost.h.
 *
 * The margin has two parts. What the samples themselves say: the distance
 * from their minimum to their lowest tenth, four times, since a wide low end
 * has a longer tail than a few hundred samples show. And what they cannot
 * say: 1/64 of the minimum, for hosts that repeat to the cycle. On a software
 * back end with costs of 31 000 cycles (running) and 45 000 (halted) the rare
 * low tail of 40 000 fires lay 500 and 4700 cycles below the first percentile
 * of a few hundred; in an emulated host that is deterministic it lay a few
 * cycles below. Both are covered.
 */
#include "entry_cost.h"

#include <string.h>

#include "percentile.h"

enum {
	SPREAD_FACTOR = 4,
	SHARE_SHIFT = 6,
};

void entry_cost_judge(struct entry_cost *cost, int64_t *samples, size_t n)
{
	memset(cost, 0, sizeof(*cost));
	cost->samples = n;
	if (n < ENTRY_COST_SAMPLES_MIN)
		return;
	percentile_sort(samples, n);
	if (samples[0] < 0)
		return;
	cost->min_tsc = (uint64_t)samples[0];
	cost->p10_tsc = (uint64_t)percentile_nearest_rank(samples, n, 1, 10);
	cost->p50_tsc = (uint64_t)percentile_nearest_rank(samples, n, 1, 2);
	cost->max_tsc = (uint64_t)samples[n - 1];
	cost->margin_tsc = SPREAD_FACTOR * (cost->p10_tsc - cost->min_tsc) +
			   (cost->min_tsc >> SHARE_SHIFT);
	if (cost->margin_tsc < cost->min_tsc)
		cost->result_tsc = cost->min_tsc - cost->margin_tsc;
}

bool entry_cost_covers(const struct entry_cost *costs, size_t states,
		       uint64_t cost_tsc)
{
	for (size_t i = 0; i < states; i++)
		if (cost_tsc > costs[i].result_tsc)
			return false;
	return true;
}
