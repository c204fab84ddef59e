// SPDX-License-Identifier: MIT
/*
 * What json accepts and what it refuses, by files and by damage done to
 * them; where it puts its messages; limits. Reading: test-json_query.c.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tap.h"

#define FILES TEST_SOURCE_ROOT "/tests/unit/json/"

/* What a walker relies on: every node inside its parent, values paired with
 * names, and as many children as are counted. No ck_assert here, nor in what
 * follows: each writes to a file, which is too slow for a million nodes. */
static bool tree_holds(const struct json_doc *doc)
{
	bool holds = doc->node_count > 0;

	for (uint32_t i = 0; i < doc->node_count && holds; i++) {
		const struct json_node *node = &doc->nodes[i];
		const struct json_node *parent = &doc->nodes[node->parent];
		const struct json_node *child;
		uint32_t children = 0;

		holds = node->start <= node->end && node->end <= doc->len &&
			node->past > i && node->past <= parent->past &&
			node->start >= parent->start &&
			node->end <= parent->end &&
			(!i || parent->type >= JSON_ARRAY) &&
			(!node->is_key || (node->type == JSON_STRING &&
					   json_key(doc, node + 1) == node));
		for (child = json_first(doc, node); child;
		     child = json_next(doc, child)) {
			holds = holds && !child->is_key && child->parent == i;
			children++;
		}
		holds = holds && children == node->children;
	}
	return holds;
}

/* Parses without expecting anything but sanity. */
static int try_parse(const char *text, size_t len)
{
	struct json_doc doc;
	char err[512] = "";
	char *copy = malloc(len ? len : 1); /* so that ASan sees its end */
	int ret;

	memcpy(copy, text, len);
	ret = json_parse(&doc, "t", copy, len, JSON_SIZE_MAX, err, sizeof(err));
	free(copy);
	if (ret ? ret != -EINVAL || doc.nodes || strncmp(err, "t:", 2) ||
			    strpbrk(err, "\r\n")
		: !tree_holds(&doc))
		ck_abort_msg("%d, \"%s\", for: %.*s", ret, err, (int)len, text);
	json_free(&doc);
	return ret;
}

struct file {
	char name[280];
	char *text;
	size_t len;
};

static void read_file(const char *dir, const char *name, struct file *file)
{
	char path[512];
	FILE *stream;

	snprintf(file->name, sizeof(file->name), "%s", name);
	snprintf(path, sizeof(path), FILES "%s/%s", dir, name);
	stream = fopen(path, "rb");
	ck_assert_msg(stream, "%s", path);
	file->text = malloc(1 << 16);
	file->len = fread(file->text, 1, 1 << 16, stream);
	ck_assert(feof(stream));
	fclose(stream);
}

/* Hands every file of a directory to `each`; returns how many there were. */
static int for_files(const char *dir, void (*each)(const struct file *))
{
	char path[512];
	struct dirent **entries;
	int count, files = 0;

	snprintf(path, sizeof(path), FILES "%s", dir);
	count = scandir(path, &entries, NULL, alphasort);
	ck_assert_msg(count > 0, "%s", path);
	for (int i = 0; i < count; i++) {
		if (strstr(entries[i]->d_name, ".json")) {
			struct file file;

			read_file(dir, entries[i]->d_name, &file);
			each(&file);
			free(file.text);
			files++;
		}
		free(entries[i]);
	}
	free(entries);
	return files;
}

static void expect_accepted(const struct file *file)
{
	ck_assert_msg(!try_parse(file->text, file->len), "refused: %s",
		      file->name);
}

static void expect_refused(const struct file *file)
{
	ck_assert_msg(try_parse(file->text, file->len), "accepted: %s",
		      file->name);
}

START_TEST(test_json_accepts_every_file)
{
	ck_assert_int_ge(for_files("accept", expect_accepted), 100);
}
END_TEST

START_TEST(test_json_refuses_every_file)
{
	ck_assert_int_ge(for_files("reject", expect_refused), 200);
}
END_TEST

/* No container is JSON before its last bracket. */
static void cut_everywhere(const struct file *file)
{
	size_t end = file->len;

	while (end && strchr(" \t\r\n", file->text[end - 1]))
		end--;
	if (file->len > 400 || (file->text[0] != '[' && file->text[0] != '{'))
		return;
	for (size_t len = 0; len < end; len++) {
		if (!try_parse(file->text, len))
			ck_abort_msg("accepted the first %zu bytes of %s", len,
				     file->name);
	}
}

START_TEST(test_json_refuses_cut_containers)
{
	for_files("accept", cut_everywhere);
}
END_TEST

/* Any verdict will do, if nothing breaks and the tree holds. */
static void change_everywhere(const struct file *file)
{
	static const char bytes[] = "\"\\{}[]:,0eu\n\x01\xc3";
	char text[160];

	if (file->len >= sizeof(text))
		return;
	for (size_t at = 0; at < file->len; at++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			memcpy(text, file->text, file->len);
			text[at] = bytes[i];
			try_parse(text, file->len);
		}
		memcpy(text, file->text, at);
		memcpy(text + at, file->text + at + 1, file->len - at - 1);
		try_parse(text, file->len - 1);
	}
}

START_TEST(test_json_survives_changed_files)
{
	for_files("accept", change_everywhere);
	for_files("reject", change_everywhere);
}
END_TEST

static const struct {
	const char *text;
	const char *err;
} messages[] = {
	{"", "t:1:1: expected a value, found the end of the text"},
	{"{\"a\":}", "t:1:6: a: expected a value, found '}'"},
	{"{\n  \"a\": {\n    \"b\": [1, 2,]\n  }\n}",
	 "t:3:16: a.b[2]: expected a value, found ']'"},
	{"{\"a\":1 \"b\":2}", "t:1:8: a: expected ',' or '}', found '\"'"},
	{"{\"a\" 1}", "t:1:6: a: expected ':' after the name, found '1'"},
	{"{a:1}", "t:1:2: expected a name in double quotes, found 'a'"},
	{"[1 2]", "t:1:4: [0]: expected ',' or ']', found '2'"},
	{"[01]", "t:1:3: [0]: a number must not start with a zero that is "
		 "followed by a digit"},
	{"[tru]", "t:1:2: [0]: expected true"},
	{"{} {}", "t:1:4: expected nothing more after the value, found '{'"},
	{"\n\n  {", "t:3:4: expected a name in double quotes, found the end of "
		    "the text"},
	{"[\"\xc3\xa9\xc3\xa9\", x]", "t:1:8: [1]: expected a value, found "
				      "'x'"},
	{"[\x01]", "t:1:2: [0]: expected a value, found byte 0x01"},
	{"[\"\t\"]", "t:1:3: [0]: a control character in a string (write it as "
		     "\\u0009)"},
	{"[\"\\ud800\"]", "t:1:4: [0]: a high surrogate without a low one "
			  "after it"},
	{"\xef\xbb\xbf{}", "t:1:1: a byte order mark (save the file as UTF-8 "
			   "without one)"},
	{"{\"a\":{\"b\":1,\n\"c\":2,\n\"\\u0062\":3}}",
	 "t:3:1: a.\\u0062: a second member of this name (remove one)"},
	{"{\"\x7f\":}", "t:1:6: ?: expected a value, found '}'"},
};

START_TEST(test_json_message_has_place_path_and_expectation)
{
	struct json_doc doc;
	char err[512];

	ck_assert_int_eq(json_parse(&doc, "t", messages[_i].text,
				    strlen(messages[_i].text), JSON_SIZE_MAX,
				    err, sizeof(err)),
			 -EINVAL);
	ck_assert_str_eq(err, messages[_i].err);
}
END_TEST

START_TEST(test_json_message_is_cut_to_the_buffer)
{
	struct json_doc doc;
	char err[16];

	ck_assert_int_eq(json_parse(&doc, NULL, "{\"a\":}", 6, JSON_SIZE_MAX,
				    err, sizeof(err)),
			 -EINVAL);
	ck_assert_str_eq(err, "1:6: a: expecte");
}
END_TEST

/* Keys that together are longer than the room for a path. */
START_TEST(test_json_message_cuts_a_long_path)
{
	char text[8192] = "", key[128], err[512];
	struct json_doc doc;

	memset(key, 'k', 100);
	key[100] = '\0';
	for (int i = 0; i < 32; i++) {
		strcat(text, "{\"");
		strcat(text, key);
		strcat(text, "\":");
	}
	ck_assert_int_eq(json_parse(&doc, "t", text, strlen(text),
				    JSON_SIZE_MAX, err, sizeof(err)),
			 -EINVAL);
	ck_assert_ptr_nonnull(
		strstr(err, "k: expected a value, found the end"));
	ck_assert_uint_lt(strlen(err), 320);
}
END_TEST

START_TEST(test_json_size_limit)
{
	struct json_doc doc;
	char err[128];

	ck_assert_int_eq(json_parse(&doc, "t", "[1]", 3, 3, err, sizeof(err)),
			 0);
	json_free(&doc);
	ck_assert_int_eq(json_parse(&doc, "t", "[1] ", 4, 3, err, sizeof(err)),
			 -EFBIG);
	ck_assert_str_eq(err, "t: larger than 3 bytes, the most allowed");
	ck_assert_ptr_null(json_root(&doc));
}
END_TEST

static char *repeat(const char *head, const char *body, size_t count,
		    const char *tail)
{
	char *text =
		malloc(strlen(head) + count * strlen(body) + strlen(tail) + 1);
	char *at = stpcpy(text, head);

	while (count--)
		at = stpcpy(at, body);
	strcpy(at, tail);
	return text;
}

/* Work must grow with the size, not with its square: these would take hours. */
START_TEST(test_json_large_and_flat_is_quick)
{
	static const char *const bodies[] = {"[],", "{\"a\":0},"};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		char *text = repeat("[", bodies[i], 1000000 / strlen(bodies[i]),
				    "0]");

		ck_assert_int_eq(try_parse(text, strlen(text)), 0);
		free(text);
	}
}
END_TEST

START_TEST(test_json_many_names_are_quick)
{
	char *text = malloc(1 << 20), *at = text;

	*at++ = '{';
	for (int i = 0; i < 60000; i++)
		at += sprintf(at, "\"k%05d\":0,", (i * 7919) % 60000);
	at += sprintf(at, "\"k%05d\":0}", 60000);
	ck_assert_int_eq(try_parse(text, (size_t)(at - text)), 0);
	memcpy(at - 9, "k00007", 6);
	ck_assert_int_eq(try_parse(text, (size_t)(at - text)), -EINVAL);
	free(text);
}
END_TEST

START_TEST(test_json_load_file_reports_errors)
{
	struct json_doc doc;
	char err[512];

	ck_assert_int_eq(json_load_file(&doc, FILES "none", JSON_SIZE_MAX, err,
					sizeof(err)),
			 -ENOENT);
	ck_assert_ptr_nonnull(strstr(err, "/none: No such file"));
	ck_assert_int_eq(json_load_file(&doc, FILES "accept", JSON_SIZE_MAX,
					err, sizeof(err)),
			 -EISDIR);
	ck_assert_int_eq(json_load_file(&doc, FILES "reject/empty.json",
					JSON_SIZE_MAX, err, sizeof(err)),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(err, "empty.json:1:1: expected a value"));
	ck_assert_int_eq(json_load_file(&doc, FILES "accept/root-null.json",
					JSON_SIZE_MAX, err, sizeof(err)),
			 0);
	ck_assert_int_eq(json_root(&doc)->type, JSON_NULL);
	json_free(&doc);
	json_free(&doc);
}
END_TEST

/* An endless file: only as much is read as is allowed. */
START_TEST(test_json_load_file_size_limit)
{
	struct json_doc doc;
	char err[512];

	ck_assert_int_eq(json_load_file(&doc, "/dev/zero", JSON_SIZE_MAX, err,
					sizeof(err)),
			 -EFBIG);
	ck_assert_str_eq(err, "/dev/zero: larger than 1048576 bytes, the most "
			      "allowed");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json");
	TCase *tc = tcase_create("json");

	tcase_set_timeout(tc, 60); /* for sanitizers on a busy host */

	tcase_add_test(tc, test_json_accepts_every_file);
	tcase_add_test(tc, test_json_refuses_every_file);
	tcase_add_test(tc, test_json_refuses_cut_containers);
	tcase_add_test(tc, test_json_survives_changed_files);
	tcase_add_loop_test(tc,
			    test_json_message_has_place_path_and_expectation, 0,
			    sizeof(messages) / sizeof(messages[0]));
	tcase_add_test(tc, test_json_message_is_cut_to_the_buffer);
	tcase_add_test(tc, test_json_message_cuts_a_long_path);
	tcase_add_test(tc, test_json_size_limit);
	tcase_add_test(tc, test_json_load_file_reports_errors);
	tcase_add_test(tc, test_json_load_file_size_limit);
	suite_add_tcase(suite, tc);

	tc = tcase_create("quick");
	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, test_json_large_and_flat_is_quick);
	tcase_add_test(tc, test_json_many_names_are_quick);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
