/* SPDX-License-Identifier: MIT */
/*
 * tune_plot - what tune-sim found, as a picture: lateness against spin, drawn
 * by gnuplot, which need not be there. One thread.
 */
#ifndef VMM_TUNE_PLOT_H
#define VMM_TUNE_PLOT_H

#include <stddef.h>

#include "output.h"
#include "tune_report.h"

struct tune_curve {
	char name[128]; /* of the trace, for the legend */
	struct tune_points points;
};

/* The program for gnuplot, on the heap; NULL: no memory. What it draws goes to
 * its standard output. */
char *tune_plot_script(const struct tune_curve *curves, size_t count);

/* Has gnuplot draw into an open output. 0 or -errno with one line in err;
 * -ENOENT: there is no gnuplot. */
int tune_plot_draw(const struct tune_curve *curves, size_t count,
		   struct output *output, char *err, size_t err_size);

#endif
