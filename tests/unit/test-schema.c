/* SPDX-License-Identifier: MIT */
/*
 * The schema checker of tests/lib: every keyword with documents that keep to
 * it and documents that do not, and what it refuses to judge. And that the
 * configs of configs/ keep to the schema beside them.
 */
#include "schema.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "tap.h"

static char err[512];

static void parse(struct json_doc *doc, const char *text)
{
	if (json_parse(doc, NULL, text, strlen(text), JSON_SIZE_MAX, err,
		       sizeof(err)))
		ck_abort_msg("%s: %s", text, err);
}

static int check(const char *schema_text, const char *dir, const char *text)
{
	struct json_doc schema, doc;
	int ret;

	parse(&schema, schema_text);
	parse(&doc, text);
	err[0] = '\0';
	ret = schema_check(&schema, dir, &doc, NULL, err, sizeof(err));
	json_free(&schema);
	json_free(&doc);
	return ret;
}

/* One schema, documents that keep to it, documents that break it. */
static const struct {
	const char *schema;
	const char *good[6], *bad[8];
} rules[] = {
	{"true", {"1", "{}"}, {NULL}},
	{"false", {NULL}, {"1", "null"}},
	{"{}", {"1", "[]"}, {NULL}},
	{"{\"type\": \"null\"}", {"null"}, {"0", "false", "\"\"", "[]", "{}"}},
	{"{\"type\": \"boolean\"}", {"true", "false"}, {"0", "null"}},
	{"{\"type\": \"number\"}", {"0", "-1.5", "1e9"}, {"\"1\"", "null"}},
	{"{\"type\": \"integer\"}",
	 {"0", "-9223372036854775808", "18446744073709551615"},
	 {"0.5", "\"1\"", "true"}},
	{"{\"type\": \"string\"}", {"\"\""}, {"0", "null", "[]"}},
	{"{\"type\": \"array\"}", {"[]", "[1]"}, {"{}", "\"\""}},
	{"{\"type\": \"object\"}", {"{}"}, {"[]", "null"}},
	{"{\"type\": [\"string\", \"null\"]}", {"\"a\"", "null"}, {"0", "[]"}},
	{"{\"enum\": [\"a\", 1, null, true]}",
	 {"\"a\"", "1", "1.0", "null", "true"},
	 {"\"b\"", "2", "false", "\"1\"", "[]"}},
	{"{\"const\": 18446744073709551615}",
	 {"18446744073709551615"},
	 {"18446744073709551614", "-1", "\"18446744073709551615\""}},
	{"{\"const\": false}", {"false"}, {"true", "0", "null"}},
	{"{\"minimum\": 1}", {"1", "1.5", "\"0\""}, {"0", "0.99", "-1"}},
	{"{\"maximum\": -1}", {"-1", "-2", "null"}, {"0", "-0.5"}},
	/* Characters, not bytes. */
	{"{\"minLength\": 2}",
	 {"\"ab\"", "\"\\u00e4\\u00f6\"", "0"},
	 {"\"\"", "\"a\"", "\"\\u00e4\""}},
	{"{\"pattern\": \"^(off|file:.+)$\"}",
	 {"\"off\"", "\"file:x\"", "0"},
	 {"\"\"", "\"file:\"", "\"offf\""}},
	/* Not anchored unless it says so. */
	{"{\"pattern\": \"b\"}", {"\"abc\""}, {"\"ac\""}},
	{"{\"items\": {\"type\": \"integer\"}}",
	 {"[]", "[1, 2]", "{\"a\": 0}"},
	 {"[\"1\"]", "[1, null]"}},
	{"{\"items\": {\"items\": {\"maximum\": 3}}}",
	 {"[[1], [2, 3]]"},
	 {"[[1], [2, 4]]"}},
	{"{\"minItems\": 1, \"maxItems\": 2}",
	 {"[1]", "[1, 2]", "0"},
	 {"[]", "[1, 2, 3]"}},
	{"{\"uniqueItems\": true}",
	 {"[]", "[1, 2, \"1\"]", "[[1], [2]]"},
	 {"[1, 1]", "[1, 2, 1.0]", "[\"a\", \"\\u0061\"]", "[[1], [1]]"}},
	{"{\"uniqueItems\": false}", {"[1, 1]"}, {NULL}},
	{"{\"required\": [\"a\", \"b\"]}",
	 {"{\"a\": 0, \"b\": 0, \"c\": 0}", "[]"},
	 {"{}", "{\"a\": 0}", "{\"b\": 0}"}},
	{"{\"properties\": {\"a\": {\"type\": \"null\"}}}",
	 {"{}", "{\"a\": null}", "{\"b\": 0}", "0"},
	 {"{\"a\": 0}"}},
	{"{\"properties\": {\"a\": {}}, \"additionalProperties\": false}",
	 {"{}", "{\"a\": 0}", "0"},
	 {"{\"b\": 0}", "{\"a\": 0, \"b\": 0}"}},
	{"{\"properties\": {\"a\": {}},"
	 " \"additionalProperties\": {\"type\": \"null\"}}",
	 {"{\"a\": 0, \"b\": null}"},
	 {"{\"b\": 0}"}},
	{"{\"additionalProperties\": false}", {"{}"}, {"{\"a\": 0}"}},
	{"{\"anyOf\": [{\"enum\": [\"off\"]},"
	 " {\"type\": \"integer\", \"minimum\": 1}]}",
	 {"\"off\"", "1"},
	 {"\"on\"", "0", "null", "1.5"}},
	{"{\"$defs\": {\"n\": {\"type\": \"null\"}},"
	 " \"items\": {\"$ref\": \"#/$defs/n\", \"description\": \"x\"}}",
	 {"[null]"},
	 {"[0]"}},
	/* A reference that goes round as the document does. */
	{"{\"$defs\": {\"t\": {\"type\": \"object\","
	 " \"additionalProperties\": {\"$ref\": \"#/$defs/t\"}}},"
	 " \"$ref\": \"#/$defs/t\"}",
	 {"{}", "{\"a\": {\"b\": {}}}"},
	 {"{\"a\": {\"b\": 0}}"}},
};

#define RULES ((int)(sizeof(rules) / sizeof(rules[0])))

START_TEST(test_schema_rule)
{
	for (int i = 0; i < 6 && rules[_i].good[i]; i++)
		ck_assert_msg(!check(rules[_i].schema, NULL, rules[_i].good[i]),
			      "%s: %s: %s", rules[_i].schema, rules[_i].good[i],
			      err);
	for (int i = 0; i < 8 && rules[_i].bad[i]; i++)
		ck_assert_msg(check(rules[_i].schema, NULL, rules[_i].bad[i]) ==
				      -EINVAL,
			      "%s: %s", rules[_i].schema, rules[_i].bad[i]);
}
END_TEST

/* Schemas beyond the subset, or none at all. */
static const char *const refused[] = {
	"0",
	"[]",
	"{\"multipleOf\": 2}",
	"{\"type\": \"real\"}",
	"{\"type\": 1}",
	"{\"minimum\": \"1\"}",
	"{\"enum\": 1}",
	"{\"$ref\": \"other\"}",
	"{\"$ref\": \"#/$defs/missing\"}",
	"{\"$ref\": \"missing.json#/a\"}",
	"{\"$ref\": \"../schema.json#/a\"}",
	"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}}}",
};

START_TEST(test_schema_refuses_what_it_does_not_know)
{
	ck_assert_int_eq(check(refused[_i], TEST_SOURCE_ROOT "/configs", "1"),
			 -ENOTSUP);
	ck_assert_int_eq(strncmp(err, "schema: ", 8), 0);
}
END_TEST

START_TEST(test_schema_refuses_a_bad_pattern)
{
	ck_assert_int_eq(check("{\"pattern\": \"(\"}", NULL, "\"a\""),
			 -ENOTSUP);
	ck_assert_int_eq(check("{\"minLength\": -1}", NULL, "\"a\""), -ENOTSUP);
	ck_assert_int_eq(check("{\"uniqueItems\": 1}", NULL, "[]"), -ENOTSUP);
	ck_assert_int_eq(check("{\"required\": [1]}", NULL, "{}"), -ENOTSUP);
}
END_TEST

START_TEST(test_schema_message_names_the_place)
{
	ck_assert_int_eq(check("{\"properties\": {\"a\": {\"items\": "
			       "{\"required\": [\"b\"]}}}}",
			       NULL, "{\"a\": [{\"b\": 1}, {\"c\": 1}]}"),
			 -EINVAL);
	ck_assert_str_eq(err, "a[1]: lacks b");
}
END_TEST

START_TEST(test_schema_of_another_file)
{
	static const char schema[] =
		"{\"properties\": {\"console\": "
		"{\"$ref\": \"schema.json#/properties/console\"}}}";
	static const char dir[] = TEST_SOURCE_ROOT "/configs";

	ck_assert_int_eq(check(schema, dir, "{\"console\": {}}"), 0);
	ck_assert_int_eq(
		check(schema, dir, "{\"console\": {\"serial\": \"off\"}}"), 0);
	ck_assert_int_eq(
		check(schema, dir, "{\"console\": {\"serial\": \"on\"}}"),
		-EINVAL);
	ck_assert_int_eq(check(schema, NULL, "{\"console\": {}}"), -ENOTSUP);
}
END_TEST

START_TEST(test_schema_holds_for_the_configs)
{
	struct json_doc schema;
	int checked = 0;
	glob_t found;

	ck_assert_int_eq(json_load_file(&schema,
					TEST_SOURCE_ROOT "/configs/schema.json",
					JSON_SIZE_MAX, err, sizeof(err)),
			 0);
	ck_assert_int_eq(
		glob(TEST_SOURCE_ROOT "/configs/*.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct json_doc doc;

		if (strstr(found.gl_pathv[i], "schema.json"))
			continue;
		ck_assert_int_eq(json_load_file(&doc, found.gl_pathv[i],
						JSON_SIZE_MAX, err,
						sizeof(err)),
				 0);
		ck_assert_msg(!schema_check(&schema, NULL, &doc, NULL, err,
					    sizeof(err)),
			      "%s: %s", found.gl_pathv[i], err);
		json_free(&doc);
		checked++;
	}
	ck_assert_int_gt(checked, 0);
	globfree(&found);
	json_free(&schema);
}
END_TEST

static Suite *schema_suite(void)
{
	Suite *suite = suite_create("schema");
	TCase *tcase = tcase_create("schema");

	tcase_add_loop_test(tcase, test_schema_rule, 0, RULES);
	tcase_add_loop_test(tcase, test_schema_refuses_what_it_does_not_know, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tcase, test_schema_refuses_a_bad_pattern);
	tcase_add_test(tcase, test_schema_message_names_the_place);
	tcase_add_test(tcase, test_schema_of_another_file);
	tcase_add_test(tcase, test_schema_holds_for_the_configs);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return tap_run(schema_suite());
}
