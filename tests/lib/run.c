/* SPDX-License-Identifier: MIT */
/*
 * run - fork, exec, two pipes and a wait; see run.h.
 *
 * Reference: waitpid(2), pidfd_open(2), prctl(2) PR_SET_CHILD_SUBREAPER: a
 * process that the child left behind becomes ours, and so can be noticed.
 * Not here: input for the child, terminals.
 */
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

#define NS_PER_MS 1000000

enum {
	LEFT_MS = 5000,
};

int64_t run_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void child_main(const char *const *argv, int out_fd, int err_fd,
		       bool (*before)(void *arg), void *arg)
{
	int null_fd = open("/dev/null", O_RDONLY);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
	    dup2(out_fd, STDOUT_FILENO) < 0 || dup2(err_fd, STDERR_FILENO) < 0)
		_exit(127);
	for (int n = 1; n < NSIG; n++)
		signal(n, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (before && !before(arg))
		_exit(127);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void stream_open(struct run_stream *stream, int fd)
{
	*stream = (struct run_stream){.fd = fd, .text = calloc(1, 1)};
	if (!stream->text)
		ck_abort_msg("out of memory");
}

/* Reads once; closes at the end of the stream. */
static void stream_read(struct run_stream *stream)
{
	char in[16384];
	ssize_t n = read(stream->fd, in, sizeof(in));
	size_t keep;
	char *text;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close(stream->fd);
		stream->fd = -1;
		return;
	}
	stream->total += (uint64_t)n;
	keep = RUN_KEEP_MAX - stream->len;
	if (keep > (size_t)n)
		keep = (size_t)n;
	if (!keep)
		return;
	text = realloc(stream->text, stream->len + keep + 1);
	if (!text)
		ck_abort_msg("out of memory");
	memcpy(text + stream->len, in, keep);
	stream->text = text;
	stream->len += keep;
	text[stream->len] = '\0';
}

/* Waits until something can be read, or pid_fd (if not -1) says that the
 * child is gone, or until_ns; reads what there is. */
static void streams_read(struct run *run, int pid_fd, int64_t until_ns)
{
	int64_t left_ns = until_ns - run_now_ns();
	struct pollfd fds[] = {
		{.fd = run->pause_reading ? -1 : run->out.fd, .events = POLLIN},
		{.fd = run->err.fd, .events = POLLIN},
		{.fd = pid_fd, .events = POLLIN},
	};

	if (left_ns < 0)
		left_ns = 0;
	if (poll(fds, 3, (int)(left_ns / NS_PER_MS) + 1) <= 0)
		return;
	if (fds[0].revents)
		stream_read(&run->out);
	if (fds[1].revents)
		stream_read(&run->err);
}

void run_start_with(struct run *run, const char *const *argv, int stdout_fd,
		    bool (*before)(void *arg), void *arg)
{
	int out[2] = {-1, -1}, err[2];

	memset(run, 0, sizeof(*run));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if ((stdout_fd < 0 && pipe2(out, O_CLOEXEC)) || pipe2(err, O_CLOEXEC))
		ck_abort_msg("pipe: %s", strerror(errno));
	stream_open(&run->out, out[0]);
	stream_open(&run->err, err[0]);
	run->start_ns = run_now_ns();
	run->pid = fork();
	if (run->pid < 0)
		ck_abort_msg("fork: %s", strerror(errno));
	if (run->pid == 0)
		child_main(argv, stdout_fd < 0 ? out[1] : stdout_fd, err[1],
			   before, arg);
	if (stdout_fd < 0)
		close(out[1]);
	close(err[1]);
}

void run_start(struct run *run, const char *const *argv, int stdout_fd)
{
	run_start_with(run, argv, stdout_fd, NULL, NULL);
}

static bool run_await(struct run *run, struct run_stream *stream,
		      const char *text, int limit_ms)
{
	int64_t until_ns = run_now_ns() + (int64_t)limit_ms * NS_PER_MS;
	const char *found;

	while (!(found = strstr(stream->text + stream->matched, text))) {
		if (stream->fd < 0 || run_now_ns() >= until_ns)
			return false;
		streams_read(run, -1, until_ns);
	}
	stream->matched = (size_t)(found - stream->text) + strlen(text);
	return true;
}

bool run_await_out(struct run *run, const char *text, int limit_ms)
{
	return run_await(run, &run->out, text, limit_ms);
}

bool run_await_err(struct run *run, const char *text, int limit_ms)
{
	return run_await(run, &run->err, text, limit_ms);
}

void run_signal(struct run *run, int signal_number)
{
	if (kill(run->pid, signal_number))
		ck_abort_msg("kill: %s", strerror(errno));
}

static int64_t timeval_ns(struct timeval tv)
{
	return (int64_t)tv.tv_sec * 1000000000 + (int64_t)tv.tv_usec * 1000;
}

/* True once the child is reaped. */
static bool child_gone(struct run *run)
{
	struct rusage usage;
	pid_t pid = wait4(run->pid, &run->wait_status, WNOHANG, &usage);

	if (pid < 0)
		ck_abort_msg("wait4: %s", strerror(errno));
	if (!pid)
		return false;
	run->wall_ns = run_now_ns() - run->start_ns;
	run->cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	return true;
}

/* What the pipes still hold. A process left behind could keep them open, so
 * not until their end. */
static void drain(struct run_stream *stream)
{
	if (stream->fd < 0)
		return;
	fcntl(stream->fd, F_SETFL, O_NONBLOCK);
	for (uint64_t before = stream->total - 1;
	     stream->fd >= 0 && before != stream->total;) {
		before = stream->total;
		stream_read(stream);
	}
}

/* What the child started must be gone, or about to go: a process that is
 * killed takes a while to take its VM apart. */
static void expect_nobody_left(void)
{
	int64_t until_ns = run_now_ns() + (int64_t)LEFT_MS * NS_PER_MS;
	const struct timespec pause = {.tv_nsec = NS_PER_MS};

	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return;
		if (pid > 0)
			continue;
		if (run_now_ns() >= until_ns)
			ck_abort_msg("the run left a process behind");
		nanosleep(&pause, NULL);
	}
}

void run_finish(struct run *run, int limit_ms)
{
	int64_t until_ns = run_now_ns() + (int64_t)limit_ms * NS_PER_MS;
	int pid_fd = (int)syscall(SYS_pidfd_open, run->pid, 0);

	if (pid_fd < 0)
		ck_abort_msg("pidfd_open: %s", strerror(errno));
	while (!child_gone(run)) {
		if (run_now_ns() >= until_ns && !run->timed_out) {
			run->timed_out = true;
			kill(run->pid, SIGKILL);
			until_ns = INT64_MAX;
		}
		streams_read(run, pid_fd,
			     run->timed_out ? run_now_ns() + NS_PER_MS
					    : until_ns);
	}
	close(pid_fd);
	drain(&run->out);
	drain(&run->err);
	expect_nobody_left();
}

int run_status(const struct run *run)
{
	if (run->timed_out)
		return RUN_TIMED_OUT;
	if (WIFSIGNALED(run->wait_status))
		return RUN_SIGNALLED + WTERMSIG(run->wait_status);
	return WEXITSTATUS(run->wait_status);
}

void run_free(struct run *run)
{
	if (run->out.fd >= 0)
		close(run->out.fd);
	if (run->err.fd >= 0)
		close(run->err.fd);
	free(run->out.text);
	free(run->err.text);
	memset(run, 0, sizeof(*run));
}
