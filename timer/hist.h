/* SPDX-License-Identifier: MIT */
/*
 * hist - log-linear histogram of uint64 values, in fixed memory.
 *
 * Every power of two is cut into 32 equal buckets, so a bucket is at most
 * 1/32 as wide as the values in it, over the whole range of uint64; values
 * below 64 are exact. Pure; one writer thread, readers after it has ended.
 */
#ifndef TIMER_HIST_H
#define TIMER_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_SUB_BITS 5u
#define HIST_SUB      (1u << HIST_SUB_BITS)
/* One run of HIST_SUB for the values below HIST_SUB, and one for each power of
 * two from there on. */
#define HIST_BUCKETS  ((64u - HIST_SUB_BITS + 1u) * HIST_SUB)

struct hist {
	uint64_t count;
	uint64_t min; /* UINT64_MAX while count is 0 */
	uint64_t max;
	uint64_t bucket[HIST_BUCKETS];
};

/* Empty it. */
void hist_init(struct hist *h);

/* Count one value, in any unit; O(1), no division. */
void hist_add(struct hist *h, uint64_t value);

/* Index of the bucket that holds value: 0..HIST_BUCKETS - 1. */
size_t hist_index(uint64_t value);

/* Smallest and largest value of a bucket, index below HIST_BUCKETS. */
uint64_t hist_low(size_t index);
uint64_t hist_high(size_t index);

/* First bucket at or after from that holds a value, or HIST_BUCKETS if none:
 * for (i = hist_next(h, 0); i < HIST_BUCKETS; i = hist_next(h, i + 1)) */
size_t hist_next(const struct hist *h, size_t from);

#endif
