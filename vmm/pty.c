/* SPDX-License-Identifier: MIT */
/* pty - see pty.h. Not here: what to do with bytes that nobody reads. */
#define _GNU_SOURCE
#include "pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
	NAME_MAX_SIZE = 64, /* "/dev/pts/" and a number */
	DRAIN_STEP_MS = 5,
};

static int open_other_side(int fd)
{
	char name[NAME_MAX_SIZE];
	int ret = pty_name(fd, name, sizeof(name));

	if (ret)
		return ret;
	ret = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

/* As it comes, it echoes: the guest would read its own output. And only once
 * somebody has been there does it say that nobody is. */
static int prepare(int fd)
{
	struct termios raw;
	int other, ret = 0;

	if (grantpt(fd) || unlockpt(fd))
		return -errno;
	other = open_other_side(fd);
	if (other < 0)
		return other;
	if (tcgetattr(other, &raw))
		ret = -errno;
	cfmakeraw(&raw);
	if (!ret && tcsetattr(other, TCSANOW, &raw))
		ret = -errno;
	close(other);
	return ret;
}

int pty_open(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = prepare(fd);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int pty_name(int fd, char *name, size_t size)
{
	return -ptsname_r(fd, name, size);
}

bool pty_has_reader(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, 0) >= 0 && !(pfd.revents & POLLHUP);
}

void pty_drain(int fd, int patience_ms)
{
	const struct timespec step = {.tv_nsec = DRAIN_STEP_MS * 1000000};
	struct pollfd pfd = {.events = POLLIN};

	if (!pty_has_reader(fd))
		return;
	/* Open twice, it does not tell any more whether the reader is there:
	 * one that has gone costs the patience. */
	pfd.fd = open_other_side(fd);
	if (pfd.fd < 0)
		return;
	for (int waited_ms = 0; waited_ms < patience_ms;
	     waited_ms += DRAIN_STEP_MS) {
		if (poll(&pfd, 1, 0) == 0)
			break;
		nanosleep(&step, NULL);
	}
	close(pfd.fd);
}
