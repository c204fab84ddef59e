/* SPDX-License-Identifier: MIT */
/*
 * arrivals - how punctual the vCPU thread is: when it was there to wait for a
 * deadline, against when it should have been, and how exactly the wait ended.
 *
 * Between the end of the wait and the guest nothing is counted: arrivals_note()
 * comes before the wait, which leaves its own figures in `wait`, and
 * arrivals_settle() looks at them when there is time. Pure; one thread.
 */
#ifndef TIMER_ARRIVALS_H
#define TIMER_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "hist.h"
#include "wait.h"

struct arrivals {
	uint64_t in_time, late;
	uint64_t spins; /* waits for the deadline itself, after arrivals in
			 * time; in_time but for one not yet settled */
	uint64_t spin_tsc, max_spin_tsc;
	uint64_t max_late_tsc;
	struct hist late_tsc;	  /* arrival after target, late ones only */
	struct hist spin_end_tsc; /* end of the spin after target */

	/* The last wait: who waits fills it in. */
	struct wait_stats wait;
	uint64_t target_host_tsc; /* its end */
	bool in_time_now;	  /* it is the wait of an arrival in time */
};

void arrivals_init(struct arrivals *arrivals);

/* A wait until target_host_tsc is to begin at arrival_host_tsc, host TSC. The
 * one before must have been settled. */
void arrivals_note(struct arrivals *arrivals, uint64_t arrival_host_tsc,
		   uint64_t target_host_tsc);

/* Counts the last wait, once. */
void arrivals_settle(struct arrivals *arrivals);

#endif
