/* SPDX-License-Identifier: MIT */
/*
 * terminal - see terminal.h.
 *
 * Not here: SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTSTP, which the main
 * thread takes from a descriptor (watch.c) and so ends or stops in order;
 * SIGKILL and SIGSTOP, which nobody can help.
 */
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

/* What ends a process by default and is nobody's business here. */
static const int fatal_signals[] = {
	SIGABRT, SIGALRM, SIGBUS,  SIGFPE,  SIGILL,  SIGIO,   SIGPROF,
	SIGSEGV, SIGSYS,  SIGTRAP, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};

/* Set once, before is_raw is. */
static struct termios saved;
static int terminal_fd = -1;
static pid_t owner; /* a child must not touch what is its parent's */
/* Writers: main thread; whoever releases. */
static atomic_bool is_raw;

bool terminal_in_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group < 0 ? errno == ENOTTY && isatty(fd) : group == getpgrp();
}

void terminal_release(void)
{
	int saved_errno = errno;

	if (atomic_load(&is_raw) && owner == getpid() &&
	    atomic_exchange(&is_raw, false) &&
	    terminal_in_foreground(terminal_fd))
		tcsetattr(terminal_fd, TCSANOW, &saved);
	errno = saved_errno;
}

/* SA_RESETHAND: the second time it is fatal. */
static void on_fatal_signal(int number)
{
	terminal_release();
	raise(number);
}

static void promise(void)
{
	struct sigaction action = {.sa_handler = on_fatal_signal,
				   .sa_flags = (int)SA_RESETHAND};
	struct sigaction there;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]);
	     i++)
		if (!sigaction(fatal_signals[i], NULL, &there) &&
		    there.sa_handler == SIG_DFL)
			sigaction(fatal_signals[i], &action, NULL);
	signal(SIGTTIN, SIG_IGN);
	atexit(terminal_release);
}

bool terminal_take(int fd)
{
	struct termios raw;

	if (!terminal_in_foreground(fd)) {
		/* Whoever has it now has set it, too. */
		atomic_store(&is_raw, false);
		return false;
	}
	if (atomic_load(&is_raw))
		return true;
	/* Only the first look finds what the user had. */
	if (terminal_fd < 0) {
		if (tcgetattr(fd, &saved))
			return false;
		terminal_fd = fd;
		owner = getpid();
		promise();
	}
	raw = saved;
	cfmakeraw(&raw);
	raw.c_oflag = saved.c_oflag;
	atomic_store(&is_raw, true);
	/* In this order: a signal between the two sets what is there already.
	 * What was typed before stays. */
	if (!tcsetattr(fd, TCSANOW, &raw))
		return true;
	atomic_store(&is_raw, false);
	return false;
}
