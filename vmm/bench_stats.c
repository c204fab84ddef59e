/* SPDX-License-Identifier: MIT */
/*
 * bench_stats - medians over rounds, ratios within rounds.
 *
 * Medians come from timer/percentile.c, as everything else that is ranked
 * here. Ratios are millionths in integers, so that they can be ranked too.
 * Intervals and verdicts: bench_verdict.c.
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

static double turns_per_tsc(const struct bench_sample *sample)
{
	return sample->wait_tsc
		       ? (double)sample->loop_turns / (double)sample->wait_tsc
		       : 0;
}

static double cpu_per_fire(const struct bench_sample *sample)
{
	int64_t ns;

	return bench_sample_cpu_per_fire(sample, &ns) ? (double)ns : 0;
}

static double measured(enum bench_measure measure,
		       const struct bench_sample *sample)
{
	switch (measure) {
	case BENCH_P50:
		return (double)sample->p50_tsc;
	case BENCH_P99:
		return (double)sample->p99_tsc;
	case BENCH_CPU:
		return cpu_per_fire(sample);
	default:
		return turns_per_tsc(sample);
	}
}

const char *bench_measure_name(enum bench_measure measure)
{
	static const char *const names[BENCH_MEASURES] = {
		"p50", "p99", "CPU/fire", "guest share"};

	return names[measure];
}

bool bench_ratio_ppm(enum bench_measure measure, const struct bench_run *run,
		     const struct bench_run *reference, int64_t *ppm)
{
	return run->is_ok && reference->is_ok &&
	       bench_ppm(measured(measure, &run->sample),
			 measured(measure, &reference->sample), ppm);
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

static struct bench_ratio ratio_of(enum bench_measure measure,
				   const struct bench_run *runs,
				   const struct bench_run *reference,
				   unsigned int rounds, int64_t *scratch)
{
	size_t n = 0;

	for (unsigned int i = 0; i < rounds; i++)
		n += bench_ratio_ppm(measure, &runs[i], &reference[i],
				     &scratch[n]);
	return bench_ratio_of(scratch, n, measure == BENCH_SHARE);
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

static void count_all(const struct bench_run *runs, unsigned int rounds,
		      struct bench_summary *summary)
{
	*summary = (struct bench_summary){0};
	for (unsigned int i = 0; i < rounds; i++)
		count(&runs[i], summary);
}

static void compare(const struct bench_run *runs,
		    const struct bench_run *reference, unsigned int rounds,
		    int64_t *scratch, struct bench_summary *s)
{
	struct bench_summary other;
	bool is_void, may_judge;
	char why[128];

	count_all(reference, rounds, &other);
	/* Nothing to compare, or nothing to compare it with? */
	is_void = s->is_swallowed || s->is_early_allowed ||
		  other.is_swallowed || other.is_early_allowed;
	may_judge = bench_is_comparable(s, why, sizeof(why)) &&
		    bench_is_comparable(&other, why, sizeof(why));
	for (unsigned int m = 0; m < BENCH_MEASURES; m++) {
		if (!is_void)
			s->ratios[m] = ratio_of((enum bench_measure)m, runs,
						reference, rounds, scratch);
		if (!may_judge)
			s->ratios[m].verdict = BENCH_NOT_COMPARABLE;
	}
}

#define MEMBER(name) offsetof(struct bench_sample, name)

void bench_summarize(const struct bench_run *runs,
		     const struct bench_run *reference, unsigned int rounds,
		     int64_t *scratch, struct bench_summary *s)
{
	count_all(runs, rounds, s);
	s->p50_tsc = median_member(runs, rounds, MEMBER(p50_tsc), scratch);
	s->p50_ns = median_member(runs, rounds, MEMBER(p50_ns), scratch);
	s->p99_tsc = median_member(runs, rounds, MEMBER(p99_tsc), scratch);
	s->p99_ns = median_member(runs, rounds, MEMBER(p99_ns), scratch);
	s->cpu_ns = median_cpu(runs, rounds, scratch);
	compare(runs, reference, rounds, scratch, s);
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

bool bench_is_undecided(const struct bench_summary *summary,
			unsigned int rounds, char *why, size_t why_size)
{
	const struct bench_ratio *p50 = &summary->ratios[BENCH_P50];

	if (rounds < BENCH_PAIRS_MIN || p50->verdict != BENCH_CANNOT_TELL)
		return false;
	if (p50->has_interval)
		snprintf(why, why_size,
			 "cannot tell: p50 is %.3f to %.3f of the reference's "
			 "(%zu rounds); take more rounds, or a quieter host",
			 (double)p50->low_ppm / PPM,
			 (double)p50->high_ppm / PPM, p50->pairs);
	else
		snprintf(why, why_size,
			 "cannot tell: only %zu rounds of %u can be compared, "
			 "%d are needed",
			 p50->pairs, rounds, BENCH_PAIRS_MIN);
	return true;
}
