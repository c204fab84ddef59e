/* SPDX-License-Identifier: MIT */
/*
 * compare - two results of `punctual bench`, row by row. Pure.
 *
 * Rows are the same if their config files have the same name and what varies
 * (group, mode) is the same; of several such the first goes with the first.
 * There are no common rounds, so there is no ratio of a round: the medians of
 * the two are divided, and the interval of the quotient is that of the worst
 * case, the lower end of one over the upper end of the other. It holds with at
 * least the two confidences' sum less 1.
 */
#ifndef VMM_COMPARE_H
#define VMM_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_verdict.h"
#include "json.h"

#define COMPARE_SCHEMA "punctual-bench-2"

enum {
	COMPARE_JSON_MAX = 256 << 20,
	COMPARE_WHY_SIZE = 256,
};

enum compare_measure {
	COMPARE_P50,
	COMPARE_P99,
	COMPARE_MEASURES,
};

/* A measure of one row over its rounds, in picoseconds. */
struct compare_side {
	size_t rounds; /* that count; 0: nothing else is known */
	int64_t median_ps;
	bool has_interval;
	int64_t low_ps, high_ps, level_ppm;
};

struct compare_row {
	const struct json_node *a, *b;	/* the cells */
	char why_not[COMPARE_WHY_SIZE]; /* "": they may be compared */
	struct compare_side sides[COMPARE_MEASURES][2];
	/* B's over A's; level_ppm is a lower bound, pairs is not used. */
	struct bench_ratio ratios[COMPARE_MEASURES];
};

struct compare {
	const struct json_doc *docs[2];
	struct compare_row *rows;
	size_t row_count;
	size_t only[2]; /* rows that the other has not */
};

/*
 * Is it what `punctual bench --json` writes, as far as it is looked at? 0, or
 * -EINVAL with one line in err, which begins with name.
 */
int compare_check(const struct json_doc *doc, const char *name, char *err,
		  size_t err_size);

/* Pairs the rows of two checked documents, which must outlive *c. 0 or
 * -ENOMEM. */
int compare_make(struct compare *c, const struct json_doc *a,
		 const struct json_doc *b);
void compare_free(struct compare *c);

/* Is there no row to compare, or one that must not be, or one of which cannot
 * be told whether p50 differs? Then one line in why. */
bool compare_is_vain(const struct compare *c, char *why, size_t why_size);

/* "p50", "p99" */
const char *compare_measure_name(enum compare_measure measure);

/*
 * The text of a value, cut to fit, with everything that does not print as '?':
 * a document may come from anywhere. "-" for NULL. Returns buf.
 */
const char *compare_text(const struct json_doc *doc,
			 const struct json_node *node, char *buf, size_t size);

/* "lateness.json, wait=spin, kernel" */
void compare_describe(const struct json_doc *doc, const struct json_node *cell,
		      char *buf, size_t size);

#endif
