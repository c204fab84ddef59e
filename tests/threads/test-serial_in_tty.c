/* SPDX-License-Identifier: MIT */
/* Input from a terminal: the escape keys, and its end. */
#define _GNU_SOURCE
#include "serial_in.h"

#include <stdio.h>
#include <unistd.h>

#include "bus.h"
#include "tap.h"
#include "tty.h"

static struct tty tty;

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

	bus_init(&bus, -1);
	ck_assert_int_eq(serial_in_kind_of(tty.line), SERIAL_IN_TERMINAL);
	cfmakeraw(&raw);
	ck_assert_int_eq(tcsetattr(tty.line, TCSANOW, &raw), 0);
	ck_assert_int_eq(
		serial_in_open(&in, &bus, SERIAL_IN_TERMINAL, tty.line), 0);
}

static int guest_reads(void)
{
	for (int i = 0; i < 2; i++)
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
	return tap_run(suite);
}
