/* SPDX-License-Identifier: MIT */
/* bench_table - the result of a benchmark as text. */
#ifndef VMM_BENCH_TABLE_H
#define VMM_BENCH_TABLE_H

#include <stdio.h>

struct bench_report;

/*
 * Prints one table a block, 99 columns wide: medians of every row, the
 * ratio of each single round, and what forbids a comparison. Errors stay in
 * out, for ferror(). Main thread.
 */
void bench_table_print(const struct bench_report *report, FILE *out);

#endif
