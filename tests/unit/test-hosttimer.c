/* SPDX-License-Identifier: MIT */
/*
 * The timerfd wrapper against the real system call, without waiting: a long
 * time is read back instead, and 1 ns has passed by the time it is polled.
 */
#include "hosttimer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/timerfd.h>

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

static uint64_t left_ns(void)
{
	struct itimerspec spec;

	ck_assert_int_eq(timerfd_gettime(timer.fd, &spec), 0);
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
	ck_assert_int_eq(hosttimer_take(&timer), 0);
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
	ck_assert_int_eq(hosttimer_take(&timer), 0);
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
	ck_assert_int_eq(hosttimer_take(&timer), 1);
	ck_assert_int_eq(hosttimer_take(&timer), 0);
	ck_assert_uint_eq(left_ns(), 0);
}
END_TEST

START_TEST(test_hosttimer_unread_expiry_is_dropped)
{
	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_expiry();
	ck_assert_int_eq(hosttimer_arm(&timer, HOUR_NS), 0);
	ck_assert_int_eq(hosttimer_take(&timer), 0);

	ck_assert_int_eq(hosttimer_arm(&timer, 1), 0);
	await_expiry();
	ck_assert_int_eq(hosttimer_disarm(&timer), 0);
	ck_assert_int_eq(hosttimer_take(&timer), 0);
}
END_TEST

START_TEST(test_hosttimer_closed_is_an_error)
{
	hosttimer_close(&timer);
	hosttimer_close(&timer);
	ck_assert_int_eq(timer.fd, -1);
	ck_assert_int_eq(hosttimer_arm(&timer, 1), -EBADF);
	ck_assert_int_eq(hosttimer_disarm(&timer), -EBADF);
	ck_assert_int_eq(hosttimer_take(&timer), -EBADF);
}
END_TEST

static Suite *hosttimer_suite(void)
{
	Suite *suite = suite_create("hosttimer");
	TCase *all = tcase_create("timerfd");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, test_hosttimer_open_flags);
	tcase_add_test(all, test_hosttimer_arm_and_disarm);
	tcase_add_test(all, test_hosttimer_arm_longest);
	tcase_add_test(all, test_hosttimer_arm_zero_is_refused);
	tcase_add_test(all, test_hosttimer_expires_once);
	tcase_add_test(all, test_hosttimer_unread_expiry_is_dropped);
	tcase_add_test(all, test_hosttimer_closed_is_an_error);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return tap_run(hosttimer_suite());
}
