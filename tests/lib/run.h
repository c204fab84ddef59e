/* SPDX-License-Identifier: MIT */
/*
 * run - a child process whose output, status and cost a test looks at.
 *
 * For tests only: what goes wrong with the child's plumbing fails the test at
 * hand (ck_abort_msg). One thread. No child outlives the test program, and
 * run_finish fails the test if the child left a process behind that is not
 * gone some seconds later.
 */
#ifndef TESTS_RUN_H
#define TESTS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	RUN_KEEP_MAX = 1 << 20, /* bytes kept of each stream */
	RUN_SIGNALLED = 1000,	/* run_status: plus the signal's number */
	RUN_TIMED_OUT = 2000,	/* run_status: killed by run_finish */
};

/* One stream of the child. */
struct run_stream {
	int fd;	    /* our end, -1 once closed */
	char *text; /* NUL-terminated, at most RUN_KEEP_MAX bytes */
	size_t len;
	size_t matched; /* run_await_*: looks from here on */
	uint64_t total; /* bytes that came */
};

struct run {
	pid_t pid;
	struct run_stream out, err;
	int64_t start_ns;   /* CLOCK_MONOTONIC */
	int64_t wall_ns;    /* from start to end */
	int64_t cpu_ns;	    /* user and system time, children of it included */
	int wait_status;    /* as waitpid(2) gives it */
	bool timed_out;	    /* run_finish had to kill it */
	bool pause_reading; /* leave standard output in the pipe */
};

/* CLOCK_MONOTONIC in ns. */
int64_t run_now_ns(void);

/*
 * Starts argv[0] (a path), standard input from /dev/null. Standard output
 * goes to stdout_fd, or to a pipe that run_finish reads if stdout_fd is -1;
 * standard error always to such a pipe. The signals' dispositions are the
 * defaults, none blocked.
 */
void run_start(struct run *run, const char *const *argv, int stdout_fd);

/*
 * As run_start, but the child calls before(arg) just before the exec; false
 * from it ends the child with status 127.
 */
void run_start_with(struct run *run, const char *const *argv, int stdout_fd,
		    bool (*before)(void *arg), void *arg);

/* Reads until standard output, or standard error, holds text after what an
 * earlier call found there. False when the stream ends or limit_ms is over
 * before it does. */
bool run_await_out(struct run *run, const char *text, int limit_ms);
bool run_await_err(struct run *run, const char *text, int limit_ms);

void run_signal(struct run *run, int signal_number);

/* Reads what comes until the child is gone, and kills it limit_ms after the
 * call. Then all members are final, until run_free. */
void run_finish(struct run *run, int limit_ms);

/* The exit status; RUN_SIGNALLED + n, RUN_TIMED_OUT. After run_finish. */
int run_status(const struct run *run);

void run_free(struct run *run);

#endif
