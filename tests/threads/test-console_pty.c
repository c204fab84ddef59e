/* SPDX-License-Identifier: MIT */
/*
 * A pseudo-terminal as the console: readers come, go, are slow or stuck, and
 * nobody waits for them longer than is said.
 */
#define _GNU_SOURCE
#include "console.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pty.h"
#include "tap.h"
#include "tty.h"

enum {
	WAIT_MS = 20000,
	TRIES = 20,
	FLOOD = 40000, /* more than the system keeps for a reader */
};

static struct console console;
static char name[64];

static void setup(void)
{
	ck_assert_int_eq(console_init_pty(&console), 0);
	ck_assert_int_eq(pty_name(console.fd, name, sizeof(name)), 0);
}

static void teardown(void)
{
	console_close(&console, 0);
}

static void put(const char *text)
{
	for (; *text; text++)
		ck_assert_int_eq(console_put(&console, (uint8_t)*text), 0);
}

static int open_reader(void)
{
	int fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void reader_gets(int fd, const char *text)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	char got[64] = "";
	size_t len = 0;

	while (len < strlen(text)) {
		ssize_t n;

		ck_assert_int_eq(poll(&pfd, 1, WAIT_MS), 1);
		n = read(fd, got + len, sizeof(got) - 1 - len);
		ck_assert_int_gt(n, 0);
		len += (size_t)n;
	}
	ck_assert_str_eq(got, text);
}

START_TEST(test_console_pty_readers_come_and_go)
{
	int fd;

	ck_assert(!pty_has_reader(console.fd));
	put("nobody\n");
	ck_assert_uint_eq(console.dropped, 7);
	for (int i = 0; i < 3; i++) {
		fd = open_reader();
		ck_assert(pty_has_reader(console.fd));
		put("hello\nprompt: ");
		reader_gets(fd, "hello\n");
		ck_assert_int_eq(console_flush(&console), 0);
		reader_gets(fd, "prompt: ");
		close(fd);
		ck_assert(!pty_has_reader(console.fd));
		put("gone\n");
	}
	ck_assert_uint_eq(console.dropped, 7 + 3 * 5);
	ck_assert_int_eq(console_close(&console, -1), 0);
}
END_TEST

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Waited for once, then not again until it reads. */
START_TEST(test_console_pty_stuck_reader)
{
	int64_t begin_ms = now_ms();
	char page[4096];
	int fd = open_reader();
	uint64_t dropped;

	for (int i = 1; i <= FLOOD; i++)
		tap_require(!console_put(&console, i % 80 ? 'x' : '\n'));
	ck_assert_uint_gt(console.dropped, 0);
	ck_assert(console.is_stalled);
	/* Each of the 500 lines would be a wait. */
	ck_assert_int_lt(now_ms() - begin_ms, 100 * CONSOLE_PTY_PATIENCE_MS);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (console.is_stalled) {
		while (read(fd, page, sizeof(page)) > 0)
			continue;
		put("again\n");
	}
	dropped = console.dropped;
	put("and on\n");
	ck_assert_uint_eq(console.dropped, dropped);
	ck_assert_int_eq(console_close(&console, -1), 0);
	close(fd);
}
END_TEST

/* A reader that is slow, but reads, gets all that is not counted. */
static void *reader_main(void *arg)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int fd = *(int *)arg;
	uint64_t total = 0;
	char page[512];
	ssize_t n;

	while (total < FLOOD && (n = read(fd, page, sizeof(page))) > 0) {
		total += (uint64_t)n;
		nanosleep(&pause, NULL);
	}
	return (void *)(uintptr_t)total;
}

/* What was dropped. */
static uint64_t write_to_slow_reader(void)
{
	int fd = open_reader();
	pthread_t reader;
	void *total;

	ck_assert_int_eq(pthread_create(&reader, NULL, reader_main, &fd), 0);
	for (int i = 1; i <= FLOOD; i++)
		tap_require(!console_put(&console, i % 80 ? 'x' : '\n'));
	ck_assert_int_eq(console_close(&console, -1), 0);
	pthread_join(reader, &total);
	ck_assert_uint_eq((uintptr_t)total + console.dropped, FLOOD);
	close(fd);
	return console.dropped;
}

/* A host that has no time for the reader makes it one that is stuck: then once
 * more. */
START_TEST(test_console_pty_slow_reader_gets_the_last_words)
{
	for (int i = 0; i < TRIES; i++) {
		if (write_to_slow_reader() < FLOOD / 2)
			return;
		teardown();
		setup();
	}
	ck_abort_msg("half was dropped each time");
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
	suite = suite_create("console_pty");
	tc = tcase_create("readers");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_console_pty_readers_come_and_go);
	tcase_add_test(tc, test_console_pty_stuck_reader);
	tcase_add_test(tc, test_console_pty_slow_reader_gets_the_last_words);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
