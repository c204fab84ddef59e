// SPDX-License-Identifier: MIT
/*
 * Reading a parsed document: walking, paths, strings, numbers, places.
 * What is JSON at all: test-json.c.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tap.h"

static struct json_doc parse(const char *text)
{
	struct json_doc doc;
	char err[512] = "";

	ck_assert_msg(!json_parse(&doc, NULL, text, strlen(text), JSON_SIZE_MAX,
				  err, sizeof(err)),
		      "%s", err);
	return doc;
}

/* The node's text as written. */
static const char *raw(const struct json_doc *doc, const struct json_node *node)
{
	static char text[256];

	ck_assert_ptr_nonnull(node);
	ck_assert_uint_lt(node->end - node->start, sizeof(text));
	memcpy(text, doc->text + node->start, node->end - node->start);
	text[node->end - node->start] = '\0';
	return text;
}

START_TEST(test_json_walks_an_object)
{
	struct json_doc doc = parse("{\"a\": 1, \"b\": [2, 3], \"c\": {}}");
	const struct json_node *node = json_first(&doc, json_root(&doc));

	ck_assert_uint_eq(json_root(&doc)->children, 3);
	ck_assert_ptr_null(json_key(&doc, json_root(&doc)));
	ck_assert_str_eq(raw(&doc, json_key(&doc, node)), "a");
	ck_assert_str_eq(raw(&doc, node), "1");
	node = json_next(&doc, node);
	ck_assert_str_eq(raw(&doc, json_key(&doc, node)), "b");
	ck_assert_str_eq(raw(&doc, node), "[2, 3]");
	ck_assert_ptr_null(json_key(&doc, json_first(&doc, node)));
	node = json_next(&doc, node);
	ck_assert_str_eq(raw(&doc, json_key(&doc, node)), "c");
	ck_assert_int_eq(node->type, JSON_OBJECT);
	ck_assert_ptr_null(json_first(&doc, node));
	ck_assert_ptr_null(json_next(&doc, node));
	json_free(&doc);
}
END_TEST

START_TEST(test_json_walks_an_array)
{
	struct json_doc doc = parse("[[1, [2]], {\"a\": [3]}, 4]");
	const struct json_node *node = json_first(&doc, json_root(&doc));

	ck_assert_str_eq(raw(&doc, node), "[1, [2]]");
	node = json_next(&doc, node);
	ck_assert_str_eq(raw(&doc, node), "{\"a\": [3]}");
	node = json_next(&doc, node);
	ck_assert_str_eq(raw(&doc, node), "4");
	ck_assert_ptr_null(json_next(&doc, node));
	ck_assert_ptr_null(json_first(&doc, node));
	json_free(&doc);
}
END_TEST

static const char tree[] =
	"{\"run\": {\"list\": [10, {\"x y\": [[20, 30]]}], \"\": 40},"
	" \"\\u0065scaped\": 50, \"a.b\": 60, \"é\": 70}";

static const struct {
	const char *path;
	const char *value; /* NULL: there is none */
} paths[] = {
	{"run.list[0]", "10"},
	{"run.list[1].x y[0][1]", "30"},
	{"run.", "40"},
	{"escaped", "50"},
	{"é", "70"},
	{"run.list[1].x y[0][2]", NULL},
	{"run.list[2]", NULL},
	{"run.list[-1]", NULL},
	{"run.list[]", NULL},
	{"run.list[0", NULL},
	{"run.list[99999999999999999999]", NULL},
	{"run.list.x", NULL},
	{"run[0]", NULL},
	{"run.list[0].x", NULL},
	{"run.lis", NULL},
	{"run.listing", NULL},
	{"Run", NULL},
	{".run", NULL},
	{"a.b", NULL},
	{"[0]", NULL},
};

START_TEST(test_json_get)
{
	struct json_doc doc = parse(tree);
	const struct json_node *node =
		json_get(&doc, json_root(&doc), paths[_i].path);

	if (paths[_i].value)
		ck_assert_str_eq(raw(&doc, node), paths[_i].value);
	else
		ck_assert_ptr_null(node);
	json_free(&doc);
}
END_TEST

START_TEST(test_json_get_nothing_is_the_start)
{
	struct json_doc doc = parse("[[7]]");
	const struct json_node *inner = json_get(&doc, json_root(&doc), "[0]");

	ck_assert_ptr_eq(json_get(&doc, inner, ""), inner);
	ck_assert_str_eq(raw(&doc, json_get(&doc, inner, "[0]")), "7");
	json_free(&doc);
}
END_TEST

START_TEST(test_json_member_takes_dots_and_needs_an_object)
{
	struct json_doc doc = parse(tree);

	ck_assert_str_eq(raw(&doc, json_member(&doc, json_root(&doc), "a.b")),
			 "60");
	ck_assert_ptr_null(json_member(
		&doc, json_get(&doc, json_root(&doc), "run.list"), "run"));
	json_free(&doc);
}
END_TEST

/* What json_path() says, json_get() finds. */
START_TEST(test_json_path_leads_back)
{
	struct json_doc doc = parse(
		"{\"run\": [0, {\"k\": [[1], 2]}, null], \"z\": {\"q\": 3}}");
	char path[64];

	for (uint32_t i = 0; i < doc.node_count; i++) {
		const struct json_node *node = &doc.nodes[i];

		if (node->is_key)
			continue;
		json_path(&doc, node, path, sizeof(path));
		ck_assert_ptr_eq(json_get(&doc, json_root(&doc), path), node);
	}
	ck_assert_str_eq(json_path(&doc, json_root(&doc), path, sizeof(path)),
			 "");
	ck_assert_str_eq(
		json_path(&doc,
			  json_get(&doc, json_root(&doc), "run[1].k[0][0]"),
			  path, 8),
		"run[1].");
	json_free(&doc);
}
END_TEST

START_TEST(test_json_where)
{
	struct json_doc doc =
		parse("{\n \"a\": 1,\r\n\t\"b\": [\"é\",\n\"x\"]}");
	unsigned line, column;

	json_where(&doc, json_root(&doc), &line, &column);
	ck_assert_uint_eq(line, 1);
	ck_assert_uint_eq(column, 1);
	json_where(&doc, json_get(&doc, json_root(&doc), "a"), &line, &column);
	ck_assert_uint_eq(line, 2);
	ck_assert_uint_eq(column, 7);
	json_where(&doc, json_get(&doc, json_root(&doc), "b[0]"), &line,
		   &column);
	ck_assert_uint_eq(line, 3);
	ck_assert_uint_eq(column, 8);
	json_where(&doc, json_get(&doc, json_root(&doc), "b[1]"), &line,
		   &column);
	ck_assert_uint_eq(line, 4);
	ck_assert_uint_eq(column, 1);
	json_free(&doc);
}
END_TEST

static const struct {
	const char *json;
	const char *text;
} strings[] = {
	{"\"\"", ""},
	{"\"plain\"", "plain"},
	{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
	{"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
	{"\"\\uD83D\\uDE00!\"", "\xf0\x9f\x98\x80!"},
	{"\"\\ud800\\udc00\\udbff\\udfff\"",
	 "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
	{"\"\\uffff\\u07ff\\u0800\\u007f\"",
	 "\xef\xbf\xbf\xdf\xbf\xe0\xa0\x80\x7f"},
	{"\"\\\\u0041\"", "\\u0041"},
	{"\"\xf0\x9f\x98\x80\"", "\xf0\x9f\x98\x80"},
};

START_TEST(test_json_string_decodes)
{
	struct json_doc doc = parse(strings[_i].json);
	char *text;

	ck_assert_int_eq(json_string(&doc, json_root(&doc), &text), 0);
	ck_assert_str_eq(text, strings[_i].text);
	ck_assert(json_equals(&doc, json_root(&doc), strings[_i].text));
	ck_assert(!json_equals(&doc, json_root(&doc), "another"));
	free(text);
	json_free(&doc);
}
END_TEST

START_TEST(test_json_string_refuses_nul_and_other_types)
{
	struct json_doc doc = parse("[\"a\\u0000b\", \"\\u0000\", 1, null, "
				    "[\"a\"], {\"a\": \"a\"}]");
	const struct json_node *node = json_first(&doc, json_root(&doc));
	char *text = NULL;

	for (; node; node = json_next(&doc, node)) {
		ck_assert_int_eq(json_string(&doc, node, &text), -EINVAL);
		ck_assert_ptr_null(text);
		ck_assert(!json_equals(&doc, node, "a"));
		ck_assert(!json_equals(&doc, node, ""));
	}
	json_free(&doc);
}
END_TEST

static const struct {
	const char *json;
	int u64_ret, i64_ret;
	uint64_t u64;
	int64_t i64;
} integers[] = {
	{"0", 0, 0, 0, 0},
	{"-0", 0, 0, 0, 0},
	{"42", 0, 0, 42, 42},
	{"-1", -ERANGE, 0, 0, -1},
	{"9223372036854775807", 0, 0, INT64_MAX, INT64_MAX},
	{"9223372036854775808", 0, -ERANGE, 1ULL << 63, 0},
	{"-9223372036854775808", -ERANGE, 0, 0, INT64_MIN},
	{"-9223372036854775809", -ERANGE, -ERANGE, 0, 0},
	{"18446744073709551615", 0, -ERANGE, UINT64_MAX, 0},
	{"18446744073709551616", -ERANGE, -ERANGE, 0, 0},
	{"99999999999999999999999999", -ERANGE, -ERANGE, 0, 0},
	{"1.0", -EINVAL, -EINVAL, 0, 0},
	{"1e3", -EINVAL, -EINVAL, 0, 0},
	{"-1.5", -EINVAL, -EINVAL, 0, 0},
	{"\"1\"", -EINVAL, -EINVAL, 0, 0},
	{"true", -EINVAL, -EINVAL, 0, 0},
	{"null", -EINVAL, -EINVAL, 0, 0},
	{"[1]", -EINVAL, -EINVAL, 0, 0},
};

START_TEST(test_json_integers)
{
	struct json_doc doc = parse(integers[_i].json);
	uint64_t u64 = 0;
	int64_t i64 = 0;

	ck_assert_int_eq(json_u64(&doc, json_root(&doc), &u64),
			 integers[_i].u64_ret);
	ck_assert_uint_eq(u64, integers[_i].u64);
	ck_assert_int_eq(json_i64(&doc, json_root(&doc), &i64),
			 integers[_i].i64_ret);
	ck_assert_int_eq(i64, integers[_i].i64);
	json_free(&doc);
}
END_TEST

static const struct {
	const char *json;
	int ret;
	double value;
} doubles[] = {
	{"0.25", 0, 0.25},
	{"-1e-3", 0, -1e-3},
	{"7", 0, 7},
	{"1.7976931348623157e308", 0, 1.7976931348623157e308},
	{"1e-999", 0, 0},
	{"1e309", -ERANGE, 0},
	{"-1e309", -ERANGE, 0},
	{"\"1\"", -EINVAL, 0},
	{"null", -EINVAL, 0},
};

START_TEST(test_json_doubles)
{
	struct json_doc doc = parse(doubles[_i].json);
	double value = 0;

	ck_assert_int_eq(json_double(&doc, json_root(&doc), &value),
			 doubles[_i].ret);
	ck_assert(value == doubles[_i].value);
	json_free(&doc);
}
END_TEST

START_TEST(test_json_double_ends_with_its_token)
{
	struct json_doc doc = parse("[1,2e1,3]");
	double value;

	ck_assert_int_eq(json_double(&doc,
				     json_get(&doc, json_root(&doc), "[1]"),
				     &value),
			 0);
	ck_assert(value == 20);
	json_free(&doc);
}
END_TEST

START_TEST(test_json_bools)
{
	struct json_doc doc = parse("[true, false, 1, null, \"true\"]");
	const struct json_node *node = json_first(&doc, json_root(&doc));
	bool value = false;

	ck_assert_int_eq(json_bool(&doc, node, &value), 0);
	ck_assert(value);
	node = json_next(&doc, node);
	ck_assert_int_eq(json_bool(&doc, node, &value), 0);
	ck_assert(!value);
	while ((node = json_next(&doc, node)))
		ck_assert_int_eq(json_bool(&doc, node, &value), -EINVAL);
	json_free(&doc);
}
END_TEST

#define COUNT_OF(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("json_query");
	TCase *tc = tcase_create("json_query");

	tcase_add_test(tc, test_json_walks_an_object);
	tcase_add_test(tc, test_json_walks_an_array);
	tcase_add_loop_test(tc, test_json_get, 0, COUNT_OF(paths));
	tcase_add_test(tc, test_json_get_nothing_is_the_start);
	tcase_add_test(tc, test_json_member_takes_dots_and_needs_an_object);
	tcase_add_test(tc, test_json_path_leads_back);
	tcase_add_test(tc, test_json_where);
	tcase_add_loop_test(tc, test_json_string_decodes, 0, COUNT_OF(strings));
	tcase_add_test(tc, test_json_string_refuses_nul_and_other_types);
	tcase_add_loop_test(tc, test_json_integers, 0, COUNT_OF(integers));
	tcase_add_loop_test(tc, test_json_doubles, 0, COUNT_OF(doubles));
	tcase_add_test(tc, test_json_double_ends_with_its_token);
	tcase_add_test(tc, test_json_bools);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
