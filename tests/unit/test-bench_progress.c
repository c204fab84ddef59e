/* SPDX-License-Identifier: MIT */
/* The text of the progress line, and that only a terminal gets one. */
#define _GNU_SOURCE
#include "bench_progress.h"

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define SECOND UINT64_C(1000000000)

static struct bench_progress progress = {
	.rounds = 6,
	.runs = 36,
	.start_ns = 5 * SECOND,
};

static void expect(size_t done, unsigned int round, uint64_t elapsed_s,
		   const char *text)
{
	char buf[128];

	progress.done = done;
	bench_progress_text(&progress, round, (5 + elapsed_s) * SECOND, buf,
			    sizeof(buf));
	ck_assert_str_eq(buf, text);
}

START_TEST(test_progress_text)
{
	expect(0, 0, 0, "round 1 of 6, run 1 of 36");
	expect(1, 0, 4, "round 1 of 6, run 2 of 36, 2 min 20 s left");
	expect(21, 3, 84, "round 4 of 6, run 22 of 36, 1 min 0 s left");
	expect(35, 5, 70, "round 6 of 6, run 36 of 36, 2 s left");
}
END_TEST

START_TEST(test_progress_text_is_cut)
{
	char buf[20];

	progress.done = 3;
	bench_progress_text(&progress, 0, 9 * SECOND, buf, sizeof(buf));
	ck_assert_str_eq(buf, "round 1 of 6, run 4");
}
END_TEST

/* What a benchmark of one run says on that stderr. */
static void one_run(int fd, bool is_quiet)
{
	struct bench_progress p;
	int saved = dup(STDERR_FILENO);

	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	bench_progress_init(&p, is_quiet, 1, 1);
	bench_progress_show(&p, 0);
	bench_progress_clear(&p);
	dup2(saved, STDERR_FILENO);
	close(saved);
	ck_assert_uint_eq(p.done, 1);
}

static ssize_t read_some(int fd, char *buf, size_t size)
{
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	n = read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

START_TEST(test_progress_in_a_pipe_is_silent)
{
	char buf[128];
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	one_run(ends[1], false);
	ck_assert_int_eq(read_some(ends[0], buf, sizeof(buf)), -1);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(test_progress_on_a_terminal)
{
	static const char shown[] = "\r\033[Kround 1 of 1, run 1 of 1\r\033[K.";
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct pollfd ready = {.fd = master, .events = POLLIN};
	char buf[128] = "";
	size_t len = 0;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(slave, 0);
	/* Had this said anything, it would be read first. */
	one_run(slave, true);
	one_run(slave, false);
	/*
	 * The kernel hands it over in pieces, and in its own time: all of it
	 * is there when the last byte is.
	 */
	ck_assert_int_eq(write(slave, ".", 1), 1);
	while (!strchr(buf, '.') && poll(&ready, 1, 5000) > 0)
		len += (size_t)read_some(master, buf + len, sizeof(buf) - len);
	ck_assert_str_eq(buf, shown);
	close(slave);
	close(master);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_progress");
	TCase *tc = tcase_create("bench_progress");

	tcase_add_test(tc, test_progress_text);
	tcase_add_test(tc, test_progress_text_is_cut);
	tcase_add_test(tc, test_progress_in_a_pipe_is_silent);
	tcase_add_test(tc, test_progress_on_a_terminal);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
