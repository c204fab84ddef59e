/* SPDX-License-Identifier: MIT */
/* affinity - threads that start where they were asked to run. */
#ifndef VMM_AFFINITY_H
#define VMM_AFFINITY_H

#include <pthread.h>
#include <sched.h>

/*
 * Starts a thread. With cpus (NULL: anywhere) it is pinned before its first
 * instruction; whether the kernel grants them all is tried beforehand. 0, or
 * -EINVAL when none of the CPUs is there or allowed, -ENXIO when the kernel
 * kept only some of them, or -errno of pthread_create; then no thread runs.
 * Main thread.
 */
int affinity_thread_create(pthread_t *thread, const cpu_set_t *cpus,
			   void *(*main)(void *), void *arg);

#endif
