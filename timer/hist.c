/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram, in the manner of HdrHistogram: the top bit of a value
 * picks a group of buckets, the HIST_SUB_BITS bits after it the bucket.
 * Not modelled: percentiles (percentile.c has the samples), merging, overflow
 * of a 64-bit count.
 */
#include "hist.h"

void hist_init(struct hist *h)
{
	*h = (struct hist){.min = UINT64_MAX};
}

size_t hist_index(uint64_t value)
{
	unsigned int top, group;

	if (value < HIST_SUB)
		return (size_t)value;
	top = 63u - (unsigned int)__builtin_clzll(value);
	group = top - HIST_SUB_BITS;
	/* The shifted value is HIST_SUB..2 * HIST_SUB - 1, which also skips
	 * the first HIST_SUB buckets. */
	return group * HIST_SUB + (size_t)(value >> group);
}

void hist_add(struct hist *h, uint64_t value)
{
	h->count++;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->bucket[hist_index(value)]++;
}

/* log2 of the width of a bucket. */
static unsigned int hist_width_bits(size_t index)
{
	return index < HIST_SUB ? 0 : (unsigned int)(index / HIST_SUB) - 1;
}

uint64_t hist_low(size_t index)
{
	unsigned int bits = hist_width_bits(index);

	return (uint64_t)(index - (size_t)bits * HIST_SUB) << bits;
}

uint64_t hist_high(size_t index)
{
	return hist_low(index) + ((UINT64_C(1) << hist_width_bits(index)) - 1);
}

size_t hist_next(const struct hist *h, size_t from)
{
	while (from < HIST_BUCKETS && !h->bucket[from])
		from++;
	return from;
}
