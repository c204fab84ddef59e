/* SPDX-License-Identifier: MIT */
/*
 * fuzz-compare - two hostile results of bench, compared and reported.
 *
 * The input is two documents with a NUL between them; or, if its first byte is
 * odd, the numbers and words of two that have the right form.
 *
 * Rules: what is refused has one printable line to say why; each row has a
 * partner or is counted as without one; intervals contain their medians, and
 * ratios theirs; a row that must not be compared has no ratio; and both reports
 * are what they should be: text of printable lines, and JSON.
 */
#define _GNU_SOURCE /* open_memstream */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "compare_report.h"
#include "fuzz.h"
#include "jsonw.h"

enum {
	DOCUMENT_MAX = 1 << 20,
};

static const char *const names[2] = {"a.json", "b.json"};

/* Words of each kind, of which a name or a value is made. */
static const char *const words[] = {"kernel",	 "userspace auto", "",
				    "wait=spin", "\\u001b[2J",	   "x/y.json"};

static const char *word(struct fuzz_input *in)
{
	return words[fuzz_u8(in) % (sizeof(words) / sizeof(words[0]))];
}

/* Times are so many times what the input says. */
static void write_round(FILE *out, struct fuzz_input *in, unsigned int times)
{
	uint8_t bits = fuzz_u8(in);

	fprintf(out,
		"{\"ok\":%s,\"tsc_khz\":%" PRIu64 ",\"p50_tsc\":%s%" PRIu64
		",\"p99_tsc\":%" PRIu64 "}",
		bits & 1 ? "true" : "false", fuzz_any_size(in, 64),
		bits & 2 ? "-" : "", times * fuzz_any_size(in, 64),
		times * fuzz_any_size(in, 40));
}

/* Rounds are alike, or each is another. */
static void write_rounds(FILE *out, struct fuzz_input *in, unsigned int times)
{
	unsigned int count = fuzz_u8(in) % 24;
	bool alike = fuzz_u8(in) & 1;
	struct fuzz_input first = *in;

	for (unsigned int i = 0; i < count; i++) {
		if (i)
			fputc(',', out);
		if (alike)
			*in = first;
		write_round(out, in, times);
	}
}

static void write_cell(FILE *out, struct fuzz_input *in, unsigned int times)
{
	uint8_t bits = fuzz_u8(in);

	fprintf(out, "{\"config\":\"%s\"", word(in));
	fprintf(out, ",\"group\":\"%s\"", word(in));
	fprintf(out, ",\"mode\":\"%s\"", word(in));
	fprintf(out, ",\"comparable\":%s,\"why_not\":\"%s\"",
		bits & 0xe0 ? "true" : "false", word(in));
	fprintf(out,
		",\"config_in_force\":{\"timer\":{\"mode\":\"%s\"},"
		"\"machine-config\":{\"vcpu_count\":%u,\"x\":[%u]},"
		"\"boot-source\":{\"kernel_image_path\":\"/%u/%s\"}}",
		bits & 1 ? words[0] : words[1], bits & 2 ? 1u : 2u, bits >> 4,
		bits >> 4, bits & 4 ? "k" : "other");
	fprintf(out, ",\"rounds\":[");
	write_rounds(out, in, times);
	fprintf(out, "]}");
}

/* To be freed. */
static char *make_text(struct fuzz_input *in, unsigned int times)
{
	unsigned int count = fuzz_u8(in) % 4;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	FUZZ_CHECK(out);
	fprintf(out, "{\"schema\":\"" COMPARE_SCHEMA "\",\"host\":");
	fprintf(out, "{\"kernel\":\"%s\"},\"cells\":[", word(in));
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			fputc(',', out);
		write_cell(out, in, times);
	}
	fprintf(out, "]}");
	FUZZ_CHECK(!fclose(out));
	return text;
}

static void check_printable(const char *text, size_t len, bool has_lines)
{
	FUZZ_CHECK(len);
	for (size_t i = 0; i < len; i++)
		FUZZ_CHECK((text[i] >= ' ' && text[i] <= '~') ||
			   (has_lines && text[i] == '\n'));
}

static void check_side(const struct compare_side *side, size_t rounds)
{
	FUZZ_CHECK(side->rounds <= rounds);
	if (!side->has_interval)
		return;
	FUZZ_CHECK(side->rounds >= BENCH_PAIRS_MIN);
	FUZZ_CHECK(side->low_ps <= side->median_ps &&
		   side->median_ps <= side->high_ps);
	FUZZ_CHECK(side->level_ppm >= BENCH_LEVEL_MIN_PPM &&
		   side->level_ppm <= 1000000);
}

static void check_row(const struct compare *c, const struct compare_row *row)
{
	size_t rounds_a = json_member(c->docs[0], row->a, "rounds")->children;
	size_t rounds_b = json_member(c->docs[1], row->b, "rounds")->children;

	if (*row->why_not)
		check_printable(row->why_not, strlen(row->why_not), false);
	for (unsigned int m = 0; m < COMPARE_MEASURES; m++) {
		const struct bench_ratio *ratio = &row->ratios[m];

		FUZZ_CHECK((ratio->verdict == BENCH_NOT_COMPARABLE) ==
			   (*row->why_not != '\0'));
		FUZZ_CHECK(!*row->why_not || !ratio->is_known);
		check_side(&row->sides[m][0], rounds_a);
		check_side(&row->sides[m][1], rounds_b);
		FUZZ_CHECK(ratio->is_known || !ratio->has_interval);
		if (ratio->has_interval) {
			FUZZ_CHECK(ratio->low_ppm <= ratio->median_ppm &&
				   ratio->median_ppm <= ratio->high_ppm);
			FUZZ_CHECK(ratio->level_ppm >= 900000 &&
				   ratio->level_ppm <= 1000000);
		}
	}
}

static void check_reports(const struct compare *c)
{
	struct json_doc doc;
	struct jsonw w;
	char *text = NULL, err[256];
	const char *json;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	FUZZ_CHECK(out);
	compare_print(c, names, out);
	FUZZ_CHECK(!fclose(out));
	check_printable(text, len, true);
	free(text);
	jsonw_init(&w, 2, DOCUMENT_MAX);
	compare_write(c, names, 0, &w);
	json = jsonw_text(&w, &len);
	FUZZ_CHECK(json);
	FUZZ_CHECK(!json_parse(&doc, "c", json, len, DOCUMENT_MAX, err,
			       sizeof(err)));
	json_free(&doc);
	jsonw_free(&w);
}

static void check_compare(const struct json_doc *a, const struct json_doc *b)
{
	char why[COMPARE_WHY_SIZE + 256];
	struct compare c;

	FUZZ_CHECK(!compare_make(&c, a, b));
	FUZZ_CHECK(c.row_count + c.only[0] ==
		   json_get(a, json_root(a), "cells")->children);
	FUZZ_CHECK(c.row_count + c.only[1] ==
		   json_get(b, json_root(b), "cells")->children);
	for (size_t i = 0; i < c.row_count; i++)
		check_row(&c, &c.rows[i]);
	if (compare_is_vain(&c, why, sizeof(why)))
		check_printable(why, strlen(why), false);
	else
		FUZZ_CHECK(c.row_count);
	check_reports(&c);
	compare_free(&c);
}

/* False: it is no result, and that was said. */
static bool load(struct json_doc *doc, const char *name, const char *text,
		 size_t len)
{
	char err[256] = "";

	if (json_parse(doc, name, text, len, DOCUMENT_MAX, err, sizeof(err)))
		return false;
	if (!compare_check(doc, name, err, sizeof(err)))
		return true;
	check_printable(err, strlen(err), false);
	json_free(doc);
	return false;
}

static void compare_texts(const char *a, size_t len_a, const char *b,
			  size_t len_b)
{
	struct json_doc docs[2];

	if (!load(&docs[0], names[0], a, len_a))
		return;
	if (load(&docs[1], names[1], b, len_b)) {
		check_compare(&docs[0], &docs[1]);
		json_free(&docs[1]);
	}
	json_free(&docs[0]);
}

/* Two of their own, or the same twice with other times: two that agree in all
 * that must be equal are rare otherwise. */
static void compare_made(struct fuzz_input *in)
{
	unsigned int times = fuzz_u8(in);
	struct fuzz_input first = *in;
	char *a = make_text(in, 1), *b;

	b = times ? make_text(&first, times) : make_text(in, 1);
	compare_texts(a, strlen(a), b, strlen(b));
	free(a);
	free(b);
}

static void compare_raw(const char *raw, size_t size)
{
	size_t len = strnlen(raw, size);
	size_t rest = len < size ? size - len - 1 : 0;

	/* One alone is compared with itself. */
	if (rest)
		compare_texts(raw, len, raw + len + 1, rest);
	else
		compare_texts(raw, len, raw, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);

	if (fuzz_u8(&in) & 1)
		compare_made(&in);
	else if (size)
		compare_raw((const char *)in.at, size - 1);
	return 0;
}
