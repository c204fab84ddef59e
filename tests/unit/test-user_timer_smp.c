/* SPDX-License-Identifier: MIT */
/*
 * Two vCPUs' timers of one VM, on one setup: what one of them meets is nothing
 * to the other. A quiet vCPU wakes a few thousand cycles late; its advance
 * takes the same way, to the cycle, whether the vCPU beside it is never used or
 * wakes a hundred times as late as that between any two of its deadlines. Here
 * and not on a real host: there the noise of one thread is felt by the other,
 * through the CPU that they share, and would be learnt rightly.
 */
#include "user_timer.h"

#include <string.h>

#include "fake_hosttimer.h"
#include "fake_kvm.h"
#include "prng.h"
#include "tap.h"

#define HOST_START UINT64_C(1000000000000)
#define OFFSET	   (0 - UINT64_C(900000000000))

enum {
	FIRES = 500,
	AHEAD_TSC = 4000000,
	QUIET_TSC = 3000, /* and up to twice as much again */
	NOISY_TSC = 300000,
	CYCLES_OF_A_NS = 2,
};

static const enum tuner_kind tuners[] = {TUNER_STEP, TUNER_QUANTILE};

static struct user_timer_setup plan;
static struct user_timer quiet, noisy;

static void start(enum tuner_kind tuner)
{
	fake_kvm_init(HOST_START, OFFSET);
	memset(&fake_hosttimer, 0, sizeof(fake_hosttimer));
	memset(&quiet, 0, sizeof(quiet));
	memset(&noisy, 0, sizeof(noisy));
	ck_assert_int_eq(user_timer_setup_init(&plan, 2000000,
					       USER_TIMER_ADVANCE_AUTO, 0,
					       400000, 0.25, 0),
			 0);
	user_timer_setup_tuner(&plan, tuner, 0.99);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	ck_assert_int_eq(user_timer_init(&quiet, &plan, fake_kvm_injector()),
			 0);
	ck_assert_int_eq(user_timer_init(&noisy, &plan, fake_kvm_injector()),
			 0);
}

/* A deadline, whose kick comes late by latency_tsc; to its end. */
static void fire(struct user_timer *timer, uint64_t latency_tsc)
{
	uint64_t armed_host_tsc = fake_kvm.clock.now_tsc;

	tap_require(user_timer_write_deadline(timer, fake_kvm_guest_tsc() +
							     AHEAD_TSC) == 0);
	fake_kvm.clock.now_tsc = armed_host_tsc +
				 fake_hosttimer.ns * CYCLES_OF_A_NS +
				 latency_tsc;
	tap_require(user_timer_expired(timer) == 0);
	tap_require(fake_kvm_enter());
	user_timer_settle(timer);
}

static uint64_t latency(uint64_t *random, uint64_t least_tsc)
{
	return least_tsc + prng_next(random) % (2 * least_tsc);
}

/* The quiet one's advance after each of its fires. */
static void learn(enum tuner_kind tuner, bool beside_noise,
		  uint64_t advance_tsc[FIRES])
{
	uint64_t of_quiet = 1, of_noisy = 2;

	start(tuner);
	for (int i = 0; i < FIRES; i++) {
		if (beside_noise)
			fire(&noisy, latency(&of_noisy, NOISY_TSC));
		fire(&quiet, latency(&of_quiet, QUIET_TSC));
		advance_tsc[i] = quiet.tuner.advance_tsc;
	}
	ck_assert_uint_eq(quiet.stats.fires, FIRES);
	ck_assert_uint_eq(noisy.stats.fires, beside_noise ? FIRES : 0);
}

START_TEST(test_user_timer_smp_noise_stays_where_it_is)
{
	static uint64_t alone_tsc[FIRES], beside_tsc[FIRES];

	learn(tuners[_i], false, alone_tsc);
	learn(tuners[_i], true, beside_tsc);
	/* That there was something to learn, and noise. */
	ck_assert_uint_ge(alone_tsc[FIRES - 1], QUIET_TSC);
	ck_assert_uint_le(alone_tsc[FIRES - 1], 4 * QUIET_TSC);
	ck_assert_uint_ge(noisy.tuner.advance_tsc, NOISY_TSC);
	for (int i = 0; i < FIRES; i++)
		ck_assert_uint_eq(alone_tsc[i], beside_tsc[i]);
}
END_TEST

/* Nor what is armed: the other's disarm, and its fire, leave it. */
START_TEST(test_user_timer_smp_deadlines_are_apart)
{
	uint64_t value, deadline;

	start(TUNER_QUANTILE);
	deadline = fake_kvm_guest_tsc() + AHEAD_TSC;
	ck_assert_int_eq(user_timer_write_deadline(&quiet, deadline), 0);
	ck_assert_int_eq(user_timer_write_deadline(&noisy, deadline + 1), 0);
	ck_assert_int_eq(user_timer_write_deadline(&noisy, 0), 0);
	ck_assert_int_eq(user_timer_read_deadline(&quiet, &value), 0);
	ck_assert_uint_eq(value, deadline);
	fake_kvm.clock.now_tsc += AHEAD_TSC / 2;
	ck_assert_int_eq(user_timer_write_deadline(&noisy, 1), 0);
	ck_assert_uint_eq(noisy.stats.fires, 1);
	ck_assert_uint_eq(quiet.stats.fires, 0);
	ck_assert_int_eq(user_timer_read_deadline(&quiet, &value), 0);
	ck_assert_uint_eq(value, deadline);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("user_timer_smp");
	TCase *tc = tcase_create("two");

	tcase_add_loop_test(tc, test_user_timer_smp_noise_stays_where_it_is, 0,
			    (int)(sizeof(tuners) / sizeof(tuners[0])));
	tcase_add_test(tc, test_user_timer_smp_deadlines_are_apart);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
