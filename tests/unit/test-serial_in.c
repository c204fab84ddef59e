/* SPDX-License-Identifier: MIT */
/*
 * Bytes from pipes and files to a bus whose guest is the test. The descriptors
 * are the system's own; nothing here waits for anybody. Terminals are in
 * tests/threads.
 */
#define _GNU_SOURCE
#include "serial_in.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus.h"
#include "tap.h"

static struct bus bus;
static struct serial_in in;

static void setup(void)
{
	bus_init(&bus, -1, NULL);
}

static void teardown(void)
{
	serial_in_close(&in);
	ck_assert_int_eq(bus.serial_room_fd, -1);
	bus_destroy(&bus);
}

static void open_source(enum serial_in_kind kind, int fd)
{
	ck_assert_int_eq(serial_in_open(&in, &bus, kind, fd), 0);
}

/* One round of the main thread's loop. True if there was anything to do. */
static bool turn(void)
{
	struct pollfd fds[] = {
		{.fd = in.room_fd, .events = POLLIN},
		{.fd = serial_in_poll_fd(&in), .events = POLLIN},
	};

	if (poll(fds, 2, 0) <= 0)
		return false;
	if (fds[0].revents)
		serial_in_take_room(&in);
	if (fds[1].revents)
		serial_in_read(&in);
	return true;
}

/* Turns until nothing is left to do, which must not be for ever. */
static void settle(void)
{
	for (int i = 0; turn(); i++)
		tap_require(i < 100);
}

static int guest_reads(void)
{
	for (int i = 0; i <= SERIAL_LOOKS; i++)
		if (bus_in(&bus, 0x3fd, 1) & 0x01)
			return (int)bus_in(&bus, 0x3f8, 1);
	return -1;
}

static void guest_gets(const char *text)
{
	for (; *text; text++) {
		int byte = guest_reads();

		if (byte < 0) {
			settle();
			byte = guest_reads();
		}
		ck_assert_int_eq(byte, (uint8_t)*text);
	}
}

static int file_of(const char *text)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

START_TEST(test_serial_in_kinds)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(serial_in_kind_of(fds[0]), SERIAL_IN_STREAM);
	close(fds[0]);
	close(fds[1]);
	ck_assert_int_eq(serial_in_kind_of(fds[0]), SERIAL_IN_NONE);
}
END_TEST

START_TEST(test_serial_in_none)
{
	open_source(SERIAL_IN_NONE, 0);
	ck_assert_int_eq(in.room_fd, -1);
	ck_assert_int_eq(serial_in_poll_fd(&in), -1);
	ck_assert_int_eq(guest_reads(), -1);
}
END_TEST

/* A guest that does not look for input leaves it to the next program. */
START_TEST(test_serial_in_eats_nothing_unasked)
{
	int fd = file_of("text");

	open_source(SERIAL_IN_STREAM, fd);
	bus_in(&bus, 0x3fd, 1);
	bus_out(&bus, 0x3f8, 1, 'x');
	bus_in(&bus, 0x3fd, 1);
	settle();
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0);
	guest_gets("text");
	close(fd);
}
END_TEST

/* The end takes away the source, and no more; nothing is left to poll. */
START_TEST(test_serial_in_end)
{
	int fd = file_of("text");

	open_source(SERIAL_IN_STREAM, fd);
	guest_gets("text");
	settle();
	ck_assert_int_eq(in.kind, SERIAL_IN_NONE);
	ck_assert_int_eq(serial_in_poll_fd(&in), -1);
	ck_assert_int_eq(guest_reads(), -1);
	ck_assert(!turn());
	close(fd);
}
END_TEST

/* What the writer sent before it went is not lost with it. */
START_TEST(test_serial_in_hang_up)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	open_source(SERIAL_IN_STREAM, fds[0]);
	ck_assert_int_eq(guest_reads(), -1);
	ck_assert(turn());
	ck_assert(!turn());
	ck_assert_int_eq(write(fds[1], "bye", 3), 3);
	close(fds[1]);
	guest_gets("bye");
	settle();
	ck_assert_int_eq(in.kind, SERIAL_IN_NONE);
	close(fds[0]);
}
END_TEST

/* Somebody else made it non-blocking, and was faster: no end. */
START_TEST(test_serial_in_somebody_else_reads)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	open_source(SERIAL_IN_STREAM, fds[0]);
	ck_assert_int_eq(guest_reads(), -1);
	ck_assert(turn());
	ck_assert_int_eq(serial_in_read(&in), ESCAPE_NONE);
	ck_assert_int_eq(in.kind, SERIAL_IN_STREAM);
	ck_assert_int_eq(write(fds[1], "on", 2), 2);
	guest_gets("on");
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* Neither a directory nor a descriptor for writing can be read. */
START_TEST(test_serial_in_unreadable)
{
	int fd = _i ? open("/dev/null", O_WRONLY | O_CLOEXEC)
		    : open("/", O_RDONLY | O_CLOEXEC);

	open_source(SERIAL_IN_STREAM, fd);
	ck_assert_int_eq(guest_reads(), -1);
	for (int i = 0; i < 3; i++)
		turn();
	ck_assert_int_eq(in.kind, SERIAL_IN_NONE);
	ck_assert(!turn());
	close(fd);
}
END_TEST

/* A full line stops the reading, and the room that the guest makes, once for
 * half a line, starts it. */
START_TEST(test_serial_in_backpressure)
{
	enum {
		SIZE = 40000
	};
	static uint8_t bytes[SIZE];
	int fd = memfd_create("input", MFD_CLOEXEC);
	unsigned int turns = 0;

	for (unsigned int i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 13 + i / 251);
	ck_assert_int_eq(write(fd, bytes, SIZE), SIZE);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	open_source(SERIAL_IN_STREAM, fd);
	ck_assert_int_eq(guest_reads(), -1);
	settle();
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), SERIAL_LINE_SIZE);
	for (unsigned int i = 0; i < SIZE; i++) {
		int byte = guest_reads();

		tap_require(byte == bytes[i]);
		while (turn())
			tap_require(++turns < SIZE);
	}
	ck_assert_int_eq(guest_reads(), -1);
	/* Each half line: the event, a read, one that finds no room. */
	ck_assert_uint_le(turns, 3 * (SIZE / (SERIAL_LINE_SIZE / 2) + 1));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("serial_in");
	TCase *tc = tcase_create("streams");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_serial_in_none);
	tcase_add_test(tc, test_serial_in_eats_nothing_unasked);
	tcase_add_test(tc, test_serial_in_end);
	tcase_add_test(tc, test_serial_in_hang_up);
	tcase_add_test(tc, test_serial_in_somebody_else_reads);
	tcase_add_loop_test(tc, test_serial_in_unreadable, 0, 2);
	tcase_add_test(tc, test_serial_in_backpressure);
	suite_add_tcase(suite, tc);
	tc = tcase_create("kinds");
	tcase_add_test(tc, test_serial_in_kinds);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
