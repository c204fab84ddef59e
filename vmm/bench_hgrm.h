/* SPDX-License-Identifier: MIT */
/* bench_hgrm - one percentile file (hgrm.h) for each row of a benchmark. */
#ifndef VMM_BENCH_HGRM_H
#define VMM_BENCH_HGRM_H

#include <stddef.h>
#include <stdint.h>

struct bench_plan;
struct bench_report;
struct hist;

/*
 * The lateness of all rounds of a cell that count, in *sum. A fire that was
 * early counts as one that was late by 0, as *below_zero of them. *tsc_khz is
 * 0 if there is none. Pure.
 */
void bench_hgrm_sum(const struct bench_report *report, size_t cell,
		    struct hist *sum, uint64_t *below_zero, uint64_t *tsc_khz);

/* The file of a cell: prefix, its number from 1, and its config, group and
 * mode, less what a file name is better without. To be freed; NULL without
 * memory. Pure. */
char *bench_hgrm_path(const struct bench_plan *plan, size_t cell,
		      const char *prefix);

/*
 * Makes the files, empty: what cannot be written costs no run. 0 or -errno with
 * one line in err. Main thread.
 */
int bench_hgrm_open(const struct bench_plan *plan, const char *prefix,
		    char *err, size_t err_size);

/* Writes them. The one of a cell without a sample stays empty. As above. */
int bench_hgrm_write(const struct bench_report *report, const char *prefix,
		     char *err, size_t err_size);

#endif
