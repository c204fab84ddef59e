/* SPDX-License-Identifier: MIT */
/* bench_series - the lateness of one run, fire by fire. Pure. */
#ifndef VMM_BENCH_SERIES_H
#define VMM_BENCH_SERIES_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed: none. */
struct bench_series {
	int64_t *lateness_tsc; /* of the first CPU that reported */
	size_t count, warmup;  /* the first ones are warm-up */
};

/*
 * Reads it from a result that has samples (run --samples). 0; -EINVAL if it has
 * none, -ENOMEM. The caller frees *series if it returns 0.
 */
int bench_series_read(const char *json, size_t len,
		      struct bench_series *series);
void bench_series_free(struct bench_series *series);

#endif
