/* SPDX-License-Identifier: MIT */
/*
 * bench_json - cells, their medians, their rounds. Names and units are those
 * of a run's result where the meaning is the same; a ratio is a plain number,
 * null where it is not known.
 */
#include "bench_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench_calibrate.h"
#include "bench_plan.h"
#include "bench_stats.h"
#include "config.h"
#include "host.h"
#include "jsonw.h"
#include "noise_floor.h"

#ifndef PUNCTUAL_VERSION
#error "the build passes PUNCTUAL_VERSION"
#endif

static void write_count(struct jsonw *w, const char *name,
			struct bench_median m)
{
	if (m.is_known)
		jsonw_i64(w, name, m.value);
	else
		jsonw_null(w, name);
}

static void write_ratio(struct jsonw *w, const char *name,
			struct bench_median ppm)
{
	if (ppm.is_known)
		jsonw_double(w, name, (double)ppm.value / 1e6);
	else
		jsonw_null(w, name);
}

static void write_sample(struct jsonw *w, const struct bench_sample *sample)
{
	jsonw_string(w, "timer_mode",
		     sample->is_userspace ? "userspace" : "kernel");
	jsonw_string(w, "rung", sample->rung);
	jsonw_bool(w, "tsc_allowed_unstable", sample->is_unstable);
	jsonw_bool(w, "early_allowed", sample->is_early_allowed);
	jsonw_bool(w, "memory_prefaulted", sample->is_prefaulted);
	jsonw_bool(w, "memory_locked", sample->is_locked);
	jsonw_u64(w, "tsc_khz", sample->tsc_khz);
	jsonw_u64(w, "samples", sample->samples);
	jsonw_i64(w, "p50_tsc", sample->p50_tsc);
	jsonw_i64(w, "p50_ns", sample->p50_ns);
	jsonw_i64(w, "p99_tsc", sample->p99_tsc);
	jsonw_i64(w, "p99_ns", sample->p99_ns);
	jsonw_u64(w, "fires", sample->fires);
	jsonw_u64(w, "warmup", sample->warmup);
	jsonw_u64(w, "early", sample->early);
	jsonw_u64(w, "lost", sample->lost);
	jsonw_u64(w, "doubled", sample->doubled);
	jsonw_u64(w, "loop_turns", sample->loop_turns);
	jsonw_u64(w, "wait_tsc", sample->wait_tsc);
	jsonw_u64(w, "arms", sample->arms);
	jsonw_u64(w, "user_cpu_ns", sample->user_cpu_ns);
	jsonw_u64(w, "system_cpu_ns", sample->system_cpu_ns);
	jsonw_u64(w, "steal_ticks", sample->steal_ticks);
}

/* reference: NULL if there is no ratio to be had. */
static void write_run(struct jsonw *w, unsigned int round,
		      const struct bench_run *run,
		      const struct bench_run *reference)
{
	static const char *const names[BENCH_MEASURES] = {
		"p50_ratio", "p99_ratio", "cpu_ratio", "guest_share"};

	jsonw_object_begin(w, NULL);
	jsonw_u64(w, "round", round + 1);
	jsonw_u64(w, "position", run->position + 1);
	jsonw_bool(w, "ok", run->is_ok);
	jsonw_i64(w, "status", run->status);
	jsonw_string(w, "message", *run->message ? run->message : NULL);
	jsonw_u64(w, "wall_ns", run->wall_ns);
	if (run->has_sample) {
		write_sample(w, &run->sample);
		jsonw_u64(w, "below_zero", run->sample.below_zero);
		bench_hist_write(&run->hist, "lateness_tsc", w);
	}
	for (unsigned int m = 0; m < BENCH_MEASURES; m++) {
		struct bench_median ratio = {0};

		ratio.is_known =
			reference && bench_ratio_ppm((enum bench_measure)m, run,
						     reference, &ratio.value);
		write_ratio(w, names[m], ratio);
	}
	jsonw_object_end(w);
}

/* Interval and level are null where there are too few rounds. */
static void write_verdict(struct jsonw *w, const char *name,
			  const struct bench_ratio *r)
{
	struct bench_median median = {r->is_known, r->median_ppm};
	struct bench_median low = {r->has_interval, r->low_ppm};
	struct bench_median high = {r->has_interval, r->high_ppm};
	struct bench_median level = {r->has_interval, r->level_ppm};

	jsonw_object_begin(w, name);
	write_ratio(w, "median", median);
	write_ratio(w, "low", low);
	write_ratio(w, "high", high);
	write_ratio(w, "level", level);
	jsonw_u64(w, "rounds", r->pairs);
	jsonw_string(w, "verdict", bench_verdict_name(r->verdict));
	jsonw_object_end(w);
}

static void write_summary(struct jsonw *w, const struct bench_summary *s)
{
	char why[128];
	bool is_comparable = bench_is_comparable(s, why, sizeof(why));

	jsonw_u64(w, "ok", s->ok);
	jsonw_u64(w, "failed", s->failed);
	jsonw_bool(w, "comparable", is_comparable);
	jsonw_string(w, "why_not", is_comparable ? NULL : why);
	jsonw_u64(w, "early", s->early);
	jsonw_u64(w, "lost", s->lost);
	jsonw_u64(w, "doubled", s->doubled);
	jsonw_u64(w, "steal_ticks", s->steal_ticks);
	jsonw_object_begin(w, "median");
	write_count(w, "p50_tsc", s->p50_tsc);
	write_count(w, "p50_ns", s->p50_ns);
	write_count(w, "p99_tsc", s->p99_tsc);
	write_count(w, "p99_ns", s->p99_ns);
	write_count(w, "cpu_ns_per_fire", s->cpu_ns);
	jsonw_object_end(w);
	jsonw_object_begin(w, "ratios");
	write_verdict(w, "p50", &s->ratios[BENCH_P50]);
	write_verdict(w, "p99", &s->ratios[BENCH_P99]);
	write_verdict(w, "cpu_per_fire", &s->ratios[BENCH_CPU]);
	write_verdict(w, "guest_share", &s->ratios[BENCH_SHARE]);
	jsonw_object_end(w);
}

/* As text: JSON's numbers lose bits in many hands. */
static void write_hash(struct jsonw *w, const struct bench_cell *cell)
{
	char text[32];

	snprintf(text, sizeof(text), "%016" PRIx64, cell->image_hash);
	jsonw_string(w, "image_fnv1a", cell->has_image_hash ? text : NULL);
}

static void write_cell(struct jsonw *w, const struct bench_report *report,
		       size_t index)
{
	const struct bench_plan *plan = report->plan;
	const struct bench_cell *cell = &plan->cells[index];
	size_t reference = bench_reference(plan, index);
	const struct bench_run *runs = bench_runs(report, index);
	const struct bench_run *others = NULL;

	if (report->summaries[index].ratios[BENCH_P50].is_known)
		others = bench_runs(report, reference);

	jsonw_object_begin(w, NULL);
	jsonw_string(w, "config", cell->config);
	jsonw_string(w, "mode", cell->mode);
	jsonw_string(w, "group", cell->group);
	jsonw_u64(w, "block", cell->block);
	jsonw_array_begin(w, "set");
	for (size_t i = 0; i < cell->set_count; i++)
		jsonw_string(w, NULL, cell->sets[i]);
	jsonw_array_end(w);
	jsonw_object_begin(w, "config_in_force");
	config_write_effective(&report->configs[index], w);
	jsonw_object_end(w);
	write_hash(w, cell);
	/* Index into "cells"; its own: it is the reference. */
	jsonw_u64(w, "reference", reference);
	/* Index into "calibrations". */
	if (cell->calibration)
		jsonw_u64(w, "calibration",
			  (uint64_t)(cell->calibration -
				     report->calibrations->items));
	else
		jsonw_null(w, "calibration");
	write_summary(w, &report->summaries[index]);
	jsonw_array_begin(w, "rounds");
	for (unsigned int i = 0; i < plan->rounds; i++)
		if (runs[i].is_done)
			write_run(w, i, &runs[i], others ? &others[i] : NULL);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

void bench_json_write(const struct bench_report *report, struct jsonw *w)
{
	jsonw_object_begin(w, NULL);
	jsonw_string(w, "schema", "punctual-bench-2");
	jsonw_string(w, "version", PUNCTUAL_VERSION);
	jsonw_string(w, "command", "bench");
	jsonw_i64(w, "status", report->status);
	jsonw_u64(w, "rounds", report->plan->rounds);
	jsonw_object_begin(w, "host");
	host_write(report->host, w);
	jsonw_object_end(w);
	noise_floor_write(&report->noise[0], "noise_floor_before", w);
	noise_floor_write(&report->noise[1], "noise_floor_after", w);
	jsonw_array_begin(w, "calibrations");
	for (size_t i = 0; i < report->calibrations->count; i++)
		calibrate_write(&report->calibrations->items[i].measured, NULL,
				w);
	jsonw_array_end(w);
	jsonw_array_begin(w, "cells");
	for (size_t i = 0; i < report->plan->cell_count; i++)
		write_cell(w, report, i);
	jsonw_array_end(w);
	jsonw_object_end(w);
}
