/* SPDX-License-Identifier: MIT */
/*
 * bench_plot - a benchmark as a picture: lateness against percentile, and
 * lateness from fire to fire.
 */
#ifndef VMM_BENCH_PLOT_H
#define VMM_BENCH_PLOT_H

#include <stdio.h>

struct bench_report;

/*
 * Writes the gnuplot script, data included, which plots an SVG of 900 pixels
 * width to the standard output. Rows without a sample are left out; the
 * second panel is where a run has a series. 0, or -EINVAL if no row has a
 * sample. Errors stay in out, for ferror(). Main thread.
 */
int bench_plot_write(const struct bench_report *report, FILE *out);

#endif
