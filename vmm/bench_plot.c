/* SPDX-License-Identifier: MIT */
/*
 * bench_plot - a gnuplot script.
 *
 * Reference: the percentile axis of HdrHistogram's plots, linear in the
 * logarithm of 1/(1-Percentile), so that each further nine takes the same
 * room; gnuplot's "set log", "set link", inline data blocks.
 * Lateness is in microseconds on a log axis, and in cycles on the other side;
 * what is below one cycle, early or exactly on time, is drawn at one cycle.
 */
#include "bench_plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "bench_hgrm.h"
#include "bench_plan.h"
#include "bench_stats.h"
#include "gnuplot.h"
#include "hist.h"
#include "host.h"

enum {
	TIMELINE_POINTS = 400, /* of a row, at most */
	ROWS_MAX = 64,
};

struct plot {
	const struct bench_report *report;
	FILE *out;
	uint64_t tsc_khz;
	size_t cells[ROWS_MAX]; /* the rows that are drawn */
	size_t count;
	size_t blocks;		  /* that they belong to */
	int64_t min_tsc, max_tsc; /* of all that is drawn */
	uint64_t most;		  /* samples in a row */
};

/* Modes differ in colour, blocks in the dash. Okabe and Ito's palette, which
 * the colour-blind can tell apart. */
static const char *const colours[] = {
	"#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
};

/* gnuplot's numbers for points, one for each block. */
enum {
	MARKS = 4,
};
static const unsigned int marks[MARKS] = {7, 6, 9, 8};
static const char *const mark_names[MARKS] = {"dots", "circles", "triangles",
					      "open triangles"};

static const struct bench_series *series_of(const struct plot *p, size_t i)
{
	const struct bench_run *runs = bench_runs(p->report, p->cells[i]);

	return &runs[p->report->plan->rounds - 1].series;
}

static double to_us(const struct plot *p, int64_t tsc)
{
	return (double)(tsc > 1 ? tsc : 1) * 1e3 / (double)p->tsc_khz;
}

static size_t colour_of(const struct plot *p, size_t i)
{
	const struct bench_cell *cells = p->report->plan->cells;
	size_t row = 0, cell = p->cells[i];

	while (cell && cells[cell - 1].block == cells[cell].block) {
		cell--;
		row++;
	}
	return row % (sizeof(colours) / sizeof(colours[0]));
}

static size_t block_of(const struct plot *p, size_t i)
{
	const struct bench_cell *cells = p->report->plan->cells;

	return cells[p->cells[i]].block - cells[p->cells[0]].block;
}

static void print_title(const struct plot *p, size_t i)
{
	const struct bench_cell *cell = &p->report->plan->cells[p->cells[i]];

	fputs("title '", p->out);
	gnuplot_quote(p->out, cell->mode);
	if (p->blocks > 1) {
		fputs(", ", p->out);
		gnuplot_quote(p->out,
			      *cell->group ? cell->group : cell->config);
	}
	fputc('\'', p->out);
}

/* One point where a bucket begins to count and one where it ends: the curve
 * then is the step function that the samples are. */
static void print_percentiles(const struct plot *p, size_t i,
			      const struct hist *h)
{
	uint64_t seen = 0;

	fprintf(p->out, "$percentiles%zu << EOD\n", i);
	for (size_t b = hist_next(h, 0); b < HIST_BUCKETS;
	     b = hist_next(h, b + 1)) {
		uint64_t high = hist_high(b) < h->max ? hist_high(b) : h->max;
		double us =
			to_us(p, high > INT64_MAX ? INT64_MAX : (int64_t)high);
		double rest = (double)(h->count - seen) / (double)h->count;

		fprintf(p->out, "%.6g %.6g\n", 1 / rest, us);
		seen += h->bucket[b];
		rest = (double)(h->count - seen) / (double)h->count;
		fprintf(p->out, "%.6g %.6g\n",
			seen < h->count ? 1 / rest : (double)h->count, us);
	}
	fputs("EOD\n", p->out);
}

/* How many fires a point stands for. */
static size_t fires_a_point(const struct plot *p)
{
	size_t most = 0;

	for (size_t i = 0; i < p->count; i++)
		if (series_of(p, i)->count > most)
			most = series_of(p, i)->count;
	return (most + TIMELINE_POINTS - 1) / TIMELINE_POINTS;
}

static void print_timeline(const struct plot *p, size_t i, size_t step)
{
	const struct bench_series *s = series_of(p, i);

	fprintf(p->out, "$timeline%zu << EOD\n", i);
	for (size_t from = 0; from < s->count; from += step) {
		int64_t latest = s->lateness_tsc[from];

		for (size_t j = from; j < from + step && j < s->count; j++)
			if (s->lateness_tsc[j] > latest)
				latest = s->lateness_tsc[j];
		fprintf(p->out, "%zu %.6g\n", from + 1, to_us(p, latest));
	}
	fputs("EOD\n", p->out);
}

static void widen(struct plot *p, int64_t tsc)
{
	if (tsc < p->min_tsc)
		p->min_tsc = tsc;
	if (tsc > p->max_tsc)
		p->max_tsc = tsc;
}

/* The time line has the warm-up too. */
static void find_range(struct plot *p, size_t i, const struct hist *sum)
{
	const struct bench_series *s = series_of(p, i);

	widen(p, sum->min > INT64_MAX ? INT64_MAX : (int64_t)sum->min);
	widen(p, sum->max > INT64_MAX ? INT64_MAX : (int64_t)sum->max);
	for (size_t j = 0; j < s->count; j++)
		widen(p, s->lateness_tsc[j]);
}

static double decade_below(double us)
{
	return pow(10, floor(log10(us)));
}

static void find_rows(struct plot *p)
{
	const struct bench_plan *plan = p->report->plan;
	uint64_t below_zero, tsc_khz;
	struct hist sum;

	for (size_t i = 0; i < plan->cell_count && p->count < ROWS_MAX; i++) {
		bench_hgrm_sum(p->report, i, &sum, &below_zero, &tsc_khz);
		if (!sum.count || !tsc_khz)
			continue;
		p->tsc_khz = tsc_khz;
		p->cells[p->count++] = i;
		find_range(p, p->count - 1, &sum);
		if (sum.count > p->most)
			p->most = sum.count;
	}
	if (p->count)
		p->blocks = block_of(p, p->count - 1) + 1;
}

static void print_data(const struct plot *p, size_t step)
{
	uint64_t below_zero, tsc_khz;
	struct hist sum;

	for (size_t i = 0; i < p->count; i++) {
		bench_hgrm_sum(p->report, p->cells[i], &sum, &below_zero,
			       &tsc_khz);
		print_percentiles(p, i, &sum);
		if (series_of(p, i)->count)
			print_timeline(p, i, step);
	}
}

static void print_frame(const struct plot *p, size_t step)
{
	const struct host_info *host = p->report->host;
	const double cycles_per_us = (double)p->tsc_khz / 1e3;
	double low_us = decade_below(to_us(p, p->min_tsc));
	double high_us = 10 * decade_below(to_us(p, p->max_tsc));

	fprintf(p->out,
		"set terminal svg size 900,%d background '#ffffff' "
		"font 'sans-serif,13' noenhanced\n",
		step ? 840 : 460);
	fprintf(p->out, "set multiplot layout %d,1 title '", step ? 2 : 1);
	gnuplot_quote(p->out, "Lateness of the guest's timer: ");
	gnuplot_quote(p->out, host->backend);
	gnuplot_quote(p->out, ", Linux ");
	gnuplot_quote(p->out, host->kernel);
	fprintf(p->out, ", TSC %.0f MHz' font ',15'\n", cycles_per_us);
	fprintf(p->out,
		"set logscale y 10\n"
		"set format y '%%g'\n"
		"set ylabel 'lateness, us'\n"
		"set y2label 'cycles'\n"
		"set ytics nomirror\n"
		"set y2tics\n"
		"set format y2 '%%g'\n"
		"set logscale y2 10\n"
		"set yrange [%g:%g]\n"
		"set y2range [%g:%g]\n"
		"set grid xtics ytics lt 1 lc '#dddddd'\n"
		"set border lc '#666666'\n"
		"set lmargin 9\n"
		"set rmargin 10\n"
		"set key outside top center horizontal reverse Left samplen 2 "
		"maxcols 3 width 1\n",
		low_us, high_us, low_us * cycles_per_us,
		high_us * cycles_per_us);
}

static void print_first_panel(const struct plot *p)
{
	fprintf(p->out, "set xrange [1:%g]\n", (double)p->most);
	fputs("set title 'share of fires that are at most so late: all "
	      "rounds, without warm-up'\n"
	      "set logscale x 10\n"
	      "set xlabel 'percentile'\n"
	      "set xtics ('0' 1, '50' 2, '90' 10, '99' 100, '99.9' 1e3, "
	      "'99.99' 1e4, '99.999' 1e5, '99.9999' 1e6)\n"
	      "plot ",
	      p->out);
	for (size_t i = 0; i < p->count; i++) {
		fprintf(p->out,
			"%s$percentiles%zu using 1:2 with lines lw 2 lc '%s' "
			"dt %zu ",
			i ? ", \\\n  " : "", i, colours[colour_of(p, i)],
			block_of(p, i) + 1);
		print_title(p, i);
	}
	fputc('\n', p->out);
}

/* Where the percentiles begin to count. */
static void print_warmup(const struct plot *p)
{
	size_t warmup = 0;

	for (size_t i = 0; i < p->count; i++)
		if (series_of(p, i)->warmup > warmup)
			warmup = series_of(p, i)->warmup;
	if (warmup)
		fprintf(p->out,
			"set arrow from first %zu, graph 0 to first %zu, graph "
			"1 nohead lc '#666666' dt 3\n"
			"set label 'warm-up ends' at first %zu, graph 1.04 "
			"center tc '#666666' font ',11'\n",
			warmup, warmup, warmup);
}

/* Which block has which mark, as far as there are marks. */
static void print_marks(const struct plot *p)
{
	const char *separator = ": ";
	size_t next = 0;

	for (size_t i = 0; p->blocks > 1 && i < p->count; i++) {
		const struct bench_cell *cell =
			&p->report->plan->cells[p->cells[i]];

		if (block_of(p, i) != next || next >= MARKS)
			continue;
		fprintf(p->out, "%s%s ", separator, mark_names[next]);
		gnuplot_quote(p->out,
			      *cell->group ? cell->group : cell->config);
		separator = ", ";
		next++;
	}
}

static void print_second_panel(const struct plot *p, size_t step)
{
	const char *separator = "";

	print_warmup(p);
	fputs("set title 'fire after fire, the last round, vCPU 0", p->out);
	print_marks(p);
	fputs("'\n"
	      "unset logscale x\n"
	      "set xrange [0:*] noextend\n"
	      "set xtics auto\n"
	      "unset key\n",
	      p->out);
	if (step > 1)
		fprintf(p->out,
			"set xlabel 'fire (a point is the latest of %zu)'\n",
			step);
	else
		fputs("set xlabel 'fire'\n", p->out);
	fputs("plot ", p->out);
	for (size_t i = 0; i < p->count; i++) {
		if (!series_of(p, i)->count)
			continue;
		fprintf(p->out,
			"%s$timeline%zu using 1:2 with points pt %u ps 0.4 "
			"lc '%s' notitle",
			separator, i, marks[block_of(p, i) % MARKS],
			colours[colour_of(p, i)]);
		separator = ", \\\n  ";
	}
	fputc('\n', p->out);
}

int bench_plot_write(const struct bench_report *report, FILE *out)
{
	struct plot p = {
		.report = report,
		.out = out,
		.min_tsc = INT64_MAX,
		.max_tsc = INT64_MIN,
	};
	size_t step;

	find_rows(&p);
	if (!p.count)
		return -EINVAL;
	step = fires_a_point(&p);
	print_data(&p, step);
	print_frame(&p, step);
	print_first_panel(&p);
	if (step)
		print_second_panel(&p, step);
	fputs("unset multiplot\n", out);
	return 0;
}
