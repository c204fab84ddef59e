/* SPDX-License-Identifier: MIT */
/*
 * bench_json - the result of a benchmark as JSON ("schema":
 * "punctual-bench-2"), every single round included.
 */
#ifndef VMM_BENCH_JSON_H
#define VMM_BENCH_JSON_H

struct bench_report;
struct jsonw;

/* Writes the document; errors stay in w. Main thread. */
void bench_json_write(const struct bench_report *report, struct jsonw *w);

#endif
