/* SPDX-License-Identifier: MIT */
/*
 * noise_floor - what this host takes from a thread that wants nothing but to
 * read its TSC: the gaps between two reads, on one CPU.
 *
 * A timer that is late by less than the largest gap may be late because of the
 * host, whoever emulates it. The time is the host's TSC.
 */
#ifndef VMM_NOISE_FLOOR_H
#define VMM_NOISE_FLOOR_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct clock;
struct hist;
struct jsonw;

enum {
	NOISE_FLOOR_MS = 20,
};

struct noise_floor {
	bool is_done;
	int cpu; /* where it was measured; -1: the thread was not pinned */
	uint64_t reads;
	uint64_t span_tsc;  /* all gaps in a row */
	uint64_t p99_9_tsc; /* of the gaps, to 1/32 */
	uint64_t max_tsc;
};

/*
 * Counts the gaps between `reads` + 1 reads of the clock in gaps. Pure but for
 * the clock. A clock that steps back counts as a gap of 0.
 */
void noise_floor_count(const struct clock *clock, uint32_t reads,
		       struct hist *gaps);

/* Fills in all but cpu and is_done. gaps is not empty. Pure. */
void noise_floor_sum(const struct hist *gaps, uint64_t span_tsc,
		     struct noise_floor *floor);

/*
 * Measures for NOISE_FLOOR_MS on the first CPU of cpus, or, with NULL, on the
 * one that the thread is on; its affinity is as before afterwards. 0 or
 * -errno, and then *floor is empty. Main thread of a process without others.
 */
int noise_floor_measure(struct noise_floor *floor, const cpu_set_t *cpus);

/* The members of an object, or null, under that name. */
void noise_floor_write(const struct noise_floor *floor, const char *name,
		       struct jsonw *w);

#endif
