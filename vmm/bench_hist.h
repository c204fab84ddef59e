/* SPDX-License-Identifier: MIT */
/*
 * bench_hist - the lateness histogram of one run, kept small: a benchmark has
 * thousands of them, and most buckets are empty. Pure.
 */
#ifndef VMM_BENCH_HIST_H
#define VMM_BENCH_HIST_H

#include <stddef.h>
#include <stdint.h>

struct hist;
struct json_doc;
struct json_node;
struct jsonw;

struct bench_hist_bucket {
	size_t index; /* see hist_low() and hist_high() */
	uint64_t count;
};

/* Zeroed: empty. */
struct bench_hist {
	uint64_t count; /* samples in it, warm-up left out */
	uint64_t min_tsc, max_tsc;
	struct bench_hist_bucket *buckets; /* ascending, none of them empty */
	size_t used;
};

/*
 * Reads what hist_json_write() wrote. 0; -EINVAL for anything else: a bucket
 * that is not one of ours, out of order or empty, counts that do not add up;
 * -ENOMEM. The caller frees *hist if it returns 0.
 */
int bench_hist_read(const struct json_doc *doc, const struct json_node *node,
		    struct bench_hist *hist);
void bench_hist_free(struct bench_hist *hist);

/* Adds it to *sum, which hist_init() has seen. */
void bench_hist_add(const struct bench_hist *hist, struct hist *sum);

/* As hist_json_write(). */
void bench_hist_write(const struct bench_hist *hist, const char *name,
		      struct jsonw *w);

#endif
