/* SPDX-License-Identifier: MIT */
/*
 * hgrm - percentile distribution text.
 *
 * Reference: what HdrHistogram's outputPercentileDistribution() prints, with
 * five ticks a half-distance: Value, Percentile, TotalCount, 1/(1-Percentile);
 * the last line has no fourth column. Lines that begin with # are comments to
 * its readers.
 * Not modelled: its encoded form (base64), and values finer than a bucket: a
 * line's value is the highest of its bucket, as there, which is 1/32 too high
 * at most. Mean and deviation take a bucket for its middle.
 */
#include "hgrm.h"

#include <inttypes.h>
#include <math.h>

#include "hist.h"

enum {
	TICKS_PER_HALF_DISTANCE = 5,
	/* In the words of HdrHistogram: a power of two has half of its
	 * SubBuckets. */
	SUB_BUCKETS = 2 * HIST_SUB,
	BUCKETS = HIST_BUCKETS / HIST_SUB - 1,
};

struct moments {
	double mean, deviation;
};

static double middle(size_t bucket)
{
	return (double)hist_low(bucket) +
	       (double)(hist_high(bucket) - hist_low(bucket)) / 2;
}

static struct moments moments_of(const struct hist *h)
{
	struct moments m = {0};
	double squares = 0;

	for (size_t i = hist_next(h, 0); i < HIST_BUCKETS;
	     i = hist_next(h, i + 1))
		m.mean += middle(i) * (double)h->bucket[i];
	m.mean /= (double)h->count;
	for (size_t i = hist_next(h, 0); i < HIST_BUCKETS;
	     i = hist_next(h, i + 1))
		squares += (middle(i) - m.mean) * (middle(i) - m.mean) *
			   (double)h->bucket[i];
	m.deviation = sqrt(squares / (double)h->count);
	return m;
}

/* Tick number t, from 0: five on the way from 0 to 1/2, five on to 3/4, ... */
static double level_of(unsigned int t)
{
	double half = 1;

	for (; t >= TICKS_PER_HALF_DISTANCE; t -= TICKS_PER_HALF_DISTANCE)
		half /= 2;
	return 1 - half + half / 2 * t / TICKS_PER_HALF_DISTANCE;
}

static double bucket_value(const struct hist *h, size_t bucket)
{
	uint64_t high = hist_high(bucket);

	return (double)(high < h->max ? high : h->max);
}

void hgrm_write(FILE *out, const struct hist *h, uint64_t tsc_khz,
		const char *note)
{
	const double us = 1e3 / (double)tsc_khz; /* of a cycle */
	struct moments m = moments_of(h);
	size_t i = hist_next(h, 0);
	uint64_t seen = h->bucket[i];

	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile",
		"TotalCount", "1/(1-Percentile)");
	/* Up to the first level that no sample exceeds. */
	for (unsigned int t = 0; !t || seen < h->count; t++) {
		double level = level_of(t);

		while ((double)seen < level * (double)h->count) {
			i = hist_next(h, i + 1);
			seen += h->bucket[i];
		}
		if (t && seen >= h->count)
			break;
		fprintf(out, "%12.3f %.12f %10" PRIu64 " %14.2f\n",
			bucket_value(h, i) * us, level, seen, 1 / (1 - level));
	}
	fprintf(out, "%12.3f %.12f %10" PRIu64 "\n", (double)h->max * us, 1.0,
		h->count);
	fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
		m.mean * us, m.deviation * us);
	fprintf(out, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n",
		(double)h->max * us, h->count);
	fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", BUCKETS,
		SUB_BUCKETS);
	fprintf(out, "# %s\n", note);
}
