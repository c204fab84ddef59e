/* SPDX-License-Identifier: MIT */
/* The percentile text, byte for byte, and its invariants for any samples. */
#define _GNU_SOURCE /* open_memstream */
#include "hgrm.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "prng.h"
#include "tap.h"

static struct hist h;

/* The caller frees it. */
static char *text_of(uint64_t tsc_khz)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	hgrm_write(out, &h, tsc_khz, "a note");
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

/* 1 to 10 us at 1 GHz, each bucket as wide as 1/32: 1000 is in 992 to 1007. */
START_TEST(test_hgrm_text)
{
	static const char expected[] =
		"       Value     Percentile TotalCount 1/(1-Percentile)\n"
		"\n"
		"       1.007 0.000000000000          1           1.00\n"
		"       1.007 0.100000000000          1           1.11\n"
		"       2.015 0.200000000000          2           1.25\n"
		"       3.007 0.300000000000          3           1.43\n"
		"       4.031 0.400000000000          4           1.67\n"
		"       5.119 0.500000000000          5           2.00\n"
		"       6.015 0.550000000000          6           2.22\n"
		"       6.015 0.600000000000          6           2.50\n"
		"       7.039 0.650000000000          7           2.86\n"
		"       7.039 0.700000000000          7           3.33\n"
		"       8.063 0.750000000000          8           4.00\n"
		"       8.063 0.775000000000          8           4.44\n"
		"       8.063 0.800000000000          8           5.00\n"
		"       9.215 0.825000000000          9           5.71\n"
		"       9.215 0.850000000000          9           6.67\n"
		"       9.215 0.875000000000          9           8.00\n"
		"       9.215 0.887500000000          9           8.89\n"
		"       9.215 0.900000000000          9          10.00\n"
		"      10.000 1.000000000000         10\n"
		"#[Mean    =        5.516, StdDeviation   =        2.900]\n"
		"#[Max     =       10.000, Total count    =           10]\n"
		"#[Buckets =           59, SubBuckets     =           64]\n"
		"# a note\n";
	char *text;

	hist_init(&h);
	for (uint64_t i = 1; i <= 10; i++)
		hist_add(&h, 1000 * i);
	text = text_of(1000000);
	ck_assert_str_eq(text, expected);
	free(text);
	/* Half the clock, twice the time. */
	text = text_of(500000);
	ck_assert_ptr_nonnull(strstr(text, "\n      20.000 1.00"));
	ck_assert_ptr_nonnull(strstr(text, "[Mean    =       11.0"));
	free(text);
}
END_TEST

START_TEST(test_hgrm_of_one_value)
{
	char *text;

	hist_init(&h);
	hist_add(&h, 0);
	text = text_of(1000);
	ck_assert_ptr_nonnull(strstr(text, "\n\n       0.000 0.000000000000   "
					   "       1           1.00\n       "
					   "0.000 1.000000000000          1\n"
					   "#[Mean    =        0.000, "));
	free(text);
}
END_TEST

/* Values and counts never fall, and the counts reach what each level asks. */
START_TEST(test_hgrm_invariants)
{
	uint64_t state = 4711 + (uint64_t)_i, total = 1 + (uint64_t)_i * 997;
	double value, level, last_value = -1, last_level = -1;
	unsigned long long count, last_count = 0;
	char *text, *at, *line;
	int lines = 0;

	hist_init(&h);
	for (uint64_t i = 0; i < total; i++)
		hist_add(&h,
			 prng_next(&state) >> (prng_next(&state) % 40 + 24));
	text = at = text_of(1000000);
	while ((line = strsep(&at, "\n"))) {
		if (sscanf(line, "%lf %lf %llu", &value, &level, &count) != 3)
			continue;
		ck_assert(value >= last_value);
		ck_assert(level > last_level);
		ck_assert(count >= last_count && count <= total);
		ck_assert((double)count >= level * (double)total);
		last_value = value;
		last_level = level;
		last_count = count;
		lines++;
	}
	ck_assert_int_ge(lines, 2);
	ck_assert(last_level == 1);
	ck_assert_uint_eq(last_count, total);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hgrm");
	TCase *tc = tcase_create("hgrm");

	tcase_add_test(tc, test_hgrm_text);
	tcase_add_test(tc, test_hgrm_of_one_value);
	tcase_add_loop_test(tc, test_hgrm_invariants, 0, 12);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
