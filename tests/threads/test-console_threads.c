/* SPDX-License-Identifier: MIT */
/*
 * The console with a reader beside the writers: slow ones are waited for,
 * and a vCPU thread that hangs in a write can be got out without a loss.
 * The signal that does that here is a plain one; in a run it is the kick's.
 */
#define _GNU_SOURCE
#include "console.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

enum {
	BYTES = 300000, /* several pipes full */
	WRITERS = 3,
	TIMEOUT_S = 120,
};

static struct console console;
static int reader_fd, writer_fd;
static uint64_t counts[256]; /* of each byte value, by the reader */
static atomic_bool put_is_over;
static atomic_int puts_begun;
static atomic_int put_result;

static void on_signal(int signal_number)
{
	(void)signal_number;
}

static void setup(void)
{
	/* No SA_RESTART, as for the kick. */
	struct sigaction action = {.sa_handler = on_signal};
	int fds[2];

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	reader_fd = fds[0];
	writer_fd = fds[1];
	ck_assert_int_eq(fcntl(writer_fd, F_SETPIPE_SZ, 4096), 4096);
	memset(counts, 0, sizeof(counts));
	console_init(&console, writer_fd);
}

/* Reads until the end, in odd portions. */
static void *reader_main(void *arg)
{
	unsigned char bytes[777];
	ssize_t n;

	(void)arg;
	while ((n = read(reader_fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < n; i++)
			counts[bytes[i]]++;
	return NULL;
}

/* Lines of one letter. */
static void *writer_main(void *arg)
{
	uint8_t letter = (uint8_t)(uintptr_t)arg;

	for (int i = 1; i <= BYTES; i++)
		if (console_put(&console, i % 70 ? letter : '\n'))
			atomic_store(&put_result, 1);
	return NULL;
}

/* Somebody else may have made the pipe non-blocking, or not. */
START_TEST(test_console_threads_slow_reader)
{
	pthread_t reader, writers[WRITERS];

	ck_assert_int_eq(fcntl(writer_fd, F_SETFL, _i ? O_NONBLOCK : 0), 0);
	ck_assert_int_eq(pthread_create(&reader, NULL, reader_main, NULL), 0);
	for (uintptr_t i = 0; i < WRITERS; i++)
		ck_assert_int_eq(pthread_create(&writers[i], NULL, writer_main,
						(void *)('a' + i)),
				 0);
	/* The main thread's part, all the while. */
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(console_flush(&console), 0);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	ck_assert_int_eq(console_close(&console, -1), 0);
	close(writer_fd);
	pthread_join(reader, NULL);
	ck_assert_int_eq(atomic_load(&put_result), 0);
	ck_assert_uint_eq(console.bytes, (uint64_t)WRITERS * BYTES);
	for (int i = 0; i < WRITERS; i++)
		ck_assert_uint_eq(counts['a' + i], BYTES - BYTES / 70);
	ck_assert_uint_eq(counts['\n'], WRITERS * (BYTES / 70));
}
END_TEST

/* Two buffers full, so that the second write blocks; then more than fits. */
static void *blocked_main(void *arg)
{
	int ret = 0;

	(void)arg;
	for (int i = 0; i < 2 * CONSOLE_BUFFER_SIZE && !ret; i++) {
		atomic_fetch_add(&puts_begun, 1);
		ret = console_put(&console, 'x');
	}
	for (int i = 0; i < 10 && !ret; i++)
		ret = console_put(&console, 'y');
	atomic_store(&put_result, ret);
	atomic_store(&put_is_over, true);
	return NULL;
}

START_TEST(test_console_threads_stop_waiting)
{
	pthread_t reader, blocked;
	char tail[10];

	ck_assert_int_eq(pthread_create(&blocked, NULL, blocked_main, NULL), 0);
	/* The last one blocks. */
	while (atomic_load(&puts_begun) < 2 * CONSOLE_BUFFER_SIZE)
		sched_yield();
	/* Must not wait for the thread that does; and it does not end. */
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(console_flush(&console), 0);
		pthread_kill(blocked, SIGUSR1);
		ck_assert(!atomic_load(&put_is_over));
	}
	console_stop_waiting(&console);
	while (!atomic_load(&put_is_over)) {
		pthread_kill(blocked, SIGUSR1);
		sched_yield();
	}
	pthread_join(blocked, NULL);
	ck_assert_int_eq(atomic_load(&put_result), 0);
	/* The reader comes after all: nothing of what fits is lost. */
	ck_assert_int_eq(pthread_create(&reader, NULL, reader_main, NULL), 0);
	ck_assert_int_eq(console_close(&console, -1), 0);
	close(writer_fd);
	pthread_join(reader, NULL);
	ck_assert_uint_eq(counts['x'], 2 * CONSOLE_BUFFER_SIZE);
	/* And the tail has even the rest. */
	ck_assert_uint_eq(console_tail(&console, tail, sizeof(tail)),
			  sizeof(tail));
	ck_assert_int_eq(memcmp(tail, "yyyyyyyyyy", sizeof(tail)), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("console_threads");
	TCase *tc = tcase_create("console");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_console_threads_slow_reader, 0, 2);
	tcase_add_test(tc, test_console_threads_stop_waiting);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
