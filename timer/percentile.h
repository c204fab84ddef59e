/* SPDX-License-Identifier: MIT */
/*
 * percentile - nearest-rank percentiles of a sample array.
 *
 * The one place where percentiles are computed, on both sides: the guest
 * firmware compiles this file too, so it needs no libc, no allocation and
 * little stack. Samples are signed, since lateness may be negative (early).
 */
#ifndef TIMER_PERCENTILE_H
#define TIMER_PERCENTILE_H

#include <stddef.h>
#include <stdint.h>

/* Sort n samples in place, ascending. n may be 0. Not stable. */
void percentile_sort(int64_t *samples, size_t n);

/*
 * Nearest-rank percentile num/den of n sorted samples: the smallest sample
 * that at least num/den of all samples do not exceed. num 0 gives the
 * minimum, num >= den the maximum. n and den must not be 0.
 * p50 is (1, 2), p99.9 is (999, 1000).
 */
int64_t percentile_nearest_rank(const int64_t *sorted, size_t n, uint32_t num,
				uint32_t den);

#endif
