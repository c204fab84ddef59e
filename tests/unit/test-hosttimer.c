/* SPDX-License-Identifier: MIT */
/*
 * Both kinds of host timer against the real system calls, without waiting: a
 * long time is read back instead, and 1 ns has passed by the time it is polled.
 */
#define _GNU_SOURCE
#include "hosttimer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tap.h"

#define HOUR_NS UINT64_C(3600000000000)

static struct hosttimer timer;

static void setup(void)
{
	ck_assert_int_eq(hosttimer_open(&timer), 0);
}

static void teardown(void)
{
	hosttimer_close(&timer);
}

/* The other kind; its signal is blocked and taken by hand. */
static int value;

static void block_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
}

static void setup_signal(void)
{
	block_signal();
	ck_assert_int_eq(
		hosttimer_open_signal(&timer, gettid(), SIGRTMIN, &value), 0);
}

/* Has it expired since it was asked for the last time? */
static bool take(void)
{
	uint64_t expiries;

	return read(timer.fd, &expiries, sizeof(expiries)) ==
	       (ssize_t)sizeof(expiries);
}

/* A signal that is pending, or comes within a time that means nothing. */
static bool take_signal(siginfo_t *info, long patience_ms)
{
	struct timespec patience = {.tv_nsec = patience_ms * 1000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	return sigtimedwait(&set, info, &patience) == SIGRTMIN;
}

static uint64_t left_ns(void)
{
	struct itimerspec spec;

	ck_assert_int_eq(timer.fd >= 0 ? timerfd_gettime(timer.fd, &spec)
				       : timer_gettime(timer.id, &spec),
			 0);
	ck_assert_int_eq(spec.it_interval.tv_sec, 0);
	ck_assert_int_eq(spec.it_interval.tv_nsec, 0);
	return (uint64_t)spec.it_value.tv_sec * 1000000000u +
	       (uint64_t)spec.it_value.tv_nsec;
}

static void await_expiry(void)
{
	struct pollfd pollfd = {.fd = timer.fd, .events = POLLIN};

	ck_assert_int_eq(poll(&pollfd, 1, 2000), 1);
}

START_TEST(test_hosttimer_open_flags)
{
	ck_assert_int_ge(timer.fd, 0);
	ck_assert_int_ne(fcntl(timer.fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_ne(fcntl(timer.fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_uint_eq(left_ns(), 0);
	ck_assert(!take());
}
END_TEST

START_TEST(test_hosttimer_arm_and_disarm)
{
	uint64_t ns = HOUR_NS + 123456789;

	ck_assert_int_eq(hosttimer_arm(&timer, ns), 0);
	ck_assert_uint_le(left_ns(), ns);
	ck_assert_uint_gt(left_ns(), HOUR_NS);
	ck_assert_int_eq(hosttimer_disarm(&timer), 0);
	ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

START_TEST(test_hosttimer_arm_longest)
{
	ck_assert_int_eq(hosttimer_arm(&timer, UINT64_MAX), 0);
	ck_assert_uint_gt(left_ns(), HOUR_NS);
}
END_TEST

/* A relative time of 0 would silently disarm. */
START_TEST(test_hosttimer_arm_zero_is_refused)
{
	ck_assert_int_eq(hosttimer_arm(&timer, HOUR_NS), 0);
	ck_assert_int_eq(hosttimer_arm(&timer, 0), -EINVAL);
	ck_assert_uint_gt(left_ns(), 0);
}
END_TEST

START_TEST(test_hosttimer_expires_once)
{
	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_expiry();
	ck_assert(take());
	ck_assert(!take());
	ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

START_TEST(test_hosttimer_unread_expiry_is_dropped)
{
	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_expiry();
	ck_assert_int_eq(hosttimer_arm(&timer, HOUR_NS), 0);
	ck_assert(!take());

	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_expiry();
	ck_assert_int_eq(hosttimer_disarm(&timer), 0);
	ck_assert(!take());
}
END_TEST

START_TEST(test_hosttimer_closed_is_an_error)
{
	hosttimer_close(&timer);
	hosttimer_close(&timer);
	ck_assert_int_eq(timer.fd, -1);
	ck_assert_int_eq(hosttimer_arm(&timer, 1), -EBADF);
	ck_assert_int_eq(hosttimer_disarm(&timer), -EBADF);
}
END_TEST

/* What the handler of the signal goes by. */
static void await_signal(void)
{
	siginfo_t info;

	ck_assert(take_signal(&info, 999));
	ck_assert_int_eq(info.si_code, SI_TIMER);
	ck_assert_ptr_eq(info.si_value.sival_ptr, &value);
}

START_TEST(test_hosttimer_signal_once)
{
	siginfo_t info;

	ck_assert_int_eq(timer.fd, -1);
	ck_assert_uint_eq(left_ns(), 0);
	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_signal();
	ck_assert(!take_signal(&info, 0));
	ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

/* What becomes of a signal that pends when the timer is set anew differs from
 * kernel to kernel: but the new expiry has one, and one only. */
START_TEST(test_hosttimer_signal_pending)
{
	siginfo_t info;
	sigset_t pending;

	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	do
		sigpending(&pending);
	while (!sigismember(&pending, SIGRTMIN));
	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	while (left_ns())
		continue;
	await_signal();
	ck_assert(!take_signal(&info, 0));
	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_signal();
}
END_TEST

/* Each timer holds a place in the queue of signals from the start, so that an
 * expiry never finds it full; where there is none, nothing opens. */
START_TEST(test_hosttimer_signal_no_room)
{
	struct hosttimer other;
	struct rlimit before, none;
	int ret;

	ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	ret = hosttimer_open_signal(&other, gettid(), SIGRTMIN, &value);
	/* Check has a timer of its own. */
	ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &before), 0);
	ck_assert_int_eq(ret, -EAGAIN);
	ck_assert_int_eq(hosttimer_arm(&other, 1), -EBADF);
	hosttimer_close(&other);
	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_signal();
}
END_TEST

START_TEST(test_hosttimer_signal_closed)
{
	siginfo_t info;

	ck_assert_int_eq(hosttimer_arm(&timer, 20000000), 0);
	hosttimer_close(&timer);
	hosttimer_close(&timer);
	ck_assert_int_eq(hosttimer_arm(&timer, 1), -EBADF);
	ck_assert(!take_signal(&info, 30));
}
END_TEST

/* As in a vCPU that was never opened. */
START_TEST(test_hosttimer_close_unopened)
{
	struct hosttimer unopened;

	memset(&unopened, 0, sizeof(unopened));
	hosttimer_close(&unopened);
	ck_assert_int_eq(hosttimer_disarm(&unopened), -EBADF);
}
END_TEST

static Suite *hosttimer_suite(void)
{
	Suite *suite = suite_create("hosttimer");
	TCase *all = tcase_create("timerfd");
	TCase *signal = tcase_create("signal");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, test_hosttimer_open_flags);
	tcase_add_test(all, test_hosttimer_arm_and_disarm);
	tcase_add_test(all, test_hosttimer_arm_longest);
	tcase_add_test(all, test_hosttimer_arm_zero_is_refused);
	tcase_add_test(all, test_hosttimer_expires_once);
	tcase_add_test(all, test_hosttimer_unread_expiry_is_dropped);
	tcase_add_test(all, test_hosttimer_closed_is_an_error);
	tcase_add_test(all, test_hosttimer_close_unopened);
	suite_add_tcase(suite, all);

	tcase_add_checked_fixture(signal, setup_signal, teardown);
	tcase_add_test(signal, test_hosttimer_arm_and_disarm);
	tcase_add_test(signal, test_hosttimer_arm_longest);
	tcase_add_test(signal, test_hosttimer_arm_zero_is_refused);
	tcase_add_test(signal, test_hosttimer_signal_once);
	tcase_add_test(signal, test_hosttimer_signal_pending);
	tcase_add_test(signal, test_hosttimer_signal_no_room);
	tcase_add_test(signal, test_hosttimer_signal_closed);
	suite_add_tcase(suite, signal);
	return suite;
}

int main(void)
{
	return tap_run(hosttimer_suite());
}
