/* SPDX-License-Identifier: MIT */
/*
 * affinity - pinning. Reference: pthread_attr_setaffinity_np(3),
 * sched_setaffinity(2): the kernel silently drops CPUs that are offline or
 * outside the cpuset, so what was asked for is compared before a thread is
 * made with what the kernel grants.
 */
#define _GNU_SOURCE
#include "affinity.h"

#include <errno.h>

/* Tries the set on the calling thread and restores it. */
static int affinity_check(const cpu_set_t *cpus)
{
	cpu_set_t before, granted;
	int ret = 0;

	if (sched_getaffinity(0, sizeof(before), &before))
		return -errno;
	if (sched_setaffinity(0, sizeof(*cpus), cpus))
		return -errno;
	if (sched_getaffinity(0, sizeof(granted), &granted))
		ret = -errno;
	else if (!CPU_EQUAL(&granted, cpus))
		ret = -ENXIO;
	if (sched_setaffinity(0, sizeof(before), &before) && !ret)
		ret = -errno;
	return ret;
}

int affinity_thread_create(pthread_t *thread, const cpu_set_t *cpus,
			   void *(*main)(void *), void *arg)
{
	pthread_attr_t attr;
	int ret = cpus ? affinity_check(cpus) : 0;

	if (ret)
		return ret;
	ret = -pthread_attr_init(&attr);
	if (ret)
		return ret;
	if (cpus)
		ret = -pthread_attr_setaffinity_np(&attr, sizeof(*cpus), cpus);
	if (!ret)
		ret = -pthread_create(thread, &attr, main, arg);
	pthread_attr_destroy(&attr);
	return ret;
}
