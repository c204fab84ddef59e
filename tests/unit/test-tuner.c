/* SPDX-License-Identifier: MIT */
/*
 * The tuner against synthetic series. Bounds hold after every sample, and no
 * case depends on the rate of the TSC: costs are given in ns and run at rates
 * far apart.
 */
#include "tuner.h"

#include "prng.h"
#include "tap.h"

#define START_NS  1000u
#define MAX_NS	  600000u
#define DEAD_BAND 100u

static const uint32_t rates_mhz[] = {100, 400, 1000, 2445, 5000, 16000};

#define N_RATES (sizeof(rates_mhz) / sizeof(rates_mhz[0]))

static struct tuner tuner;

static uint64_t tsc_of(uint64_t ns, unsigned int rate)
{
	return ns * rates_mhz[rate] / 1000;
}

static void start(unsigned int rate)
{
	tuner_init(&tuner, TUNER_STEP, 0, tsc_of(START_NS, rate), 0,
		   tsc_of(MAX_NS, rate));
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* One sample, and what must hold for every one. Returns the step. */
static uint64_t sample(int64_t cost_tsc)
{
	uint64_t before_tsc = tuner.advance_tsc;
	uint64_t samples = tuner.samples;
	uint64_t step_tsc;

	tap_require(tuner_sample(&tuner, cost_tsc) == tuner.advance_tsc);
	step_tsc = distance(before_tsc, tuner.advance_tsc);
	tap_require(tuner.advance_tsc <= tuner.max_tsc);
	tap_require(tuner.advance_tsc >= tuner.min_tsc);
	tap_require(tuner.samples == samples + 1);
	if (tuner.advance_tsc > before_tsc)
		tap_require(step_tsc <= before_tsc / 4 + 100);
	else
		tap_require(step_tsc <= before_tsc / 8);
	return step_tsc;
}

/* From 1 us to any cost from half a microsecond to half a millisecond, in
 * under 100 samples, to within 5 % or the dead band. */
START_TEST(test_tuner_converges_at_every_scale)
{
	static const uint32_t costs_ns[] = {
		500, 1000, 2000, 5000, 12000, 30000, 60000, 150000, 500000,
	};
	unsigned int rate, cost;
	int i;

	for (rate = 0; rate < N_RATES; rate++) {
		for (cost = 0; cost < 9; cost++) {
			uint64_t cost_tsc = tsc_of(costs_ns[cost], rate);
			uint64_t band_tsc = cost_tsc / 20 + DEAD_BAND;

			start(rate);
			for (i = 0; i < 99; i++)
				sample((int64_t)cost_tsc);
			ck_assert_uint_le(distance(tuner.advance_tsc, cost_tsc),
					  band_tsc);
			for (i = 0; i < 1000; i++) {
				sample((int64_t)cost_tsc);
				tap_require(distance(tuner.advance_tsc,
						     cost_tsc) <= band_tsc);
			}
		}
	}
}
END_TEST

START_TEST(test_tuner_ignores_the_dead_band)
{
	tuner_init(&tuner, TUNER_STEP, 0, 5000, 0, 100000);
	sample(5000);
	sample(5099);
	sample(4901);
	ck_assert_uint_eq(tuner.advance_tsc, 5000);
	ck_assert_uint_eq(tuner.ignored_small, 3);
	sample(5100);
	ck_assert_uint_eq(tuner.advance_tsc, 5012);
	ck_assert_uint_eq(tuner.ignored_small, 3);
	sample(4912);
	ck_assert_uint_eq(tuner.advance_tsc, 5000);
}
END_TEST

START_TEST(test_tuner_moves_by_an_eighth)
{
	tuner_init(&tuner, TUNER_STEP, 0, 8000, 0, 100000);
	ck_assert_uint_eq(sample(16000), 1000);
	ck_assert_uint_eq(tuner.advance_tsc, 9000);
	ck_assert_uint_eq(sample(1000), 1000);
	ck_assert_uint_eq(tuner.advance_tsc, 8000);
	ck_assert_uint_eq(tuner.limited_spike, 0);
}
END_TEST

/* A thread stalled for 20 ms once: less than one step of growth, and gone
 * again soon. */
START_TEST(test_tuner_single_stall_moves_less_than_a_step)
{
	unsigned int rate;
	int i;

	for (rate = 0; rate < N_RATES; rate++) {
		uint64_t cost_tsc = tsc_of(30000, rate);
		uint64_t settled_tsc, step_tsc;

		start(rate);
		for (i = 0; i < 200; i++)
			sample((int64_t)cost_tsc);
		settled_tsc = tuner.advance_tsc;
		ck_assert_uint_eq(tuner.step.last_was_spike, false);
		step_tsc = sample((int64_t)tsc_of(20000000, rate));
		ck_assert_uint_gt(step_tsc, 0);
		ck_assert_uint_lt(step_tsc, settled_tsc / 4);
		for (i = 0; i < 30; i++)
			sample((int64_t)cost_tsc);
		ck_assert_uint_le(distance(tuner.advance_tsc, settled_tsc),
				  settled_tsc / 100 + 2 * DEAD_BAND);
	}
}
END_TEST

/* Two oversized samples in a row are believed more than one. */
START_TEST(test_tuner_repeated_excess_gets_the_full_step)
{
	uint64_t first_tsc, second_tsc;

	tuner_init(&tuner, TUNER_STEP, 0, 8000, 0, 1000000);
	first_tsc = sample(1000000);
	second_tsc = sample(1000000);
	ck_assert_uint_eq(first_tsc, (2 * 8000 + 800) / 2 / 8);
	ck_assert_uint_eq(second_tsc, (2 * (8000 + first_tsc) + 800) / 8);
	ck_assert_uint_eq(tuner.limited_spike, 2);

	/* A sample in between starts anew, even one in the dead band. */
	sample((int64_t)tuner.advance_tsc);
	ck_assert(!tuner.step.last_was_spike);
	ck_assert_uint_le(sample(1000000), tuner.advance_tsc / 8 + 50);
}
END_TEST

START_TEST(test_tuner_leaves_zero)
{
	int i;

	tuner_init(&tuner, TUNER_STEP, 0, 0, 0, 1000000);
	for (i = 0; i < 99; i++)
		sample(100000);
	ck_assert_uint_le(distance(tuner.advance_tsc, 100000), 5000);
}
END_TEST

/* Deliveries that cost nothing drive it to the bottom, not through it. */
START_TEST(test_tuner_always_early_goes_to_the_bottom)
{
	int i;

	tuner_init(&tuner, TUNER_STEP, 0, 1000000, 0, 1000000);
	for (i = 0; i < 500; i++)
		sample(-1000);
	ck_assert_uint_lt(tuner.advance_tsc, DEAD_BAND);
	ck_assert_uint_eq(tuner.clamped_low, 0);

	tuner_init(&tuner, TUNER_STEP, 0, 0, 0, 1000000);
	for (i = 0; i < 500; i++)
		sample(0);
	ck_assert_uint_eq(tuner.advance_tsc, 0);
}
END_TEST

START_TEST(test_tuner_clamps_at_both_ends)
{
	int i;

	tuner_init(&tuner, TUNER_STEP, 0, 3000, 2000, 4000);
	for (i = 0; i < 50; i++)
		sample(1000000);
	ck_assert_uint_eq(tuner.advance_tsc, 4000);
	ck_assert_uint_gt(tuner.clamped_high, 40);
	ck_assert_uint_eq(tuner.clamped_low, 0);
	for (i = 0; i < 50; i++)
		sample(0);
	ck_assert_uint_eq(tuner.advance_tsc, 2000);
	ck_assert_uint_gt(tuner.clamped_low, 40);
}
END_TEST

START_TEST(test_tuner_init_clamps_the_start)
{
	tuner_init(&tuner, TUNER_STEP, 0, 1000, 2000, 4000);
	ck_assert_uint_eq(tuner.advance_tsc, 2000);
	tuner_init(&tuner, TUNER_STEP, 0, 9000, 2000, 4000);
	ck_assert_uint_eq(tuner.advance_tsc, 4000);
	tuner_init(&tuner, TUNER_STEP, 0, 9000, 0, 0);
	sample(INT64_MAX);
	ck_assert_uint_eq(tuner.advance_tsc, 0);
}
END_TEST

START_TEST(test_tuner_survives_extreme_samples)
{
	int i;

	tuner_init(&tuner, TUNER_STEP, 0, UINT64_MAX, 0, UINT64_MAX);
	/* Room to double without leaving 64 bits. */
	ck_assert_uint_lt(tuner.advance_tsc, UINT64_MAX / 4);
	for (i = 0; i < 2000; i++) {
		sample(INT64_MAX);
		sample(INT64_MAX);
		sample(INT64_MIN);
	}
}
END_TEST

/* Cost switching between two levels: stays between them, follows both. */
START_TEST(test_tuner_follows_a_square_wave)
{
	int turn, i;

	tuner_init(&tuner, TUNER_STEP, 0, 20000, 0, 1000000);
	for (turn = 0; turn < 10; turn++) {
		for (i = 0; i < 50; i++) {
			sample(20000);
			ck_assert_uint_ge(tuner.advance_tsc, 20000 - DEAD_BAND);
			ck_assert_uint_le(tuner.advance_tsc, 50000 + DEAD_BAND);
		}
		ck_assert_uint_le(tuner.advance_tsc, 20000 + DEAD_BAND);
		for (i = 0; i < 50; i++) {
			sample(50000);
			ck_assert_uint_le(tuner.advance_tsc, 50000 + DEAD_BAND);
		}
		ck_assert_uint_ge(tuner.advance_tsc, 50000 - DEAD_BAND);
	}
}
END_TEST

/* A noisy host: 30-60 us, one sample in 64 stalled for up to 20 ms. Settles
 * around the middle and stays there; hardly any sample is limited. */
START_TEST(test_tuner_holds_under_noise)
{
	uint64_t seed = 0x7e57 + (uint64_t)_i;
	int i;

	start(2);
	for (i = 0; i < 20000; i++) {
		uint64_t cost_tsc = 30000 + prng_next(&seed) % 30000;

		if (prng_next(&seed) % 64 == 0)
			cost_tsc = prng_next(&seed) % 20000000;
		sample((int64_t)cost_tsc);
		tap_require(i < 100 || tuner.advance_tsc >= 30000);
		tap_require(i < 100 || tuner.advance_tsc <= 100000);
	}
	ck_assert_uint_lt(tuner.limited_spike, tuner.samples / 20);
}
END_TEST

START_TEST(test_tuner_counters_explain_every_sample)
{
	uint64_t seed = 0xacc;
	uint64_t moved = 0;
	int i;

	tuner_init(&tuner, TUNER_STEP, 0, 10000, 0, 1000000);
	for (i = 0; i < 5000; i++)
		moved += sample((int64_t)(prng_next(&seed) % 20000)) != 0;
	ck_assert_uint_eq(tuner.samples, 5000);
	ck_assert_uint_eq(moved + tuner.ignored_small, 5000);
}
END_TEST

START_TEST(test_tuner_trajectory_at_powers_of_two)
{
	uint64_t advance_tsc[17] = {0};
	int i;

	tuner_init(&tuner, TUNER_STEP, 0, 1000, 0, 1000000);
	for (i = 1; i <= 16; i++)
		advance_tsc[i] = tuner_sample(&tuner, 100000);
	ck_assert_uint_eq(tuner.trajectory_len, 5);
	ck_assert_uint_eq(tuner.trajectory_tsc[0], advance_tsc[1]);
	ck_assert_uint_eq(tuner.trajectory_tsc[1], advance_tsc[2]);
	ck_assert_uint_eq(tuner.trajectory_tsc[2], advance_tsc[4]);
	ck_assert_uint_eq(tuner.trajectory_tsc[3], advance_tsc[8]);
	ck_assert_uint_eq(tuner.trajectory_tsc[4], advance_tsc[16]);
}
END_TEST

START_TEST(test_tuner_trajectory_is_bounded)
{
	tuner_init(&tuner, TUNER_STEP, 0, 1000, 0, 1000000);
	tuner.trajectory_len = TUNER_TRAJECTORY_MAX;
	tuner.samples = (UINT64_C(1) << TUNER_TRAJECTORY_MAX) - 1;
	sample(5000);
	ck_assert_uint_eq(tuner.trajectory_len, TUNER_TRAJECTORY_MAX);
}
END_TEST

static Suite *tuner_suite(void)
{
	Suite *suite = suite_create("tuner");
	TCase *steps = tcase_create("steps");
	TCase *series = tcase_create("series");
	TCase *records = tcase_create("records");

	tcase_add_test(steps, test_tuner_ignores_the_dead_band);
	tcase_add_test(steps, test_tuner_moves_by_an_eighth);
	tcase_add_test(steps, test_tuner_repeated_excess_gets_the_full_step);
	tcase_add_test(steps, test_tuner_clamps_at_both_ends);
	tcase_add_test(steps, test_tuner_init_clamps_the_start);
	tcase_add_test(steps, test_tuner_survives_extreme_samples);

	tcase_add_test(series, test_tuner_converges_at_every_scale);
	tcase_add_test(series, test_tuner_single_stall_moves_less_than_a_step);
	tcase_add_test(series, test_tuner_leaves_zero);
	tcase_add_test(series, test_tuner_always_early_goes_to_the_bottom);
	tcase_add_test(series, test_tuner_follows_a_square_wave);
	tcase_add_loop_test(series, test_tuner_holds_under_noise, 0, 4);

	tcase_add_test(records, test_tuner_counters_explain_every_sample);
	tcase_add_test(records, test_tuner_trajectory_at_powers_of_two);
	tcase_add_test(records, test_tuner_trajectory_is_bounded);

	suite_add_tcase(suite, steps);
	suite_add_tcase(suite, series);
	suite_add_tcase(suite, records);
	return suite;
}

int main(void)
{
	return tap_run(tuner_suite());
}
