/* SPDX-License-Identifier: MIT */
/*
 * The quantile tuner against synthetic costs of many shapes, at scales from
 * half a microsecond to half a millisecond: the share in time over 2000 fires,
 * the advance against the best fixed one, and how it takes stalls and changes.
 */
#include "tuner.h"

#include <stdlib.h>

#include "prng.h"
#include "tap.h"

enum {
	FIRES = 6000,
	SETTLED = 300,
	WINDOW = 2000,
	MAX_TSC = 100000000,
};

static struct tuner tuner;
static uint64_t prng;
static uint64_t costs[FIRES], sorted[FIRES];
static bool in_time[FIRES];

/* 0.5 us, 20 us, 500 us at 2.4 GHz. */
static const uint64_t scales[] = {1200, 48000, 1200000};
static const double quantiles[] = {0.5, 0.9, 0.99};

/* Uniform in 0..1023, and the sum of four: a bell. */
static uint64_t uniform(void)
{
	return prng_next(&prng) >> 54;
}

static uint64_t bell(void)
{
	return (uniform() + uniform() + uniform() + uniform()) / 4;
}

/* Multiples of scale/1024. */
static uint64_t shape_wide(void)
{
	return 512 + bell();
}

static uint64_t shape_tight(void)
{
	return 1014 + uniform() / 51;
}

/* One in twenty takes half as long again. */
static uint64_t shape_two(void)
{
	return (prng_next(&prng) % 20 ? 1024 : 1640) + uniform() / 20;
}

/* A tail as of waiting for others: 1/x. */
static uint64_t shape_heavy(void)
{
	return 1000 + 100 * 1024 / (uniform() + 8);
}

static uint64_t (*const shapes[])(void) = {shape_wide, shape_tight, shape_two,
					   shape_heavy};

enum {
	SHAPES = sizeof(shapes) / sizeof(shapes[0]),
	SCALES = sizeof(scales) / sizeof(scales[0]),
	QUANTILES = sizeof(quantiles) / sizeof(quantiles[0]),
};

static void start(double quantile, uint64_t start_tsc)
{
	tuner_init(&tuner, TUNER_QUANTILE, (uint64_t)(quantile * 65536),
		   start_tsc, 0, MAX_TSC);
}

/* One fire; what must hold for every one. */
static bool fire(uint64_t cost_tsc)
{
	bool is_in_time = cost_tsc <= tuner.advance_tsc;

	tap_require(tuner_sample(&tuner, (int64_t)cost_tsc) ==
		    tuner.advance_tsc);
	tap_require(tuner.advance_tsc <= MAX_TSC);
	return is_in_time;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The advance that has the share of these costs in time. */
static uint64_t best_advance(double quantile)
{
	for (int i = SETTLED; i < FIRES; i++)
		sorted[i - SETTLED] = costs[i];
	qsort(sorted, FIRES - SETTLED, sizeof(sorted[0]), compare);
	return sorted[(size_t)(quantile * (FIRES - SETTLED))];
}

/* The share in time of every window after the start, and the mean advance. */
static void run(double quantile, uint64_t start_tsc)
{
	uint64_t sum_tsc = 0, hits = 0;

	start(quantile, start_tsc);
	for (int i = 0; i < FIRES; i++) {
		in_time[i] = fire(costs[i]);
		hits += in_time[i];
		if (i >= SETTLED)
			sum_tsc += tuner.advance_tsc;
		if (i == SETTLED - 1)
			hits = 0;
		if (i < SETTLED + WINDOW - 1)
			continue;
		if (i >= SETTLED + WINDOW)
			hits -= in_time[i - WINDOW];
		tap_require(hits >= (quantile - 0.02) * WINDOW);
		tap_require(hits <= (quantile + 0.008) * WINDOW);
	}
	ck_assert_uint_le(sum_tsc / (FIRES - SETTLED),
			  2 * best_advance(quantile));
}

static void draw(int shape, uint64_t scale)
{
	for (int i = 0; i < FIRES; i++)
		costs[i] = shapes[shape]() * scale / 1024;
}

START_TEST(test_quantile_share)
{
	static const uint64_t starts[] = {0, 2400, MAX_TSC};
	int shape = _i % SHAPES;
	uint64_t scale = scales[_i / SHAPES % SCALES];
	double quantile = quantiles[_i / SHAPES / SCALES];

	for (uint64_t seed = 1; seed <= 5; seed++) {
		prng = seed;
		draw(shape, scale);
		for (int s = 0; s < 3; s++)
			run(quantile, starts[s]);
	}
}
END_TEST

/* 20 ms, once: no more than a step. */
START_TEST(test_quantile_stall)
{
	uint64_t scale = scales[_i], before_tsc;

	prng = 3;
	draw(0, scale);
	start(0.99, 2400);
	for (int i = 0; i < 2000; i++)
		fire(costs[i]);
	before_tsc = tuner.advance_tsc;
	fire(48000000);
	ck_assert_uint_ge(tuner.advance_tsc, before_tsc);
	/* Two mean deviations of that shape are 0.24 of its scale. */
	ck_assert_uint_le(tuner.advance_tsc - before_tsc, scale * 3 / 10 + 16);
	for (int i = 2000; i < 2300; i++) {
		fire(costs[i]);
		ck_assert_uint_le(tuner.advance_tsc,
				  before_tsc + scale * 3 / 5);
	}
}
END_TEST

/* What a run of late fires has in common counts, not its last one. */
START_TEST(test_quantile_run)
{
	uint64_t before_tsc;

	prng = 5;
	draw(0, 48000);
	start(0.9, 2400);
	for (int i = 0; i < 2000; i++)
		fire(costs[i]);
	before_tsc = tuner.advance_tsc;
	for (int i = 0; i < 3; i++)
		fire(tuner.advance_tsc + 1);
	fire(20 * before_tsc);
	ck_assert_uint_le(tuner.advance_tsc, 2 * before_tsc);
	/* Now all of them are far off. */
	for (int i = 0; i < 12; i++)
		fire(20 * before_tsc);
	ck_assert_uint_ge(tuner.advance_tsc, 16 * before_tsc);
}
END_TEST

/* The host gets slower or faster by half: within 300 fires it is in time again,
 * and no more than twice as early as it need be. */
START_TEST(test_quantile_follows)
{
	uint64_t scale = scales[_i / 2], other = _i % 2 ? scale / 2 : scale * 2;
	int late = 0;

	prng = 7;
	draw(0, scale);
	start(0.99, 2400);
	for (int i = 0; i < FIRES; i++)
		fire(costs[i]);
	draw(0, other);
	for (int i = 0; i < SETTLED; i++)
		fire(costs[i]);
	for (int i = SETTLED; i < FIRES; i++) {
		late += !fire(costs[i]);
		ck_assert_uint_le(tuner.advance_tsc, 3 * other);
	}
	ck_assert_int_le(late, (FIRES - SETTLED) / 50);
	ck_assert_int_ge(late, (FIRES - SETTLED) / 500);
}
END_TEST

/* A host so slow that the limit is not enough: there it stays. */
START_TEST(test_quantile_at_the_limit)
{
	start(0.99, 2400);
	for (int i = 0; i < FIRES; i++) {
		fire(2ull * MAX_TSC);
		if (i > SETTLED)
			ck_assert_uint_eq(tuner.advance_tsc, MAX_TSC);
	}
	ck_assert_uint_gt(tuner.clamped_high, 0);
	/* And nothing at all. */
	for (int i = 0; i < SETTLED; i++)
		fire(0);
	ck_assert_uint_le(tuner.advance_tsc, MAX_TSC / 1000);
	ck_assert_uint_ge(tuner.cut_down, 1);
}
END_TEST

/* Any samples, any limits: within them, always. */
START_TEST(test_quantile_bounds)
{
	prng = 11;
	for (int round = 0; round < 500; round++) {
		uint64_t max = prng_any_size(&prng);
		uint64_t min = prng_any_size(&prng);

		tuner_init(&tuner, TUNER_QUANTILE, prng_any_size(&prng),
			   prng_any_size(&prng), min, max);
		for (int i = 0; i < 200; i++) {
			tuner_sample(&tuner, (int64_t)prng_any_size(&prng));
			tap_require(tuner.advance_tsc >= tuner.min_tsc);
			tap_require(tuner.advance_tsc <= tuner.max_tsc);
		}
		tap_require(tuner.samples == 200);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tuner_quantile");
	TCase *tcase = tcase_create("quantile");

	tcase_add_loop_test(tcase, test_quantile_share, 0,
			    SHAPES * SCALES * QUANTILES);
	tcase_add_loop_test(tcase, test_quantile_stall, 0, SCALES);
	tcase_add_test(tcase, test_quantile_run);
	tcase_add_loop_test(tcase, test_quantile_follows, 0, 2 * SCALES);
	tcase_add_test(tcase, test_quantile_at_the_limit);
	tcase_add_test(tcase, test_quantile_bounds);
	suite_add_tcase(suite, tcase);
	return tap_run(suite);
}
