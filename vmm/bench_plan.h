/* SPDX-License-Identifier: MIT */
/*
 * bench_plan - what a benchmark runs, and in which order. Pure.
 *
 * A cell is one configuration that is measured: a config file and the
 * overrides that make it one of the variants. Cells that differ in the timer
 * mode alone are compared with each other and make up one block, one after
 * the other in the plan.
 */
#ifndef VMM_BENCH_PLAN_H
#define VMM_BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_calibration;
struct options;

enum {
	BENCH_CELLS_MAX = 1024,
	BENCH_RUNS_MAX = 100000,  /* cells times rounds */
	BENCH_ROUNDS_DEFAULT = 6, /* the fewest that have an interval */
};

struct bench_cell {
	const char *config; /* path, belongs to the options */
	char **sets;	    /* KEY=VALUE, in the order to apply */
	size_t set_count;
	char *mode;   /* its row: "kernel", "userspace auto" */
	char *group;  /* what else varies: "wait=spin", or "" */
	size_t block; /* counts from 0 */
	bool is_qemu; /* not a run of ours: --baseline qemu */
	/* Set by who loads the config. */
	bool is_kernel;				     /* timer.mode in force */
	const struct bench_calibration *calibration; /* NULL: needs none */
	bool has_image_hash; /* the guest's image could be read */
	uint64_t image_hash;
};

struct bench_plan {
	struct bench_cell *cells;
	size_t cell_count;
	unsigned int rounds;
};

/*
 * Makes the cells: configs x --vary, in the order given, x modes innermost.
 * The modes are kernel, userspace without advance and userspace with
 * advance=auto, unless --vary has timer.mode or timer.advance. has_wait, one
 * for each config: its guest's command line has a word wait=, which is then
 * varied over spin and hlt unless --vary or --set decide on it. With --baseline
 * each block gets a last row "qemu", in mode kernel.
 * 0; -EINVAL with one line in err (a --vary that cannot be understood, a key
 * given twice or kept by bench, too many cells or runs); -ENOMEM.
 */
int bench_plan_make(struct bench_plan *plan, const struct options *options,
		    const bool *has_wait, char *err, size_t err_size);
void bench_plan_free(struct bench_plan *plan);

/*
 * The cell that runs at a position of a round, both from 0. Each round
 * starts one cell further on, and every other one goes backwards, so that a
 * cell neither keeps its place nor always follows the same other.
 */
size_t bench_plan_cell_at(size_t cell_count, unsigned int round,
			  size_t position);

/* Is there a word wait=... on that command line? */
bool bench_plan_has_wait(const char *boot_args);

#endif
