/* SPDX-License-Identifier: MIT */
/*
 * A timerfd on CLOCK_MONOTONIC.
 * Reference: timerfd_create(2). Timer slack does not apply to it, unlike to
 * sleeps and poll timeouts.
 * Not modelled: periodic and absolute arming, suspend (the clock stands still
 * while the host sleeps, as the TSC may).
 */
#include "hosttimer.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

static int hosttimer_set(const struct hosttimer *t, uint64_t ns)
{
	/* A division by a constant: the compiler makes it a multiplication. */
	struct itimerspec spec = {
		.it_value.tv_sec = (time_t)(ns / NS_PER_S),
		.it_value.tv_nsec = (long)(ns % NS_PER_S),
	};

	return timerfd_settime(t->fd, 0, &spec, NULL) ? -errno : 0;
}

int hosttimer_open(struct hosttimer *t)
{
	t->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return t->fd < 0 ? -errno : 0;
}

int hosttimer_arm(struct hosttimer *t, uint64_t ns)
{
	return ns ? hosttimer_set(t, ns) : -EINVAL;
}

int hosttimer_disarm(struct hosttimer *t)
{
	return hosttimer_set(t, 0);
}

int hosttimer_take(struct hosttimer *t)
{
	uint64_t expiries;

	if (read(t->fd, &expiries, sizeof(expiries)) > 0)
		return 1;
	return errno == EAGAIN ? 0 : -errno;
}

void hosttimer_close(struct hosttimer *t)
{
	if (t->fd < 0)
		return;
	close(t->fd);
	t->fd = -1;
}
