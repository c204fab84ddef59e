/* SPDX-License-Identifier: MIT */
/*
 * bench_hgrm - pools the rounds of each row and writes its file.
 * Not modelled: rounds that differ. A file is one distribution; the JSON has
 * one for each round.
 */
#define _GNU_SOURCE /* asprintf, open_memstream */
#include "bench_hgrm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_plan.h"
#include "bench_stats.h"
#include "hgrm.h"
#include "hist.h"
#include "output.h"

void bench_hgrm_sum(const struct bench_report *report, size_t cell,
		    struct hist *sum, uint64_t *below_zero, uint64_t *tsc_khz)
{
	const struct bench_run *runs = bench_runs(report, cell);

	hist_init(sum);
	*below_zero = *tsc_khz = 0;
	for (unsigned int i = 0; i < report->plan->rounds; i++) {
		if (!runs[i].is_ok)
			continue;
		bench_hist_add(&runs[i].hist, sum);
		*below_zero += runs[i].sample.below_zero;
		*tsc_khz = runs[i].sample.tsc_khz;
	}
	if (!*below_zero)
		return;
	sum->count += *below_zero;
	sum->bucket[0] += *below_zero;
	sum->min = 0;
}

char *bench_hgrm_path(const struct bench_plan *plan, size_t cell,
		      const char *prefix)
{
	const struct bench_cell *c = &plan->cells[cell];
	const char *slash = strrchr(c->config, '/');
	char *path, *at;

	if (asprintf(&path, "%s%zu-%s%s%s-%s.hgrm", prefix, cell + 1,
		     slash ? slash + 1 : c->config, *c->group ? "-" : "",
		     c->group, c->mode) < 0)
		return NULL;
	for (at = path + strlen(prefix); *at; at++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz0123456789.-_=+",
			    *at))
			*at = '_';
	return path;
}

/* text: what to write, NULL for nothing. */
static int put(const struct bench_plan *plan, size_t cell, const char *prefix,
	       const char *text, char *err, size_t err_size)
{
	char *path = bench_hgrm_path(plan, cell, prefix);
	struct output file;
	int ret, closed;

	if (!path) {
		snprintf(err, err_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	ret = output_open(&file, path, err, err_size);
	if (!ret && text)
		ret = output_write(&file, text, strlen(text), err, err_size);
	closed = output_close(&file, err, err_size);
	free(path);
	return ret ? ret : closed;
}

int bench_hgrm_open(const struct bench_plan *plan, const char *prefix,
		    char *err, size_t err_size)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < plan->cell_count; i++)
		ret = put(plan, i, prefix, NULL, err, err_size);
	return ret;
}

/* What is not in the lines above it. */
static void describe(const struct bench_report *report, size_t cell,
		     uint64_t below_zero, char *buf, size_t size)
{
	const struct bench_cell *c = &report->plan->cells[cell];
	const struct bench_run *runs = bench_runs(report, cell);
	uint64_t warmup = 0;

	for (unsigned int i = 0; i < report->plan->rounds; i++)
		if (runs[i].is_ok)
			warmup += runs[i].sample.warmup;
	snprintf(buf, size,
		 "lateness in us, %s%s%s, %s: %u rounds; left out as warm-up: "
		 "%" PRIu64 " fires; early, counted as 0: %" PRIu64,
		 c->config, *c->group ? ", " : "", c->group, c->mode,
		 report->summaries[cell].ok, warmup, below_zero);
}

static int write_one(const struct bench_report *report, size_t cell,
		     const char *prefix, char *err, size_t err_size)
{
	uint64_t below_zero, tsc_khz;
	char note[512], *text = NULL;
	struct hist sum;
	size_t size;
	FILE *out;
	int ret = -ENOMEM;

	bench_hgrm_sum(report, cell, &sum, &below_zero, &tsc_khz);
	/* Not the file of another day, which would seem to be of this one. */
	if (!sum.count || !tsc_khz)
		return put(report->plan, cell, prefix, "", err, err_size);
	describe(report, cell, below_zero, note, sizeof(note));
	out = open_memstream(&text, &size);
	if (out) {
		hgrm_write(out, &sum, tsc_khz, note);
		if (!fclose(out) && text)
			ret = 0;
	}
	if (ret)
		snprintf(err, err_size, "%s", strerror(ENOMEM));
	else
		ret = put(report->plan, cell, prefix, text, err, err_size);
	free(text);
	return ret;
}

int bench_hgrm_write(const struct bench_report *report, const char *prefix,
		     char *err, size_t err_size)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < report->plan->cell_count; i++)
		ret = write_one(report, i, prefix, err, err_size);
	return ret;
}
