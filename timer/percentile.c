/* SPDX-License-Identifier: MIT */
/*
 * Sorting by heapsort and nearest-rank percentiles.
 * Heapsort because it needs neither memory nor recursion and has no bad input:
 * the guest sorts up to 100 000 samples on a small stack.
 * Not modelled: interpolation between samples. A percentile is always a value
 * that was measured.
 */
#include "percentile.h"

/* Let samples[root] sink until the heap of n samples below it is one. */
static void sift_down(int64_t *samples, size_t root, size_t n)
{
	int64_t sinking = samples[root];
	size_t child;

	while ((child = 2 * root + 1) < n) {
		if (child + 1 < n && samples[child] < samples[child + 1])
			child++;
		if (sinking >= samples[child])
			break;
		samples[root] = samples[child];
		root = child;
	}
	samples[root] = sinking;
}

void percentile_sort(int64_t *samples, size_t n)
{
	size_t i;

	for (i = n / 2; i > 0; i--)
		sift_down(samples, i - 1, n);
	for (i = n; i > 1; i--) {
		int64_t largest = samples[0];

		samples[0] = samples[i - 1];
		samples[i - 1] = largest;
		sift_down(samples, 0, i - 1);
	}
}

int64_t percentile_nearest_rank(const int64_t *sorted, size_t n, uint32_t num,
				uint32_t den)
{
	uint64_t rank, rest;

	if (num == 0)
		return sorted[0];
	if (num >= den)
		return sorted[n - 1];

	/* ceil(n * num / den), split so that no product leaves 64 bits. */
	rest = (uint64_t)(n % den) * num;
	rank = (uint64_t)(n / den) * num + (rest + den - 1) / den;
	return sorted[rank - 1];
}
