/* SPDX-License-Identifier: MIT */
/*
 * hosttimer - one timer of the host on CLOCK_MONOTONIC, relative and one-shot.
 *
 * Two kinds, which differ in how an expiry shows:
 *   timerfd  a descriptor becomes readable: somebody waits for that
 *   signal   a POSIX timer that pends a signal for one thread, from the
 *            host's timer interrupt itself: nobody in between
 *
 * The only file of timer/ with system calls, in an archive of its own. Arming
 * is relative, so no mapping from TSC to CLOCK_MONOTONIC has to be kept.
 * Reference: timerfd_create(2), timer_create(2) "SIGEV_THREAD_ID",
 * timer_settime(2).
 */
#ifndef TIMER_HOSTTIMER_H
#define TIMER_HOSTTIMER_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct hosttimer {
	/* By kind. 0 or -errno; -EBADF: closed. */
	int (*settime)(const struct hosttimer *t,
		       const struct itimerspec *spec);
	int fd;	    /* timerfd, for epoll: readable once expired; else -1 */
	timer_t id; /* signal */
};

/* Create a timerfd, disarmed, non-blocking, close-on-exec. 0 or -errno (then
 * it is closed). */
int hosttimer_open(struct hosttimer *t);

/*
 * Create a timer, disarmed, whose expiry sends signal_number to the thread tid
 * of this process, with si_code SI_TIMER and value in si_value. There is
 * never more than one pending; whether arm and disarm take that one back
 * differs from kernel to kernel. 0; -EAGAIN when RLIMIT_SIGPENDING leaves no
 * room for another; or -errno.
 */
int hosttimer_open_signal(struct hosttimer *t, pid_t tid, int signal_number,
			  void *value);

/* Expire once, ns nanoseconds from now, replacing what was set; of a timerfd,
 * dropping an expiry nobody has read. 0, -EINVAL for ns 0 (which would
 * disarm), -EBADF when closed, or -errno. One system call. Any thread. */
int hosttimer_arm(struct hosttimer *t, uint64_t ns);

/* Stop it, and drop an unread expiry of a timerfd. 0 or -errno. Any thread. */
int hosttimer_disarm(struct hosttimer *t);

/* Close it; a second call does nothing. */
void hosttimer_close(struct hosttimer *t);

#endif
