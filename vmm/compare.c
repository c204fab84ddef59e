/* SPDX-License-Identifier: MIT */
/*
 * compare - reads the rows of two results and divides their medians.
 * Not modelled: rows whose guests, command lines or machines differ; they are
 * refused (compare_config.c). Lateness is compared in time, not in cycles: the
 * two hosts need not have the same clock.
 */
#define _GNU_SOURCE /* asprintf */
#include "compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_stats.h"
#include "compare_config.h"
#include "percentile.h"

static const char *const measure_names[] = {"p50", "p99"};
static const char *const measure_members[] = {"p50_tsc", "p99_tsc"};

const char *compare_measure_name(enum compare_measure measure)
{
	return measure_names[measure];
}

/* Nothing of a file reaches a terminal as it is. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

const char *compare_text(const struct json_doc *doc,
			 const struct json_node *node, char *buf, size_t size)
{
	if (!node) {
		snprintf(buf, size, "-");
		return buf;
	}
	snprintf(buf, size, "%.*s", (int)(node->end - node->start),
		 doc->text + node->start);
	make_printable(buf);
	return buf;
}

static bool is_text(const struct json_doc *doc, const struct json_node *from,
		    const char *path, const char *text)
{
	const struct json_node *node = json_get(doc, from, path);

	return node && json_equals(doc, node, text);
}

static bool is_true(const struct json_doc *doc, const struct json_node *from,
		    const char *path)
{
	const struct json_node *node = json_get(doc, from, path);
	bool value;

	return node && !json_bool(doc, node, &value) && value;
}

static bool has_type(const struct json_doc *doc, const struct json_node *from,
		     const char *path, enum json_type type)
{
	const struct json_node *node = json_get(doc, from, path);

	return node && node->type == type;
}

static bool is_cell(const struct json_doc *doc, const struct json_node *cell)
{
	return has_type(doc, cell, "config", JSON_STRING) &&
	       has_type(doc, cell, "mode", JSON_STRING) &&
	       has_type(doc, cell, "group", JSON_STRING) &&
	       has_type(doc, cell, "comparable", JSON_BOOL) &&
	       has_type(doc, cell, "config_in_force", JSON_OBJECT) &&
	       has_type(doc, cell, "rounds", JSON_ARRAY);
}

int compare_check(const struct json_doc *doc, const char *name, char *err,
		  size_t err_size)
{
	const struct json_node *root = json_root(doc);
	const struct json_node *cells, *cell;
	char path[128];

	if (!is_text(doc, root, "schema", COMPARE_SCHEMA)) {
		snprintf(err, err_size,
			 "%s: not a result of bench of this version (schema "
			 "is not " COMPARE_SCHEMA "); run bench --json again",
			 name);
		return -EINVAL;
	}
	cells = json_get(doc, root, "cells");
	if (!cells || cells->type != JSON_ARRAY ||
	    !has_type(doc, root, "host", JSON_OBJECT)) {
		snprintf(err, err_size, "%s: cells or host: missing", name);
		return -EINVAL;
	}
	for (cell = json_first(doc, cells); cell; cell = json_next(doc, cell))
		if (!is_cell(doc, cell)) {
			snprintf(err, err_size, "%s: %s: not a row of bench",
				 name,
				 json_path(doc, cell, path, sizeof(path)));
			return -EINVAL;
		}
	return 0;
}

/* One measure of a round that counts, in picoseconds. */
static bool read_round(const struct json_doc *doc,
		       const struct json_node *round,
		       enum compare_measure measure, int64_t *ps)
{
	const struct json_node *value =
		json_member(doc, round, measure_members[measure]);
	const struct json_node *khz = json_member(doc, round, "tsc_khz");
	uint64_t tsc_khz;
	int64_t tsc;
	double exact;

	if (!is_true(doc, round, "ok") || !value || !khz ||
	    json_i64(doc, value, &tsc) || json_u64(doc, khz, &tsc_khz) ||
	    !tsc_khz)
		return false;
	exact = (double)tsc * 1e9 / (double)tsc_khz;
	if (!(exact > -9e18 && exact < 9e18))
		return false;
	*ps = (int64_t)exact;
	return true;
}

static void read_side(const struct json_doc *doc, const struct json_node *cell,
		      enum compare_measure measure, int64_t *scratch,
		      struct compare_side *side)
{
	const struct json_node *rounds = json_member(doc, cell, "rounds");
	const struct json_node *round;
	size_t n = 0, rank;

	for (round = json_first(doc, rounds); round;
	     round = json_next(doc, round))
		n += read_round(doc, round, measure, &scratch[n]);
	*side = (struct compare_side){.rounds = n};
	if (!n)
		return;
	percentile_sort(scratch, n);
	side->median_ps = percentile_nearest_rank(scratch, n, 1, 2);
	rank = bench_interval_rank(n, &side->level_ppm);
	if (!rank)
		return;
	side->has_interval = true;
	side->low_ps = scratch[rank - 1];
	side->high_ps = scratch[n - rank];
}

static struct bench_ratio divide(const struct compare_side *a,
				 const struct compare_side *b)
{
	struct bench_ratio ratio = {0};

	if (!a->rounds || !b->rounds)
		return ratio;
	ratio.is_known = bench_ppm((double)b->median_ps, (double)a->median_ps,
				   &ratio.median_ppm);
	if (!ratio.is_known || !a->has_interval || !b->has_interval ||
	    !bench_ppm((double)b->low_ps, (double)a->high_ps, &ratio.low_ppm) ||
	    !bench_ppm((double)b->high_ps, (double)a->low_ps, &ratio.high_ppm))
		return ratio;
	ratio.has_interval = true;
	ratio.level_ppm = a->level_ppm + b->level_ppm - 1000000;
	ratio.verdict = bench_verdict_of(ratio.low_ppm, ratio.high_ppm, false);
	return ratio;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The decoded string, or "" where it cannot be had. To be freed. */
static char *string_at(const struct json_doc *doc, const struct json_node *cell,
		       const char *name)
{
	char *text;

	return json_string(doc, json_member(doc, cell, name), &text)
		       ? strdup("")
		       : text;
}

/* What a row is called, whatever directory its config was in. NULL without
 * memory. */
static char *label_of(const struct json_doc *doc, const struct json_node *cell)
{
	char *config = string_at(doc, cell, "config");
	char *group = string_at(doc, cell, "group");
	char *mode = string_at(doc, cell, "mode");
	char *label;

	if (!config || !group || !mode ||
	    asprintf(&label, "%s%s%s, %s", base_name(config),
		     *group ? ", " : "", group, mode) < 0)
		label = NULL;
	free(config);
	free(group);
	free(mode);
	return label;
}

void compare_describe(const struct json_doc *doc, const struct json_node *cell,
		      char *buf, size_t size)
{
	char *label = label_of(doc, cell);

	snprintf(buf, size, "%s", label ? label : "?");
	make_printable(buf);
	free(label);
}

struct labels {
	char **text;
	const struct json_node **cells;
	size_t count;
};

static void labels_free(struct labels *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->text[i]);
	free(l->text);
	free(l->cells);
}

static int labels_read(const struct json_doc *doc, struct labels *l)
{
	const struct json_node *cells = json_get(doc, json_root(doc), "cells");
	const struct json_node *cell;

	*l = (struct labels){0};
	l->text = calloc(cells->children + 1, sizeof(*l->text));
	l->cells = calloc(cells->children + 1, sizeof(*l->cells));
	if (!l->text || !l->cells)
		return -ENOMEM;
	for (cell = json_first(doc, cells); cell; cell = json_next(doc, cell)) {
		l->text[l->count] = label_of(doc, cell);
		if (!l->text[l->count])
			return -ENOMEM;
		l->cells[l->count++] = cell;
	}
	return 0;
}

/* Takes the first of b that is called so; a row is taken once. */
static const struct json_node *take(struct labels *b, const char *label)
{
	const struct json_node *cell;

	for (size_t i = 0; i < b->count; i++)
		if (b->cells[i] && !strcmp(b->text[i], label)) {
			cell = b->cells[i];
			b->cells[i] = NULL;
			return cell;
		}
	return NULL;
}

/* What its own benchmark found wrong with a row. */
static bool is_spoilt(const struct json_doc *doc, const struct json_node *cell,
		      char side, char *why, size_t size)
{
	char text[COMPARE_WHY_SIZE];

	if (is_true(doc, cell, "comparable"))
		return false;
	snprintf(why, size, "in %c: %.200s", side,
		 compare_text(doc, json_member(doc, cell, "why_not"), text,
			      sizeof(text)));
	return true;
}

static void fill_row(const struct compare *c, struct compare_row *row,
		     int64_t *scratch)
{
	const struct json_node *cells[2] = {row->a, row->b};

	if (is_spoilt(c->docs[0], row->a, 'A', row->why_not,
		      COMPARE_WHY_SIZE) ||
	    is_spoilt(c->docs[1], row->b, 'B', row->why_not,
		      COMPARE_WHY_SIZE) ||
	    compare_config_refuses(c->docs, cells, row->why_not,
				   COMPARE_WHY_SIZE)) {
		for (unsigned int m = 0; m < COMPARE_MEASURES; m++)
			row->ratios[m].verdict = BENCH_NOT_COMPARABLE;
		return;
	}
	for (unsigned int m = 0; m < COMPARE_MEASURES; m++) {
		for (int side = 0; side < 2; side++)
			read_side(c->docs[side], cells[side],
				  (enum compare_measure)m, scratch,
				  &row->sides[m][side]);
		row->ratios[m] = divide(&row->sides[m][0], &row->sides[m][1]);
	}
}

static size_t most_rounds(const struct labels *l, const struct json_doc *doc)
{
	size_t most = 1;

	for (size_t i = 0; i < l->count; i++) {
		size_t n = json_member(doc, l->cells[i], "rounds")->children;

		if (n > most)
			most = n;
	}
	return most;
}

static int pair(struct compare *c, struct labels *a, struct labels *b)
{
	size_t room = most_rounds(a, c->docs[0]);
	size_t room_b = most_rounds(b, c->docs[1]);
	int64_t *scratch =
		calloc(room > room_b ? room : room_b, sizeof(*scratch));

	c->rows = calloc(a->count + 1, sizeof(*c->rows));
	if (!scratch || !c->rows) {
		free(scratch);
		return -ENOMEM;
	}
	for (size_t i = 0; i < a->count; i++) {
		struct compare_row *row = &c->rows[c->row_count];

		row->a = a->cells[i];
		row->b = take(b, a->text[i]);
		if (!row->b)
			continue;
		fill_row(c, row, scratch);
		c->row_count++;
	}
	c->only[0] = a->count - c->row_count;
	c->only[1] = b->count - c->row_count;
	free(scratch);
	return 0;
}

int compare_make(struct compare *c, const struct json_doc *a,
		 const struct json_doc *b)
{
	struct labels labels_a = {0}, labels_b = {0};
	int ret;

	*c = (struct compare){.docs = {a, b}};
	ret = labels_read(a, &labels_a);
	if (!ret)
		ret = labels_read(b, &labels_b);
	if (!ret)
		ret = pair(c, &labels_a, &labels_b);
	labels_free(&labels_a);
	labels_free(&labels_b);
	if (ret)
		compare_free(c);
	return ret;
}

void compare_free(struct compare *c)
{
	free(c->rows);
	*c = (struct compare){0};
}

bool compare_is_vain(const struct compare *c, char *why, size_t why_size)
{
	char name[192];

	if (!c->row_count) {
		snprintf(why, why_size,
			 "nothing to compare: no row of A is "
			 "in B (config, group and mode)");
		return true;
	}
	for (size_t i = 0; i < c->row_count; i++) {
		const struct compare_row *row = &c->rows[i];
		bool may_be = !*row->why_not;

		if (may_be &&
		    row->ratios[COMPARE_P50].verdict != BENCH_CANNOT_TELL)
			continue;
		compare_describe(c->docs[0], row->a, name, sizeof(name));
		snprintf(why, why_size, "%s: %s%s", name,
			 may_be ? "cannot tell" : "not comparable: ",
			 row->why_not);
		return true;
	}
	return false;
}
