/* SPDX-License-Identifier: MIT */
/*
 * Adaptive advance: move by 1/8 of the error, as the "tune
 * lapic_timer_advance_ns automatically" patch of the KVM list proposed (2018),
 * but with one unit throughout, per vCPU, clamped at both ends, and without a
 * fixed error above which samples are thrown away: on a slow host that limit
 * rejects every sample and the advance never leaves its start.
 * Not modelled: quantiles. It settles at the mean delivery cost, so about half
 * of all fires arrive after their target.
 */
#include "tuner.h"

/* Errors below this are noise of the TSC reads themselves. Cycles. */
#define DEAD_BAND_TSC	100u

/* 1/8 of the error is used, as in the original. */
#define STEP_SHIFT	3

/* An error counts for no more than 2 * advance + LIMIT_FLOOR_TSC. A step up is
 * then 1/4 of the advance + 100 cycles at most; the constant lets it leave 0.
 * From 1 us to within 5 % of 500 us takes 43 samples, at 2.4 and at 16 GHz. */
#define LIMIT_SHIFT	1
#define LIMIT_FLOOR_TSC 800u

/* Keeps 2 * advance and all sums within 64 bits; 6 years at 3 GHz. */
#define ADVANCE_MAX_TSC (UINT64_C(1) << 59)

static uint64_t clamp_u64(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* How much of an error counts. Only too late can be too much: the advance
 * itself bounds the other side. A single stall must not look like a slow
 * host, so the first oversized error in a row gets half the limit. */
static uint64_t tuner_limit(struct tuner *t, uint64_t error_tsc)
{
	uint64_t limit_tsc = (t->advance_tsc << LIMIT_SHIFT) + LIMIT_FLOOR_TSC;
	bool in_a_row = t->last_was_spike;

	t->last_was_spike = error_tsc > limit_tsc;
	if (!t->last_was_spike)
		return error_tsc;
	t->limited_spike++;
	return in_a_row ? limit_tsc : limit_tsc / 2;
}

static void tuner_set(struct tuner *t, uint64_t advance_tsc)
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

void tuner_init(struct tuner *t, uint64_t start_tsc, uint64_t min_tsc,
		uint64_t max_tsc)
{
	max_tsc = clamp_u64(max_tsc, 0, ADVANCE_MAX_TSC);
	min_tsc = clamp_u64(min_tsc, 0, max_tsc);
	*t = (struct tuner){
		.advance_tsc = clamp_u64(start_tsc, min_tsc, max_tsc),
		.min_tsc = min_tsc,
		.max_tsc = max_tsc,
	};
}

uint64_t tuner_sample(struct tuner *t, int64_t cost_tsc)
{
	uint64_t cost_used_tsc = cost_tsc < 0 ? 0 : (uint64_t)cost_tsc;
	bool too_small = cost_used_tsc > t->advance_tsc;
	uint64_t error_tsc = too_small ? cost_used_tsc - t->advance_tsc
				       : t->advance_tsc - cost_used_tsc;
	uint64_t step_tsc;

	t->samples++;
	if (error_tsc < DEAD_BAND_TSC) {
		t->ignored_small++;
		t->last_was_spike = false;
	} else {
		step_tsc = tuner_limit(t, error_tsc) >> STEP_SHIFT;
		tuner_set(t, too_small ? t->advance_tsc + step_tsc
				       : t->advance_tsc - step_tsc);
	}
	tuner_note(t);
	return t->advance_tsc;
}
