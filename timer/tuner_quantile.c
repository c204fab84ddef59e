/* SPDX-License-Identifier: MIT */
/*
 * Advance at a quantile of the delivery cost, by stochastic approximation
 * (Robbins and Monro, 1951; as an online estimate of a quantile for instance
 * Ma, Muthukrishnan and Sandler, "Frugal Streaming", 2013): up by q of a step
 * after a fire that arrived late, down by 1 - q of it after one in time. Where
 * that stands still, a share q is in time. Whatever the costs do, the share
 * over many fires is off by no more than the way the advance went meanwhile, in
 * steps, over their number; so the step must not be small against that way. It
 * is twice the mean deviation of the costs, and never below 1/64 of the
 * advance.
 *
 * From afar that is slow, so there are two short cuts. A run of late fires that
 * chance gives once in ten thousand means that the advance is far too small:
 * then it goes to the least of their costs, by a factor of four a fire at the
 * most. A block of fires (64 where q is 0.99) that all cost less than the
 * advance, by 8 deviations and by 1/8 of the largest cost, means that it is too
 * large: that is what it keeps above them. A single stall is one late fire, a
 * single step, whatever its length.
 *
 * Not modelled: running and halted vCPUs apart; a trend.
 */
#include "tuner_kinds.h"

enum {
	Q_ONE = 65536,

	MEAN_SHIFT = 4,	      /* running means over some 16 samples */
	OUTLIER_SHIFT = 2,    /* more than 4 deviations off is cut to that */
	STEP_SHIFT = 1,	      /* 2 deviations */
	STEP_FLOOR_SHIFT = 6, /* of the advance */
	STEP_MIN_TSC = 16,

	RUN_SHIFT = 2,	    /* factor of 4 in a run */
	RUN_CHANCE = 6,	    /* 1/10000 of Q_ONE */
	BLOCK_SPAN = 41943, /* 0.64 of Q_ONE: fires expected late in a block */
	BLOCK_MIN = 32,
	BLOCK_MARGIN_SHIFT = 3,
	BLOCK_SCATTER_SHIFT = 3,
};

void tuner_quantile_init(struct tuner *t, uint64_t q16)
{
	struct tuner_quantile *q = &t->quantile;
	uint64_t late_q16 = Q_ONE - q16, chance_q16 = Q_ONE;

	q->q16 = q16;
	do {
		chance_q16 = chance_q16 * late_q16 / Q_ONE;
		q->late_run_max++;
	} while (chance_q16 > RUN_CHANCE);
	if (q->late_run_max < 2)
		q->late_run_max = 2;
	q->block_len = (uint32_t)(BLOCK_SPAN / late_q16);
	if (q->block_len < BLOCK_MIN)
		q->block_len = BLOCK_MIN;
	q->block_left = q->block_len;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The scatter of the costs, from which single far ones are kept out. */
static void note_scatter(struct tuner *t, uint64_t cost_tsc)
{
	struct tuner_quantile *q = &t->quantile;
	bool above = cost_tsc > q->mean_tsc;
	uint64_t off_tsc =
		above ? cost_tsc - q->mean_tsc : q->mean_tsc - cost_tsc;

	if (t->samples == 1) {
		q->mean_tsc = cost_tsc;
		q->deviation_tsc = cost_tsc >> MEAN_SHIFT;
		return;
	}
	off_tsc = min_u64(off_tsc,
			  (q->deviation_tsc << OUTLIER_SHIFT) + STEP_MIN_TSC);
	if (above)
		q->mean_tsc += off_tsc >> MEAN_SHIFT;
	else
		q->mean_tsc -= off_tsc >> MEAN_SHIFT;
	q->deviation_tsc += off_tsc >> MEAN_SHIFT;
	q->deviation_tsc -= q->deviation_tsc >> MEAN_SHIFT;
}

/* By so much of a cycle's 65536 parts; the rest is kept for the next time. */
static void move_up(struct tuner *t, uint64_t by_q16)
{
	by_q16 += t->quantile.fraction_q16;
	t->quantile.fraction_q16 = by_q16 % Q_ONE;
	tuner_set(t, t->advance_tsc + by_q16 / Q_ONE);
}

static void move_down(struct tuner *t, uint64_t by_q16)
{
	uint64_t whole_tsc = by_q16 / Q_ONE, part_q16 = by_q16 % Q_ONE;

	if (part_q16 > t->quantile.fraction_q16) {
		whole_tsc++;
		t->quantile.fraction_q16 += Q_ONE;
	}
	t->quantile.fraction_q16 -= part_q16;
	tuner_set(t,
		  t->advance_tsc > whole_tsc ? t->advance_tsc - whole_tsc : 0);
}

/* The step of a late fire, by what it has in common with those before it. */
static uint64_t late_step(struct tuner *t, uint64_t cost_tsc)
{
	struct tuner_quantile *q = &t->quantile;
	uint64_t limit_tsc = (t->advance_tsc << RUN_SHIFT) + STEP_MIN_TSC;
	uint64_t aim_tsc;

	q->run_min_tsc =
		q->late_run ? min_u64(q->run_min_tsc, cost_tsc) : cost_tsc;
	aim_tsc = min_u64(q->run_min_tsc, limit_tsc);
	if (++q->late_run < q->late_run_max)
		return q->step_tsc;
	q->late_run = 0;
	if (aim_tsc <= t->advance_tsc + q->step_tsc)
		return q->step_tsc;
	t->sped_up++;
	return aim_tsc - t->advance_tsc;
}

/*
 * Of the same length for all of a block: were it to follow the scatter at once,
 * steps after an outlier, and so after a late fire, would be the longer ones,
 * and the share with them.
 */
static void set_step(struct tuner *t)
{
	struct tuner_quantile *q = &t->quantile;
	uint64_t step_tsc = max_u64(q->deviation_tsc << STEP_SHIFT,
				    t->advance_tsc >> STEP_FLOOR_SHIFT);

	q->step_tsc = min_u64(max_u64(step_tsc, STEP_MIN_TSC), t->max_tsc);
}

static void end_of_block(struct tuner *t)
{
	struct tuner_quantile *q = &t->quantile;
	uint64_t margin_tsc = max_u64(q->block_max_tsc >> BLOCK_MARGIN_SHIFT,
				      q->deviation_tsc << BLOCK_SCATTER_SHIFT);
	uint64_t enough_tsc = q->block_max_tsc + margin_tsc + STEP_MIN_TSC;

	if (enough_tsc < t->advance_tsc) {
		t->cut_down++;
		tuner_set(t, enough_tsc);
	}
	set_step(t);
	q->block_left = q->block_len;
	q->block_max_tsc = 0;
}

void tuner_quantile_sample(struct tuner *t, uint64_t cost_tsc)
{
	struct tuner_quantile *q = &t->quantile;

	note_scatter(t, cost_tsc);
	/* The first block has nothing to go by but itself. */
	if (t->samples <= q->block_len)
		set_step(t);
	if (cost_tsc > t->advance_tsc) {
		move_up(t, late_step(t, cost_tsc) * q->q16);
	} else {
		q->late_run = 0;
		move_down(t, q->step_tsc * (Q_ONE - q->q16));
	}
	q->block_max_tsc = max_u64(q->block_max_tsc, cost_tsc);
	if (--q->block_left == 0)
		end_of_block(t);
}
