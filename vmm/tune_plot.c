/* SPDX-License-Identifier: MIT */
/*
 * tune_plot - writes a script and feeds it to gnuplot.
 * No name of a file is in the script but in the legend, quoted: gnuplot would
 * take some for commands. Its output is ours to open.
 */
#define _GNU_SOURCE
#include "tune_plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"

/* What has no place on a logarithmic axis is drawn at its lower end. */
#define LATE_MIN_US 0.01
#define SPIN_MIN_US 0.01

static double at_least(double value, double least)
{
	return value > least ? value : least;
}

static void write_point(FILE *script, const struct tune_point *point,
			const char *label)
{
	if (isnan(point->spin_us))
		return;
	fprintf(script, "%.4f %.4f \"%s\"\n",
		at_least(point->spin_us, SPIN_MIN_US),
		at_least(point->late_p99_us, LATE_MIN_US), label);
}

/* The policy's number alone: "0.99". */
static const char *short_name(unsigned int quantile)
{
	return strchr(tune_policy_names[2 + quantile], ' ') + 1;
}

static void write_data(FILE *script, const struct tune_curve *curve, size_t i)
{
	fprintf(script, "$quantile%zu << END\n", i);
	for (unsigned int q = 0; q < TUNE_QUANTILES; q++)
		write_point(script, &curve->points.policy[2 + q],
			    short_name(q));
	fprintf(script, "END\n$step%zu << END\n", i);
	write_point(script, &curve->points.policy[1], "step");
	fprintf(script, "END\n$best%zu << END\n", i);
	for (unsigned int q = 0; q < TUNE_QUANTILES; q++)
		write_point(script, &curve->points.optimum[q], short_name(q));
	fprintf(script, "END\n");
}

static void write_title(FILE *script, const char *name, const char *what)
{
	fputs(" title '", script);
	gnuplot_quote(script, name);
	fprintf(script, ": %s'", what);
}

static void write_script(FILE *script, const struct tune_curve *curves,
			 size_t count)
{
	fprintf(script,
		"set terminal svg size 900,600 font 'sans,13' noenhanced "
		"background rgb 'white'\n"
		"set title 'Advance of the host timer: lateness against spin, "
		"each tuner on recorded deliveries'\n"
		"set xlabel 'spin a fire, mean [us]'\n"
		"set ylabel 'arrival after the target, p99 [us] (0 is drawn "
		"at %g)'\n"
		"set logscale xy\n"
		"set yrange [%g:*]\n"
		"set grid\n"
		"set key outside bottom center horizontal maxcols 3\n"
		"set bmargin %zu\n",
		LATE_MIN_US, LATE_MIN_US * 0.8, 5 + count * 3 / 2);
	for (size_t i = 0; i < count; i++)
		write_data(script, &curves[i], i);
	fputs("plot ", script);
	for (size_t i = 0; i < count; i++) {
		size_t colour = i % 8 + 1;

		fprintf(script,
			"%s$quantile%zu using 1:2 with linespoints lt %zu pt 7 "
			"ps 0.7 lw 2",
			i ? ", " : "", i, colour);
		write_title(script, curves[i].name, "quantile");
		fprintf(script,
			", $quantile%zu using 1:2:3 with labels left rotate by 30 offset 0.3,0.4 "
			"font ',10' tc lt %zu notitle, $best%zu using 1:2 with "
			"linespoints lt %zu dt 2 pt 6 ps 0.7",
			i, colour, i, colour);
		write_title(script, curves[i].name, "best fixed");
		fprintf(script,
			", $step%zu using 1:2 with points lt %zu pt 2 ps 1.4 "
			"lw 2",
			i, colour);
		write_title(script, curves[i].name, "step");
	}
	fputc('\n', script);
}

char *tune_plot_script(const struct tune_curve *curves, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *script = open_memstream(&text, &size);

	if (!script)
		return NULL;
	write_script(script, curves, count);
	if (fclose(script)) {
		free(text);
		return NULL;
	}
	return text;
}

int tune_plot_draw(const struct tune_curve *curves, size_t count,
		   struct output *output, char *err, size_t err_size)
{
	char *text = tune_plot_script(curves, count);
	int ret;

	if (!text) {
		snprintf(err, err_size, "--plot: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	ret = output_begin(output, err, err_size);
	if (!ret)
		ret = gnuplot_run(text, strlen(text), output->fd, err,
				  err_size);
	free(text);
	return ret;
}
