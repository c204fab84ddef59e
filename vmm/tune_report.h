/* SPDX-License-Identifier: MIT */
/*
 * tune_report - the deliveries of a trace, replayed through the tuners, as a
 * table; and as points for a plot. One thread.
 */
#ifndef VMM_TUNE_REPORT_H
#define VMM_TUNE_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace_format.h"
#include "tune_sim.h"

struct trace_file;

enum {
	/* The tuner is on its way, and the calibration may be, too. */
	TUNE_WARMUP = 300,
	TUNE_QUANTILES = 6,
	/* recorded, step, quantile for each */
	TUNE_POLICIES = 2 + TUNE_QUANTILES,
};

/* The samples of one vCPU: what the tuner had from it. */
struct tune_samples {
	uint32_t vcpu;
	struct tune_fire *fires; /* on the heap; group: enum trace_state */
	size_t count;
	size_t by_state[TRACE_STATES];
	size_t left_out; /* deliveries that were no samples */
	int64_t *room;	 /* on the heap, for count */
};

/* What one policy makes of them, for the plot. */
struct tune_point {
	double spin_us, late_p99_us;
};

/* NAN: none. */
struct tune_points {
	struct tune_point policy[TUNE_POLICIES];
	/* The smallest fixed advance for each quantile. */
	struct tune_point optimum[TUNE_QUANTILES];
};

/* The policies by name, as in the table. */
extern const char *const tune_policy_names[TUNE_POLICIES];

/* Picks the samples of a vCPU. 0 or -ENOMEM; tune_samples_free() it. */
int tune_samples_take(struct tune_samples *samples,
		      const struct trace_file *file, uint32_t vcpu);
void tune_samples_free(struct tune_samples *samples);

/* Prints the table of a trace's vCPU, and fills *points. There must be at least
 * one sample. */
void tune_report_print(FILE *out, const char *name,
		       const struct trace_header *header,
		       struct tune_samples *samples,
		       struct tune_points *points);

#endif
