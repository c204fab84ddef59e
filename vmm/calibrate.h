/* SPDX-License-Identifier: MIT */
/*
 * calibrate - measures the entry cost in throw-away VMs, beside the start.
 *
 * For timer.vmentry_advance "auto", and to check a number of ns by; for the
 * latter the guest waits. The entry cost of a running vCPU may differ
 * from one VM to the next on the same host, so one VM is not enough: several
 * are run, each in a process of its own, through the very path of the real
 * run (same rung, ioctls, affinity, timer thread) with the guest
 * guest-fw/calibrate. With "auto" the guest does not wait for them: until they
 * have answered, nothing is compensated, which is late but never early. They
 * start when the guest arms its timer for the first time; a guest that never
 * does pays for one fork.
 */
#ifndef VMM_CALIBRATE_H
#define VMM_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "entry_cost.h"
#include "probe.h"

struct config;
struct jsonw;

enum {
	CALIBRATE_VMS = 8,
	CALIBRATE_FIRES = 24, /* of each state, in each VM */
	CALIBRATE_WARMUP = 4,
	CALIBRATE_ROOM = CALIBRATE_VMS * CALIBRATE_FIRES,
};

enum calibrate_state {
	CALIBRATE_RUNNING,
	CALIBRATE_HALTED,
	CALIBRATE_STATES,
};

struct calibrate {
	int fd;	    /* answers come here; -1: not running */
	int go_fd;  /* a byte here starts the VMs; -1: there are none */
	bool given; /* not measured by this process: result_tsc alone counts */
	pid_t starter;
	unsigned int answered;
	size_t counts[CALIBRATE_STATES];
	int64_t samples[CALIBRATE_STATES][CALIBRATE_ROOM];
	uint64_t wall_ns; /* from the start of the VMs to the last answer */
	bool done;
	struct entry_cost cost[CALIBRATE_STATES];
};

/* Mode userspace, and an entry cost to measure, or to check one by? Pure. */
bool calibrate_is_wanted(const struct config *config);

/*
 * Forks the process that will start the VMs, while there is one thread only.
 * 0 or -errno. Main thread.
 */
int calibrate_prepare(struct calibrate *calibrate, const struct config *config,
		      enum timer_rung rung);

/*
 * Instead: the results are known, from a calibration of the same config
 * before. In TSC cycles; 0 compensates nothing. Main thread.
 */
void calibrate_give(struct calibrate *calibrate,
		    const uint64_t result_tsc[CALIBRATE_STATES]);

/*
 * The part of a config that a calibration depends on, as text: where it is
 * the same, so is what would be measured. NULL: out of memory. The caller
 * frees it. Pure.
 */
char *calibrate_key(const struct config *config);

/* Starts the VMs; a second call does nothing. One write. Any thread. */
void calibrate_go(const struct calibrate *calibrate);

/*
 * calibrate->fd is readable: takes what is there. True when the last VM has
 * answered or is gone; then cost[] is filled. A state with answers from fewer
 * than all VMs has the result 0. Main thread.
 */
bool calibrate_take(struct calibrate *calibrate);

/* Starts the VMs and waits for all: where their answer is needed before the
 * guest may start. Main thread. */
void calibrate_wait(struct calibrate *calibrate);

/* Ends what still runs. Main thread. */
void calibrate_stop(struct calibrate *calibrate);

/* Writes what was found as an object of that name; of a given one, no more
 * than the results. */
void calibrate_write(const struct calibrate *calibrate, const char *name,
		     struct jsonw *w);

#endif
