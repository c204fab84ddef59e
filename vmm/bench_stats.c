/* SPDX-License-Identifier: MIT */
/*
 * bench_stats - medians over rounds, ratios within rounds.
 *
 * Medians come from timer/percentile.c, as everything else that is ranked
 * here. Ratios are millionths in integers, so that they can be ranked too.
 * Not modelled: confidence intervals; all rounds are printed instead.
 */
#include "bench_stats.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bench_plan.h"
#include "end.h"
#include "percentile.h"

#define PPM	1e6
#define PPM_MAX 1e12

const struct bench_run *bench_runs(const struct bench_report *report,
				   size_t cell)
{
	return &report->runs[cell * report->plan->rounds];
}

bool bench_ppm(double num, double den, int64_t *ppm)
{
	double value;

	if (!(den > 0))
		return false;
	value = num / den * PPM;
	if (!(value >= -PPM_MAX && value <= PPM_MAX))
		return false;
	*ppm = (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
	return true;
}

bool bench_ratio_ppm(const struct bench_run *run,
		     const struct bench_run *reference, int64_t *ppm)
{
	return run->is_ok && reference->is_ok &&
	       bench_ppm((double)run->sample.p50_tsc,
			 (double)reference->sample.p50_tsc, ppm);
}

static double turns_per_tsc(const struct bench_sample *sample)
{
	return sample->wait_tsc
		       ? (double)sample->loop_turns / (double)sample->wait_tsc
		       : 0;
}

bool bench_share_ppm(const struct bench_run *run,
		     const struct bench_run *reference, int64_t *ppm)
{
	return run->is_ok && reference->is_ok &&
	       bench_ppm(turns_per_tsc(&run->sample),
			 turns_per_tsc(&reference->sample), ppm);
}

static struct bench_median median(int64_t *numbers, size_t n)
{
	struct bench_median result = {0};

	if (!n)
		return result;
	percentile_sort(numbers, n);
	result.is_known = true;
	result.value = percentile_nearest_rank(numbers, n, 1, 2);
	return result;
}

/* Of the int64_t at that offset in struct bench_sample. */
static struct bench_median median_member(const struct bench_run *runs,
					 unsigned int rounds, size_t offset,
					 int64_t *scratch)
{
	size_t n = 0;

	for (unsigned int i = 0; i < rounds; i++)
		if (runs[i].is_ok)
			memcpy(&scratch[n++],
			       (const char *)&runs[i].sample + offset,
			       sizeof(*scratch));
	return median(scratch, n);
}

static struct bench_median median_cpu(const struct bench_run *runs,
				      unsigned int rounds, int64_t *scratch)
{
	size_t n = 0;

	for (unsigned int i = 0; i < rounds; i++)
		n += runs[i].is_ok &&
		     bench_sample_cpu_per_fire(&runs[i].sample, &scratch[n]);
	return median(scratch, n);
}

typedef bool pair_fn(const struct bench_run *run,
		     const struct bench_run *reference, int64_t *ppm);

static struct bench_median median_pair(const struct bench_run *runs,
				       const struct bench_run *reference,
				       unsigned int rounds, int64_t *scratch,
				       pair_fn *pair_ppm)
{
	size_t n = 0;

	for (unsigned int i = 0; i < rounds; i++)
		n += pair_ppm(&runs[i], &reference[i], &scratch[n]);
	return median(scratch, n);
}

/* Found by us, or by the run itself while it ran. */
static bool is_swallowed(const struct bench_run *run)
{
	return run->status == EXIT_STATUS_NOT_INTERCEPTED ||
	       !bench_sample_is_intercepted(&run->sample);
}

static void count(const struct bench_run *run, struct bench_summary *summary)
{
	const struct bench_sample *sample = &run->sample;

	if (!run->is_done)
		return;
	summary->ok += run->is_ok;
	summary->failed += !run->is_ok;
	summary->is_early_allowed |= sample->is_early_allowed;
	summary->early += sample->early;
	summary->lost += sample->lost;
	summary->doubled += sample->doubled;
	summary->steal_ticks += sample->steal_ticks;
	if (!is_swallowed(run) || summary->is_swallowed)
		return;
	summary->is_swallowed = true;
	summary->arms = sample->arms;
	summary->fires = sample->fires;
}

/* Nothing to compare with? */
static bool any_void(const struct bench_run *runs, unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++)
		if (is_swallowed(&runs[i]) || runs[i].sample.is_early_allowed)
			return true;
	return false;
}

#define MEMBER(name) offsetof(struct bench_sample, name)

void bench_summarize(const struct bench_run *runs,
		     const struct bench_run *reference, unsigned int rounds,
		     int64_t *scratch, struct bench_summary *s)
{
	*s = (struct bench_summary){0};
	for (unsigned int i = 0; i < rounds; i++)
		count(&runs[i], s);
	s->p50_tsc = median_member(runs, rounds, MEMBER(p50_tsc), scratch);
	s->p50_ns = median_member(runs, rounds, MEMBER(p50_ns), scratch);
	s->p99_tsc = median_member(runs, rounds, MEMBER(p99_tsc), scratch);
	s->p99_ns = median_member(runs, rounds, MEMBER(p99_ns), scratch);
	s->cpu_ns = median_cpu(runs, rounds, scratch);
	if (s->is_swallowed || s->is_early_allowed ||
	    any_void(reference, rounds))
		return;
	s->ratio_ppm =
		median_pair(runs, reference, rounds, scratch, bench_ratio_ppm);
	s->share_ppm =
		median_pair(runs, reference, rounds, scratch, bench_share_ppm);
}

size_t bench_reference(const struct bench_plan *plan, size_t cell)
{
	size_t block = plan->cells[cell].block;
	size_t first = cell;

	while (first && plan->cells[first - 1].block == block)
		first--;
	for (size_t i = first;
	     i < plan->cell_count && plan->cells[i].block == block; i++)
		if (plan->cells[i].is_kernel)
			return i;
	return first;
}

bool bench_is_comparable(const struct bench_summary *summary, char *why,
			 size_t why_size)
{
	if (summary->is_swallowed && !summary->fires)
		snprintf(why, why_size,
			 "mode userspace did not intercept: a round ended "
			 "with status %d",
			 EXIT_STATUS_NOT_INTERCEPTED);
	else if (summary->is_swallowed)
		snprintf(why, why_size,
			 "mode userspace did not intercept: %" PRIu64
			 " arms, guest fired %" PRIu64,
			 summary->arms, summary->fires);
	else if (!summary->ok)
		snprintf(why, why_size, "cannot tell: no round succeeded");
	else if (summary->early || summary->lost || summary->doubled)
		snprintf(why, why_size,
			 "not comparable: early %" PRIu64 ", lost %" PRIu64
			 ", doubled %" PRIu64,
			 summary->early, summary->lost, summary->doubled);
	else if (summary->is_early_allowed)
		snprintf(why, why_size,
			 "not comparable: timer.allow_early lets it be early, "
			 "whether it was or not");
	else
		return true;
	return false;
}
