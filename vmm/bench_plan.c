/* SPDX-License-Identifier: MIT */
/*
 * bench_plan - the cross product of what a benchmark varies.
 *
 * Cells are numbered as the digits of a number turn, an axis a digit, the
 * last one fastest; so the rows of a block stand together.
 * Not modelled: cells that come out alike, such as mode kernel under several
 * advances; they show how much two equal rows differ.
 */
#define _GNU_SOURCE /* asprintf */
#include "bench_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_axes.h"
#include "options.h"

struct planner {
	struct bench_plan *plan;
	const struct options *options;
	struct bench_axis *axes; /* groups first, then rows */
	size_t axis_count;
	size_t rows_from; /* the first axis that makes rows */
	char *err;
	size_t err_size;
};

__attribute__((format(printf, 2, 3))) static int fail(struct planner *p,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->err, p->err_size, format, args);
	va_end(args);
	return -EINVAL;
}

static int fail_memory(struct planner *p)
{
	fail(p, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static int add_set(struct bench_cell *cell, const char *set)
{
	char *copy = strdup(set);

	if (!copy)
		return -ENOMEM;
	cell->sets[cell->set_count++] = copy;
	return 0;
}

static int add_axis_sets(struct bench_cell *cell, const struct bench_axis *axis,
			 size_t value)
{
	const char *at;
	int len, ret = 0;

	if (axis->key) {
		at = bench_axis_value(axis, value, &len);
		if (asprintf(&cell->sets[cell->set_count], "%.*s=%.*s",
			     (int)axis->key_len, axis->key, len, at) < 0)
			return -ENOMEM;
		cell->set_count++;
		return 0;
	}
	for (size_t i = 0; !ret && i < 2 && bench_modes[value].sets[i]; i++)
		ret = add_set(cell, bench_modes[value].sets[i]);
	return ret;
}

/* Appends to *text, after a separator if there is text already. */
__attribute__((format(printf, 3, 4))) static int
append(char **text, const char *separator, const char *format, ...)
{
	char *more, *joined;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&more, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	n = asprintf(&joined, "%s%s%s", *text, **text ? separator : "", more);
	free(more);
	if (n < 0)
		return -ENOMEM;
	free(*text);
	*text = joined;
	return 0;
}

static int add_name(struct bench_cell *cell, const struct bench_axis *axis,
		    size_t value)
{
	const char *at, *key = axis->key;
	int len, key_len = (int)axis->key_len;

	if (!key)
		return append(&cell->mode, " ", "%s", bench_modes[value].name);
	at = bench_axis_value(axis, value, &len);
	if (bench_axis_is(axis, BENCH_MODE_KEY) ||
	    (bench_axis_is(axis, BENCH_ADVANCE_KEY) && *cell->mode))
		return append(&cell->mode, " ", "%.*s", len, at);
	if (bench_axis_is(axis, BENCH_ADVANCE_KEY))
		return append(&cell->mode, " ", "advance %.*s", len, at);
	if (!strncmp(key, BENCH_WORD_PREFIX, strlen(BENCH_WORD_PREFIX))) {
		key += strlen(BENCH_WORD_PREFIX);
		key_len -= (int)strlen(BENCH_WORD_PREFIX);
	}
	return append(&cell->group, ", ", "%.*s=%.*s", key_len, key, len, at);
}

static size_t digit(const struct planner *p, size_t index, size_t axis)
{
	for (size_t i = p->axis_count - 1; i > axis; i--)
		index /= p->axes[i].count;
	return index % p->axes[axis].count;
}

/* A varied command line comes before what --set puts into it, all else after
 * the sets, so that no override undoes another. */
static int fill_cell(struct planner *p, struct bench_cell *cell, size_t index)
{
	size_t room =
		BENCH_KEPT_SETS + 2 * p->axis_count + p->options->set_count + 1;
	int ret = 0;

	cell->sets = calloc(room, sizeof(*cell->sets));
	cell->mode = strdup("");
	cell->group = strdup("");
	if (!cell->sets || !cell->mode || !cell->group)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < BENCH_KEPT_SETS; i++)
		ret = add_set(cell, bench_kept_sets[i]);
	for (size_t i = 0; !ret && i < p->axis_count; i++)
		if (bench_axis_is(&p->axes[i], BENCH_ARGS_KEY))
			ret = add_axis_sets(cell, &p->axes[i],
					    digit(p, index, i));
	for (size_t i = 0; !ret && i < p->options->set_count; i++)
		ret = add_set(cell, p->options->sets[i]);
	for (size_t i = 0; !ret && i < p->axis_count; i++) {
		if (!bench_axis_is(&p->axes[i], BENCH_ARGS_KEY))
			ret = add_axis_sets(cell, &p->axes[i],
					    digit(p, index, i));
		if (!ret)
			ret = add_name(cell, &p->axes[i], digit(p, index, i));
	}
	return ret;
}

/* A row like that of cell `index`, but for the timer mode. */
static int fill_baseline(struct planner *p, struct bench_cell *cell,
			 size_t index)
{
	int ret = fill_cell(p, cell, index);

	if (!ret)
		ret = add_set(cell, BENCH_MODE_KEY "=kernel");
	free(cell->mode);
	cell->mode = strdup("qemu");
	cell->is_qemu = true;
	return ret || !cell->mode ? -ENOMEM : 0;
}

static int add_cells(struct planner *p, const char *config, size_t block,
		     size_t cells, size_t rows)
{
	struct bench_plan *plan = p->plan;
	size_t per_block = rows + p->options->has_qemu;
	int ret = 0;

	for (size_t i = 0; !ret && i < cells / rows * per_block; i++) {
		struct bench_cell *cell = &plan->cells[plan->cell_count++];
		size_t index = i / per_block * rows + i % per_block;

		cell->config = config;
		cell->block = block + i / per_block;
		ret = i % per_block < rows ? fill_cell(p, cell, index)
					   : fill_baseline(p, cell, index - 1);
	}
	return ret;
}

static int add_config(struct planner *p, const char *config, bool has_wait)
{
	struct bench_plan *plan = p->plan;
	size_t first = plan->cell_count;
	size_t block = first ? plan->cells[first - 1].block + 1 : 0;
	size_t cells = 1, rows = 1;
	int ret = bench_axes_find(p->options, has_wait, p->axes, &p->axis_count,
				  &p->rows_from, p->err, p->err_size);

	if (ret)
		return ret;
	for (size_t i = 0; i < p->axis_count; i++) {
		cells *= p->axes[i].count;
		if (i >= p->rows_from)
			rows *= p->axes[i].count;
		if (first + cells * (1 + p->options->has_qemu) >
		    BENCH_CELLS_MAX)
			return fail(p, "more than %d combinations",
				    BENCH_CELLS_MAX);
	}
	return add_cells(p, config, block, cells, rows) ? fail_memory(p) : 0;
}

static int make(struct planner *p, const bool *has_wait)
{
	struct bench_plan *plan = p->plan;
	int ret = 0;

	for (size_t i = 0; !ret && i < p->options->config_count; i++)
		ret = add_config(p, p->options->configs[i], has_wait[i]);
	if (!ret && plan->cell_count * plan->rounds > BENCH_RUNS_MAX)
		ret = fail(p, "%zu cells x %u rounds: more than %d runs",
			   plan->cell_count, plan->rounds, BENCH_RUNS_MAX);
	return ret;
}

int bench_plan_make(struct bench_plan *plan, const struct options *options,
		    const bool *has_wait, char *err, size_t err_size)
{
	struct planner p = {
		.plan = plan,
		.options = options,
		.err = err,
		.err_size = err_size,
	};
	int ret;

	*plan = (struct bench_plan){
		.rounds = options->rounds ? options->rounds
					  : BENCH_ROUNDS_DEFAULT,
	};
	plan->cells = calloc(BENCH_CELLS_MAX, sizeof(*plan->cells));
	p.axes = calloc(bench_axes_room(options), sizeof(*p.axes));
	if (plan->cells && p.axes)
		ret = make(&p, has_wait);
	else
		ret = fail_memory(&p);
	free(p.axes);
	if (ret)
		bench_plan_free(plan);
	return ret;
}

void bench_plan_free(struct bench_plan *plan)
{
	for (size_t i = 0; i < plan->cell_count; i++) {
		struct bench_cell *cell = &plan->cells[i];

		for (size_t j = 0; j < cell->set_count; j++)
			free(cell->sets[j]);
		free(cell->sets);
		free(cell->mode);
		free(cell->group);
	}
	free(plan->cells);
	*plan = (struct bench_plan){0};
}

size_t bench_plan_cell_at(size_t cell_count, unsigned int round,
			  size_t position)
{
	size_t start = round % cell_count;

	if (round % 2)
		return (start + cell_count - position) % cell_count;
	return (start + position) % cell_count;
}

bool bench_plan_has_wait(const char *boot_args)
{
	const char *at = boot_args;

	while (*at) {
		at += strspn(at, " ");
		if (!strncmp(at, "wait=", strlen("wait=")))
			return true;
		at += strcspn(at, " ");
	}
	return false;
}
