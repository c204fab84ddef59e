// SPDX-License-Identifier: MIT
/*
 * What jsonw writes, byte by byte, that json reads it back, and what happens
 * when it may not grow or is used wrongly.
 */
#include <check.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "json.h"
#include "jsonw.h"
#include "prng.h"
#include "tap.h"

static void expect(struct jsonw *w, const char *text)
{
	size_t len;
	const char *written = jsonw_text(w, &len);

	ck_assert_int_eq(jsonw_error(w), 0);
	ck_assert_str_eq(written, text);
	ck_assert_uint_eq(len, strlen(text));
	jsonw_free(w);
}

static struct jsonw begin(unsigned indent)
{
	struct jsonw w;

	jsonw_init(&w, indent, 1 << 16);
	return w;
}

static void write_sample(struct jsonw *w)
{
	jsonw_object_begin(w, NULL);
	jsonw_u64(w, "fires", 2000);
	jsonw_array_begin(w, "list");
	jsonw_i64(w, NULL, -1);
	jsonw_array_begin(w, NULL);
	jsonw_array_end(w);
	jsonw_object_begin(w, NULL);
	jsonw_bool(w, "on", true);
	jsonw_bool(w, "off", false);
	jsonw_object_end(w);
	jsonw_array_end(w);
	jsonw_object_begin(w, "none");
	jsonw_object_end(w);
	jsonw_null(w, "nil");
	jsonw_string(w, "name", "x");
	jsonw_object_end(w);
}

START_TEST(test_jsonw_on_one_line)
{
	struct jsonw w = begin(0);

	write_sample(&w);
	expect(&w, "{\"fires\":2000,\"list\":[-1,[],{\"on\":true,\"off\":"
		   "false}],\"none\":{},\"nil\":null,\"name\":\"x\"}");
}
END_TEST

START_TEST(test_jsonw_indented)
{
	struct jsonw w = begin(2);

	write_sample(&w);
	expect(&w, "{\n"
		   "  \"fires\": 2000,\n"
		   "  \"list\": [\n"
		   "    -1,\n"
		   "    [],\n"
		   "    {\n"
		   "      \"on\": true,\n"
		   "      \"off\": false\n"
		   "    }\n"
		   "  ],\n"
		   "  \"none\": {},\n"
		   "  \"nil\": null,\n"
		   "  \"name\": \"x\"\n"
		   "}\n");
}
END_TEST

START_TEST(test_jsonw_text_twice_is_the_same)
{
	struct jsonw w = begin(2);
	size_t len;

	jsonw_u64(&w, NULL, 1);
	ck_assert_str_eq(jsonw_text(&w, &len), "1\n");
	expect(&w, "1\n");
}
END_TEST

START_TEST(test_jsonw_number_limits)
{
	struct jsonw w = begin(0);

	jsonw_array_begin(&w, NULL);
	jsonw_u64(&w, NULL, UINT64_MAX);
	jsonw_i64(&w, NULL, INT64_MIN);
	jsonw_i64(&w, NULL, INT64_MAX);
	jsonw_u64(&w, NULL, 0);
	jsonw_array_end(&w);
	expect(&w, "[18446744073709551615,-9223372036854775808,"
		   "9223372036854775807,0]");
}
END_TEST

START_TEST(test_jsonw_doubles_as_a_reader_expects_them)
{
	struct jsonw w = begin(0);

	jsonw_array_begin(&w, NULL);
	jsonw_double(&w, NULL, 0.1);
	jsonw_double(&w, NULL, 100);
	jsonw_double(&w, NULL, -2.5e-7);
	jsonw_double(&w, NULL, 0);
	jsonw_double(&w, NULL, 1.0 / 3);
	jsonw_double(&w, NULL, (double)NAN);
	jsonw_double(&w, NULL, (double)INFINITY);
	jsonw_double(&w, NULL, -(double)INFINITY);
	jsonw_array_end(&w);
	expect(&w, "[0.1,100,-2.5e-07,0,0.3333333333333333,null,null,null]");
}
END_TEST

START_TEST(test_jsonw_doubles_survive)
{
	static const double edges[] = {DBL_MAX, -DBL_MAX,    DBL_MIN,
				       5e-324,	DBL_EPSILON, 0.1 + 0.2,
				       1e22,	123456.75};
	uint64_t seed = 1;

	for (size_t i = 0; i < 2000; i++) {
		struct json_doc doc;
		struct jsonw w = begin(0);
		double value, back;
		uint64_t bits;
		char err[128];
		size_t len;
		const char *text;

		bits = prng_next(&seed);
		memcpy(&value, &bits, sizeof(value));
		if (i < sizeof(edges) / sizeof(edges[0]))
			value = edges[i];
		if (!isfinite(value))
			continue;
		jsonw_double(&w, NULL, value);
		text = jsonw_text(&w, &len);
		if (json_parse(&doc, NULL, text, len, 64, err, sizeof(err)) ||
		    json_double(&doc, json_root(&doc), &back) || back != value)
			ck_abort_msg("%s for %a", text, value);
		json_free(&doc);
		jsonw_free(&w);
	}
}
END_TEST

START_TEST(test_jsonw_escapes)
{
	struct jsonw w = begin(0);

	jsonw_object_begin(&w, NULL);
	jsonw_string(&w, "a\"b\n", "\" \\ / \b\f\n\r\t \x01\x1f \x7f \xc3\xa9");
	jsonw_string(&w, "", NULL);
	jsonw_string_n(&w, "nul", "a\0b", 3);
	jsonw_string_n(&w, "none", "", 0);
	jsonw_object_end(&w);
	expect(&w, "{\"a\\\"b\\n\":\"\\\" \\\\ / \\b\\f\\n\\r\\t "
		   "\\u0001\\u001f \x7f \xc3\xa9\",\"\":null,"
		   "\"nul\":\"a\\u0000b\",\"none\":\"\"}");
}
END_TEST

#define REPLACED "\xef\xbf\xbd"

START_TEST(test_jsonw_replaces_what_is_not_utf8)
{
	struct jsonw w = begin(0);

	jsonw_array_begin(&w, NULL);
	jsonw_string(&w, NULL,
		     "a\xff"
		     "b");
	jsonw_string(&w, NULL, "\xc0\x80");
	jsonw_string(&w, NULL, "\xe2\x82");
	jsonw_string(&w, NULL, "\xed\xa0\x80");
	jsonw_string_n(&w, NULL, "\xc3\xa9", 1);
	jsonw_array_end(&w);
	expect(&w, "[\"a" REPLACED "b\",\"" REPLACED REPLACED
		   "\",\"" REPLACED REPLACED "\",\"" REPLACED REPLACED REPLACED
		   "\",\"" REPLACED "\"]");
}
END_TEST

/* Any bytes at all come back as valid JSON. */
START_TEST(test_jsonw_any_bytes_make_json)
{
	unsigned char bytes[256];
	struct jsonw w = begin(2);
	struct json_doc doc;
	char err[128];
	size_t len;
	const char *text;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	jsonw_string_n(&w, NULL, (const char *)bytes, sizeof(bytes));
	text = jsonw_text(&w, &len);
	ck_assert_int_eq(json_parse(&doc, NULL, text, len, JSON_SIZE_MAX, err,
				    sizeof(err)),
			 0);
	json_free(&doc);
	jsonw_free(&w);
}
END_TEST

/* At every limit below the size needed the error sticks and nothing breaks;
 * at the size itself all is well. */
START_TEST(test_jsonw_limit)
{
	struct jsonw w = begin(2);
	size_t needed, len;

	write_sample(&w);
	jsonw_text(&w, &needed);
	jsonw_free(&w);
	for (size_t limit = 0; limit < needed; limit++) {
		jsonw_init(&w, 2, limit);
		write_sample(&w);
		ck_assert_ptr_null(jsonw_text(&w, &len));
		ck_assert_int_eq(jsonw_error(&w), -EFBIG);
		ck_assert_uint_le(w.len, limit);
		jsonw_free(&w);
	}
	jsonw_init(&w, 2, needed);
	write_sample(&w);
	ck_assert_ptr_nonnull(jsonw_text(&w, &len));
	ck_assert_uint_eq(len, needed);
	jsonw_free(&w);
}
END_TEST

START_TEST(test_jsonw_grows)
{
	struct jsonw w;
	struct json_doc doc;
	char err[128];
	size_t len;
	const char *text;

	jsonw_init(&w, 0, JSON_SIZE_MAX);
	jsonw_array_begin(&w, NULL);
	for (uint64_t i = 0; i < 100000; i++)
		jsonw_u64(&w, NULL, i);
	jsonw_array_end(&w);
	text = jsonw_text(&w, &len);
	ck_assert_int_eq(json_parse(&doc, NULL, text, len, JSON_SIZE_MAX, err,
				    sizeof(err)),
			 0);
	ck_assert_uint_eq(json_root(&doc)->children, 100000);
	json_free(&doc);
	jsonw_free(&w);
}
END_TEST

START_TEST(test_jsonw_deepest_level_reads_back)
{
	struct jsonw w = begin(0);
	struct json_doc doc;
	char err[128];
	size_t len;
	const char *text;

	for (int i = 0; i < JSONW_DEPTH_MAX; i++)
		jsonw_array_begin(&w, NULL);
	for (int i = 0; i < JSONW_DEPTH_MAX; i++)
		jsonw_array_end(&w);
	text = jsonw_text(&w, &len);
	ck_assert_int_eq(json_parse(&doc, NULL, text, len, JSON_SIZE_MAX, err,
				    sizeof(err)),
			 0);
	json_free(&doc);
	jsonw_free(&w);
}
END_TEST

START_TEST(test_jsonw_misuse_stops)
{
	struct jsonw w = begin(0);
	size_t len;

	switch (_i) {
	case 0:
		jsonw_u64(&w, "key", 1); /* the root has no name */
		break;
	case 1:
		jsonw_object_begin(&w, NULL);
		jsonw_u64(&w, NULL, 1);
		break;
	case 2:
		jsonw_array_begin(&w, NULL);
		jsonw_u64(&w, "key", 1);
		break;
	case 3:
		jsonw_array_begin(&w, NULL);
		jsonw_object_end(&w);
		break;
	case 4:
		jsonw_array_end(&w);
		break;
	case 5:
		jsonw_array_begin(&w, NULL);
		jsonw_text(&w, &len);
		break;
	case 6:
		jsonw_u64(&w, NULL, 1);
		jsonw_u64(&w, NULL, 2); /* a second root */
		break;
	case 7:
		for (int i = 0; i <= JSONW_DEPTH_MAX; i++)
			jsonw_array_begin(&w, NULL);
		break;
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jsonw");
	TCase *tc = tcase_create("jsonw");

	tcase_set_timeout(tc, 60); /* for sanitizers on a busy host */
	tcase_add_test(tc, test_jsonw_on_one_line);
	tcase_add_test(tc, test_jsonw_indented);
	tcase_add_test(tc, test_jsonw_text_twice_is_the_same);
	tcase_add_test(tc, test_jsonw_number_limits);
	tcase_add_test(tc, test_jsonw_doubles_as_a_reader_expects_them);
	tcase_add_test(tc, test_jsonw_doubles_survive);
	tcase_add_test(tc, test_jsonw_escapes);
	tcase_add_test(tc, test_jsonw_replaces_what_is_not_utf8);
	tcase_add_test(tc, test_jsonw_any_bytes_make_json);
	tcase_add_test(tc, test_jsonw_limit);
	tcase_add_test(tc, test_jsonw_grows);
	tcase_add_test(tc, test_jsonw_deepest_level_reads_back);
	tcase_add_loop_test_raise_signal(tc, test_jsonw_misuse_stops, SIGABRT,
					 0, 8);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
