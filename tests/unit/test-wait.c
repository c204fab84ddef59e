/* SPDX-License-Identifier: MIT */
/*
 * The spin under a clock that steps on every read: where it ends, how far it
 * overshoots, and that only a broken clock ends it short.
 */
#include "wait.h"

#include "fake_clock.h"
#include "prng.h"
#include "tap.h"
#include "tsc.h"

static struct fake_clock fake;
static struct wait_stats stats;

static enum wait_result wait_for(uint64_t target_host_tsc)
{
	struct clock clock = fake_clock_of(&fake);

	return wait_until(&clock, target_host_tsc, &stats);
}

START_TEST(test_wait_reaches_the_target_exactly)
{
	fake = (struct fake_clock){.now_tsc = 5000, .step_tsc = 10};
	ck_assert_int_eq(wait_for(6000), WAIT_REACHED);
	ck_assert_uint_eq(stats.start_host_tsc, 5000);
	ck_assert_uint_eq(stats.end_host_tsc, 6000);
	ck_assert_uint_eq(stats.reads, 101);
	ck_assert_uint_eq(fake.reads, stats.reads);
}
END_TEST

START_TEST(test_wait_overshoots_by_less_than_a_step)
{
	fake = (struct fake_clock){.now_tsc = 5000, .step_tsc = 7};
	ck_assert_int_eq(wait_for(6000), WAIT_REACHED);
	ck_assert_uint_eq(stats.end_host_tsc, 6001);
}
END_TEST

START_TEST(test_wait_for_the_past_reads_once)
{
	static const uint64_t targets[] = {5000, 4999, 1, 0};

	fake = (struct fake_clock){.now_tsc = 5000, .step_tsc = 10};
	ck_assert_int_eq(wait_for(targets[_i]), WAIT_REACHED);
	ck_assert_uint_eq(stats.reads, 1);
	ck_assert_uint_eq(stats.start_host_tsc, 5000);
	ck_assert_uint_eq(stats.end_host_tsc, 5000);
}
END_TEST

START_TEST(test_wait_across_the_wrap)
{
	fake = (struct fake_clock){.now_tsc = UINT64_MAX - 99, .step_tsc = 10};
	ck_assert_int_eq(wait_for(50), WAIT_REACHED);
	ck_assert_uint_eq(stats.end_host_tsc, 50);
	ck_assert_uint_eq(stats.reads, 16);

	fake = (struct fake_clock){.now_tsc = 20, .step_tsc = 10};
	ck_assert_int_eq(wait_for(UINT64_MAX), WAIT_REACHED);
	ck_assert_uint_eq(stats.reads, 1);
}
END_TEST

/* However far: nothing but the clock ends it. */
START_TEST(test_wait_has_no_ceiling_of_its_own)
{
	fake = (struct fake_clock){.now_tsc = 0, .step_tsc = 1000000};
	ck_assert_int_eq(wait_for(UINT64_C(1) << 42), WAIT_REACHED);
	ck_assert_uint_ge(stats.end_host_tsc, UINT64_C(1) << 42);
}
END_TEST

START_TEST(test_wait_stopped_clock_ends_it)
{
	fake = (struct fake_clock){.now_tsc = 5000, .step_tsc = 0};
	ck_assert_int_eq(wait_for(6000), WAIT_TSC_STOPPED);
	ck_assert_uint_eq(stats.reads, WAIT_STOPPED_READS);
	ck_assert_uint_eq(stats.end_host_tsc, 5000);
}
END_TEST

START_TEST(test_wait_clock_that_stops_on_the_way)
{
	fake = (struct fake_clock){
		.now_tsc = 5000, .step_tsc = 10, .freeze_at_read = 5};
	ck_assert_int_eq(wait_for(6000), WAIT_TSC_STOPPED);
	ck_assert_uint_eq(stats.end_host_tsc, 5040);
	ck_assert_uint_eq(stats.reads, 4 + WAIT_STOPPED_READS);
}
END_TEST

/* A coarse clock that stands still for long, but not for ever. */
static uint64_t coarse_read(void *ctx)
{
	uint64_t *reads = ctx;

	return (*reads)++ / (WAIT_STOPPED_READS - 1);
}

START_TEST(test_wait_coarse_clock_is_no_stopped_one)
{
	uint64_t reads = 0;
	struct clock clock = {.read_tsc = coarse_read, .ctx = &reads};

	ck_assert_int_eq(wait_until(&clock, 3, &stats), WAIT_REACHED);
	ck_assert_uint_eq(stats.reads, 3 * (WAIT_STOPPED_READS - 1) + 1);
}
END_TEST

START_TEST(test_wait_backwards_clock_ends_it)
{
	fake = (struct fake_clock){.now_tsc = 5000,
				   .step_tsc = 10,
				   .back_at_read = 4,
				   .back_tsc = 11};
	ck_assert_int_eq(wait_for(6000), WAIT_TSC_BACKWARDS);
	ck_assert_uint_eq(stats.reads, 5);
	ck_assert_uint_eq(stats.end_host_tsc, 5029);
}
END_TEST

/* A step back that lands beyond the target is still no arrival; one after the
 * target has been reached is not seen at all. */
START_TEST(test_wait_looks_no_further_than_the_target)
{
	fake = (struct fake_clock){.now_tsc = 5000,
				   .step_tsc = 10,
				   .back_at_read = 101,
				   .back_tsc = 900};
	ck_assert_int_eq(wait_for(6000), WAIT_REACHED);
	ck_assert_uint_eq(stats.end_host_tsc, 6000);
}
END_TEST

START_TEST(test_wait_never_ends_before_the_target)
{
	uint64_t seed = 0x3a17;
	int i;

	for (i = 0; i < 2000; i++) {
		uint64_t start_tsc = prng_next(&seed);
		uint64_t target_tsc = start_tsc + prng_next(&seed) % 20000;
		uint64_t step_tsc = 1 + prng_next(&seed) % 500;

		fake = (struct fake_clock){.now_tsc = start_tsc,
					   .step_tsc = step_tsc};
		ck_assert_int_eq(wait_for(target_tsc), WAIT_REACHED);
		ck_assert_int_ge(tsc_diff(stats.end_host_tsc, target_tsc), 0);
		ck_assert_int_lt(tsc_diff(stats.end_host_tsc, target_tsc),
				 (int64_t)step_tsc);
		ck_assert_uint_eq(stats.start_host_tsc, start_tsc);
	}
}
END_TEST

/* The processor's own clock: 1000 cycles ahead is some reads away at most. */
START_TEST(test_wait_on_the_host_clock)
{
	uint64_t target_tsc = clock_read_tsc() + 1000;

	ck_assert_int_eq(wait_until(&clock_host, target_tsc, &stats),
			 WAIT_REACHED);
	ck_assert_int_ge(tsc_diff(stats.end_host_tsc, target_tsc), 0);
	ck_assert_int_ge(tsc_diff(clock_read_tsc(), stats.end_host_tsc), 0);
}
END_TEST

static Suite *wait_suite(void)
{
	Suite *suite = suite_create("wait");
	TCase *reach = tcase_create("reach");
	TCase *broken = tcase_create("broken clock");

	tcase_add_test(reach, test_wait_reaches_the_target_exactly);
	tcase_add_test(reach, test_wait_overshoots_by_less_than_a_step);
	tcase_add_loop_test(reach, test_wait_for_the_past_reads_once, 0, 4);
	tcase_add_test(reach, test_wait_across_the_wrap);
	tcase_add_test(reach, test_wait_has_no_ceiling_of_its_own);
	tcase_add_test(reach, test_wait_never_ends_before_the_target);
	tcase_add_test(reach, test_wait_on_the_host_clock);

	tcase_add_test(broken, test_wait_stopped_clock_ends_it);
	tcase_add_test(broken, test_wait_clock_that_stops_on_the_way);
	tcase_add_test(broken, test_wait_coarse_clock_is_no_stopped_one);
	tcase_add_test(broken, test_wait_backwards_clock_ends_it);
	tcase_add_test(broken, test_wait_looks_no_further_than_the_target);

	suite_add_tcase(suite, reach);
	suite_add_tcase(suite, broken);
	return suite;
}

int main(void)
{
	return tap_run(wait_suite());
}
