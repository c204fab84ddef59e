/* SPDX-License-Identifier: MIT */
/*
 * Input from terminals: the escape keys of the one we have, and the readers of
 * a pty, which come and go.
 */
#define _GNU_SOURCE
#include "serial_in.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "bus.h"
#include "pty.h"
#include "tap.h"
#include "tty.h"

enum {
	WAIT_MS = 20000,
};

static struct tty tty;
static int pty;

static void setup(void)
{
	tty_open(&tty);
}

static void teardown(void)
{
	tty_close(&tty);
}

static struct bus bus;
static struct serial_in in;

static void open_input(void)
{
	struct termios raw = tty.before;

	bus_init(&bus, -1, NULL);
	ck_assert_int_eq(serial_in_kind_of(tty.line), SERIAL_IN_TERMINAL);
	cfmakeraw(&raw);
	ck_assert_int_eq(tcsetattr(tty.line, TCSANOW, &raw), 0);
	ck_assert_int_eq(
		serial_in_open(&in, &bus, SERIAL_IN_TERMINAL, tty.line), 0);
}

static int guest_reads(void)
{
	for (int i = 0; i <= SERIAL_LOOKS; i++)
		if (bus_in(&bus, 0x3fd, 1) & 0x01)
			return (int)bus_in(&bus, 0x3f8, 1);
	return -1;
}

START_TEST(test_serial_in_tty_escape_keys)
{
	open_input();
	/* The guest does not look yet: the escape keys do their work. */
	tty_type(&tty, "a\x01h", 3);
	ck_assert_int_eq(serial_in_poll_fd(&in), tty.line);
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_HELP);
	tty_type(&tty, "\x03\x01", 2);
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_NONE);
	tty_type(&tty, "xy", 2);
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_END);
	ck_assert_int_eq(guest_reads(), 'a');
	ck_assert_int_eq(guest_reads(), '\x03');
	ck_assert_int_eq(guest_reads(), -1);
	ck_assert_uint_eq(in.dropped, 0);
}
END_TEST

/* A guest that never reads must not take away the way out. */
START_TEST(test_serial_in_tty_escape_when_full)
{
	static const uint8_t text[SERIAL_LINE_SIZE];

	open_input();
	ck_assert_uint_eq(bus_serial_put(&bus, text, sizeof(text)),
			  sizeof(text));
	tty_type(&tty, "lost", 4);
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_NONE);
	ck_assert_int_eq(serial_in_poll_fd(&in), -1);
	/* The time that a guest has to make room. */
	serial_in_look(&in);
	ck_assert_int_eq(serial_in_poll_fd(&in), tty.line);
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_NONE);
	ck_assert_uint_eq(in.dropped, 4);
	tty_type(&tty, "\x01x", 2);
	serial_in_look(&in);
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_END);
}
END_TEST

/* The window is closed. */
START_TEST(test_serial_in_tty_hang_up)
{
	open_input();
	close(tty.screen);
	tty.screen = -1;
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_NONE);
	ck_assert_int_eq(in.kind, SERIAL_IN_NONE);
	ck_assert_int_eq(serial_in_poll_fd(&in), -1);
}
END_TEST

static void setup_pty(void)
{
	pty = pty_open();
	ck_assert_int_ge(pty, 0);
	bus_init(&bus, -1, NULL);
	ck_assert_int_eq(serial_in_open(&in, &bus, SERIAL_IN_PTY, pty), 0);
}

static void teardown_pty(void)
{
	serial_in_close(&in);
	bus_destroy(&bus);
	close(pty);
}

static int open_reader(void)
{
	char name[64];
	int fd;

	ck_assert_int_eq(pty_name(pty, name, sizeof(name)), 0);
	fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* The main thread's part, once there is something to read. */
static void read_input(void)
{
	struct pollfd pfd = {.events = POLLIN};

	serial_in_take_room(&in);
	serial_in_look(&in);
	pfd.fd = serial_in_poll_fd(&in);
	ck_assert_int_eq(pfd.fd, pty);
	ck_assert_int_eq(poll(&pfd, 1, WAIT_MS), 1);
	serial_in_read(&in);
}

/* It has no escape keys: the reader has its own. */
START_TEST(test_serial_in_pty_passes_bytes_as_they_are)
{
	int fd = open_reader();

	ck_assert_int_eq(guest_reads(), -1);
	ck_assert_int_eq(write(fd, "\x03\r\x01x", 4), 4);
	read_input();
	ck_assert_int_eq(guest_reads(), '\x03');
	ck_assert_int_eq(guest_reads(), '\r');
	ck_assert_int_eq(guest_reads(), '\x01');
	ck_assert_int_eq(guest_reads(), 'x');
	ck_assert_int_eq(guest_reads(), -1);
	close(fd);
}
END_TEST

/* Without a reader there is nothing to poll, which would spin. */
START_TEST(test_serial_in_pty_comes_and_goes)
{
	ck_assert_int_eq(guest_reads(), -1);
	serial_in_take_room(&in);
	ck_assert_int_eq(serial_in_poll_fd(&in), -1);
	for (int i = 0; i < 3; i++) {
		int fd = open_reader();

		ck_assert_int_eq(write(fd, "a", 1), 1);
		read_input();
		ck_assert_int_eq(guest_reads(), 'a');
		close(fd);
		/* The hang-up, as poll tells it. */
		ck_assert_int_eq(serial_in_poll_fd(&in), pty);
		serial_in_read(&in);
		ck_assert_int_eq(serial_in_poll_fd(&in), -1);
		serial_in_look(&in);
		ck_assert_int_eq(serial_in_poll_fd(&in), -1);
	}
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
	suite = suite_create("serial_in_tty");
	tc = tcase_create("terminal");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_serial_in_tty_escape_keys);
	tcase_add_test(tc, test_serial_in_tty_escape_when_full);
	tcase_add_test(tc, test_serial_in_tty_hang_up);
	suite_add_tcase(suite, tc);
	tc = tcase_create("pty");
	tcase_add_checked_fixture(tc, setup_pty, teardown_pty);
	tcase_add_test(tc, test_serial_in_pty_passes_bytes_as_they_are);
	tcase_add_test(tc, test_serial_in_pty_comes_and_goes);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
