/* SPDX-License-Identifier: MIT */
/*
 * hosttimer - one timerfd on CLOCK_MONOTONIC, relative and one-shot.
 *
 * The only file of timer/ with system calls, in an archive of its own. Arming
 * is relative, so no mapping from TSC to CLOCK_MONOTONIC has to be kept.
 * Reference: timerfd_create(2).
 */
#ifndef TIMER_HOSTTIMER_H
#define TIMER_HOSTTIMER_H

#include <stdint.h>

struct hosttimer {
	int fd; /* for epoll; readable once expired; -1 when closed */
};

/* Create the timer, disarmed, non-blocking, close-on-exec. 0 or -errno (then
 * fd is -1). */
int hosttimer_open(struct hosttimer *t);

/* Expire once, ns nanoseconds from now, replacing what was set and dropping
 * an expiry nobody has read. 0, -EINVAL for ns 0 (which would disarm), or
 * -errno. One system call. Any thread. */
int hosttimer_arm(struct hosttimer *t, uint64_t ns);

/* Stop it and drop an unread expiry. 0 or -errno. Any thread. */
int hosttimer_disarm(struct hosttimer *t);

/* Take an expiry: 1 if it had expired since it was armed, 0 if not, -errno.
 * Never blocks. Any thread. */
int hosttimer_take(struct hosttimer *t);

/* Close it; a second call does nothing. */
void hosttimer_close(struct hosttimer *t);

#endif
