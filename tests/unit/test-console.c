/* SPDX-License-Identifier: MIT */
/*
 * Where the guest's bytes go, with pipes and files of the real system. What
 * needs a reader beside the writer is in tests/threads.
 */
#define _GNU_SOURCE
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "tap.h"

static struct console console;
static int reader = -1, writer = -1;

static void setup(void)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	reader = fds[0];
	writer = fds[1];
	/* The writer's end as a shell would give it. */
	ck_assert_int_eq(fcntl(writer, F_SETFL, 0), 0);
	console_init(&console, writer);
}

static void teardown(void)
{
	console_close(&console, 0);
	close(reader);
	close(writer);
}

static int put(const char *text)
{
	int ret = 0;

	for (; *text && !ret; text++)
		ret = console_put(&console, (uint8_t)*text);
	return ret;
}

static void check_read(const char *expected)
{
	char got[CONSOLE_BUFFER_SIZE * 2] = "";
	ssize_t n = read(reader, got, sizeof(got) - 1);

	if (n < 0)
		ck_assert_int_eq(errno, EAGAIN);
	ck_assert_str_eq(got, expected);
}

static void check_tail(const char *expected)
{
	char got[CONSOLE_TAIL_SIZE + 1];
	size_t n = console_tail(&console, got, CONSOLE_TAIL_SIZE);

	got[n] = '\0';
	ck_assert_str_eq(got, expected);
}

START_TEST(test_console_writes_at_newlines)
{
	ck_assert_int_eq(put("hello"), 0);
	check_read("");
	ck_assert_int_eq(put(", world\nagain"), 0);
	check_read("hello, world\n");
	ck_assert_int_eq(put("\n\n"), 0);
	check_read("again\n\n");
	ck_assert_uint_eq(console.bytes, 20);
}
END_TEST

START_TEST(test_console_writes_when_full)
{
	char expected[CONSOLE_BUFFER_SIZE + 1];

	memset(expected, 'x', CONSOLE_BUFFER_SIZE);
	expected[CONSOLE_BUFFER_SIZE] = '\0';
	ck_assert_int_eq(put(expected + 1), 0);
	check_read("");
	ck_assert_int_eq(put("xy"), 0);
	check_read(expected);
	ck_assert_int_eq(console_close(&console, 0), 0);
	check_read("y");
}
END_TEST

/* A prompt has no newline. */
START_TEST(test_console_flush)
{
	ck_assert_int_eq(console_flush(&console), 0);
	ck_assert_int_eq(put("login: "), 0);
	ck_assert_int_eq(console_flush(&console), 0);
	check_read("login: ");
	ck_assert_int_eq(console_flush(&console), 0);
	check_read("");
}
END_TEST

START_TEST(test_console_every_byte_value)
{
	unsigned char got[256];

	for (unsigned int i = 0; i < 256; i++)
		ck_assert_int_eq(console_put(&console, (uint8_t)i), 0);
	ck_assert_int_eq(console_flush(&console), 0);
	/* One write ended at the newline, one at the flush. */
	ck_assert_int_eq(read(reader, got, sizeof(got)), sizeof(got));
	for (unsigned int i = 0; i < 256; i++)
		ck_assert_uint_eq(got[i], i);
}
END_TEST

static void fill_pipe(void)
{
	static char page[4096];

	ck_assert_int_eq(fcntl(writer, F_SETPIPE_SZ, 4096), 4096);
	ck_assert_int_eq(write(writer, page, sizeof(page)), sizeof(page));
}

static void drain_pipe(void)
{
	char page[4096];

	ck_assert_int_eq(read(reader, page, sizeof(page)), sizeof(page));
}

/* The main thread's calls must not wait for a reader that does not read. */
START_TEST(test_console_flush_does_not_block)
{
	fill_pipe();
	ck_assert_int_eq(put("late"), 0);
	ck_assert_int_eq(console_flush(&console), 0);
	drain_pipe();
	check_read("");
	ck_assert_int_eq(console_flush(&console), 0);
	check_read("late");
}
END_TEST

START_TEST(test_console_close_gives_up_in_time)
{
	fill_pipe();
	ck_assert_int_eq(put("lost"), 0);
	ck_assert_int_eq(console_close(&console, 1), -ETIMEDOUT);
	drain_pipe();
	check_read("");
}
END_TEST

START_TEST(test_console_close)
{
	ck_assert_int_eq(put("last words"), 0);
	ck_assert_int_eq(console_close(&console, -1), 0);
	check_read("last words");
	ck_assert_int_eq(console_close(&console, -1), 0);
	check_read("");
	check_tail("last words");
	/* The descriptor was lent. */
	ck_assert_int_ge(fcntl(writer, F_GETFD), 0);
}
END_TEST

START_TEST(test_console_reader_gone_is_told_once)
{
	close(reader);
	ck_assert_int_eq(put("one"), 0);
	ck_assert_int_eq(put("\n"), -EPIPE);
	ck_assert_int_eq(put("two\nthree\n"), 0);
	ck_assert_int_eq(console_flush(&console), 0);
	ck_assert_int_eq(console_close(&console, -1), 0);
	/* Still there for the dump. */
	check_tail("one\ntwo\nthree\n");
	ck_assert_uint_eq(console.bytes, 14);
}
END_TEST

START_TEST(test_console_reader_gone_at_flush)
{
	close(reader);
	ck_assert_int_eq(put("prompt"), 0);
	ck_assert_int_eq(console_flush(&console), -EPIPE);
	ck_assert_int_eq(put("\n"), 0);
}
END_TEST

START_TEST(test_console_reader_gone_at_close)
{
	close(reader);
	ck_assert_int_eq(put("prompt"), 0);
	ck_assert_int_eq(console_close(&console, -1), -EPIPE);
	ck_assert_int_eq(console_close(&console, -1), 0);
}
END_TEST

START_TEST(test_console_nowhere)
{
	console_close(&console, 0);
	console_init(&console, -1);
	for (int i = 0; i < 3 * CONSOLE_BUFFER_SIZE; i++)
		tap_require(!put("no newline"));
	ck_assert_int_eq(put("\nend"), 0);
	ck_assert_int_eq(console_flush(&console), 0);
	ck_assert_int_eq(console_close(&console, -1), 0);
	ck_assert_uint_eq(console.bytes, 3 * CONSOLE_BUFFER_SIZE * 10 + 4);
}
END_TEST

START_TEST(test_console_tail)
{
	char got[8];

	check_tail("");
	put("0123456789");
	check_tail("0123456789");
	ck_assert_uint_eq(console_tail(&console, got, 4), 4);
	ck_assert_int_eq(memcmp(got, "6789", 4), 0);
	ck_assert_uint_eq(console_tail(&console, got, 0), 0);
}
END_TEST

/* The ring holds exactly the last of the stream, however it is cut. */
START_TEST(test_console_tail_wraps)
{
	char got[CONSOLE_TAIL_SIZE];

	for (uint64_t n = 1; n <= 2 * CONSOLE_TAIL_SIZE + 5; n++) {
		size_t have = n < CONSOLE_TAIL_SIZE ? n : CONSOLE_TAIL_SIZE;
		size_t last = (size_t)(n % 7 * 300);

		if (last > have)
			last = have;
		console_put(&console, (uint8_t)(n * 11));
		tap_require(console_tail(&console, got, sizeof(got)) == have);
		tap_require((uint8_t)got[have - 1] == (uint8_t)(n * 11));
		tap_require((uint8_t)got[0] == (uint8_t)((n - have + 1) * 11));
		tap_require(console_tail(&console, got, last) == last);
		if (last)
			tap_require((uint8_t)got[0] ==
				    (uint8_t)((n - last + 1) * 11));
		/* Nobody reads: make room. */
		if (n % 1000 == 0)
			while (read(reader, got, sizeof(got)) > 0)
				continue;
	}
}
END_TEST

START_TEST(test_console_file)
{
	static const char earlier[] = "a longer text than the next";
	struct console second;
	char got[32] = "", path[64];
	struct stat status;
	int fd = memfd_create("console", MFD_CLOEXEC);

	/* What an earlier run left goes. */
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, earlier, sizeof(earlier)), sizeof(earlier));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(console_init_file(&console, path), 0);
	/* Nor does anything else go into it meanwhile. */
	ck_assert_int_eq(console_init_file(&second, path), -EBUSY);
	ck_assert_int_ne(fcntl(console.fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_int_eq(put("line\nrest"), 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	ck_assert_int_eq(status.st_size, 5);
	ck_assert_int_eq(console_close(&console, 0), 0);
	ck_assert_int_eq(console.fd, -1);
	ck_assert_int_eq(pread(fd, got, sizeof(got), 0), 9);
	ck_assert_str_eq(got, "line\nrest");
	close(fd);
}
END_TEST

START_TEST(test_console_file_cannot_be_opened)
{
	ck_assert_int_eq(console_init_file(&console, "/"), -EISDIR);
	ck_assert_int_eq(console_init_file(&console, "/dev/null/below"),
			 -ENOTDIR);
}
END_TEST

START_TEST(test_console_disk_full)
{
	char full[PATH_MAX];

	ck_assert_int_eq(
		console_init_file(&console, device_path("/dev/full", full)), 0);
	ck_assert_int_eq(put("text"), 0);
	ck_assert_int_eq(put("\n"), -ENOSPC);
	ck_assert_int_eq(put("more\n"), 0);
	ck_assert_int_eq(console_close(&console, -1), 0);
}
END_TEST

START_TEST(test_console_disk_full_at_close)
{
	char full[PATH_MAX];

	ck_assert_int_eq(
		console_init_file(&console, device_path("/dev/full", full)), 0);
	ck_assert_int_eq(put("text"), 0);
	ck_assert_int_eq(console_close(&console, -1), -ENOSPC);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("console");
	TCase *tc = tcase_create("pipe");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_console_writes_at_newlines);
	tcase_add_test(tc, test_console_writes_when_full);
	tcase_add_test(tc, test_console_flush);
	tcase_add_test(tc, test_console_every_byte_value);
	tcase_add_test(tc, test_console_flush_does_not_block);
	tcase_add_test(tc, test_console_close_gives_up_in_time);
	tcase_add_test(tc, test_console_close);
	tcase_add_test(tc, test_console_reader_gone_is_told_once);
	tcase_add_test(tc, test_console_reader_gone_at_flush);
	tcase_add_test(tc, test_console_reader_gone_at_close);
	tcase_add_test(tc, test_console_nowhere);
	tcase_add_test(tc, test_console_tail);
	tcase_add_test(tc, test_console_tail_wraps);
	suite_add_tcase(suite, tc);
	tc = tcase_create("file");
	tcase_add_test(tc, test_console_file);
	tcase_add_test(tc, test_console_file_cannot_be_opened);
	tcase_add_test(tc, test_console_disk_full);
	tcase_add_test(tc, test_console_disk_full_at_close);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
