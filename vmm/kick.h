/* SPDX-License-Identifier: MIT */
/*
 * kick - how other threads get a vCPU thread out of KVM_RUN.
 *
 * One atomic word per vCPU is the whole hand-off: request bits set by any
 * thread, and KICK_RUNNING set by the vCPU thread while it is in, or about
 * to enter, KVM_RUN. A request is a flag, not a count: asking twice before
 * the vCPU looked is one request. A signal is sent only by the request that
 * found the vCPU running and nothing else asked for, so each sends one
 * signal at most and KVM_RUN returns once for it.
 *
 * The signal's handler sets kvm_run.immediate_exit through the pointer that
 * the signal itself carries (rt_tgsigqueueinfo), so it needs no ambient
 * state. The same signal may come from a POSIX timer that was made for this
 * thread: then the handler asks for KICK_DUE first, and nobody else had to.
 * Reference: Linux Documentation/virt/kvm/api.rst, "KVM_RUN" and
 * "immediate_exit"; timer_create(2).
 */
#ifndef VMM_KICK_H
#define VMM_KICK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	KICK_DUE = 1u << 0,    /* the host timer of this vCPU expired */
	KICK_STOP = 1u << 1,   /* leave the run loop for good */
	KICK_LOOK = 1u << 2,   /* report whether this vCPU is halted for ever */
	KICK_DUMP = 1u << 3,   /* write the registers to the dump buffer */
	KICK_RESYNC = 1u << 4, /* the host's clocks jumped */
	KICK_INTR = 1u << 5,   /* the 8259s want to interrupt */
	KICK_RUNNING = 1u << 30,
};

struct kick {
	uint32_t vcpu; /* whose it is, for the trace; set once */
	/* Writers: any thread (bits in), vCPU thread (bits out, RUNNING). */
	atomic_uint word;
	/* vCPU thread and its signal handler: &kvm_run.immediate_exit. */
	volatile uint8_t *immediate_exit;
	/* Set once by the vCPU thread; tid last, and 0 until then. */
	pid_t tgid;
	atomic_int tid;
	/* Any thread. */
	atomic_ulong signals;	   /* signals sent */
	atomic_ulong send_retries; /* the signal queue was full */
	/* vCPU thread. */
	unsigned long enters;
	/* Writer: the signal handler, on the vCPU thread. */
	atomic_ulong expiries; /* signals of its POSIX timer */
};

/* The signal, for a timer that is to send it with the kick as its value. */
int kick_signal_number(void);

/* Installs the signal handler for the process. 0 or -errno. Main thread. */
int kick_init_process(void);

/* Binds the slot to the calling thread. vCPU thread, before kick_enter. */
void kick_bind(struct kick *kick, volatile uint8_t *immediate_exit);

/*
 * Asks for KVM_RUN. Returns 0: go, the vCPU counts as running from now on;
 * or the requests, which are taken and must be served before the next call.
 * vCPU thread.
 */
uint32_t kick_enter(struct kick *kick);

/* KVM_RUN returned. Requests stay for the next kick_enter. vCPU thread. */
void kick_leave(struct kick *kick);

/* The requests that wait to be served; takes none. vCPU thread. */
uint32_t kick_pending(const struct kick *kick);

/* Asks for `request` (KICK_* bits but RUNNING). True if a signal was needed: it
 * was in KVM_RUN, unasked. Any thread. */
bool kick_send(struct kick *kick, uint32_t request);

/*
 * Sends the signal whatever the thread is doing, to get it out of a write
 * that blocks. Does nothing before kick_bind: the thread will look at the
 * requests before it runs. It must not have been joined. Any thread.
 */
void kick_interrupt(struct kick *kick);

#endif
