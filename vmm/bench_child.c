/* SPDX-License-Identifier: MIT */
/*
 * bench_child - fork, exec, and reading until the end.
 *
 * Both pipes are read while the child runs, so that it never waits for us,
 * and whatever it writes takes a bounded amount of memory. A process group of
 * its own keeps the terminal's Ctrl-C from the child: it would get the signal
 * twice, from the terminal and from us.
 * Not modelled: more than one child at a time.
 */
#define _GNU_SOURCE
#include "bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sample.h"
#include "end.h"
#include "monotonic.h"

#define OWN_PREFIX "punctual: "

struct line_reader {
	char line[256]; /* the one that is being read, cut */
	size_t len;
	bool has_own; /* kept is one of the program's own */
	char *kept;
	size_t kept_size;
};

struct child {
	pid_t pid;
	int out_fd, err_fd; /* -1: at their end */
	size_t text_room;
	uint64_t end_ns; /* of its time, CLOCK_MONOTONIC; 0: no limit */
	struct line_reader lines;
	struct bench_signals *signals;
	struct bench_output *output;
};

int bench_signals_open(struct bench_signals *signals)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;
	sigset_t mask;

	signals->stopped_by = 0;
	sigemptyset(&mask);
	/* Inherited as ignored, it would leave no child to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigaddset(&mask, SIGCHLD);
	/* One that is ignored, as under nohup(1), stays so. */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&mask, numbers[i]);
	if (sigprocmask(SIG_BLOCK, &mask, &signals->old_mask))
		return -errno;
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->fd >= 0)
		return 0;
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
	return -errno;
}

void bench_signals_close(struct bench_signals *signals)
{
	close(signals->fd);
	signals->fd = -1;
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

bool bench_signals_take(struct bench_signals *signals)
{
	struct signalfd_siginfo info;

	while (read(signals->fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && !signals->stopped_by)
			signals->stopped_by = (int)info.ssi_signo;
	return signals->stopped_by;
}

static void end_line(struct line_reader *lines)
{
	const size_t prefix_len = strlen(OWN_PREFIX);
	const char *line = lines->line;
	bool is_own;

	lines->line[lines->len] = '\0';
	is_own = !strncmp(line, OWN_PREFIX, prefix_len);
	if (lines->len && (is_own || !lines->has_own))
		snprintf(lines->kept, lines->kept_size, "%s",
			 is_own ? line + prefix_len : line);
	lines->has_own |= is_own;
	lines->len = 0;
}

static void take_lines(struct line_reader *lines, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			end_line(lines);
		else if (lines->len < sizeof(lines->line) - 1)
			lines->line[lines->len++] = text[i];
	}
}

static void take_text(struct child *child, const char *text, size_t len)
{
	struct bench_output *output = child->output;
	size_t room = child->text_room;
	char *more;

	if (output->is_too_long ||
	    output->text_len + len > BENCH_SAMPLE_JSON_MAX) {
		output->is_too_long = true;
		return;
	}
	while (room < output->text_len + len)
		room = room ? 2 * room : 1 << 16;
	if (room > child->text_room) {
		more = realloc(output->text, room);
		if (!more) {
			output->is_too_long = true;
			return;
		}
		output->text = more;
		child->text_room = room;
	}
	memcpy(output->text + output->text_len, text, len);
	output->text_len += len;
}

/* Reads what is there; closes *fd, and makes it -1, at the end. */
static void drain(struct child *child, int *fd)
{
	char text[65536];
	ssize_t n;

	while (*fd >= 0) {
		n = read(*fd, text, sizeof(text));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close(*fd);
			*fd = -1;
		} else if (fd == &child->out_fd) {
			take_text(child, text, (size_t)n);
		} else {
			take_lines(&child->lines, text, (size_t)n);
		}
	}
}

static void pass_on(struct child *child, int number)
{
	struct bench_signals *signals = child->signals;

	kill(child->pid, signals->stopped_by ? SIGKILL : number);
	if (!signals->stopped_by)
		signals->stopped_by = number;
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 +
	       (uint64_t)time->tv_usec * 1000;
}

/* True once the child is gone. */
static bool take_signals(struct child *child)
{
	struct signalfd_siginfo info;
	struct rusage usage;
	int status;

	while (read(child->signals->fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			pass_on(child, (int)info.ssi_signo);
	if (wait4(child->pid, &status, WNOHANG, &usage) != child->pid ||
	    (!WIFEXITED(status) && !WIFSIGNALED(status)))
		return false;
	child->output->status = WIFEXITED(status)
					? WEXITSTATUS(status)
					: EXIT_STATUS_SIGNAL + WTERMSIG(status);
	child->output->user_cpu_ns = ns_of(&usage.ru_utime);
	child->output->system_cpu_ns = ns_of(&usage.ru_stime);
	return true;
}

/* Once: what remains is to wait for the end. */
static void kill_late(struct child *child)
{
	child->end_ns = 0;
	kill(child->pid, SIGKILL);
	end_line(&child->lines);
	snprintf(child->lines.kept, child->lines.kept_size, "time limit");
	child->lines.has_own = true;
}

/* As poll() takes it. */
static int ms_left(const struct child *child)
{
	uint64_t now_ns = monotonic_ns(), left_ms;

	if (!child->end_ns)
		return -1;
	if (now_ns >= child->end_ns)
		return 0;
	left_ms = (child->end_ns - now_ns) / 1000000 + 1;
	return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void read_until_end(struct child *child)
{
	bool is_gone = false;

	while (!is_gone) {
		struct pollfd fds[] = {
			{.fd = child->signals->fd, .events = POLLIN},
			{.fd = child->out_fd, .events = POLLIN},
			{.fd = child->err_fd, .events = POLLIN},
		};

		if (poll(fds, sizeof(fds) / sizeof(fds[0]), ms_left(child)) < 0)
			continue;
		if (child->end_ns && !ms_left(child))
			kill_late(child);
		if (fds[0].revents)
			is_gone = take_signals(child);
		drain(child, &child->out_fd);
		drain(child, &child->err_fd);
	}
	end_line(&child->lines);
}

/* Between fork and exec. Only failures are heard of, on stderr. argv is an
 * array of strings that execvp() takes without their const. */
__attribute__((noreturn)) static void be_child(const char *program, void *argv,
					       int out_fd, int err_fd,
					       pid_t parent,
					       const sigset_t *mask)
{
	int null_fd = open("/dev/null", O_RDWR);

	dup2(err_fd, STDERR_FILENO);
	setpgid(0, 0);
	/* The parent may have died before the request was made. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(EXIT_STATUS_INTERNAL);
	if (null_fd >= 0 && dup2(null_fd, STDIN_FILENO) >= 0 &&
	    dup2(out_fd, STDOUT_FILENO) >= 0 &&
	    !sigprocmask(SIG_SETMASK, mask, NULL))
		execvp(program, argv);
	dprintf(STDERR_FILENO, OWN_PREFIX "%s: %s\n", program, strerror(errno));
	_exit(EXIT_STATUS_INTERNAL);
}

const char **bench_child_run_argv(const char *config, const char *const *sets,
				  size_t set_count, const char *const *extra)
{
	const char **argv;
	size_t n = 0, extra_count = 0;

	while (extra && extra[extra_count])
		extra_count++;
	argv = calloc(2 * set_count + extra_count + 7, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[n++] = "punctual";
	argv[n++] = "run";
	argv[n++] = "--json";
	argv[n++] = "-q";
	for (size_t i = 0; i < extra_count; i++)
		argv[n++] = extra[i];
	for (size_t i = 0; i < set_count; i++) {
		argv[n++] = "--set";
		argv[n++] = sets[i];
	}
	argv[n++] = "--";
	argv[n++] = config;
	return argv;
}

/* Both ends close on exec; ours does not block. */
static int open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static int start(struct child *child, const char *program,
		 const char *const *argv)
{
	int out[2], errors[2], ret;
	pid_t self = getpid();

	ret = open_pipe(out);
	if (ret)
		return ret;
	ret = open_pipe(errors);
	if (ret)
		goto out_out;
	child->pid = fork();
	if (!child->pid)
		be_child(program, (void *)(uintptr_t)argv, out[1], errors[1],
			 self, &child->signals->old_mask);
	ret = child->pid < 0 ? -errno : 0;
	close(errors[1]);
	child->err_fd = errors[0];
	if (ret)
		close(errors[0]);
out_out:
	close(out[1]);
	child->out_fd = out[0];
	if (ret)
		close(out[0]);
	return ret;
}

int bench_child_run(const char *program, const char *const *argv,
		    uint64_t limit_ms, struct bench_signals *signals,
		    struct bench_output *output, char *err, size_t err_size)
{
	struct child child = {
		.lines = {.kept = output->line,
			  .kept_size = sizeof(output->line)},
		.signals = signals,
		.output = output,
	};
	uint64_t start_ns = monotonic_ns();
	int ret;

	*output = (struct bench_output){0};
	ret = start(&child, program, argv);
	if (ret) {
		snprintf(err, err_size, "starting a run: %s", strerror(-ret));
		return ret;
	}
	if (limit_ms)
		child.end_ns = start_ns + limit_ms * 1000000;
	read_until_end(&child);
	output->wall_ns = monotonic_ns() - start_ns;
	/* What a process that outlives the child may still hold open. */
	if (child.out_fd >= 0)
		close(child.out_fd);
	if (child.err_fd >= 0)
		close(child.err_fd);
	return 0;
}
