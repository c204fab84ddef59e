/* SPDX-License-Identifier: MIT */
/* What bench writes is what configs/bench.schema.json says, and tightly so. */
#include "bench_json.h"

#include "bench_case.h"
#include "json.h"
#include "jsonw.h"
#include "schema_tight.h"

#define CONFIGS TEST_SOURCE_ROOT "/configs"
#define SCHEMA	"bench.schema.json"

static void load_configs(void)
{
	char err[256];

	for (size_t i = 0; i < CELLS; i++)
		ck_assert_msg(!config_load(CONFIGS "/lateness.json",
					   (const char *const *)cells[i].sets,
					   cells[i].set_count, &configs[i], err,
					   sizeof(err)),
			      "%s", err);
}

static void free_configs(void)
{
	for (size_t i = 0; i < CELLS; i++)
		config_free(&configs[i]);
}

/* Its text is a copy, the writer's is gone. */
static void write_and_parse(struct json_doc *doc)
{
	struct jsonw w;
	const char *text;
	char err[128];
	size_t len;

	jsonw_init(&w, 2, 1 << 20);
	bench_json_write(&report, &w);
	text = jsonw_text(&w, &len);
	ck_assert_ptr_nonnull(text);
	ck_assert_msg(!json_parse(doc, NULL, text, len, JSON_SIZE_MAX, err,
				  sizeof(err)),
		      "%s", err);
	jsonw_free(&w);
}

START_TEST(test_bench_schema_is_kept)
{
	struct json_doc doc;

	write_and_parse(&doc);
	schema_expect(CONFIGS, SCHEMA, &doc);
	json_free(&doc);
}
END_TEST

START_TEST(test_bench_schema_is_tight)
{
	struct json_doc doc;

	write_and_parse(&doc);
	schema_expect_tight(CONFIGS, SCHEMA, &doc);
	json_free(&doc);
}
END_TEST

/* Six ratios have an interval, and with it numbers where null stood. */
START_TEST(test_bench_schema_of_intervals)
{
	struct bench_ratio *ratio = &summaries[1].ratios[BENCH_P50];
	struct json_doc doc;

	ratio->has_interval = true;
	ratio->low_ppm = 400000;
	ratio->high_ppm = 600000;
	ratio->level_ppm = 968750;
	noise[1] = noise[0];
	write_and_parse(&doc);
	schema_expect(CONFIGS, SCHEMA, &doc);
	json_free(&doc);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_schema");
	TCase *tc = tcase_create("bench_schema");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_checked_fixture(tc, load_configs, free_configs);
	tcase_add_test(tc, test_bench_schema_is_kept);
	tcase_add_test(tc, test_bench_schema_is_tight);
	tcase_add_test(tc, test_bench_schema_of_intervals);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
