/* SPDX-License-Identifier: MIT */
/*
 * bench_verdict - what the ratios of many rounds say about a row. Pure.
 *
 * The interval is the distribution-free one for a median: of n ratios, sorted,
 * the r-th smallest and the r-th largest, with the largest r for which the two
 * hold the true median between them with a probability of at least 95 %. That
 * is 1 - 2 P(B < r), B binomial with n trials of 1/2, whatever the ratios are
 * distributed like, as long as the rounds are independent. Fewer than six
 * ratios have none: their smallest and largest reach 93.75 %.
 */
#ifndef VMM_BENCH_VERDICT_H
#define VMM_BENCH_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BENCH_PAIRS_MIN = 6, /* an interval needs as many */
	BENCH_LEVEL_MIN_PPM = 950000,
	/* A difference that nobody would act on: with its whole interval this
	 * close to 1 a ratio is none, even if the interval leaves 1 out. */
	BENCH_SMALL_PPM = 20000,
	/* An interval with 1 in it says "no difference" if it is this close. */
	BENCH_NARROW_PPM = 250000,
};

enum bench_verdict {
	BENCH_CANNOT_TELL, /* no interval, or one that is too wide */
	BENCH_NO_DIFFERENCE,
	BENCH_BETTER,
	BENCH_WORSE,
	BENCH_NOT_COMPARABLE, /* the row, or what it is compared with */
};

/* A ratio to the reference, over rounds. */
struct bench_ratio {
	bool is_known; /* there is a median */
	int64_t median_ppm;
	size_t pairs; /* rounds in which both runs counted */
	bool has_interval;
	int64_t low_ppm, high_ppm;
	int64_t level_ppm; /* its real confidence, at least the minimum */
	enum bench_verdict verdict;
};

/*
 * The rank r of the interval's lower end, from 1, among n sorted values; the
 * upper one's is n + 1 - r. *level_ppm, rounded down: its confidence. 0: n is
 * too small. n is at most 10^9.
 */
size_t bench_interval_rank(size_t n, int64_t *level_ppm);

/* What an interval of ratios says, never BENCH_NOT_COMPARABLE. */
enum bench_verdict bench_verdict_of(int64_t low_ppm, int64_t high_ppm,
				    bool is_more_better);

/*
 * Sorts the n ratios, and sums them up. is_more_better: a ratio above 1 is
 * what one would wish for. Never BENCH_NOT_COMPARABLE.
 */
struct bench_ratio bench_ratio_of(int64_t *ratios_ppm, size_t n,
				  bool is_more_better);

/* "better", "worse", "no difference", "cannot tell", "not comparable" */
const char *bench_verdict_name(enum bench_verdict verdict);

#endif
