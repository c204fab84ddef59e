/* SPDX-License-Identifier: MIT */
/*
 * cmd_bench - `punctual bench`: the same guest under several timer modes,
 * round by round, each run in a process of its own.
 *
 * Everything that can be wrong with the command line and the configs is found
 * before the first run. What a run did wrong costs that round and is said at
 * once; what forbids a comparison makes the exit status 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_calibrate.h"
#include "bench_child.h"
#include "bench_json.h"
#include "bench_plan.h"
#include "bench_stats.h"
#include "bench_table.h"
#include "commands.h"
#include "config.h"
#include "end.h"
#include "guard.h"
#include "host.h"
#include "jsonw.h"
#include "options.h"
#include "output.h"

#define PROGRAM "/proc/self/exe"

enum {
	EXIT_STATUS_CANNOT_TELL = 1,
	/* Statuses of the lateness guest that come with a result. */
	GUEST_STATUS_EARLY = 1,
	GUEST_STATUS_LOST = 2,
	JSON_SIZE = 256 << 20,
};

struct bench {
	const struct options *options;
	struct bench_plan plan;
	struct bench_calibrations calibrations;
	struct guard guard;	/* of the calibrations */
	struct bench_run *runs; /* a cell's rounds side by side */
	struct bench_summary *summaries;
	struct bench_signals signals;
	struct host_info host;
	struct output json;
	char err[512];
};

static const char *const *const_sets(const struct bench_cell *cell)
{
	return (const char *const *)cell->sets;
}

static void describe(const struct bench_cell *cell, char *buf, size_t size)
{
	snprintf(buf, size, "%s, %s%s%s", cell->config, cell->mode,
		 *cell->group ? ", " : "", cell->group);
}

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
	int ret = bench_calibrations_init(&bench->calibrations,
					  bench->plan.cell_count);

	for (size_t i = 0; !ret && i < bench->plan.cell_count; i++) {
		struct bench_cell *cell = &bench->plan.cells[i];
		struct config config;

		if (config_load(cell->config, const_sets(cell), cell->set_count,
				&config, bench->err, sizeof(bench->err)))
			return EXIT_STATUS_CONFIG;
		cell->is_kernel = config.mode == TIMER_KERNEL;
		ret = bench_calibrations_add(&bench->calibrations, i, &config,
					     &cell->calibration);
		config_free(&config);
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

__attribute__((format(printf, 2, 3))) static void lose(struct bench_run *run,
						       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(run->message, sizeof(run->message), format, args);
	va_end(args);
}

/* Does this run count? Fills in sample, is_ok and message. */
static void judge(struct bench_run *run, const struct bench_output *output)
{
	char err[BENCH_MESSAGE_SIZE];

	if (run->status != 0 && run->status != GUEST_STATUS_EARLY &&
	    run->status != GUEST_STATUS_LOST) {
		lose(run, "status %d%s%s", run->status,
		     *output->line ? ": " : "", output->line);
		return;
	}
	if (output->is_too_long) {
		lose(run, "a result of more than %d bytes",
		     BENCH_SAMPLE_JSON_MAX);
		return;
	}
	if (bench_sample_read(output->json, output->json_len, &run->sample, err,
			      sizeof(err))) {
		run->sample = (struct bench_sample){0};
		lose(run, "status %d, %s", run->status, err);
		return;
	}
	run->has_sample = true;
	if (run->sample.status != run->status)
		lose(run, "status %d, but its result says %d", run->status,
		     run->sample.status);
	else if (!run->sample.samples)
		lose(run, "status %d, and the guest reported no lateness",
		     run->status);
	else
		run->is_ok = true;
}

static void tell(const struct bench *bench, const struct bench_cell *cell,
		 unsigned int round, const struct bench_run *run)
{
	char name[256];

	describe(cell, name, sizeof(name));
	if (!run->is_ok)
		complain("round %u, %s: %s", round + 1, name, run->message);
	else if (bench->options->verbose)
		complain("round %u, %s: p50 %" PRId64 " cycles, p99 %" PRId64
			 ", %" PRIu64 " ms",
			 round + 1, name, run->sample.p50_tsc,
			 run->sample.p99_tsc, run->wall_ns / 1000000);
}

static int stopped(struct bench *bench, unsigned int round)
{
	snprintf(bench->err, sizeof(bench->err),
		 "ended by signal %d in round %u", bench->signals.stopped_by,
		 round + 1);
	return EXIT_STATUS_SIGNAL + bench->signals.stopped_by;
}

/* All that the cells need; round: the one before which it is done. 0 or the
 * status to end with. */
static int calibrate_all(struct bench *bench, unsigned int round)
{
	int status = 0;

	for (size_t i = 0; !status && i < bench->calibrations.count; i++) {
		struct bench_calibration *item = &bench->calibrations.items[i];
		const struct bench_cell *cell = &bench->plan.cells[item->cell];
		struct config config;

		if (config_load(cell->config, const_sets(cell), cell->set_count,
				&config, bench->err, sizeof(bench->err)))
			return EXIT_STATUS_CONFIG;
		if (bench_calibration_measure(item, &config, &bench->signals,
					      bench->err, sizeof(bench->err)))
			status = EXIT_STATUS_INTERNAL;
		else if (bench->signals.stopped_by)
			status = stopped(bench, round);
		config_free(&config);
	}
	return status;
}

/* After a suspend, say, what was measured may no longer hold. */
static int keep_calibrated(struct bench *bench, unsigned int round)
{
	if (!bench->calibrations.count || !guard_tripped(&bench->guard))
		return 0;
	complain("round %u: the host was suspended or has another clocksource; "
		 "the entry costs are measured anew",
		 round + 1);
	return calibrate_all(bench, round);
}

/* 0, or the status to end with at once, with or without a message. */
static int run_cell(struct bench *bench, unsigned int round, size_t position)
{
	size_t index =
		bench_plan_cell_at(bench->plan.cell_count, round, position);
	const struct bench_cell *cell = &bench->plan.cells[index];
	struct bench_run *run =
		&bench->runs[index * bench->plan.rounds + round];
	struct bench_output output;
	char entry_cost[BENCH_ENTRY_COST_SIZE];
	int status = 0;

	if (bench_child_run(
		    PROGRAM, cell->config, const_sets(cell), cell->set_count,
		    bench_calibration_option(cell->calibration, entry_cost),
		    &bench->signals, &output, bench->err, sizeof(bench->err)))
		return EXIT_STATUS_INTERNAL;
	if (bench->signals.stopped_by)
		status = stopped(bench, round);
	else if (output.status == EXIT_STATUS_CANNOT ||
		 output.status == EXIT_STATUS_CONFIG) {
		snprintf(bench->err, sizeof(bench->err), "%s", output.line);
		status = output.status;
	} else {
		run->is_done = true;
		run->position = position;
		run->status = output.status;
		run->wall_ns = output.wall_ns;
		judge(run, &output);
		tell(bench, cell, round, run);
	}
	free(output.json);
	return status;
}

static int run_rounds(struct bench *bench)
{
	int status = 0, ret = bench_signals_open(&bench->signals);

	if (ret) {
		snprintf(bench->err, sizeof(bench->err), "signalfd: %s",
			 strerror(-ret));
		return EXIT_STATUS_INTERNAL;
	}
	guard_init(&bench->guard);
	status = calibrate_all(bench, 0);
	for (unsigned int round = 0; !status && round < bench->plan.rounds;
	     round++)
		for (size_t i = 0; !status && i < bench->plan.cell_count; i++) {
			status = keep_calibrated(bench, round);
			if (!status)
				status = run_cell(bench, round, i);
		}
	bench_signals_close(&bench->signals);
	return status;
}

/* Fills in the summaries; 0, or 1 and said so if any cannot be compared. */
static int summarize(struct bench *bench, struct bench_report *report)
{
	const struct bench_plan *plan = &bench->plan;
	int64_t *scratch = calloc(plan->rounds, sizeof(*scratch));
	int status = 0;
	char why[128], name[256];

	if (!scratch) {
		complain("%s", strerror(ENOMEM));
		return EXIT_STATUS_INTERNAL;
	}
	for (size_t i = 0; i < plan->cell_count; i++) {
		size_t reference = bench_reference(plan, i);

		bench_summarize(bench_runs(report, i),
				bench_runs(report, reference), plan->rounds,
				scratch, &bench->summaries[i]);
		if (bench_is_comparable(&bench->summaries[i], why, sizeof(why)))
			continue;
		describe(&plan->cells[i], name, sizeof(name));
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
		.calibrations = &bench->calibrations,
		.runs = bench->runs,
		.summaries = bench->summaries,
	};
	int verdict = summarize(bench, &report);
	int json_status;

	report.status = status ? status : verdict;
	json_status = write_json(bench, &report);
	status = print_table(bench, &report);
	if (json_status || status)
		return EXIT_STATUS_OUTPUT;
	return report.status;
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
	if (output_open(&bench->json, bench->options->json_path, bench->err,
			sizeof(bench->err))) {
		complain("%s", bench->err);
		return EXIT_STATUS_OUTPUT;
	}
	host_read(&bench->host);
	status = run_rounds(bench);
	if (status)
		complain("%s", bench->err);
	if (!status || status > EXIT_STATUS_SIGNAL)
		status = report_all(bench, status);
	if (output_close(&bench->json, bench->err, sizeof(bench->err))) {
		complain("%s", bench->err);
		status = EXIT_STATUS_OUTPUT;
	}
	return status;
}

int command_bench(const struct options *options)
{
	struct bench bench = {.options = options, .json = {.fd = -1}};
	int status = make_plan(&bench);

	if (status)
		complain("%s", bench.err);
	else
		status = run_all(&bench);
	free(bench.runs);
	free(bench.summaries);
	bench_calibrations_free(&bench.calibrations);
	bench_plan_free(&bench.plan);
	return status;
}
