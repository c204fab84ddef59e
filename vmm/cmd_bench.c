/* SPDX-License-Identifier: MIT */
/*
 * cmd_bench - `punctual bench`: the same guest under several timer modes,
 * round by round, each run in a process of its own.
 *
 * Everything that can be wrong with the command line and the configs is found
 * before the first run; bench_rounds.c runs them. What forbids a comparison,
 * and a comparison that came to nothing, make the exit status 1.
 */
#define _GNU_SOURCE /* open_memstream */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_hgrm.h"
#include "bench_json.h"
#include "bench_plan.h"
#include "bench_plot.h"
#include "bench_qemu.h"
#include "bench_rounds.h"
#include "bench_stats.h"
#include "bench_table.h"
#include "commands.h"
#include "config.h"
#include "end.h"
#include "gnuplot.h"
#include "host.h"
#include "image_hash.h"
#include "jsonw.h"
#include "options.h"
#include "output.h"

enum {
	EXIT_STATUS_CANNOT_TELL = 1,
	JSON_SIZE = 256 << 20,
};

/* Which guests can be told how to wait. */
static int find_waits(struct bench *bench, bool *has_wait)
{
	const struct options *options = bench->options;
	struct config config;

	for (size_t i = 0; i < options->config_count; i++) {
		if (config_load(options->configs[i], options->sets,
				options->set_count, &config, bench->err,
				sizeof(bench->err)))
			return EXIT_STATUS_CONFIG;
		has_wait[i] = bench_plan_has_wait(config.boot_args);
		config_free(&config);
	}
	return 0;
}

/* Loads every cell once: what is wrong with one must not show in round 3. */
static int check_cells(struct bench *bench)
{
	size_t count = bench->plan.cell_count;
	int ret = bench_calibrations_init(&bench->calibrations, count);

	bench->configs = calloc(count, sizeof(*bench->configs));
	if (!bench->configs)
		ret = -ENOMEM;

	for (size_t i = 0; !ret && i < count; i++) {
		struct bench_cell *cell = &bench->plan.cells[i];
		struct config *config = &bench->configs[i];

		if (config_load(cell->config, bench_sets(cell), cell->set_count,
				config, bench->err, sizeof(bench->err)))
			return EXIT_STATUS_CONFIG;
		if (cell->is_qemu &&
		    bench_qemu_check(config, bench->err, sizeof(bench->err)))
			return EXIT_STATUS_CONFIG;
		cell->is_kernel =
			config->mode == TIMER_KERNEL && !cell->is_qemu;
		/* Without one the runs will say what is wrong. */
		cell->has_image_hash = !image_hash(config->kernel_image_path,
						   &cell->image_hash);
		ret = bench_calibrations_add(&bench->calibrations, i, config,
					     &cell->calibration);
	}
	if (!ret)
		return 0;
	snprintf(bench->err, sizeof(bench->err), "%s", strerror(-ret));
	return EXIT_STATUS_INTERNAL;
}

static int make_plan(struct bench *bench)
{
	bool *has_wait = calloc(bench->options->config_count, sizeof(bool));
	int status = EXIT_STATUS_INTERNAL;
	int ret;

	if (!has_wait) {
		snprintf(bench->err, sizeof(bench->err), "%s",
			 strerror(ENOMEM));
		return status;
	}
	if (bench->options->has_qemu && !bench_qemu_is_there()) {
		snprintf(bench->err, sizeof(bench->err),
			 "--baseline qemu: " BENCH_QEMU_PROGRAM
			 " is not in the PATH (Debian: qemu-system-x86)");
		free(has_wait);
		return EXIT_STATUS_CANNOT;
	}
	status = find_waits(bench, has_wait);
	if (!status) {
		ret = bench_plan_make(&bench->plan, bench->options, has_wait,
				      bench->err, sizeof(bench->err));
		if (ret)
			status = ret == -EINVAL ? EXIT_STATUS_USAGE
						: EXIT_STATUS_INTERNAL;
		else
			status = check_cells(bench);
	}
	free(has_wait);
	return status;
}

/* Fills in the summaries; 0, or 1 and said so if any cannot be compared or was
 * compared in vain. */
static int summarize(struct bench *bench, struct bench_report *report)
{
	const struct bench_plan *plan = &bench->plan;
	int64_t *scratch = calloc(plan->rounds, sizeof(*scratch));
	int status = 0;
	char why[160], name[256];

	if (!scratch) {
		complain("%s", strerror(ENOMEM));
		return EXIT_STATUS_INTERNAL;
	}
	for (size_t i = 0; i < plan->cell_count; i++) {
		size_t reference = bench_reference(plan, i);

		bench_summarize(bench_runs(report, i),
				bench_runs(report, reference), plan->rounds,
				scratch, &bench->summaries[i]);
		if (bench_is_comparable(&bench->summaries[i], why,
					sizeof(why)) &&
		    !bench_is_undecided(&bench->summaries[i], plan->rounds, why,
					sizeof(why)))
			continue;
		bench_describe(&plan->cells[i], name, sizeof(name));
		complain("%s: %s", name, why);
		status = EXIT_STATUS_CANNOT_TELL;
	}
	free(scratch);
	return status;
}

static int write_json(struct bench *bench, const struct bench_report *report)
{
	struct jsonw w;
	const char *text;
	size_t len;
	int ret;

	if (!bench->json.path)
		return 0;
	jsonw_init(&w, 2, JSON_SIZE);
	bench_json_write(report, &w);
	text = jsonw_text(&w, &len);
	ret = text ? output_write(&bench->json, text, len, bench->err,
				  sizeof(bench->err))
		   : jsonw_error(&w);
	if (ret)
		complain("%s", text ? bench->err : strerror(-ret));
	jsonw_free(&w);
	return ret ? EXIT_STATUS_OUTPUT : 0;
}

static int write_hgrm(struct bench *bench, const struct bench_report *report)
{
	const char *prefix = bench->options->hgrm_prefix;

	if (!prefix ||
	    !bench_hgrm_write(report, prefix, bench->err, sizeof(bench->err)))
		return 0;
	complain("%s", bench->err);
	return EXIT_STATUS_OUTPUT;
}

/* The script, to be freed; NULL if there is nothing to plot or no memory. */
static char *plot_script(const struct bench_report *report, size_t *len)
{
	char *script = NULL;
	FILE *out = open_memstream(&script, len);
	int ret;

	if (!out)
		return NULL;
	ret = bench_plot_write(report, out);
	if (!fclose(out) && !ret)
		return script;
	free(script);
	return NULL;
}

/* Without gnuplot that was said at the start, and all else is there. */
static int write_plot(struct bench *bench, const struct bench_report *report)
{
	char *script;
	size_t len;
	int ret;

	if (!bench->plot.path)
		return 0;
	script = plot_script(report, &len);
	if (!script) {
		complain("%s: nothing to plot", bench->plot.path);
		return EXIT_STATUS_OUTPUT;
	}
	ret = output_begin(&bench->plot, bench->err, sizeof(bench->err));
	if (!ret)
		ret = gnuplot_run(script, len, bench->plot.fd, bench->err,
				  sizeof(bench->err));
	free(script);
	if (!ret)
		return 0;
	complain("%s", bench->err);
	return EXIT_STATUS_OUTPUT;
}

static int print_table(const struct bench *bench,
		       const struct bench_report *report)
{
	const char *json = bench->options->json_path;
	FILE *out = json && !strcmp(json, "-") ? stderr : stdout;

	if (bench->options->quiet)
		return 0;
	bench_table_print(report, out);
	if (!fflush(out) && !ferror(out))
		return 0;
	complain("the table: %s", strerror(errno));
	return EXIT_STATUS_OUTPUT;
}

/* The end of it all, also for the rounds before a signal. */
static int report_all(struct bench *bench, int status)
{
	struct bench_report report = {
		.plan = &bench->plan,
		.host = &bench->host,
		.noise = bench->noise,
		.configs = bench->configs,
		.calibrations = &bench->calibrations,
		.runs = bench->runs,
		.summaries = bench->summaries,
	};
	int verdict = summarize(bench, &report);
	int lost;

	report.status = status ? status : verdict;
	/* What cannot be written keeps nothing else from being written. */
	lost = write_json(bench, &report);
	lost |= write_hgrm(bench, &report);
	lost |= write_plot(bench, &report);
	lost |= print_table(bench, &report);
	return lost ? EXIT_STATUS_OUTPUT : report.status;
}

/* What cannot be written costs no run. 0 or -errno. */
static int open_outputs(struct bench *bench)
{
	const char *prefix = bench->options->hgrm_prefix;
	const char *plot = bench->options->plot_path;
	int ret = output_open(&bench->json, bench->options->json_path,
			      bench->err, sizeof(bench->err));

	if (!ret && prefix)
		ret = bench_hgrm_open(&bench->plan, prefix, bench->err,
				      sizeof(bench->err));
	if (ret || !plot)
		return ret;
	if (gnuplot_is_there())
		return output_open(&bench->plot, plot, bench->err,
				   sizeof(bench->err));
	complain("--plot: gnuplot is not installed (Debian: gnuplot-nox); "
		 "there will be no plot");
	return 0;
}

static int run_all(struct bench *bench)
{
	const struct bench_plan *plan = &bench->plan;
	int status;

	bench->runs =
		calloc(plan->cell_count * plan->rounds, sizeof(*bench->runs));
	bench->summaries = calloc(plan->cell_count, sizeof(*bench->summaries));
	if (!bench->runs || !bench->summaries) {
		complain("%s", strerror(ENOMEM));
		return EXIT_STATUS_INTERNAL;
	}
	status = EXIT_STATUS_OUTPUT;
	if (!open_outputs(bench)) {
		host_read(&bench->host);
		status = bench_rounds_run(bench);
	}
	if (status)
		complain("%s", bench->err);
	if (!status || status > EXIT_STATUS_SIGNAL)
		status = report_all(bench, status);
	if (output_close(&bench->json, bench->err, sizeof(bench->err)) ||
	    output_close(&bench->plot, bench->err, sizeof(bench->err))) {
		complain("%s", bench->err);
		status = EXIT_STATUS_OUTPUT;
	}
	return status;
}

static void free_run(struct bench_run *run)
{
	bench_hist_free(&run->hist);
	bench_series_free(&run->series);
}

int command_bench(const struct options *options)
{
	struct bench bench = {
		.options = options, .json = {.fd = -1}, .plot = {.fd = -1}};
	int status = make_plan(&bench);

	if (status)
		complain("%s", bench.err);
	else
		status = run_all(&bench);
	for (size_t i = 0;
	     bench.runs && i < bench.plan.cell_count * bench.plan.rounds; i++)
		free_run(&bench.runs[i]);
	free(bench.runs);
	free(bench.summaries);
	for (size_t i = 0; bench.configs && i < bench.plan.cell_count; i++)
		config_free(&bench.configs[i]);
	free(bench.configs);
	bench_calibrations_free(&bench.calibrations);
	bench_plan_free(&bench.plan);
	return status;
}
