/* SPDX-License-Identifier: MIT */
/*
 * bench_progress - a line that is written over itself.
 * Reference: ECMA-48 EL, "erase in line".
 */
#include "bench_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "monotonic.h"

#define CLEAR_LINE "\r\033[K"

void bench_progress_init(struct bench_progress *progress, bool is_quiet,
			 unsigned int rounds, size_t runs)
{
	*progress = (struct bench_progress){
		.is_shown = !is_quiet && isatty(STDERR_FILENO),
		.rounds = rounds,
		.runs = runs,
		.start_ns = monotonic_ns(),
	};
}

void bench_progress_text(const struct bench_progress *progress,
			 unsigned int round, uint64_t now_ns, char *buf,
			 size_t size)
{
	uint64_t left_s;
	int n = snprintf(buf, size, "round %u of %u, run %zu of %zu", round + 1,
			 progress->rounds, progress->done + 1, progress->runs);

	if (!progress->done || n < 0 || (size_t)n >= size)
		return;
	left_s = (now_ns - progress->start_ns) / progress->done *
		 (progress->runs - progress->done) / 1000000000u;
	if (left_s >= 60)
		snprintf(buf + n, size - (size_t)n,
			 ", %" PRIu64 " min %" PRIu64 " s left", left_s / 60,
			 left_s % 60);
	else
		snprintf(buf + n, size - (size_t)n, ", %" PRIu64 " s left",
			 left_s);
}

void bench_progress_show(const struct bench_progress *progress,
			 unsigned int round)
{
	char text[128];

	if (!progress->is_shown)
		return;
	bench_progress_text(progress, round, monotonic_ns(), text,
			    sizeof(text));
	fprintf(stderr, CLEAR_LINE "%s", text);
	fflush(stderr);
}

void bench_progress_clear(struct bench_progress *progress)
{
	progress->done++;
	if (!progress->is_shown)
		return;
	fputs(CLEAR_LINE, stderr);
	fflush(stderr);
}
