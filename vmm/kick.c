/* SPDX-License-Identifier: MIT */
/*
 * kick - the one lock-free spot of the VMM: requests to a vCPU thread.
 *
 * Memory order. kick_send's fetch_or is a release: what the sender wrote
 * before it asked is visible to the vCPU thread that takes the request with
 * an acquire. KICK_RUNNING is set by the same compare-and-swap that finds no
 * request, so a request is either taken by kick_enter or finds RUNNING and
 * sends a signal: there is no window in which it is neither.
 *
 * The interleaving that immediate_exit closes: the vCPU thread sets RUNNING;
 * a sender asks and sends the signal; the handler runs before the ioctl. With
 * no flag KVM_RUN would then block on nothing; with it KVM_RUN returns EINTR.
 * immediate_exit is therefore cleared *before* the swap, never after it.
 *
 * A signal whose request was already taken (KVM_RUN had returned for another
 * reason meanwhile) makes a later KVM_RUN return EINTR once with nothing
 * asked for; the loop just goes round.
 */
#define _GNU_SOURCE
#include "kick.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "probes.h"

void kick_bind(struct kick *kick, volatile uint8_t *immediate_exit)
{
	kick->immediate_exit = immediate_exit;
	kick->tgid = getpid();
	/* Whoever sees the thread's number may use the rest as well. */
	atomic_store_explicit(&kick->tid, (int)syscall(SYS_gettid),
			      memory_order_release);
}

uint32_t kick_enter(struct kick *kick)
{
	unsigned int expected = 0;

	*kick->immediate_exit = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_compare_exchange_strong_explicit(
		    &kick->word, &expected, KICK_RUNNING, memory_order_acq_rel,
		    memory_order_acquire)) {
		kick->enters++;
		return 0;
	}
	return atomic_exchange_explicit(&kick->word, 0, memory_order_acquire);
}

void kick_leave(struct kick *kick)
{
	atomic_fetch_and_explicit(&kick->word, ~(unsigned int)KICK_RUNNING,
				  memory_order_release);
}

uint32_t kick_pending(const struct kick *kick)
{
	return atomic_load_explicit(&kick->word, memory_order_relaxed) &
	       ~(unsigned int)KICK_RUNNING;
}

bool kick_send(struct kick *kick, uint32_t request)
{
	unsigned int before = atomic_fetch_or_explicit(&kick->word, request,
						       memory_order_acq_rel);

	PROBE3(kick, kick->vcpu, request, before == KICK_RUNNING);
	/* Else it will look before it runs, or has been signalled. */
	if (before != KICK_RUNNING)
		return false;
	kick_interrupt(kick);
	return true;
}
