/* SPDX-License-Identifier: MIT */
/*
 * vcpu - one virtual CPU and the thread that runs it for its whole life.
 *
 * KVM ties a vCPU to the thread that runs it; so does punctual. Everything
 * in struct vcpu belongs to that thread while it lives, except what is
 * marked otherwise; the main thread reads the rest after the join.
 */
#ifndef VMM_VCPU_H
#define VMM_VCPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kick.h"
#include "user_timer.h"

struct kvm_run;
struct vm;

enum {
	VCPU_COUNT_MAX = 64,
	VCPU_EXIT_REASONS = 40, /* KVM_EXIT_* of Linux 6.1 and some room */
	VCPU_DUMP_SIZE = 2048,
};

/* Counters of one vCPU. */
struct vcpu_stats {
	uint64_t exits[VCPU_EXIT_REASONS]; /* KVM_RUN returned 0, by reason */
	uint64_t exits_other;		   /* reasons beyond the table */
	uint64_t interrupted;		   /* KVM_RUN returned EINTR */
	uint64_t not_started;		   /* KVM_RUN returned EAGAIN: INIT */
	uint64_t requests;		   /* kicks served */
	uint64_t msr_refused; /* guest MSR accesses answered with #GP */
	uint64_t tsc_writes;  /* of IA32_TSC and IA32_TSC_ADJUST */
	uint64_t backstop_checks;
	uint64_t flushes_refused; /* of pages that are not RAM, test_ports.h */
};

/* What a look at a vCPU that uses no CPU time found; see halted.h. */
enum vcpu_idle {
	VCPU_MAY_RUN,
	VCPU_HALTED, /* HLT, interrupts off, nothing pending */
	VCPU_WAITS_FOR_INIT,
};

struct vcpu {
	/* Set once, before the thread starts. */
	struct vm *vm;
	uint32_t index; /* also its APIC id */
	int fd;
	struct kvm_run *run;
	size_t run_size;
	pthread_t thread;
	bool thread_started;

	/* vCPU thread. */
	struct user_timer timer;
	struct vcpu_stats stats;
	uint64_t backstop_next_tsc; /* host TSC: do not look before */
	char dump[VCPU_DUMP_SIZE];

	/* Main thread, see halted.c. */
	uint64_t tick_cpu_ns;
	unsigned long tick_looks;

	/* Any thread, see kick.h. */
	struct kick kick;

	/* Writer: vCPU thread. Reader: main thread. */
	atomic_int idle;	   /* enum vcpu_idle of the last look */
	atomic_ulong looks, dumps; /* how many were done */
	atomic_bool timer_seen;	   /* a write of the deadline arrived */
	atomic_bool ended;	   /* the thread is about to return */

	/* The 8259s' output, where it is wired to this vCPU, else false.
	 * Writer: any thread, with the bus's lock; then it sends KICK_INTR. */
	atomic_bool intr;
};

/*
 * Creates the vCPU in KVM and maps its kvm_run. 0 or -errno with one line in
 * err. Main thread.
 */
int vcpu_create(struct vcpu *vcpu, struct vm *vm, uint32_t index, char *err,
		size_t err_size);
void vcpu_destroy(struct vcpu *vcpu);

/* Starts the thread, pinned as the config says. 0 or -errno. Main thread. */
int vcpu_start(struct vcpu *vcpu);

#endif
