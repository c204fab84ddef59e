/* SPDX-License-Identifier: MIT */
/*
 * The replay of deliveries, against a plain computation of the same and
 * against figures that can be seen with the naked eye.
 */
#include "tune_sim.h"

#include <stdlib.h>
#include <string.h>

#include "prng.h"
#include "tap.h"

enum {
	FIRES = 700,
};

static struct tune_fire fires[FIRES];
static int64_t room[FIRES];
static struct tune_sim sim;
static struct tune_result result;

static void setup(void)
{
	memset(fires, 0, sizeof(fires));
	sim = (struct tune_sim){
		.policy = {.max_advance_tsc = 50000, .spin_share_q16 = 16384},
		.start_advance_tsc = 1000,
		.group = TUNE_ALL_GROUPS,
		.way = TUNE_WAY_FIXED,
	};
}

static void fire(size_t i, int64_t cost_tsc, uint64_t distance_tsc)
{
	fires[i] = (struct tune_fire){.cost_tsc = cost_tsc,
				      .distance_tsc = distance_tsc};
}

START_TEST(test_tune_sim_fixed)
{
	fire(0, 900, 100000);
	fire(1, 1000, 100000);
	fire(2, 1001, 100000);
	fire(3, -50, 100000);
	fire(4, 4000, 100000);
	fire(5, 600, 2000); /* the share allows 500 */
	sim.fixed_tsc = 1000;
	tune_sim_run(&sim, fires, 6, room, &result);
	ck_assert_uint_eq(result.fires, 6);
	ck_assert_uint_eq(result.in_time, 3);
	ck_assert_uint_eq(result.late_p50_tsc, 0);
	ck_assert_uint_eq(result.late_p90_tsc, 3000);
	ck_assert_uint_eq(result.late_max_tsc, 3000);
	ck_assert_uint_eq(result.spin_tsc, 100 + 0 + 1000);
	ck_assert_uint_eq(result.advance_tsc, 1000);
	ck_assert_uint_eq(result.warmup_fires, 0);
}
END_TEST

START_TEST(test_tune_sim_ceiling)
{
	fire(0, 50001, UINT64_MAX);
	sim.fixed_tsc = 1000000;
	tune_sim_run(&sim, fires, 1, room, &result);
	ck_assert_uint_eq(result.late_max_tsc, 1);
	sim.policy.max_advance_tsc = 50001;
	tune_sim_run(&sim, fires, 1, room, &result);
	ck_assert_uint_eq(result.in_time, 1);
}
END_TEST

START_TEST(test_tune_sim_warmup_and_groups)
{
	for (size_t i = 0; i < 10; i++) {
		fire(i, i < 4 ? 2000 : 500, 100000);
		fires[i].group = i % 2;
	}
	sim.fixed_tsc = 1000;
	sim.warmup = 5;
	tune_sim_run(&sim, fires, 10, room, &result);
	ck_assert_uint_eq(result.warmup_fires, 5);
	ck_assert_uint_eq(result.warmup_in_time, 1);
	ck_assert_uint_eq(result.fires, 5);
	ck_assert_uint_eq(result.in_time, 5);
	sim.group = 1;
	tune_sim_run(&sim, fires, 10, room, &result);
	ck_assert_uint_eq(result.warmup_fires, 2);
	ck_assert_uint_eq(result.warmup_in_time, 0);
	ck_assert_uint_eq(result.fires, 3);
	sim.group = 7;
	tune_sim_run(&sim, fires, 10, room, &result);
	ck_assert_uint_eq(result.fires, 0);
	ck_assert_uint_eq(result.late_max_tsc, 0);
}
END_TEST

START_TEST(test_tune_sim_recorded)
{
	fire(0, 800, 100000);
	fire(1, 800, 100000);
	fires[0].advance_tsc = 799;
	fires[1].advance_tsc = 900;
	sim.way = TUNE_WAY_RECORDED;
	tune_sim_run(&sim, fires, 2, room, &result);
	ck_assert_uint_eq(result.in_time, 1);
	ck_assert_uint_eq(result.late_max_tsc, 1);
	ck_assert_uint_eq(result.spin_tsc, 100);
	ck_assert_uint_eq(result.advance_tsc, 900);
}
END_TEST

/* The advance of a fire is what the tuner made of those before it. */
START_TEST(test_tune_sim_step_by_hand)
{
	/* 1/8 of the error, which is cut to 2800 / 2 and 2800. */
	fire(0, 9000, 100000);
	fire(1, 9000, 100000);
	fire(2, 1000, 100000);
	sim.way = TUNE_WAY_STEP;
	tune_sim_run(&sim, fires, 3, room, &result);
	/* 1000, 1175, 1175 + 3150 / 8 = 1568 */
	ck_assert_uint_eq(result.late_max_tsc, 8000);
	ck_assert_uint_eq(result.late_p50_tsc, 9000 - 1175);
	ck_assert_uint_eq(result.in_time, 1);
	ck_assert_uint_eq(result.spin_tsc, 568);
	ck_assert_uint_eq(result.advance_tsc, 1568 - 568 / 8);
}
END_TEST

static int by_value(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

/* Written down a second time, the long way. */
static void check_against_plain(enum tuner_kind kind, uint64_t q16)
{
	static int64_t late[FIRES];
	uint64_t spin_tsc = 0;
	size_t in_time = 0, n = 0;
	struct tuner tuner;

	tuner_init(&tuner, kind, q16, sim.start_advance_tsc, 0,
		   sim.policy.max_advance_tsc);
	for (size_t i = 0; i < FIRES; i++) {
		int64_t advance = (int64_t)tuner.advance_tsc;
		int64_t share = (int64_t)(fires[i].distance_tsc / 65536.0 *
					  sim.policy.spin_share_q16);
		int64_t cost = fires[i].cost_tsc;

		if (advance > share)
			advance = share;
		if (cost < 0)
			cost = 0;
		tuner_sample(&tuner, fires[i].cost_tsc);
		if (i < sim.warmup)
			continue;
		late[n++] = cost > advance ? cost - advance : 0;
		in_time += cost <= advance;
		spin_tsc += cost < advance ? (uint64_t)(advance - cost) : 0;
	}
	qsort(late, n, sizeof(late[0]), by_value);
	sim.way = kind == TUNER_STEP ? TUNE_WAY_STEP : TUNE_WAY_QUANTILE;
	sim.q16 = q16;
	tune_sim_run(&sim, fires, FIRES, room, &result);
	ck_assert_uint_eq(result.fires, n);
	ck_assert_uint_eq(result.in_time, in_time);
	ck_assert_uint_eq(result.spin_tsc, spin_tsc);
	ck_assert_uint_eq(result.late_p50_tsc, (uint64_t)late[(n + 1) / 2 - 1]);
	ck_assert_uint_eq(result.late_p99_tsc,
			  (uint64_t)late[(n * 99 + 99) / 100 - 1]);
	ck_assert_uint_eq(result.late_max_tsc, (uint64_t)late[n - 1]);
	ck_assert_uint_eq(result.advance_tsc, tuner.advance_tsc);
}

/* Costs about 10000 with a tail, and distances that cut some advances. */
static void made_up(uint64_t seed)
{
	uint64_t prng = seed * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t i = 0; i < FIRES; i++) {
		int64_t cost = 9000 + (int64_t)(prng_next(&prng) % 2000);

		if (prng_next(&prng) % 50 == 0)
			cost *= 4;
		if (prng_next(&prng) % 97 == 0)
			cost = -cost;
		fire(i, cost, 20000 + prng_next(&prng) % 200000);
	}
}

START_TEST(test_tune_sim_as_plain)
{
	static const uint64_t quantiles[] = {32768, 52429, 58982, 64881};

	sim.warmup = 100;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		made_up(seed);
		check_against_plain(TUNER_STEP, 0);
		for (size_t q = 0; q < 4; q++)
			check_against_plain(TUNER_QUANTILE, quantiles[q]);
	}
}
END_TEST

/* No smaller advance has the share, and this one has. */
START_TEST(test_tune_sim_optimum)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t best, counted;

		made_up(seed);
		sim.warmup = seed * 7;
		sim.q16 = 32768 + seed * 800;
		counted = FIRES - sim.warmup;
		ck_assert(tune_sim_optimum(&sim, fires, FIRES, room, &best));
		sim.fixed_tsc = best;
		tune_sim_run(&sim, fires, FIRES, room, &result);
		ck_assert_uint_ge(result.in_time * 65536, counted * sim.q16);
		ck_assert_uint_gt(best, 0);
		sim.fixed_tsc = best - 1;
		tune_sim_run(&sim, fires, FIRES, room, &result);
		ck_assert_uint_lt(result.in_time * 65536, counted * sim.q16);
	}
}
END_TEST

START_TEST(test_tune_sim_no_optimum)
{
	uint64_t best = 77;

	ck_assert(!tune_sim_optimum(&sim, fires, 0, room, &best));
	/* One of four is out of reach, and one just within. */
	for (size_t i = 0; i < 4; i++)
		fire(i, 3000, i ? 100000 : 8000);
	fire(1, 3000, 12000);
	sim.q16 = 49152;
	ck_assert(tune_sim_optimum(&sim, fires, 4, room, &best));
	ck_assert_uint_eq(best, 3000);
	best = 77;
	sim.q16 = 49153;
	ck_assert(!tune_sim_optimum(&sim, fires, 4, room, &best));
	ck_assert_uint_eq(best, 77);
	sim.group = 5;
	ck_assert(!tune_sim_optimum(&sim, fires, 4, room, &best));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tune_sim");
	TCase *tc = tcase_create("sim");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_tune_sim_fixed);
	tcase_add_test(tc, test_tune_sim_ceiling);
	tcase_add_test(tc, test_tune_sim_warmup_and_groups);
	tcase_add_test(tc, test_tune_sim_recorded);
	tcase_add_test(tc, test_tune_sim_step_by_hand);
	tcase_add_test(tc, test_tune_sim_as_plain);
	tcase_add_test(tc, test_tune_sim_optimum);
	tcase_add_test(tc, test_tune_sim_no_optimum);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
