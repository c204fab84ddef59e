/* SPDX-License-Identifier: MIT */
/*
 * Proves that whatever standard input is, the guest reads every byte of it and
 * the VM's life does not hang on it; and that readers of a pty, which come and
 * go, hold nobody up.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "doc.h"
#include "end.h"
#include "env.h"

#define MS 1000000ll

enum {
	BYTES = 10000,
	READY_MS = 20000,
	WAIT_MS = 20000,
};

static struct env env;
static uint8_t bytes[BYTES];
static char expected[64]; /* what the guest says of them */

static void make_bytes(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < BYTES; i++) {
		bytes[i] = (uint8_t)(i * 37 + i / 256);
		sum = sum * 31 + bytes[i];
	}
	snprintf(expected, sizeof(expected), "echo: %d bytes, sum %llx\n",
		 BYTES, (unsigned long long)sum);
}

/* -1: closed. */
static bool use_stdin(void *arg)
{
	int fd = *(int *)arg;

	if (fd < 0)
		return !close(STDIN_FILENO);
	return dup2(fd, STDIN_FILENO) == STDIN_FILENO;
}

static void start(struct run *run, int stdin_fd, const char *boot_args,
		  const char *set)
{
	env_start_with(&env, run, -1, use_stdin, &stdin_fd, "echo.elf",
		       boot_args,
		       SETS(env_any_mode(&env), "run.timeout_ms=0", set));
}

static int file_of_bytes(void)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	ck_assert_int_eq(write(fd, bytes, BYTES), BYTES);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void expect_all(struct run *run)
{
	env_finish(&env, run);
	env_expect_status(run, 0);
	ck_assert_ptr_nonnull(strstr(run->out.text, expected));
	run_free(run);
}

/* With and without FIFO; a guest that takes its time, or comes late. */
static const char *const readers[] = {
	"sum bytes=10000",
	"sum bytes=10000 fifo=0",
	"sum bytes=10000 slow",
	"sum bytes=10000 late_ms=500",
};

START_TEST(test_serial_file)
{
	int fd = file_of_bytes();
	struct run run;

	start(&run, fd, readers[_i], NULL);
	close(fd);
	expect_all(&run);
}
END_TEST

/* In two parts, the second after the guest has read the first; then the
 * writer goes. */
START_TEST(test_serial_pipe)
{
	struct run run;
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	start(&run, fds[0], "sum bytes=10000", NULL);
	close(fds[0]);
	ck_assert_int_eq(write(fds[1], bytes, 3000), 3000);
	ck_assert(run_await_out(&run, "ready", env_ms(&env, READY_MS)));
	ck_assert(!run_await_err(&run, "no such text", 300));
	ck_assert_int_eq(write(fds[1], bytes + 3000, BYTES - 3000),
			 BYTES - 3000);
	close(fds[1]);
	expect_all(&run);
}
END_TEST

/* All of it comes back, too. Bytes that are a terminal's commands are not a
 * pipe's. */
START_TEST(test_serial_echo)
{
	static const char text[] = "some\x01x text\nand more\x03";
	struct run run;
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(write(fds[1], text, strlen(text)), strlen(text));
	start(&run, fds[0], "until=3", NULL);
	close(fds[0]);
	env_finish(&env, &run);
	env_expect_status(&run, 0);
	ck_assert_ptr_nonnull(strstr(
		run.out.text, "ready\nsome\x01x text\nand moreecho: 20 bytes"));
	ck_assert_str_eq(run.err.text, "");
	close(fds[1]);
	run_free(&run);
}
END_TEST

/* What the guest did not ask for is the next program's. */
START_TEST(test_serial_not_asked_for)
{
	int fd = file_of_bytes();
	struct run run;

	env_start_with(&env, &run, -1, use_stdin, &fd, "hello.elf", "status=3",
		       SETS(env_any_mode(&env)));
	env_finish(&env, &run);
	env_expect_status(&run, 3);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
	run_free(&run);
}
END_TEST

enum no_input {
	NO_INPUT_NULL,
	NO_INPUT_CLOSED,
	NO_INPUT_ENDED_PIPE,
	NO_INPUT_OPEN_PIPE,
	NO_INPUT_FULL_PIPE,
	NO_INPUT_COUNT,
};

/* CPU time of a run that halts until its time limit. */
static int64_t idle_cpu_ns(enum no_input kind, const char *limit)
{
	int fds[2], fd;
	struct run run;
	int64_t cpu_ns;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	switch (kind) {
	case NO_INPUT_NULL:
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		break;
	case NO_INPUT_CLOSED:
		fd = -1;
		break;
	case NO_INPUT_FULL_PIPE:
		ck_assert_int_eq(write(fds[1], bytes, BYTES), BYTES);
		fd = fds[0];
		break;
	default:
		fd = fds[0];
		break;
	}
	if (kind != NO_INPUT_OPEN_PIPE)
		close(fds[1]);
	env_start_with(&env, &run, -1, use_stdin, &fd, "echo.elf", "halt",
		       SETS("timer.mode=kernel", limit));
	env_finish(&env, &run);
	env_expect_status(&run, EXIT_STATUS_TIME_LIMIT);
	ck_assert_str_eq(run.out.text, "echo: ready\n");
	cpu_ns = run.cpu_ns;
	run_free(&run);
	if (kind == NO_INPUT_OPEN_PIPE)
		close(fds[1]);
	close(fds[0]);
	return cpu_ns;
}

/* A source that has ended, or that nobody empties, must not be polled for
 * ever: three more seconds cost next to nothing. */
START_TEST(test_serial_idle)
{
	int64_t short_ns = idle_cpu_ns(NO_INPUT_NULL, "run.timeout_ms=1000");
	int64_t long_ns = idle_cpu_ns((enum no_input)_i, "run.timeout_ms=4000");

	ck_assert_int_lt(long_ns - short_ns, 1000 * MS);
}
END_TEST

/* A closed descriptor is not the next file that is opened. */
START_TEST(test_serial_closed_stdin)
{
	char path[64], target[64] = "";
	int closed = -1;
	struct run run;

	start(&run, closed, "", NULL);
	ck_assert(run_await_out(&run, "ready", env_ms(&env, READY_MS)));
	snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)run.pid);
	ck_assert_int_gt(readlink(path, target, sizeof(target) - 1), 0);
	ck_assert_str_eq(target, "/dev/null");
	run_signal(&run, SIGTERM);
	env_finish(&env, &run);
	env_expect_status(&run, EXIT_STATUS_SIGNAL + SIGTERM);
	run_free(&run);
}
END_TEST

/* The name that the run told on standard error. */
static int open_pty(struct run *run)
{
	char name[64] = "";
	const char *at;
	int fd;

	while (!(at = strstr(run->err.text, "/dev/pts/")) || !strchr(at, '\n'))
		ck_assert(run_await_err(run, "\n", env_ms(&env, READY_MS)));
	ck_assert_int_eq(sscanf(at, "%63[^\n]", name), 1);
	fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s", name);
	return fd;
}

static void expect_from(int fd, const char *text)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	char got[4096] = "";
	size_t len = 0;

	while (!strstr(got, text)) {
		ssize_t n;

		ck_assert_msg(poll(&pfd, 1, env_ms(&env, WAIT_MS)) == 1,
			      "not \"%s\": %s", text, got);
		n = read(fd, got + len, sizeof(got) - 1 - len);
		ck_assert_msg(n > 0, "not \"%s\": %s", text, got);
		len += (size_t)n;
	}
}

/* Readers come and go; the last one gets the last words. */
START_TEST(test_serial_pty)
{
	struct run run;
	int fd;

	env_start(&env, &run, -1, "echo.elf", "",
		  SETS(env_any_mode(&env), "console.serial=pty",
		       "run.timeout_ms=0"));
	fd = open_pty(&run);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(write(fd, "a\x01x\x03", 4), 4);
		expect_from(fd, "a\x01x\x03");
		close(fd);
		fd = open_pty(&run);
	}
	ck_assert_int_eq(write(fd, "b\x04", 2), 2);
	expect_from(fd, "echo: 9 bytes");
	env_finish(&env, &run);
	env_expect_status(&run, 0);
	ck_assert_str_eq(run.out.text, "");
	close(fd);
	run_free(&run);
}
END_TEST

START_TEST(test_serial_pty_without_a_reader)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct json_doc doc;
	struct run run;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "pty.json", path));
	env_guest(&env, &run, "hello.elf", "status=5",
		  SETS(env_any_mode(&env), "console.serial=pty", option));
	env_expect_status(&run, 5);
	env_expect_complaint(&run, "console.serial: /dev/pts/");
	doc_load(&doc, path);
	ck_assert_uint_gt(doc_u64(&doc, "bus.console_bytes"), 0);
	ck_assert_uint_eq(doc_u64(&doc, "bus.console_dropped"),
			  doc_u64(&doc, "bus.console_bytes"));
	json_free(&doc);
	run_free(&run);
}
END_TEST

static Suite *serial_suite(void)
{
	Suite *suite = suite_create("serial");
	TCase *tcase = env_case(suite, "streams");

	tcase_add_checked_fixture(tcase, make_bytes, NULL);
	tcase_add_loop_test(tcase, test_serial_file, 0,
			    sizeof(readers) / sizeof(readers[0]));
	tcase_add_test(tcase, test_serial_pipe);
	tcase_add_test(tcase, test_serial_echo);
	tcase_add_test(tcase, test_serial_not_asked_for);
	tcase_add_test(tcase, test_serial_closed_stdin);
	tcase_add_loop_test(tcase, test_serial_idle, 0, NO_INPUT_COUNT);
	tcase = env_case(suite, "pty");
	tcase_add_test(tcase, test_serial_pty);
	tcase_add_test(tcase, test_serial_pty_without_a_reader);
	return suite;
}

int main(void)
{
	return env_run(&env, serial_suite);
}
