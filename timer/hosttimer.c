/* SPDX-License-Identifier: MIT */
/*
 * A host timer on CLOCK_MONOTONIC, as a timerfd or as a signal.
 * Timer slack applies to neither, unlike to sleeps and poll timeouts.
 * Not modelled: periodic and absolute arming, suspend (the clock stands still
 * while the host sleeps, as the TSC may).
 */
#define _GNU_SOURCE
#include "hosttimer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

/* timer_create(2) documents the name, not every libc has it. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int settime_fd(const struct hosttimer *t, const struct itimerspec *spec)
{
	return timerfd_settime(t->fd, 0, spec, NULL) ? -errno : 0;
}

static int settime_signal(const struct hosttimer *t,
			  const struct itimerspec *spec)
{
	return timer_settime(t->id, 0, spec, NULL) ? -errno : 0;
}

static int settime_closed(const struct hosttimer *t,
			  const struct itimerspec *spec)
{
	(void)t;
	(void)spec;
	return -EBADF;
}

static void set_closed(struct hosttimer *t)
{
	*t = (struct hosttimer){.settime = settime_closed, .fd = -1};
}

int hosttimer_open(struct hosttimer *t)
{
	set_closed(t);
	t->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (t->fd < 0)
		return -errno;
	t->settime = settime_fd;
	return 0;
}

int hosttimer_open_signal(struct hosttimer *t, pid_t tid, int signal_number,
			  void *value)
{
	struct sigevent event;

	set_closed(t);
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = signal_number;
	event.sigev_value.sival_ptr = value;
	event.sigev_notify_thread_id = tid;
	if (timer_create(CLOCK_MONOTONIC, &event, &t->id))
		return -errno;
	t->settime = settime_signal;
	return 0;
}

static int hosttimer_set(const struct hosttimer *t, uint64_t ns)
{
	/* A division by a constant: the compiler makes it a multiplication. */
	struct itimerspec spec = {
		.it_value.tv_sec = (time_t)(ns / NS_PER_S),
		.it_value.tv_nsec = (long)(ns % NS_PER_S),
	};

	return t->settime(t, &spec);
}

int hosttimer_arm(struct hosttimer *t, uint64_t ns)
{
	return ns ? hosttimer_set(t, ns) : -EINVAL;
}

int hosttimer_disarm(struct hosttimer *t)
{
	return hosttimer_set(t, 0);
}

void hosttimer_close(struct hosttimer *t)
{
	if (t->settime == settime_fd)
		close(t->fd);
	else if (t->settime == settime_signal)
		timer_delete(t->id);
	set_closed(t);
}
