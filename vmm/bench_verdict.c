/* SPDX-License-Identifier: MIT */
/*
 * bench_verdict - medians, their intervals, and a word for them.
 *
 * Reference: the confidence interval for a quantile by order statistics (sign
 * test inverted), as in H. A. David, H. N. Nagaraja, "Order Statistics".
 * Not modelled: several rows or percentiles judged at once. One in twenty of
 * all intervals misses, so of twenty equal rows one may seem to differ.
 */
#include "bench_verdict.h"

#include "percentile.h"

#define PPM 1000000

/*
 * Binomial weights relative to the one in the middle, so that nothing
 * overflows; those that underflow to 0 are too small to matter.
 */
static double weights_below(size_t n, size_t middle)
{
	double weight = 1, sum = 0;

	for (size_t k = middle; k > 0 && weight > 0; k--) {
		weight *= (double)k / (double)(n - k + 1);
		sum += weight;
	}
	return sum;
}

size_t bench_interval_rank(size_t n, int64_t *level_ppm)
{
	/* Of an odd n there are two weights in the middle. */
	size_t middle = n / 2;
	double weight = 1, inside = n % 2 ? 2 : 1;
	double whole = inside + 2 * weights_below(n, middle);
	size_t rank = middle;

	/* Between the ranks r and n + 1 - r: the weights from r to n - r. */
	while (rank > 0 && inside * PPM < whole * BENCH_LEVEL_MIN_PPM) {
		weight *= (double)rank / (double)(n - rank + 1);
		inside += 2 * weight;
		rank--;
	}
	*level_ppm = rank ? (int64_t)(inside / whole * PPM) : 0;
	return rank;
}

static bool is_within(int64_t low_ppm, int64_t high_ppm, int64_t margin_ppm)
{
	return low_ppm >= PPM - margin_ppm && high_ppm <= PPM + margin_ppm;
}

enum bench_verdict bench_verdict_of(int64_t low_ppm, int64_t high_ppm,
				    bool is_more_better)
{
	if (is_within(low_ppm, high_ppm, BENCH_SMALL_PPM))
		return BENCH_NO_DIFFERENCE;
	if (low_ppm > PPM)
		return is_more_better ? BENCH_BETTER : BENCH_WORSE;
	if (high_ppm < PPM)
		return is_more_better ? BENCH_WORSE : BENCH_BETTER;
	if (is_within(low_ppm, high_ppm, BENCH_NARROW_PPM))
		return BENCH_NO_DIFFERENCE;
	return BENCH_CANNOT_TELL;
}

struct bench_ratio bench_ratio_of(int64_t *ratios_ppm, size_t n,
				  bool is_more_better)
{
	struct bench_ratio ratio = {.pairs = n};
	size_t rank;

	if (!n)
		return ratio;
	percentile_sort(ratios_ppm, n);
	ratio.is_known = true;
	ratio.median_ppm = percentile_nearest_rank(ratios_ppm, n, 1, 2);
	rank = bench_interval_rank(n, &ratio.level_ppm);
	if (rank) {
		ratio.has_interval = true;
		ratio.low_ppm = ratios_ppm[rank - 1];
		ratio.high_ppm = ratios_ppm[n - rank];
		ratio.verdict = bench_verdict_of(ratio.low_ppm, ratio.high_ppm,
						 is_more_better);
	}
	return ratio;
}

const char *bench_verdict_name(enum bench_verdict verdict)
{
	static const char *const names[] = {
		[BENCH_CANNOT_TELL] = "cannot tell",
		[BENCH_NO_DIFFERENCE] = "no difference",
		[BENCH_BETTER] = "better",
		[BENCH_WORSE] = "worse",
		[BENCH_NOT_COMPARABLE] = "not comparable",
	};

	return names[verdict];
}
