/* SPDX-License-Identifier: MIT */
/*
 * fake_hosttimer - in the place of timer/hosttimer.c: records what it is set
 * to, and expires when the test says so. Defines its functions, so it is
 * included once in a program, which must not link that file.
 */
#ifndef TESTS_FAKE_HOSTTIMER_H
#define TESTS_FAKE_HOSTTIMER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "hosttimer.h"

struct fake_hosttimer {
	bool running;
	uint64_t ns; /* of the last arm */
	unsigned int arms, disarms;
	int open_error, arm_error, disarm_error; /* returned once */
	/* hosttimer_open_signal's */
	pid_t tid;
	int signal_number;
	void *value;
};

static struct fake_hosttimer fake_hosttimer;

static inline int fake_hosttimer_take(int *error)
{
	int ret = *error;

	*error = 0;
	return ret;
}

int hosttimer_open(struct hosttimer *t)
{
	int ret = fake_hosttimer_take(&fake_hosttimer.open_error);

	t->fd = ret ? -1 : 55;
	return ret;
}

int hosttimer_arm(struct hosttimer *t, uint64_t ns)
{
	int ret = fake_hosttimer_take(&fake_hosttimer.arm_error);

	if (ret || t->fd != 55 || !ns)
		return ret ? ret : -EINVAL;
	fake_hosttimer.running = true;
	fake_hosttimer.ns = ns;
	fake_hosttimer.arms++;
	return 0;
}

int hosttimer_disarm(struct hosttimer *t)
{
	int ret = fake_hosttimer_take(&fake_hosttimer.disarm_error);

	if (ret || t->fd != 55)
		return ret ? ret : -EINVAL;
	fake_hosttimer.running = false;
	fake_hosttimer.disarms++;
	return 0;
}

int hosttimer_open_signal(struct hosttimer *t, pid_t tid, int signal_number,
			  void *value)
{
	fake_hosttimer.tid = tid;
	fake_hosttimer.signal_number = signal_number;
	fake_hosttimer.value = value;
	return hosttimer_open(t);
}

void hosttimer_close(struct hosttimer *t)
{
	fake_hosttimer.running = false;
	t->fd = -1;
}

#endif
