/* SPDX-License-Identifier: MIT */
/*
 * fuzz-json - any bytes as a JSON document, and every way to ask one.
 *
 * Rules: a fault has one line to say, with its place; nodes lie within each
 * other, in the order of the text; each is found by its path; text decodes to
 * UTF-8 without what JSON forbids; the readers of numbers agree; and a document
 * that is written anew reads back the same.
 */
#define _GNU_SOURCE /* memmem */
#include "json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "jsonw.h"
#include "utf8.h"

enum {
	SIZE_MAX_JSON = 4096,
};

static void check_fault(int ret, const char *err, const struct json_doc *doc)
{
	FUZZ_CHECK(ret == -EINVAL || ret == -EFBIG);
	FUZZ_CHECK(*err);
	for (const char *at = err; *at; at++)
		FUZZ_CHECK((unsigned char)*at >= ' ' && *at != '\x7f');
	FUZZ_CHECK(!doc->text && !doc->nodes && !doc->node_count);
	if (ret == -EINVAL) {
		unsigned int line = 0, column = 0;

		FUZZ_CHECK(sscanf(err, "name:%u:%u: ", &line, &column) == 2);
		FUZZ_CHECK(line && column);
	}
}

static void check_string(const struct json_doc *doc,
			 const struct json_node *node)
{
	char *text = NULL;
	int ret = json_string(doc, node, &text);

	if (ret) {
		FUZZ_CHECK(ret == -EINVAL);
		FUZZ_CHECK(memmem(doc->text + node->start,
				  node->end - node->start, "\\u0000", 6));
		return;
	}
	FUZZ_CHECK(json_equals(doc, node, text));
	FUZZ_CHECK(strlen(text) <= node->end - node->start);
	for (const char *at = text; *at;) {
		size_t length = utf8_length(at, strlen(at));

		FUZZ_CHECK(length);
		at += length;
	}
	free(text);
}

static void check_number(const struct json_doc *doc,
			 const struct json_node *node)
{
	uint64_t u = 0;
	int64_t i = 0;
	double d = 0;
	int ret_u = json_u64(doc, node, &u), ret_i = json_i64(doc, node, &i);
	int ret_d = json_double(doc, node, &d);

	FUZZ_CHECK(!ret_d || ret_d == -ERANGE);
	FUZZ_CHECK((ret_u == -EINVAL) == (ret_i == -EINVAL));
	if (!ret_u)
		FUZZ_CHECK(!ret_d && d == (double)u);
	if (!ret_i)
		FUZZ_CHECK(!ret_d && d == (double)i);
	if (!ret_u && !ret_i)
		FUZZ_CHECK((uint64_t)i == u);
	if (ret_u == -ERANGE && ret_i == -ERANGE && !ret_d)
		FUZZ_CHECK(fabs(d) >= 9223372036854775807.0);
}

/* Those of another type must not answer. */
static void check_type(const struct json_doc *doc, const struct json_node *node)
{
	char *text;
	uint64_t u;
	double d;
	bool b;

	switch (node->type) {
	case JSON_STRING:
		check_string(doc, node);
		break;
	case JSON_NUMBER:
		check_number(doc, node);
		break;
	default:
		FUZZ_CHECK(json_string(doc, node, &text) == -EINVAL);
		FUZZ_CHECK(json_u64(doc, node, &u) == -EINVAL);
		FUZZ_CHECK(json_double(doc, node, &d) == -EINVAL);
		FUZZ_CHECK(!json_bool(doc, node, &b) ==
			   (node->type == JSON_BOOL));
		break;
	}
}

static bool is_plain(const struct json_doc *doc, const struct json_node *key)
{
	for (uint32_t i = key->start; i < key->end; i++)
		if (doc->text[i] <= ' ' || doc->text[i] > '~' ||
		    strchr(".[]\\", doc->text[i]))
			return false;
	return key->end > key->start;
}

/* Along the path as it is told, where no name on it makes that ambiguous. */
static void check_path(const struct json_doc *doc, const struct json_node *node)
{
	const struct json_node *at = node;
	char path[256];

	while (at != json_root(doc)) {
		const struct json_node *key = json_key(doc, at);

		if (key && !is_plain(doc, key))
			return;
		at = &doc->nodes[at->parent];
	}
	json_path(doc, node, path, sizeof(path));
	if (strlen(path) + 1 < sizeof(path))
		FUZZ_CHECK(json_get(doc, json_root(doc), path) == node);
}

static void check_node(const struct json_doc *doc, uint32_t i)
{
	const struct json_node *node = &doc->nodes[i];
	const struct json_node *parent = &doc->nodes[node->parent];

	FUZZ_CHECK(node->start <= node->end && node->end <= doc->len);
	FUZZ_CHECK(node->past > i && node->past <= doc->node_count);
	FUZZ_CHECK(node->parent < i || !i);
	FUZZ_CHECK(!i ||
		   (node->start > parent->start && node->end <= parent->end &&
		    node->past <= parent->past));
	FUZZ_CHECK(!i || parent->type >= JSON_ARRAY);
	check_type(doc, node);
	if (node->is_key)
		FUZZ_CHECK(node->type == JSON_STRING &&
			   parent->type == JSON_OBJECT);
	else
		check_path(doc, node);
}

static void rewrite(const struct json_doc *doc, const struct json_node *node,
		    struct jsonw *w);

static void rewrite_children(const struct json_doc *doc,
			     const struct json_node *node, struct jsonw *w)
{
	const struct json_node *child;
	uint32_t count = 0;

	for (child = json_first(doc, node); child;
	     child = json_next(doc, child)) {
		rewrite(doc, child, w);
		count++;
	}
	FUZZ_CHECK(count == node->children);
}

static void rewrite(const struct json_doc *doc, const struct json_node *node,
		    struct jsonw *w)
{
	const struct json_node *key = json_key(doc, node);
	char *name = NULL, *text = NULL;
	uint64_t u;

	/* A name with a NUL is one that the writer cannot have been given. */
	if (key && json_string(doc, key, &name))
		name = strdup("NUL");
	if (node->type == JSON_OBJECT) {
		jsonw_object_begin(w, name);
		rewrite_children(doc, node, w);
		jsonw_object_end(w);
	} else if (node->type == JSON_ARRAY) {
		jsonw_array_begin(w, name);
		rewrite_children(doc, node, w);
		jsonw_array_end(w);
	} else if (node->type == JSON_STRING &&
		   !json_string(doc, node, &text)) {
		jsonw_string(w, name, text);
	} else if (node->type == JSON_NUMBER && !json_u64(doc, node, &u)) {
		jsonw_u64(w, name, u);
	} else if (node->type == JSON_BOOL) {
		jsonw_bool(w, name, doc->text[node->start] == 't');
	} else {
		jsonw_null(w, name);
	}
	free(text);
	free(name);
}

/* What the writer makes of it is JSON, and stays as it is a second time. */
static void check_rewritten(const struct json_doc *doc)
{
	struct json_doc again;
	struct jsonw w, w_again;
	const char *text, *text_again;
	size_t len, len_again;
	char err[256];
	int ret;

	jsonw_init(&w, 2, 1 << 20);
	rewrite(doc, json_root(doc), &w);
	text = jsonw_text(&w, &len);
	FUZZ_CHECK(text);
	ret = json_parse(&again, "name", text, len, 1 << 20, err, sizeof(err));
	/* Two names with NULs have become one. */
	FUZZ_CHECK(!ret || strstr(err, "a second member"));
	if (!ret) {
		FUZZ_CHECK(again.node_count == doc->node_count);
		jsonw_init(&w_again, 2, 1 << 20);
		rewrite(&again, json_root(&again), &w_again);
		text_again = jsonw_text(&w_again, &len_again);
		FUZZ_CHECK(len == len_again && !memcmp(text, text_again, len));
		jsonw_free(&w_again);
	}
	json_free(&again);
	jsonw_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_doc doc;
	char err[256] = "";
	int ret = json_parse(&doc, "name", (const char *)data, size,
			     SIZE_MAX_JSON, err, sizeof(err));

	if (ret) {
		check_fault(ret, err, &doc);
		return 0;
	}
	FUZZ_CHECK(size <= SIZE_MAX_JSON && doc.len == size);
	for (uint32_t i = 0; i < doc.node_count; i++)
		check_node(&doc, i);
	check_rewritten(&doc);
	json_free(&doc);
	return 0;
}
