/* SPDX-License-Identifier: MIT */
/*
 * Conversions against exact 128-bit quotients: never across the exact value,
 * never further from it than the header states; saturation; TSC frames.
 */
#include "tsc.h"

#include <errno.h>
#include <stdlib.h>

#include "prng.h"
#include "tap.h"

__extension__ typedef unsigned __int128 uint128;

#define NS_PER_HOUR UINT64_C(3600000000000)

static const uint32_t rates_khz[] = {
	TSC_KHZ_MIN, 1001,    400000,  999999,	1000000,
	1000001,     2445426, 3000000, 5000000, TSC_KHZ_MAX,
};

#define N_RATES (sizeof(rates_khz) / sizeof(rates_khz[0]))

static struct tsc_scale scale_of(uint32_t tsc_khz)
{
	struct tsc_scale s;

	ck_assert_int_eq(tsc_scale_init(&s, tsc_khz), 0);
	return s;
}

/* value * num / den, exact, rounded to each side. */
static uint128 exact_floor(uint64_t value, uint32_t num, uint32_t den)
{
	return (uint128)value * num / den;
}

static uint128 exact_ceil(uint64_t value, uint32_t num, uint32_t den)
{
	return ((uint128)value * num + den - 1) / den;
}

static uint64_t saturated(uint128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* One conversion both ways round, for one value. */
static void check_bounds(uint64_t floor, uint64_t ceil, uint64_t value,
			 uint32_t num, uint32_t den)
{
	uint64_t low = saturated(exact_floor(value, num, den));
	uint64_t high = saturated(exact_ceil(value, num, den));
	uint64_t allowed = 1 + (low >> 62) + 1;

	if (low <= UINT64_C(1) << 62)
		allowed = 1;
	tap_require(floor <= low && low - floor <= allowed);
	tap_require(ceil >= high && ceil - high <= allowed);
}

static void check_value(const struct tsc_scale *s, uint64_t value)
{
	check_bounds(tsc_to_ns_floor(s, value), tsc_to_ns_ceil(s, value), value,
		     1000000, s->tsc_khz);
	check_bounds(ns_to_tsc_floor(s, value), ns_to_tsc_ceil(s, value), value,
		     s->tsc_khz, 1000000);
}

START_TEST(test_tsc_scale_init_range)
{
	struct tsc_scale s = {.tsc_khz = 7};

	ck_assert_int_eq(tsc_scale_init(&s, 0), -EINVAL);
	ck_assert_int_eq(tsc_scale_init(&s, TSC_KHZ_MIN - 1), -EINVAL);
	ck_assert_int_eq(tsc_scale_init(&s, TSC_KHZ_MAX + 1), -EINVAL);
	ck_assert_int_eq(tsc_scale_init(&s, UINT32_MAX), -EINVAL);
	ck_assert_uint_eq(s.tsc_khz, 7);
	ck_assert_int_eq(tsc_scale_init(&s, TSC_KHZ_MIN), 0);
	ck_assert_int_eq(tsc_scale_init(&s, TSC_KHZ_MAX), 0);
	ck_assert_uint_eq(s.tsc_khz, TSC_KHZ_MAX);
}
END_TEST

START_TEST(test_tsc_exact_rates_convert_exactly)
{
	struct tsc_scale s = scale_of(1000000);

	ck_assert_uint_eq(tsc_to_ns_floor(&s, 12345), 12345);
	ck_assert_uint_eq(tsc_to_ns_ceil(&s, 12345), 12345);
	s = scale_of(TSC_KHZ_MIN);
	ck_assert_uint_eq(tsc_to_ns_floor(&s, 3), 3000);
	ck_assert_uint_eq(tsc_to_ns_ceil(&s, 3), 3000);
	ck_assert_uint_eq(ns_to_tsc_floor(&s, 999), 0);
	ck_assert_uint_eq(ns_to_tsc_ceil(&s, 999), 1);
}
END_TEST

START_TEST(test_tsc_edges_stay_within_bounds)
{
	struct tsc_scale s = scale_of(rates_khz[_i]);
	unsigned int bit;

	check_value(&s, 0);
	check_value(&s, UINT64_MAX);
	for (bit = 0; bit < 64; bit++) {
		check_value(&s, (UINT64_C(1) << bit) - 1);
		check_value(&s, UINT64_C(1) << bit);
		check_value(&s, (UINT64_C(1) << bit) + 1);
	}
}
END_TEST

START_TEST(test_tsc_random_values_stay_within_bounds)
{
	uint64_t seed = 0x5eed + (uint64_t)_i;
	struct tsc_scale s = scale_of(rates_khz[_i]);
	int i;

	for (i = 0; i < 5000; i++)
		check_value(&s, prng_any_size(&seed));
}
END_TEST

START_TEST(test_tsc_random_rates_stay_within_bounds)
{
	uint64_t seed = 0xca11;
	int i;

	for (i = 0; i < 2000; i++) {
		uint32_t span = TSC_KHZ_MAX - TSC_KHZ_MIN + 1;
		struct tsc_scale s = scale_of(
			TSC_KHZ_MIN + (uint32_t)(prng_next(&seed) % span));

		check_value(&s, prng_any_size(&seed));
		check_value(&s, prng_any_size(&seed));
	}
}
END_TEST

/* The length that matters most: an hour, there and back, within a unit each
 * way. */
START_TEST(test_tsc_hour_round_trip)
{
	struct tsc_scale s = scale_of(rates_khz[_i]);
	uint64_t ns_per_cycle = 1000000 / s.tsc_khz + 1;
	uint64_t down = tsc_to_ns_floor(&s, ns_to_tsc_floor(&s, NS_PER_HOUR));
	uint64_t up = tsc_to_ns_ceil(&s, ns_to_tsc_ceil(&s, NS_PER_HOUR));

	ck_assert_uint_le(down, NS_PER_HOUR);
	ck_assert_uint_ge(up, NS_PER_HOUR);
	ck_assert_uint_le(NS_PER_HOUR - down, 2 * ns_per_cycle + 1);
	ck_assert_uint_le(up - NS_PER_HOUR, 2 * ns_per_cycle + 1);
}
END_TEST

START_TEST(test_tsc_saturates)
{
	struct tsc_scale slow = scale_of(TSC_KHZ_MIN);
	struct tsc_scale fast = scale_of(TSC_KHZ_MAX);

	ck_assert_uint_eq(tsc_to_ns_floor(&slow, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(tsc_to_ns_ceil(&slow, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(tsc_to_ns_ceil(&slow, UINT64_MAX / 1000 + 1),
			  UINT64_MAX);
	ck_assert_uint_eq(ns_to_tsc_floor(&fast, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(ns_to_tsc_ceil(&fast, UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(test_tsc_frames_are_inverse)
{
	uint64_t seed = 0xf4a3e;
	int i;

	ck_assert_uint_eq(guest_from_host(1000, UINT64_MAX - 499), 500);
	ck_assert_uint_eq(guest_from_host(UINT64_MAX, 1), 0);
	for (i = 0; i < 1000; i++) {
		uint64_t host_tsc = prng_next(&seed);
		uint64_t offset = prng_next(&seed);

		ck_assert_uint_eq(
			host_from_guest(guest_from_host(host_tsc, offset),
					offset),
			host_tsc);
	}
}
END_TEST

START_TEST(test_tsc_diff_across_the_wrap)
{
	ck_assert_int_eq(tsc_diff(5, 3), 2);
	ck_assert_int_eq(tsc_diff(3, 5), -2);
	ck_assert_int_eq(tsc_diff(2, UINT64_MAX), 3);
	ck_assert_int_eq(tsc_diff(UINT64_MAX, 2), -3);
	ck_assert_int_eq(tsc_diff(INT64_MAX, 0), INT64_MAX);
}
END_TEST

static Suite *tsc_suite(void)
{
	Suite *suite = suite_create("tsc");
	TCase *convert = tcase_create("convert");
	TCase *frame = tcase_create("frame");

	tcase_add_test(convert, test_tsc_scale_init_range);
	tcase_add_test(convert, test_tsc_exact_rates_convert_exactly);
	tcase_add_loop_test(convert, test_tsc_edges_stay_within_bounds, 0,
			    N_RATES);
	tcase_add_loop_test(convert, test_tsc_random_values_stay_within_bounds,
			    0, N_RATES);
	tcase_add_test(convert, test_tsc_random_rates_stay_within_bounds);
	tcase_add_loop_test(convert, test_tsc_hour_round_trip, 0, N_RATES);
	tcase_add_test(convert, test_tsc_saturates);
	tcase_add_test(frame, test_tsc_frames_are_inverse);
	tcase_add_test(frame, test_tsc_diff_across_the_wrap);
	suite_add_tcase(suite, convert);
	suite_add_tcase(suite, frame);
	return suite;
}

int main(void)
{
	return tap_run(tsc_suite());
}
