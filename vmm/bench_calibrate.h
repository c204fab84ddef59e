/* SPDX-License-Identifier: MIT */
/*
 * bench_calibrate - the entry costs of a benchmark's cells, measured once.
 *
 * timer.vmentry_advance measures in VMs beside the start of a run. In
 * a benchmark that would disturb every round, and differ from one to the
 * next. So it is done before the rounds, once for all cells that are the same
 * to a calibration, and the runs are told what came of it.
 */
#ifndef VMM_BENCH_CALIBRATE_H
#define VMM_BENCH_CALIBRATE_H

#include <stddef.h>

#include "calibrate.h"

struct bench_signals;
struct config;

/* One calibration; measured.done is false until there is one, and stays so
 * on a host that cannot run mode userspace. */
struct bench_calibration {
	char *key;   /* see calibrate_key() */
	size_t cell; /* the first one that needs it */
	struct calibrate measured;
};

struct bench_calibrations {
	struct bench_calibration *items;
	size_t count;
};

/* Room for that many. 0 or -ENOMEM. */
int bench_calibrations_init(struct bench_calibrations *all, size_t room);
void bench_calibrations_free(struct bench_calibrations *all);

/*
 * The calibration that a cell with this config needs, in *found; NULL if
 * none. A new one is added, room permitting: one for each cell is enough.
 * 0 or -ENOMEM. Pure.
 */
int bench_calibrations_add(struct bench_calibrations *all, size_t cell,
			   const struct config *config,
			   const struct bench_calibration **found);

/*
 * Measures with the config of item->cell, a second or so. Whatever is in the
 * way of it is in the way of the runs too and left for them to report. A
 * signal of *signals ends it. 0 or -errno, with one line in err. Main thread
 * of a process without other threads.
 */
int bench_calibration_measure(struct bench_calibration *item,
			      const struct config *config,
			      struct bench_signals *signals, char *err,
			      size_t err_size);

enum {
	BENCH_ENTRY_COST_SIZE = 64,
};

/* The option that hands it to a run, in buf; NULL if there is nothing to
 * hand over. */
const char *bench_calibration_option(const struct bench_calibration *item,
				     char buf[BENCH_ENTRY_COST_SIZE]);

#endif
