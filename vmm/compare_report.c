/* SPDX-License-Identifier: MIT */
/*
 * compare_report - the rows of two results side by side, and above them what
 * else is not the same. All text of the two files is passed through
 * compare_text() or jsonw, so that none reaches a terminal raw.
 */
#include "compare_report.h"

#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "compare_config.h"
#include "jsonw.h"

enum {
	NAME_SIZE = 192,
	SIDE_SIZE = 64,
};

static void print_difference(void *ctx, const char *name, const char *a,
			     const char *b)
{
	fprintf(ctx, "  %-20s %s / %s\n", name, a, b);
}

static void count_difference(void *ctx, const char *name, const char *a,
			     const char *b)
{
	size_t *count = ctx;

	(void)name;
	(void)a;
	(void)b;
	(*count)++;
}

static void print_side(char *buf, const struct compare_side *side)
{
	double median = (double)side->median_ps / 1e3;

	if (!side->rounds)
		snprintf(buf, SIDE_SIZE, "-");
	else if (!side->has_interval)
		snprintf(buf, SIDE_SIZE, "%.0f", median);
	else
		snprintf(buf, SIDE_SIZE, "%.0f (%.0f-%.0f)", median,
			 (double)side->low_ps / 1e3,
			 (double)side->high_ps / 1e3);
}

static void print_ppm(FILE *out, bool is_known, int64_t ppm)
{
	if (is_known)
		fprintf(out, " %7.3f", (double)ppm / 1e6);
	else
		fprintf(out, " %7s", "-");
}

static void print_measure(const struct compare_row *row, enum compare_measure m,
			  FILE *out)
{
	const struct bench_ratio *ratio = &row->ratios[m];
	char a[SIDE_SIZE], b[SIDE_SIZE];

	print_side(a, &row->sides[m][0]);
	print_side(b, &row->sides[m][1]);
	fprintf(out, "  %-4s %24s %24s", compare_measure_name(m), a, b);
	print_ppm(out, ratio->is_known, ratio->median_ppm);
	print_ppm(out, ratio->has_interval, ratio->low_ppm);
	print_ppm(out, ratio->has_interval, ratio->high_ppm);
	fprintf(out, "  %s\n", bench_verdict_name(ratio->verdict));
}

static void print_row(const struct compare *c, const struct compare_row *row,
		      FILE *out)
{
	const struct json_node *cells[2] = {row->a, row->b};
	char name[NAME_SIZE];

	compare_describe(c->docs[0], row->a, name, sizeof(name));
	fprintf(out, "\n%s\n", name);
	if (*row->why_not) {
		fprintf(out, "  ! not comparable: %s\n", row->why_not);
		return;
	}
	fprintf(out, "  %-4s %24s %24s %7s %7s %7s  verdict\n", "", "A, ns",
		"B, ns", "B/A", "from", "to");
	for (unsigned int m = 0; m < COMPARE_MEASURES; m++)
		print_measure(row, (enum compare_measure)m, out);
	compare_config_differs(c->docs, cells, print_difference, out);
}

void compare_print(const struct compare *c, const char *const names[2],
		   FILE *out)
{
	size_t differences = 0;

	fprintf(out, "A: %s\nB: %s\nwhat differs, A / B:", names[0], names[1]);
	compare_context_differs(c->docs, count_difference, &differences);
	fprintf(out, "%s\n", differences ? "" : " nothing");
	compare_context_differs(c->docs, print_difference, out);
	for (size_t i = 0; i < c->row_count; i++)
		print_row(c, &c->rows[i], out);
	for (int side = 0; side < 2; side++)
		if (c->only[side])
			fprintf(out, "\n%zu rows are in %c only\n",
				c->only[side], "AB"[side]);
}

static void write_difference(void *ctx, const char *name, const char *a,
			     const char *b)
{
	struct jsonw *w = ctx;

	jsonw_object_begin(w, NULL);
	jsonw_string(w, "name", name);
	jsonw_string(w, "a", a);
	jsonw_string(w, "b", b);
	jsonw_object_end(w);
}

static void write_ns(struct jsonw *w, const char *name, bool is_known,
		     int64_t ps)
{
	if (is_known)
		jsonw_double(w, name, (double)ps / 1e3);
	else
		jsonw_null(w, name);
}

static void write_ratio(struct jsonw *w, const char *name, bool is_known,
			int64_t ppm)
{
	if (is_known)
		jsonw_double(w, name, (double)ppm / 1e6);
	else
		jsonw_null(w, name);
}

static void write_side(struct jsonw *w, const char *name,
		       const struct compare_side *side)
{
	jsonw_object_begin(w, name);
	jsonw_u64(w, "rounds", side->rounds);
	write_ns(w, "median_ns", side->rounds, side->median_ps);
	write_ns(w, "low_ns", side->has_interval, side->low_ps);
	write_ns(w, "high_ns", side->has_interval, side->high_ps);
	write_ratio(w, "level", side->has_interval, side->level_ppm);
	jsonw_object_end(w);
}

static void write_measure(struct jsonw *w, const struct compare_row *row,
			  enum compare_measure m)
{
	const struct bench_ratio *ratio = &row->ratios[m];

	jsonw_object_begin(w, compare_measure_name(m));
	write_side(w, "a", &row->sides[m][0]);
	write_side(w, "b", &row->sides[m][1]);
	write_ratio(w, "ratio", ratio->is_known, ratio->median_ppm);
	write_ratio(w, "low", ratio->has_interval, ratio->low_ppm);
	write_ratio(w, "high", ratio->has_interval, ratio->high_ppm);
	write_ratio(w, "level", ratio->has_interval, ratio->level_ppm);
	jsonw_string(w, "verdict", bench_verdict_name(ratio->verdict));
	jsonw_object_end(w);
}

static void write_row(const struct compare *c, const struct compare_row *row,
		      struct jsonw *w)
{
	const struct json_node *cells[2] = {row->a, row->b};
	char name[NAME_SIZE];

	compare_describe(c->docs[0], row->a, name, sizeof(name));
	jsonw_object_begin(w, NULL);
	jsonw_string(w, "row", name);
	jsonw_string(w, "why_not", *row->why_not ? row->why_not : NULL);
	for (unsigned int m = 0; m < COMPARE_MEASURES; m++)
		write_measure(w, row, (enum compare_measure)m);
	jsonw_array_begin(w, "differs");
	compare_config_differs(c->docs, cells, write_difference, w);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

void compare_write(const struct compare *c, const char *const names[2],
		   int status, struct jsonw *w)
{
	jsonw_object_begin(w, NULL);
	jsonw_string(w, "schema", "punctual-compare-1");
	jsonw_i64(w, "status", status);
	jsonw_string(w, "a", names[0]);
	jsonw_string(w, "b", names[1]);
	jsonw_array_begin(w, "differs");
	compare_context_differs(c->docs, write_difference, w);
	jsonw_array_end(w);
	jsonw_array_begin(w, "rows");
	for (size_t i = 0; i < c->row_count; i++)
		write_row(c, &c->rows[i], w);
	jsonw_array_end(w);
	jsonw_u64(w, "only_in_a", c->only[0]);
	jsonw_u64(w, "only_in_b", c->only[1]);
	jsonw_object_end(w);
}
