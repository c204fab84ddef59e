/* SPDX-License-Identifier: MIT */
/*
 * bench_axes - what a benchmark varies, and over which values. Pure.
 *
 * Every variation is an axis with a list of values. Axes that set the timer
 * mode make the rows of a block; all others tell blocks apart.
 */
#ifndef VMM_BENCH_AXES_H
#define VMM_BENCH_AXES_H

#include <stdbool.h>
#include <stddef.h>

struct options;

#define BENCH_MODE_KEY	  "timer.mode"
#define BENCH_ADVANCE_KEY "timer.advance"
#define BENCH_ARGS_KEY	  "boot-source.boot_args"
#define BENCH_WORD_PREFIX "boot_args."

struct bench_axis {
	const char *key; /* not terminated; NULL: the default modes */
	size_t key_len;
	const char *values; /* as --vary has them, separated by commas */
	size_t count;
};

/* A row of the default modes. */
struct bench_mode {
	const char *name;
	const char *sets[2]; /* the second may be NULL */
};
extern const struct bench_mode bench_modes[];

/* What bench sets in every run: the guest's console has nothing to say and
 * costs time, and results come through a pipe. */
#define BENCH_KEPT_SETS 2
extern const char *const bench_kept_sets[BENCH_KEPT_SETS];

/*
 * Fills axes, which has room for bench_axes_room(), and *count of them, in
 * the order of the options, but those that make rows last, from *rows on:
 * the mode, then the advance. has_wait: see bench_plan_make().
 * 0; -EINVAL with one line in err.
 */
int bench_axes_find(const struct options *options, bool has_wait,
		    struct bench_axis *axes, size_t *count, size_t *rows,
		    char *err, size_t err_size);
size_t bench_axes_room(const struct options *options);

/* Value i of an axis, not terminated, and its length. */
const char *bench_axis_value(const struct bench_axis *axis, size_t i, int *len);

/* Is it the axis of that key? */
bool bench_axis_is(const struct bench_axis *axis, const char *key);

#endif
