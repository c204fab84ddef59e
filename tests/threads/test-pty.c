/* SPDX-License-Identifier: MIT */
/* The pseudo-terminal by itself: how it is handed out, and what it tells. */
#define _GNU_SOURCE
#include "pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "tty.h"

enum {
	WAIT_MS = 20000,
};

static int pty;
static char name[64];

static void setup(void)
{
	pty = pty_open();
	ck_assert_int_ge(pty, 0);
	ck_assert_int_eq(pty_name(pty, name, sizeof(name)), 0);
}

static void teardown(void)
{
	close(pty);
}

START_TEST(test_pty_has_a_reader_or_not)
{
	ck_assert(!pty_has_reader(pty));
	for (int i = 0; i < 3; i++) {
		int fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);

		ck_assert_int_ge(fd, 0);
		ck_assert(pty_has_reader(pty));
		close(fd);
		ck_assert(!pty_has_reader(pty));
	}
}
END_TEST

/* From the first byte on: no echo, and no newline that becomes two. */
START_TEST(test_pty_is_raw)
{
	int fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	char got[8] = "";

	ck_assert_int_eq(write(pty, "a\r", 2), 2);
	ck_assert_int_eq(poll(&pfd, 1, WAIT_MS), 1);
	ck_assert_int_eq(read(fd, got, sizeof(got) - 1), 2);
	ck_assert_str_eq(got, "a\r");
	ck_assert_int_eq(read(pty, got, sizeof(got)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(write(fd, "b\n", 2), 2);
	pfd.fd = pty;
	ck_assert_int_eq(poll(&pfd, 1, WAIT_MS), 1);
	ck_assert_int_eq(read(pty, got, sizeof(got) - 1), 2);
	ck_assert_int_eq(memcmp(got, "b\n", 2), 0);
	close(fd);
}
END_TEST

/* Needs no reader, and does not wait for ever for one that does not read. */
START_TEST(test_pty_drain)
{
	int fd;

	pty_drain(pty, WAIT_MS);
	fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_eq(write(pty, "a", 1), 1);
	pty_drain(pty, 1);
	close(fd);
}
END_TEST

START_TEST(test_pty_name_too_long)
{
	ck_assert_int_eq(pty_name(pty, name, 4), -ERANGE);
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *tc;

	if (!tty_possible()) {
		puts("1..0 # SKIP no pseudo-terminals (mount devpts)");
		return 0;
	}
	suite = suite_create("pty");
	tc = tcase_create("pty");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_pty_has_a_reader_or_not);
	tcase_add_test(tc, test_pty_is_raw);
	tcase_add_test(tc, test_pty_drain);
	tcase_add_test(tc, test_pty_name_too_long);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
