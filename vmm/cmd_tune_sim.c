/* SPDX-License-Identifier: MIT */
/*
 * cmd_tune_sim - `punctual tune-sim`: the deliveries of traces, replayed
 * through both tuners.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "end.h"
#include "options.h"
#include "output.h"
#include "trace_file.h"
#include "tune_plot.h"
#include "tune_report.h"

enum {
	CURVES_MAX = 64, /* more than anybody can tell apart */
};

struct tune_command {
	struct tune_curve curves[CURVES_MAX];
	size_t curve_count;
	size_t tables;
};

static void add_curve(struct tune_command *command, const char *path,
		      const struct trace_file *file, uint32_t vcpu,
		      const struct tune_points *points)
{
	const char *slash = strrchr(path, '/');
	struct tune_curve *curve;

	if (command->curve_count == CURVES_MAX)
		return;
	curve = &command->curves[command->curve_count++];
	curve->points = *points;
	snprintf(curve->name, sizeof(curve->name),
		 file->header->vcpu_count > 1 ? "%s, vCPU %" PRIu32 : "%s",
		 slash ? slash + 1 : path, vcpu);
}

/* 0, or the status to end with; complains. */
static int replay(struct tune_command *command, const char *path)
{
	struct trace_file file;
	size_t tables = command->tables;
	char err[512];
	int status = 0;

	if (trace_file_load(&file, path, err, sizeof(err))) {
		complain("%s", err);
		trace_file_free(&file);
		return EXIT_STATUS_CONFIG;
	}
	if (file.end.args[1] || file.end.args[2])
		printf("%s: %" PRIu64 " records are missing: the replay has "
		       "gaps\n",
		       path, file.end.args[1] + file.end.args[2]);
	for (uint32_t vcpu = 0; !status && vcpu < file.header->vcpu_count;
	     vcpu++) {
		struct tune_samples samples;
		struct tune_points points;

		if (tune_samples_take(&samples, &file, vcpu)) {
			complain("%s: out of memory", path);
			status = EXIT_STATUS_INTERNAL;
		} else if (samples.count) {
			tune_report_print(stdout, path, file.header, &samples,
					  &points);
			add_curve(command, path, &file, vcpu, &points);
			command->tables++;
		}
		tune_samples_free(&samples);
	}
	if (!status && command->tables == tables) {
		complain("%s: no arrive record of an expiry: nothing to learn "
			 "from",
			 path);
		status = EXIT_STATUS_CONFIG;
	}
	trace_file_free(&file);
	return status;
}

/* The table is there already; a picture that cannot be drawn is an output that
 * cannot be written. */
static int draw(const struct tune_command *command, const char *path)
{
	struct output output;
	char err[512];
	int status = 0;

	if (output_open(&output, path, err, sizeof(err)) ||
	    tune_plot_draw(command->curves, command->curve_count, &output, err,
			   sizeof(err))) {
		complain("%s", err);
		status = EXIT_STATUS_OUTPUT;
	}
	if (output_close(&output, err, sizeof(err))) {
		complain("%s", err);
		status = EXIT_STATUS_OUTPUT;
	}
	return status;
}

int command_tune_sim(const struct options *options)
{
	struct tune_command command = {.curve_count = 0};
	int status = 0;

	for (size_t i = 0; !status && i < options->config_count; i++)
		status = replay(&command, options->configs[i]);
	if (fflush(stdout) || ferror(stdout)) {
		complain("stdout: %s", strerror(errno));
		status = EXIT_STATUS_OUTPUT;
	}
	if (!status && options->plot_path)
		status = draw(&command, options->plot_path);
	return status;
}
