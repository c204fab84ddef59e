/* SPDX-License-Identifier: MIT */
/*
 * hgrm - a histogram as HdrHistogram's percentile text, which its plotters
 * read. Pure but for the stream.
 */
#ifndef VMM_HGRM_H
#define VMM_HGRM_H

#include <stdint.h>
#include <stdio.h>

struct hist;

/*
 * Writes the distribution of *h, whose unit is TSC cycles, in microseconds:
 * one line for each percentile, five for each halving of what is left above
 * it, and the trailer. h is not empty and tsc_khz not 0. note: a line more,
 * without its "#". Errors stay in out, for ferror().
 */
void hgrm_write(FILE *out, const struct hist *h, uint64_t tsc_khz,
		const char *note);

#endif
