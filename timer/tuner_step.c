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
#include "tuner_kinds.h"

/* Errors below this are noise of the TSC reads themselves. Cycles. */
#define DEAD_BAND_TSC	100u

/* 1/8 of the error is used, as in the original. */
#define STEP_SHIFT	3

/* An error counts for no more than 2 * advance + LIMIT_FLOOR_TSC. A step up is
 * then 1/4 of the advance + 100 cycles at most; the constant lets it leave 0.
 * From 1 us to within 5 % of 500 us takes 43 samples, at 2.4 and at 16 GHz. */
#define LIMIT_SHIFT	1
#define LIMIT_FLOOR_TSC 800u

/* How much of an error counts. Only too late can be too much: the advance
 * itself bounds the other side. A single stall must not look like a slow
 * host, so the first oversized error in a row gets half the limit. */
static uint64_t tuner_limit(struct tuner *t, uint64_t error_tsc)
{
	uint64_t limit_tsc = (t->advance_tsc << LIMIT_SHIFT) + LIMIT_FLOOR_TSC;
	bool in_a_row = t->step.last_was_spike;

	t->step.last_was_spike = error_tsc > limit_tsc;
	if (!t->step.last_was_spike)
		return error_tsc;
	t->limited_spike++;
	return in_a_row ? limit_tsc : limit_tsc / 2;
}

void tuner_step_sample(struct tuner *t, uint64_t cost_tsc)
{
	bool too_small = cost_tsc > t->advance_tsc;
	uint64_t error_tsc = too_small ? cost_tsc - t->advance_tsc
				       : t->advance_tsc - cost_tsc;
	uint64_t step_tsc;

	if (error_tsc < DEAD_BAND_TSC) {
		t->ignored_small++;
		t->step.last_was_spike = false;
		return;
	}
	step_tsc = tuner_limit(t, error_tsc) >> STEP_SHIFT;
	tuner_set(t, too_small ? t->advance_tsc + step_tsc
			       : t->advance_tsc - step_tsc);
}
