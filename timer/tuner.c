/* SPDX-License-Identifier: MIT */
/*
 * tuner - limits, counters and the choice of the algorithm; see tuner.h.
 */
#include "tuner_kinds.h"

/* Keeps sums, and products with 65536, within 64 bits; 6 hours at 3 GHz. */
#define ADVANCE_MAX_TSC (UINT64_C(1) << 46)

static uint64_t clamp_u64(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

void tuner_set(struct tuner *t, uint64_t advance_tsc)
{
	if (advance_tsc > t->max_tsc)
		t->clamped_high++;
	if (advance_tsc < t->min_tsc)
		t->clamped_low++;
	t->advance_tsc = clamp_u64(advance_tsc, t->min_tsc, t->max_tsc);
}

/* Entry k after sample 2^k: samples has a single bit set. */
static void tuner_note(struct tuner *t)
{
	if (t->samples & (t->samples - 1))
		return;
	if (t->trajectory_len < TUNER_TRAJECTORY_MAX)
		t->trajectory_tsc[t->trajectory_len++] = t->advance_tsc;
}

void tuner_init(struct tuner *t, enum tuner_kind kind, uint64_t q16,
		uint64_t start_tsc, uint64_t min_tsc, uint64_t max_tsc)
{
	max_tsc = clamp_u64(max_tsc, 0, ADVANCE_MAX_TSC);
	min_tsc = clamp_u64(min_tsc, 0, max_tsc);
	*t = (struct tuner){
		.kind = kind,
		.advance_tsc = clamp_u64(start_tsc, min_tsc, max_tsc),
		.min_tsc = min_tsc,
		.max_tsc = max_tsc,
	};
	if (kind == TUNER_QUANTILE)
		tuner_quantile_init(
			t, clamp_u64(q16, TUNER_Q16_MIN, TUNER_Q16_MAX));
}

uint64_t tuner_sample(struct tuner *t, int64_t cost_tsc)
{
	uint64_t cost_used_tsc = 0;

	if (cost_tsc > 0)
		cost_used_tsc =
			clamp_u64((uint64_t)cost_tsc, 0, ADVANCE_MAX_TSC);
	t->samples++;
	if (t->kind == TUNER_QUANTILE)
		tuner_quantile_sample(t, cost_used_tsc);
	else
		tuner_step_sample(t, cost_used_tsc);
	tuner_note(t);
	return t->advance_tsc;
}
