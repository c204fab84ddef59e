/* SPDX-License-Identifier: MIT */
/*
 * agent - a lab's job runner: carries what a job prints out of the emulated
 * host, to the emulator's debug port (0xe9, known to QEMU and Bochs alike).
 *
 * The serial port would do, but the Bochs one runs at the guest's baud rate,
 * and kernel messages share it. The port costs one instruction a byte, and as
 * every line gets a tag here, no job can forge the marker that ends it:
 *   :o TEXT  :e TEXT   a line of standard output, of standard error
 *   :O TEXT  :E TEXT   the same without a newline: a last or a long one
 *   :X JOB exit N | signal N | timeout
 *
 * Not done: input for the job (it reads /dev/null), binary output (see "send":
 * pipe it through base64), more than one writer at a time.
 */
#define _GNU_SOURCE /* pipe2 */

#include <errno.h>
#include <fcntl.h>
#include <linux/rtc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEBUG_PORT 0xe9
#define GRACE_MS   2000 /* between SIGTERM and SIGKILL on a timeout */

struct stream {
	int fd;
	char line_tag; /* 'o', 'e', ...: in front of a whole line */
	char part_tag; /* in front of text that no newline follows */
	char text[3 + 4096 + 1];
	size_t used;
};

static void port_write(const char *bytes, size_t len)
{
	__asm__ volatile("rep outsb"
			 : "+S"(bytes), "+c"(len)
			 : "d"(DEBUG_PORT)
			 : "memory");
}

static int64_t monotonic_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void stream_init(struct stream *s, int fd, char line_tag, char part_tag)
{
	s->fd = fd;
	s->line_tag = line_tag;
	s->part_tag = part_tag;
	s->used = 3;
}

static void stream_emit(struct stream *s, char tag)
{
	s->text[0] = ':';
	s->text[1] = tag;
	s->text[2] = ' ';
	s->text[s->used] = '\n';
	port_write(s->text, s->used + 1);
	s->used = 3;
}

static void stream_flush(struct stream *s)
{
	if (s->used > 3)
		stream_emit(s, s->part_tag);
}

/* Reads once. False at the end of the stream, and when it would block. */
static bool stream_read(struct stream *s)
{
	char in[4096];
	ssize_t n;

	do {
		n = read(s->fd, in, sizeof(in));
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	for (ssize_t i = 0; i < n; i++) {
		if (in[i] == '\n') {
			stream_emit(s, s->line_tag);
			continue;
		}
		if (s->used == sizeof(s->text) - 1)
			stream_emit(s, s->part_tag);
		s->text[s->used++] = in[i];
	}
	return true;
}

static void child_exec(char **argv, int out, int err)
{
	sigset_t none;
	int null_fd = open("/dev/null", O_RDONLY);

	/* A group of its own, so that nothing it started outlives the job. */
	setsid();
	dup2(null_fd, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/*
 * Forwards output until the child ends or time is up. Not until the end of
 * the streams: a process left behind by the job could hold them for ever.
 * Returns true if the time limit ended it; *status is as from waitpid().
 */
static bool job_follow(pid_t child, struct stream *s, int chld_fd,
		       int64_t limit_ms, int *status)
{
	int64_t end_ms = monotonic_ms() + limit_ms;
	bool late = false;
	struct pollfd p[3] = {
		{.fd = s[0].fd, .events = POLLIN},
		{.fd = s[1].fd, .events = POLLIN},
		{.fd = chld_fd, .events = POLLIN},
	};

	while (waitpid(child, status, WNOHANG) == 0) {
		int64_t left_ms = end_ms - monotonic_ms();

		if (left_ms <= 0) {
			kill(-child, late ? SIGKILL : SIGTERM);
			left_ms = GRACE_MS;
			end_ms = monotonic_ms() + GRACE_MS;
			late = true;
		}
		if (poll(p, 3, (int)left_ms) <= 0)
			continue;
		for (int i = 0; i < 2; i++) {
			/* A closed stream polls ready for ever: drop it. */
			if (p[i].revents && !stream_read(&s[i]))
				p[i].fd = -1;
		}
		if (p[2].revents) {
			struct signalfd_siginfo info;

			if (read(chld_fd, &info, sizeof(info)) < 0)
				p[2].fd = -1;
		}
	}
	return late;
}

static int job_run(const char *name, int limit_s, char **argv)
{
	int out[2], err[2], status = 0;
	struct stream s[2];
	char end[256];
	sigset_t chld;
	bool late;
	pid_t child;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0)
		child_exec(argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	/* Only the reading ends: the job must keep seeing a blocking pipe. */
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	stream_init(&s[0], out[0], 'o', 'O');
	stream_init(&s[1], err[0], 'e', 'E');

	late = job_follow(child, s, signalfd(-1, &chld, SFD_CLOEXEC),
			  (int64_t)limit_s * 1000, &status);
	kill(-child, SIGKILL);
	for (int i = 0; i < 2; i++) {
		while (stream_read(&s[i]))
			;
		stream_flush(&s[i]);
	}
	if (late)
		snprintf(end, sizeof(end), ":X %s timeout\n", name);
	else if (WIFSIGNALED(status))
		snprintf(end, sizeof(end), ":X %s signal %d\n", name,
			 WTERMSIG(status));
	else
		snprintf(end, sizeof(end), ":X %s exit %d\n", name,
			 WEXITSTATUS(status));
	port_write(end, strlen(end));
	return 0;
}

/* Copies standard input to the port, each line tagged. */
static void input_send(char tag)
{
	struct stream s;

	stream_init(&s, STDIN_FILENO, tag, tag);
	while (stream_read(&s))
		;
	stream_flush(&s);
}

/* Interrupts of the clock of the day, one a second or more. QEMU's TCG changes
 * the word of interrupts to come without a lock, in VMRUN and #VMEXIT (7.2):
 * one of the local APIC's timer that comes meanwhile stays in the IRR and is
 * not looked for any more, and a host that is idle then stays so for ever. The
 * next interrupt makes the APIC look. */
static int heartbeat(void)
{
	unsigned long what;
	int fd = open("/dev/rtc0", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, RTC_UIE_ON)) {
		perror("agent: /dev/rtc0");
		return 1;
	}
	while (read(fd, &what, sizeof(what)) == sizeof(what))
		continue;
	perror("agent: /dev/rtc0");
	return 1;
}

int main(int argc, char **argv)
{
	/* Not through /dev/port: it steps to the next port after each byte,
	 * and Debian's kernels are built without it. */
	if (ioperm(DEBUG_PORT, 1, 1) < 0) {
		perror("agent: ioperm");
		return 1;
	}
	if (argc == 3 && strcmp(argv[1], "send") == 0) {
		input_send(argv[2][0]);
		return 0;
	}
	if (argc >= 5 && strcmp(argv[1], "run") == 0) {
		int rc = job_run(argv[2], atoi(argv[3]), argv + 4);

		if (rc < 0)
			fprintf(stderr, "agent: %s\n", strerror(-rc));
		return rc < 0;
	}
	if (argc == 2 && strcmp(argv[1], "heartbeat") == 0)
		return heartbeat();
	fprintf(stderr, "usage: agent run JOB SECONDS COMMAND... | "
			"agent send TAG | agent heartbeat\n");
	return 64;
}
