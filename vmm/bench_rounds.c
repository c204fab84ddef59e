/* SPDX-License-Identifier: MIT */
/*
 * bench_rounds - starts every run in a process of its own, and judges what
 * came of it.
 */
#include "bench_rounds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "bench_qemu.h"
#include "config.h"
#include "end.h"
#include "options.h"

#define PROGRAM "/proc/self/exe"

enum {
	/* Statuses of the lateness guest that come with a result. */
	GUEST_STATUS_EARLY = 1,
	GUEST_STATUS_LOST = 2,
	SERIES_VCPUS_MAX = 4,
};

const char *const *bench_sets(const struct bench_cell *cell)
{
	return (const char *const *)cell->sets;
}

void bench_describe(const struct bench_cell *cell, char *buf, size_t size)
{
	snprintf(buf, size, "%s, %s%s%s", cell->config, cell->mode,
		 *cell->group ? ", " : "", cell->group);
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
	if (!output->text_len) {
		lose(run, "status %d, no result%s%s", run->status,
		     *output->line ? ": " : "", output->line);
		return;
	}
	if (output->is_too_long) {
		lose(run, "a result of more than %d bytes",
		     BENCH_SAMPLE_JSON_MAX);
		return;
	}
	if (bench_sample_read(output->text, output->text_len, &run->sample,
			      &run->hist, err, sizeof(err))) {
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

	bench_describe(cell, name, sizeof(name));
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

		if (bench_calibration_measure(item, &bench->configs[item->cell],
					      &bench->signals, bench->err,
					      sizeof(bench->err)))
			status = EXIT_STATUS_INTERNAL;
		else if (bench->signals.stopped_by)
			status = stopped(bench, round);
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

/* The last round of a benchmark that is plotted is drawn fire by fire. A guest
 * with many vCPUs has more samples than a result may hold. */
static bool wants_series(const struct bench *bench, size_t cell,
			 unsigned int round)
{
	return bench->options->plot_path && round + 1 == bench->plan.rounds &&
	       bench->configs[cell].vcpu_count <= SERIES_VCPUS_MAX;
}

static int out_of_memory(struct bench *bench)
{
	snprintf(bench->err, sizeof(bench->err), "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static int run_qemu(struct bench *bench, const struct config *config,
		    struct bench_output *output)
{
	struct bench_qemu_args args;
	struct host_info before, after;
	int ret = bench_qemu_args(config, &args);

	if (ret)
		return out_of_memory(bench);
	host_read(&before);
	ret = bench_child_run(BENCH_QEMU_PROGRAM, args.argv, config->timeout_ms,
			      &bench->signals, output, bench->err,
			      sizeof(bench->err));
	host_read(&after);
	free(args.append);
	if (ret)
		return ret;
	ret = bench_qemu_convert(output,
				 after.steal_ticks - before.steal_ticks);
	return ret ? out_of_memory(bench) : 0;
}

static int run_child(struct bench *bench, size_t index, bool with_series,
		     struct bench_output *output)
{
	const struct bench_cell *cell = &bench->plan.cells[index];
	char entry_cost[BENCH_ENTRY_COST_SIZE];
	/* No page fault of the host's falls into a measurement. */
	const char *extra[4] = {"--prefault"}, **argv;
	size_t n = 1;
	int ret;

	extra[n] = bench_calibration_option(cell->calibration, entry_cost);
	n += extra[n] != NULL;
	if (with_series)
		extra[n] = "--samples";
	argv = bench_child_run_argv(cell->config, bench_sets(cell),
				    cell->set_count, extra);
	if (!argv)
		return out_of_memory(bench);
	/* Its limit is the config's. */
	ret = bench_child_run(PROGRAM, argv, 0, &bench->signals, output,
			      bench->err, sizeof(bench->err));
	free(argv);
	return ret;
}

/* 0, or the status to end with at once, with or without a message. */
static int run_cell(struct bench *bench, unsigned int round, size_t position)
{
	size_t index =
		bench_plan_cell_at(bench->plan.cell_count, round, position);
	struct bench_run *run =
		&bench->runs[index * bench->plan.rounds + round];
	bool with_series = wants_series(bench, index, round);
	struct bench_output output;
	int ret, status = 0;

	bench_progress_show(&bench->progress, round);
	ret = bench->plan.cells[index].is_qemu
		      ? run_qemu(bench, &bench->configs[index], &output)
		      : run_child(bench, index, with_series, &output);
	bench_progress_clear(&bench->progress);
	if (ret)
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
		if (run->is_ok && with_series)
			bench_series_read(output.text, output.text_len,
					  &run->series);
		tell(bench, &bench->plan.cells[index], round, run);
	}
	free(output.text);
	return status;
}

/* On a CPU that the runs use, as far as they are bound to one. A context that
 * cannot be had is no reason to stop. */
static void measure_noise(struct bench *bench, struct noise_floor *floor)
{
	const cpu_set_t *cpus = bench->configs[0].cpu_affinity;
	int ret = noise_floor_measure(floor, cpus);

	if (ret)
		complain("noise floor not measured: %s", strerror(-ret));
}

int bench_rounds_run(struct bench *bench)
{
	int status = 0, ret = bench_signals_open(&bench->signals);

	if (ret) {
		snprintf(bench->err, sizeof(bench->err), "signalfd: %s",
			 strerror(-ret));
		return EXIT_STATUS_INTERNAL;
	}
	guard_init(&bench->guard);
	status = calibrate_all(bench, 0);
	measure_noise(bench, &bench->noise[0]);
	bench_progress_init(&bench->progress, bench->options->quiet,
			    bench->plan.rounds,
			    bench->plan.rounds * bench->plan.cell_count);
	for (unsigned int round = 0; !status && round < bench->plan.rounds;
	     round++)
		for (size_t i = 0; !status && i < bench->plan.cell_count; i++) {
			status = keep_calibrated(bench, round);
			if (!status)
				status = run_cell(bench, round, i);
		}
	if (!status)
		measure_noise(bench, &bench->noise[1]);
	bench_signals_close(&bench->signals);
	return status;
}
