/* SPDX-License-Identifier: MIT */
/*
 * cmd_trace - `punctual trace`: a trace file as text, a line a record, in the
 * order of their instants.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "end.h"
#include "options.h"
#include "trace_file.h"
#include "tsc.h"
#include "user_timer.h"

static void print_head(const struct trace_file *file)
{
	const struct trace_header *header = file->header;

	printf("# %" PRIu32 " vCPUs, TSC %" PRIu32 " kHz, source %s, "
	       "max_advance %" PRIu64 " cycles, max_spin_share %" PRIu32
	       "/65536, tuner %s, target_quantile %" PRIu32 "/65536\n",
	       header->vcpu_count, header->tsc_khz,
	       header->source == USER_TIMER_POSIX ? "posix" : "timerfd",
	       header->max_advance_tsc, header->spin_share_q16,
	       header->tuner == TUNER_STEP ? "step" : "quantile",
	       header->target_q16);
}

static int print_records(const struct trace_file *file)
{
	const struct trace_record **sorted = trace_file_sort(file);
	struct tsc_scale scale;
	char text[256];

	if (!sorted)
		return -ENOMEM;
	/* The rate was checked with the header. */
	tsc_scale_init(&scale, file->header->tsc_khz);
	for (size_t i = 0; i < file->count && !ferror(stdout); i++) {
		trace_record_text(sorted[i], sorted[0]->host_tsc, &scale, text,
				  sizeof(text));
		puts(text);
	}
	free(sorted);
	if (file->has_end)
		printf("# %" PRIu64 " records, %" PRIu64
		       " lost since a ring was full, %" PRIu64
		       " since the file was\n",
		       file->end.args[0], file->end.args[1], file->end.args[2]);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

int command_trace(const struct options *options)
{
	struct trace_file file;
	char err[512];
	int status = 0,
	    ret = trace_file_load(&file, options->configs[0], err, sizeof(err));

	if (file.records) {
		int printed;

		print_head(&file);
		printed = print_records(&file);
		if (printed == -ENOMEM) {
			complain("%s: out of memory", options->configs[0]);
			status = EXIT_STATUS_INTERNAL;
		} else if (printed) {
			complain("stdout: %s", strerror(errno));
			status = EXIT_STATUS_OUTPUT;
		}
	}
	if (ret) {
		complain("%s", err);
		status = EXIT_STATUS_CONFIG;
	}
	trace_file_free(&file);
	return status;
}
