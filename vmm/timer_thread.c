/* SPDX-License-Identifier: MIT */
/*
 * timer_thread - epoll loop over the vCPUs' host timers.
 * Reference: timerfd_create(2), sched(7), epoll(7) "Level-triggered and
 * edge-triggered": timerfd_settime clears an unread expiry and each new one
 * makes the descriptor ready again, so no expiry is missed without a read.
 */
#define _GNU_SOURCE
#include "timer_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "affinity.h"
#include "clock.h"
#include "kick.h"
#include "probes.h"
#include "trace_ring.h"

enum {
	EVENTS_A_WAKEUP = 16,
};

static void put(struct trace_ring *ring, enum trace_event event,
		uint64_t host_tsc, uint32_t vcpu, uint8_t flags, uint32_t aux)
{
	struct trace_record record = {
		.host_tsc = host_tsc,
		.event = (uint8_t)event,
		.flags = flags,
		.vcpu = (uint16_t)vcpu,
		.aux = aux,
	};

	trace_ring_put(ring, &record);
}

/* As kick_send; the trace has its turn when the kick is on its way. */
static void kick_traced(struct trace_ring *ring, struct kick *kick)
{
	uint64_t expired_host_tsc = clock_read_tsc();
	bool signalled = kick_send(kick, KICK_DUE);
	uint64_t kicked_host_tsc = clock_read_tsc();

	put(ring, TRACE_TIMER_EXPIRE, expired_host_tsc, kick->vcpu, 0, 0);
	put(ring, TRACE_KICK, kicked_host_tsc, kick->vcpu,
	    signalled ? TRACE_FLAG_SIGNALLED : 0, KICK_DUE);
}

static void timer_expired(const struct timer_thread *tt, struct kick *kick)
{
	PROBE1(timer_expire, kick->vcpu);
	if (tt->trace)
		kick_traced(tt->trace, kick);
	else
		kick_send(kick, KICK_DUE);
}

static void *timer_thread_main(void *arg)
{
	struct timer_thread *tt = arg;
	struct epoll_event events[EVENTS_A_WAKEUP];

	for (;;) {
		int n = epoll_wait(tt->epoll_fd, events, EVENTS_A_WAKEUP, -1);

		for (int i = 0; i < n; i++) {
			if (!events[i].data.ptr)
				return NULL;
			timer_expired(tt, events[i].data.ptr);
			tt->expiries++;
		}
		tt->wakeups++;
	}
}

int timer_thread_init(struct timer_thread *tt)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ret;

	memset(tt, 0, sizeof(*tt));
	tt->stop_fd = -1;
	tt->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (tt->epoll_fd < 0)
		return -errno;
	tt->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (tt->stop_fd >= 0 &&
	    !epoll_ctl(tt->epoll_fd, EPOLL_CTL_ADD, tt->stop_fd, &event))
		return 0;
	ret = -errno;
	timer_thread_destroy(tt);
	return ret;
}

int timer_thread_add(struct timer_thread *tt, int timer_fd, struct kick *kick)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET,
				    .data = {.ptr = kick}};

	return epoll_ctl(tt->epoll_fd, EPOLL_CTL_ADD, timer_fd, &event) ? -errno
									: 0;
}

/*
 * Ahead of all that is not real-time, at the least priority there: it has next
 * to nothing to do, and a vCPU waits for it. Where that is not permitted it
 * stays what it is.
 */
static void set_policy(struct timer_thread *tt)
{
	const struct sched_param least = {
		.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	struct sched_param param = {0};

	pthread_getschedparam(tt->thread, &tt->policy, &param);
	if (tt->policy != SCHED_FIFO && tt->policy != SCHED_RR &&
	    !pthread_setschedparam(tt->thread, SCHED_FIFO, &least))
		pthread_getschedparam(tt->thread, &tt->policy, &param);
	tt->priority = param.sched_priority;
}

int timer_thread_start(struct timer_thread *tt, const cpu_set_t *cpus)
{
	int ret = affinity_thread_create(&tt->thread, cpus, timer_thread_main,
					 tt);

	tt->started = tt->was_started = !ret;
	if (!ret)
		set_policy(tt);
	return ret;
}

void timer_thread_stop(struct timer_thread *tt)
{
	const uint64_t one = 1;

	if (tt->started && write(tt->stop_fd, &one, sizeof(one)) > 0)
		pthread_join(tt->thread, NULL);
	tt->started = false;
}

void timer_thread_destroy(struct timer_thread *tt)
{
	timer_thread_stop(tt);
	if (tt->stop_fd >= 0)
		close(tt->stop_fd);
	if (tt->epoll_fd >= 0)
		close(tt->epoll_fd);
	tt->stop_fd = tt->epoll_fd = -1;
}
