/* SPDX-License-Identifier: MIT */
/*
 * The timer thread with real timerfds: each expiry becomes a request to the
 * right vCPU, again after each arm and without anybody reading the timer.
 * The main thread plays all vCPUs. No time is measured: a timer set to 1 ns
 * is waited for, one set to an hour must not fire.
 */
#define _GNU_SOURCE
#include "timer_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_signal.h"
#include "hosttimer.h"
#include "kick.h"
#include "tap.h"

enum {
	VCPUS = 20, /* more than one epoll_wait takes */
	ROUNDS = 200,
	TIMEOUT_S = 120,
};

#define HOUR_NS UINT64_C(3600000000000)

static struct timer_thread tt;
static struct fake_vcpu vcpus[VCPUS];
static struct hosttimer timers[VCPUS];

static void setup(void)
{
	memset(vcpus, 0, sizeof(vcpus));
	ck_assert_int_eq(timer_thread_init(&tt), 0);
	for (int i = 0; i < VCPUS; i++) {
		kick_bind(&vcpus[i].kick, &vcpus[i].immediate_exit);
		ck_assert_int_eq(hosttimer_open(&timers[i]), 0);
		ck_assert_int_eq(
			timer_thread_add(&tt, timers[i].fd, &vcpus[i].kick), 0);
	}
	ck_assert_int_eq(timer_thread_start(&tt, NULL), 0);
}

static void teardown(void)
{
	timer_thread_destroy(&tt);
	for (int i = 0; i < VCPUS; i++)
		hosttimer_close(&timers[i]);
}

static void arm(int i, uint64_t ns)
{
	ck_assert_int_eq(hosttimer_arm(&timers[i], ns), 0);
}

/* Takes the request, once it is there. */
static void await(int i)
{
	while (!kick_pending(&vcpus[i].kick))
		sched_yield();
	ck_assert_uint_eq(kick_enter(&vcpus[i].kick), KICK_DUE);
}

static void check_quiet(int i)
{
	ck_assert_uint_eq(kick_pending(&vcpus[i].kick), 0);
}

START_TEST(test_timer_thread_kicks_the_right_one)
{
	for (int i = 0; i < VCPUS; i++) {
		arm(i, 1);
		await(i);
		for (int j = 0; j < VCPUS; j++)
			check_quiet(j);
	}
	timer_thread_stop(&tt);
	ck_assert_uint_eq(tt.expiries, VCPUS);
	ck_assert_uint_ge(tt.wakeups, 1);
}
END_TEST

/* Edge-triggered, and nobody reads the timer: it must work all the same. */
START_TEST(test_timer_thread_every_expiry)
{
	for (int n = 0; n < ROUNDS; n++) {
		arm(0, 1);
		await(0);
	}
	timer_thread_stop(&tt);
	ck_assert_uint_eq(tt.expiries, ROUNDS);
}
END_TEST

START_TEST(test_timer_thread_many_at_once)
{
	for (int n = 0; n < ROUNDS / 10; n++) {
		for (int i = 0; i < VCPUS; i++)
			arm(i, 1);
		for (int i = 0; i < VCPUS; i++)
			await(i);
	}
}
END_TEST

/* A timer that was moved or stopped in time says nothing. */
START_TEST(test_timer_thread_stopped_timers)
{
	arm(1, HOUR_NS);
	ck_assert_int_eq(hosttimer_disarm(&timers[1]), 0);
	arm(2, HOUR_NS);
	arm(3, HOUR_NS);
	arm(3, 1);
	await(3);
	arm(3, 1);
	await(3);
	check_quiet(1);
	check_quiet(2);
}
END_TEST

/* A vCPU that runs is sent the signal, and one signal only. */
START_TEST(test_timer_thread_interrupts_a_running_vcpu)
{
	ck_assert_uint_eq(kick_enter(&vcpus[4].kick), 0);
	arm(4, 1);
	fake_run(&vcpus[4], 0);
	kick_leave(&vcpus[4].kick);
	ck_assert_uint_eq(atomic_load(&vcpus[4].kick.signals), 1);
	ck_assert_uint_eq(kick_enter(&vcpus[4].kick), KICK_DUE);
}
END_TEST

START_TEST(test_timer_thread_stop)
{
	timer_thread_stop(&tt);
	timer_thread_stop(&tt);
	/* Nobody looks any more. */
	arm(0, 1);
	timer_thread_destroy(&tt);
	timer_thread_destroy(&tt);
	check_quiet(0);
	ck_assert_int_eq(tt.epoll_fd, -1);
	ck_assert_int_eq(tt.stop_fd, -1);
}
END_TEST

START_TEST(test_timer_thread_pinned)
{
	struct timer_thread other;
	cpu_set_t cpus;

	ck_assert_int_eq(timer_thread_init(&other), 0);
	CPU_ZERO(&cpus);
	ck_assert_int_eq(timer_thread_start(&other, &cpus), -EINVAL);
	timer_thread_stop(&other);
	CPU_SET(sched_getcpu(), &cpus);
	ck_assert_int_eq(timer_thread_start(&other, &cpus), 0);
	timer_thread_destroy(&other);
}
END_TEST

static int policy_asked_with(int policy)
{
	struct sched_param param = {.sched_priority = policy ? 7 : 0};
	struct timer_thread other;
	int ret = sched_setscheduler(0, policy, &param) ? errno : 0;

	if (ret)
		return -ret;
	ck_assert_int_eq(timer_thread_init(&other), 0);
	ck_assert_int_eq(other.was_started, false);
	ck_assert_int_eq(timer_thread_start(&other, NULL), 0);
	ck_assert(other.was_started);
	ck_assert_int_eq(pthread_getschedparam(other.thread, &ret, &param), 0);
	ck_assert_int_eq(other.policy, ret);
	ck_assert_int_eq(other.priority, param.sched_priority);
	timer_thread_destroy(&other);
	ck_assert(other.was_started);
	return other.policy << 8 | other.priority;
}

/* Real-time where that is allowed, and what it was where it is not; what the
 * user has chosen is not touched. */
START_TEST(test_timer_thread_policy)
{
	struct rlimit none = {0, 0};
	bool may = policy_asked_with(SCHED_RR) == (SCHED_RR << 8 | 7);

	ck_assert_int_eq(policy_asked_with(SCHED_OTHER),
			 may ? SCHED_FIFO << 8 | 1 : SCHED_OTHER << 8);
	ck_assert_int_eq(setrlimit(RLIMIT_RTPRIO, &none), 0);
	if (may && !geteuid())
		ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(policy_asked_with(SCHED_OTHER), SCHED_OTHER << 8);
	/* LeakSanitizer looks at its own process with ptrace(2), which needs
	 * the capabilities back. */
	ck_assert_int_eq(seteuid(getuid()), 0);
}
END_TEST

START_TEST(test_timer_thread_add_what_is_no_descriptor)
{
	ck_assert_int_eq(timer_thread_add(&tt, -1, &vcpus[0].kick), -EBADF);
	ck_assert_int_eq(timer_thread_add(&tt, timers[0].fd, &vcpus[0].kick),
			 -EEXIST);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timer_thread");
	TCase *tc = tcase_create("timer_thread");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_timer_thread_kicks_the_right_one);
	tcase_add_test(tc, test_timer_thread_every_expiry);
	tcase_add_test(tc, test_timer_thread_many_at_once);
	tcase_add_test(tc, test_timer_thread_stopped_timers);
	tcase_add_test(tc, test_timer_thread_interrupts_a_running_vcpu);
	tcase_add_test(tc, test_timer_thread_stop);
	tcase_add_test(tc, test_timer_thread_pinned);
	tcase_add_test(tc, test_timer_thread_policy);
	tcase_add_test(tc, test_timer_thread_add_what_is_no_descriptor);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
