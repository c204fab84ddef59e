/* SPDX-License-Identifier: MIT */
/*
 * tune_sim - replays fires through the tuners; see tune_sim.h.
 * Not modelled: that a longer spin takes time from the guest, which then arms
 * later; entry costs, which move wake and target alike.
 */
#include "tune_sim.h"

#include "percentile.h"

#define Q_ONE UINT64_C(65536)

static uint64_t cost_of(const struct tune_fire *fire)
{
	return fire->cost_tsc > 0 ? (uint64_t)fire->cost_tsc : 0;
}

static bool is_counted(const struct tune_sim *sim, const struct tune_fire *fire)
{
	return sim->group == TUNE_ALL_GROUPS || sim->group == fire->group;
}

static uint64_t wanted_tsc(const struct tune_sim *sim,
			   const struct tuner *tuner)
{
	return sim->way == TUNE_WAY_FIXED ? sim->fixed_tsc : tuner->advance_tsc;
}

static void percentiles(struct tune_result *result, int64_t *late_tsc)
{
	size_t n = result->fires;

	if (!n)
		return;
	percentile_sort(late_tsc, n);
	result->late_p50_tsc =
		(uint64_t)percentile_nearest_rank(late_tsc, n, 1, 2);
	result->late_p90_tsc =
		(uint64_t)percentile_nearest_rank(late_tsc, n, 9, 10);
	result->late_p99_tsc =
		(uint64_t)percentile_nearest_rank(late_tsc, n, 99, 100);
	result->late_max_tsc = (uint64_t)late_tsc[n - 1];
}

void tune_sim_run(const struct tune_sim *sim, const struct tune_fire *fires,
		  size_t n, int64_t *late_tsc, struct tune_result *result)
{
	struct tuner tuner;

	tuner_init(&tuner,
		   sim->way == TUNE_WAY_STEP ? TUNER_STEP : TUNER_QUANTILE,
		   sim->q16, sim->start_advance_tsc, 0,
		   sim->policy.max_advance_tsc);
	*result = (struct tune_result){.fires = 0};
	for (size_t i = 0; i < n; i++) {
		const struct tune_fire *fire = &fires[i];
		uint64_t cost_tsc = cost_of(fire);
		uint64_t advance_tsc =
			sim->way == TUNE_WAY_RECORDED
				? fire->advance_tsc
				: deadline_advance(&sim->policy,
						   fire->distance_tsc,
						   wanted_tsc(sim, &tuner));
		bool in_time = cost_tsc <= advance_tsc;

		tuner_sample(&tuner, fire->cost_tsc);
		if (!is_counted(sim, fire))
			continue;
		if (i < sim->warmup) {
			result->warmup_fires++;
			result->warmup_in_time += in_time;
			continue;
		}
		late_tsc[result->fires++] =
			in_time ? 0 : (int64_t)(cost_tsc - advance_tsc);
		result->in_time += in_time;
		result->spin_tsc += in_time ? advance_tsc - cost_tsc : 0;
		result->advance_tsc = advance_tsc;
	}
	if (sim->way != TUNE_WAY_RECORDED)
		result->advance_tsc = wanted_tsc(sim, &tuner);
	percentiles(result, late_tsc);
}

bool tune_sim_optimum(const struct tune_sim *sim, const struct tune_fire *fires,
		      size_t n, int64_t *cost_tsc, uint64_t *advance_tsc)
{
	size_t counted = 0, reachable = 0, rank;

	for (size_t i = sim->warmup; i < n; i++) {
		uint64_t cost = cost_of(&fires[i]);

		if (!is_counted(sim, &fires[i]))
			continue;
		counted++;
		/* Else it is late whatever the advance. */
		if (cost <= deadline_advance(&sim->policy,
					     fires[i].distance_tsc, UINT64_MAX))
			cost_tsc[reachable++] = (int64_t)cost;
	}
	rank = (size_t)((counted * sim->q16 + Q_ONE - 1) / Q_ONE);
	if (!rank || rank > reachable)
		return false;
	percentile_sort(cost_tsc, reachable);
	*advance_tsc = (uint64_t)cost_tsc[rank - 1];
	return true;
}
