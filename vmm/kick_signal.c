/* SPDX-License-Identifier: MIT */
/*
 * kick_signal - the signal behind a kick, apart from the hand-off in kick.c,
 * which is then nothing but atomics and can be run by threads without KVM.
 * Reference: rt_tgsigqueueinfo(2), signal(7), sigaction(2); Linux
 * Documentation/virt/kvm/api.rst "immediate_exit".
 * Does not look at the requests: those are in the word.
 *
 * A timer's signal adds one to the word on the thread's own way: whether the
 * handler runs before kick_enter's swap, between it and the ioctl, or when the
 * ioctl has been left, the request is there before immediate_exit is, and the
 * next swap finds it. Others who ask meanwhile see more than KICK_RUNNING and
 * send nothing: the handler has run, so KVM_RUN returns anyhow.
 */
#define _GNU_SOURCE
#include "kick.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A real-time signal: when its queue is full the sender is told (EAGAIN),
 * where a standard signal would arrive without its pointer. */
#define KICK_SIGNAL	 (SIGRTMIN)

/* Some ms of yielding, far above what a drain takes. */
#define SEND_RETRIES_MAX 10000

static void kick_handler(int signal_number, siginfo_t *info, void *context)
{
	struct kick *kick = info->si_value.sival_ptr;

	(void)signal_number;
	(void)context;
	switch (info->si_code) {
	case SI_QUEUE:
		if (info->si_pid != getpid())
			return; /* not ours: the pointer means nothing */
		break;
	case SI_TIMER:
		atomic_fetch_add_explicit(&kick->expiries, 1,
					  memory_order_relaxed);
		atomic_fetch_or_explicit(&kick->word, KICK_DUE,
					 memory_order_relaxed);
		break;
	default:
		return;
	}
	*kick->immediate_exit = 1;
}

int kick_signal_number(void)
{
	return KICK_SIGNAL;
}

int kick_init_process(void)
{
	/* No SA_RESTART: a vCPU thread that blocks in a write to a full
	 * console must come out of it too. */
	struct sigaction action = {.sa_sigaction = kick_handler,
				   .sa_flags = SA_SIGINFO};

	sigfillset(&action.sa_mask);
	return sigaction(KICK_SIGNAL, &action, NULL) ? -errno : 0;
}

void kick_interrupt(struct kick *kick)
{
	int tid = atomic_load_explicit(&kick->tid, memory_order_acquire);
	siginfo_t info;

	if (!tid)
		return;
	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = kick->tgid;
	info.si_value.sival_ptr = kick;
	atomic_fetch_add_explicit(&kick->signals, 1, memory_order_relaxed);
	for (int i = 0; i < SEND_RETRIES_MAX; i++) {
		if (!syscall(SYS_rt_tgsigqueueinfo, kick->tgid, tid,
			     KICK_SIGNAL, &info) ||
		    errno != EAGAIN)
			return;
		/* The queue drains as vCPU threads take their signals. */
		atomic_fetch_add_explicit(&kick->send_retries, 1,
					  memory_order_relaxed);
		sched_yield();
	}
	/* The queue is the user's, and others may keep it full for ever. A
	 * signal without a payload needs no room; what the handler would do
	 * with the payload is done here. */
	*kick->immediate_exit = 1;
	syscall(SYS_tgkill, kick->tgid, tid, KICK_SIGNAL);
}
