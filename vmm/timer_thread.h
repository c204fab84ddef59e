/* SPDX-License-Identifier: MIT */
/*
 * timer_thread - turns expiries of the vCPUs' timerfds into kicks.
 *
 * One thread for a VM: epoll on all timerfds, edge triggered, so that an
 * expiry costs no read and the arming vCPU thread is the only one to touch
 * the timer. It decides nothing: an expiry that was read just before its
 * vCPU re-armed is stale, and the vCPU thread checks for that.
 */
#ifndef VMM_TIMER_THREAD_H
#define VMM_TIMER_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct kick;
struct trace_ring;

struct timer_thread {
	/* Set once. */
	int epoll_fd;
	int stop_fd; /* eventfd */
	pthread_t thread;
	bool started;
	bool was_started;
	int policy, priority;	  /* in force once it was: SCHED_FIFO, ... */
	struct trace_ring *trace; /* NULL: no trace file; before start */
	/* Writer: the thread. Read after the join. */
	uint64_t wakeups, expiries;
};

/* 0 or -errno. Main thread. */
int timer_thread_init(struct timer_thread *tt);

/* Makes expiries of timer_fd kick `kick` with KICK_DUE. Before start. */
int timer_thread_add(struct timer_thread *tt, int timer_fd, struct kick *kick);

/*
 * Starts the thread, pinned and verified; cpus may be NULL. It runs at
 * SCHED_FIFO where the process may ask for that (CAP_SYS_NICE or RLIMIT_RTPRIO,
 * sched(7)), else, or if that is a real-time one already, at the caller's
 * policy. 0, or -errno of
 * affinity_thread_create. Main thread.
 */
int timer_thread_start(struct timer_thread *tt, const cpu_set_t *cpus);

/* Stops and joins the thread, if it was started. Main thread. */
void timer_thread_stop(struct timer_thread *tt);

/* Stops and frees; also after a failed or no start. Main thread. */
void timer_thread_destroy(struct timer_thread *tt);

#endif
