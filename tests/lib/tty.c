/* SPDX-License-Identifier: MIT */
/* tty - see tty.h. Reference: pty(7), setsid(2). */
#define _GNU_SOURCE
#include "tty.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

enum {
	TYPE_MS = 20000,
};

/* Where no devpts is mounted, making one fails or gives one without a name. */
static int open_screen(char *name, size_t size)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0 &&
	    (grantpt(fd) || unlockpt(fd) || ptsname_r(fd, name, size) ||
	     access(name, R_OK | W_OK))) {
		close(fd);
		return -1;
	}
	return fd;
}

bool tty_possible(void)
{
	char name[64];
	int fd = open_screen(name, sizeof(name));

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

void tty_open(struct tty *tty)
{
	tty->screen = open_screen(tty->name, sizeof(tty->name));
	ck_assert_int_ge(tty->screen, 0);
	tty->line = open(tty->name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(tty->line, 0);
	ck_assert_int_eq(tcgetattr(tty->line, &tty->before), 0);
	ck_assert(!tty_is_raw(tty));
}

void tty_close(struct tty *tty)
{
	if (tty->screen >= 0)
		close(tty->screen);
	close(tty->line);
}

void tty_type(const struct tty *tty, const char *keys, size_t count)
{
	struct pollfd pfd = {.fd = tty->line, .events = POLLIN};

	ck_assert_int_eq(write(tty->screen, keys, count), (ssize_t)count);
	ck_assert_int_eq(poll(&pfd, 1, TYPE_MS), 1);
}

/* The struct has holes. */
static bool equal(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
	       a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag &&
	       !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) &&
	       cfgetispeed(a) == cfgetispeed(b) &&
	       cfgetospeed(a) == cfgetospeed(b);
}

bool tty_is_as_before(const struct tty *tty)
{
	struct termios now;

	return !tcgetattr(tty->line, &now) && equal(&now, &tty->before);
}

bool tty_is_raw(const struct tty *tty)
{
	const tcflag_t cooked = ICANON | ECHO | ISIG | IEXTEN;
	struct termios now;

	ck_assert_int_eq(tcgetattr(tty->line, &now), 0);
	return !(now.c_lflag & cooked) && !(now.c_iflag & (ICRNL | IXON));
}

bool tty_become_controlling(const struct tty *tty)
{
	int fd;

	if (setsid() < 0)
		return false;
	fd = open(tty->name, O_RDWR);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		return false;
	if (fd > STDERR_FILENO)
		close(fd);
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}
