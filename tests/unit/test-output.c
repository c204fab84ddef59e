/* SPDX-License-Identifier: MIT */
/* Result files: written whole, or an error that says which and why. */
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "tap.h"

static struct output output;
static char err[200];
static char path[64];
static int fd;

static void setup(void)
{
	signal(SIGPIPE, SIG_IGN);
	fd = memfd_create("output", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err[0] = '\0';
}

static int write_text(const char *text)
{
	return output_write(&output, text, strlen(text), err, sizeof(err));
}

static void check_file(const char *expected)
{
	char got[64] = "";

	ck_assert_int_ge(pread(fd, got, sizeof(got) - 1, 0), 0);
	ck_assert_str_eq(got, expected);
}

START_TEST(test_output_none)
{
	ck_assert_int_eq(output_open(&output, NULL, err, sizeof(err)), 0);
	ck_assert_int_eq(write_text("text"), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(test_output_file)
{
	ck_assert_int_eq(write(fd, "something longer", 16), 16);
	ck_assert_int_eq(output_open(&output, path, err, sizeof(err)), 0);
	check_file("something longer");
	ck_assert_int_ne(fcntl(output.fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_int_eq(write_text("one, "), 0);
	ck_assert_int_eq(write_text(""), 0);
	ck_assert_int_eq(write_text("two"), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	ck_assert_int_eq(output.fd, -1);
	check_file("one, two");
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
}
END_TEST

/* What could not start has not spoilt what was there. */
START_TEST(test_output_that_comes_to_nothing)
{
	char name[] = "/tmp/output-XXXXXX";
	int own_fd = mkstemp(name);

	ck_assert_int_eq(write(fd, "old", 3), 3);
	ck_assert_int_eq(output_open(&output, path, err, sizeof(err)), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	check_file("old");
	/* Nor is a file left that nobody had asked for. */
	ck_assert_int_ge(own_fd, 0);
	ck_assert_int_eq(output_open(&output, name, err, sizeof(err)), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	ck_assert_int_eq(access(name, F_OK), 0);
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(output_open(&output, name, err, sizeof(err)), 0);
	ck_assert_int_eq(access(name, F_OK), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	ck_assert_int_eq(access(name, F_OK), -1);
	ck_assert_int_eq(output_open(&output, name, err, sizeof(err)), 0);
	ck_assert_int_eq(output_begin(&output, err, sizeof(err)), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	ck_assert_int_eq(unlink(name), 0);
	close(own_fd);
}
END_TEST

/* Those who write to the descriptor themselves say so. */
START_TEST(test_output_begins_once)
{
	ck_assert_int_eq(write(fd, "old", 3), 3);
	ck_assert_int_eq(output_open(&output, path, err, sizeof(err)), 0);
	ck_assert_int_eq(output_begin(&output, err, sizeof(err)), 0);
	check_file("");
	ck_assert_int_eq(write(output.fd, "own", 3), 3);
	ck_assert_int_eq(write_text(" text"), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	check_file("own text");
}
END_TEST

/* Two results in one file would be neither. */
START_TEST(test_output_has_its_file_for_itself)
{
	struct output other;
	char expected[200];

	ck_assert_int_eq(output_open(&output, path, err, sizeof(err)), 0);
	ck_assert_int_eq(output_open(&other, path, err, sizeof(err)), -EBUSY);
	ck_assert_int_eq(other.fd, -1);
	snprintf(expected, sizeof(expected),
		 "%s: is being written already: each result needs a file of "
		 "its own",
		 path);
	ck_assert_str_eq(err, expected);
	ck_assert_int_eq(output_close(&other, err, sizeof(err)), 0);
	ck_assert_int_eq(write_text("whole"), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	check_file("whole");
	ck_assert_int_eq(output_open(&other, path, err, sizeof(err)), 0);
	ck_assert_int_eq(output_close(&other, err, sizeof(err)), 0);
}
END_TEST

/* What has no contents can be shared. */
START_TEST(test_output_devices_are_for_all)
{
	char null[PATH_MAX];
	struct output other;

	device_path("/dev/null", null);
	ck_assert_int_eq(output_open(&output, null, err, sizeof(err)), 0);
	ck_assert_int_eq(output_open(&other, null, err, sizeof(err)), 0);
	ck_assert_int_eq(output_close(&other, err, sizeof(err)), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
}
END_TEST

START_TEST(test_output_cannot_be_opened)
{
	ck_assert_int_eq(
		output_open(&output, "/dev/null/below", err, sizeof(err)),
		-ENOTDIR);
	ck_assert_str_eq(err, "/dev/null/below: Not a directory");
	ck_assert_int_eq(output.fd, -1);
	ck_assert_int_eq(output_open(&output, "/", err, sizeof(err)), -EISDIR);
	ck_assert_str_eq(err, "/: Is a directory");
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
}
END_TEST

START_TEST(test_output_disk_full)
{
	char full[PATH_MAX], expected[PATH_MAX + 32];

	device_path("/dev/full", full);
	ck_assert_int_eq(output_open(&output, full, err, sizeof(err)), 0);
	ck_assert_int_eq(write_text("text"), -ENOSPC);
	snprintf(expected, sizeof(expected), "%s: No space left on device",
		 full);
	ck_assert_str_eq(err, expected);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
}
END_TEST

/* Standard output is not ours to close. */
START_TEST(test_output_stdout)
{
	int saved = dup(STDOUT_FILENO);

	ck_assert_int_ge(saved, 0);
	ck_assert_int_ge(dup2(fd, STDOUT_FILENO), 0);
	ck_assert_int_eq(output_open(&output, "-", err, sizeof(err)), 0);
	ck_assert_int_eq(write_text("result"), 0);
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
	ck_assert_int_ge(fcntl(STDOUT_FILENO, F_GETFD), 0);
	ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
	check_file("result");
}
END_TEST

START_TEST(test_output_reader_gone)
{
	int saved = dup(STDOUT_FILENO), fds[2], ret;

	ck_assert_int_eq(pipe(fds), 0);
	close(fds[0]);
	ck_assert_int_ge(dup2(fds[1], STDOUT_FILENO), 0);
	output_open(&output, "-", err, sizeof(err));
	ret = write_text("result");
	ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
	ck_assert_int_eq(ret, -EPIPE);
	ck_assert_str_eq(err, "stdout: Broken pipe");
}
END_TEST

/* More than a pipe holds, into one that somebody made non-blocking: the
 * reader here is the alarm's handler. */
static int pipe_reader;
static size_t read_so_far;

static void read_some(int signal_number)
{
	static char page[65536];
	ssize_t n = read(pipe_reader, page, sizeof(page));

	(void)signal_number;
	if (n > 0)
		read_so_far += (size_t)n;
}

START_TEST(test_output_waits_for_a_slow_reader)
{
	static char text[300000];
	struct sigaction action = {.sa_handler = read_some};
	timer_t timer;
	struct itimerspec every_ms = {.it_value.tv_nsec = 1000000,
				      .it_interval.tv_nsec = 1000000};
	int saved = dup(STDOUT_FILENO), fds[2], ret;

	ck_assert_int_eq(pipe2(fds, _i ? O_NONBLOCK : 0), 0);
	pipe_reader = fds[0];
	ck_assert_int_eq(fcntl(pipe_reader, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	ck_assert_int_eq(timer_settime(timer, 0, &every_ms, NULL), 0);
	ck_assert_int_ge(dup2(fds[1], STDOUT_FILENO), 0);
	output_open(&output, "-", err, sizeof(err));
	ret = output_write(&output, text, sizeof(text), err, sizeof(err));
	ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
	timer_delete(timer);
	ck_assert_int_eq(ret, 0);
	while (read_so_far < sizeof(text)) {
		size_t before = read_so_far;

		read_some(0);
		ck_assert_uint_gt(read_so_far, before);
	}
	ck_assert_uint_eq(read_so_far, sizeof(text));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output");
	TCase *tc = tcase_create("output");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_output_none);
	tcase_add_test(tc, test_output_file);
	tcase_add_test(tc, test_output_that_comes_to_nothing);
	tcase_add_test(tc, test_output_begins_once);
	tcase_add_test(tc, test_output_has_its_file_for_itself);
	tcase_add_test(tc, test_output_devices_are_for_all);
	tcase_add_test(tc, test_output_cannot_be_opened);
	tcase_add_test(tc, test_output_disk_full);
	tcase_add_test(tc, test_output_stdout);
	tcase_add_test(tc, test_output_reader_gone);
	tcase_add_loop_test(tc, test_output_waits_for_a_slow_reader, 0, 2);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
