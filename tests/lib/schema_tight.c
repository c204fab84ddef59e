/* SPDX-License-Identifier: MIT */
/* schema_tight - documents with one value replaced; see schema_tight.h. */
#define _GNU_SOURCE /* asprintf */
#include "schema_tight.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "doc.h"
#include "schema.h"

struct rules {
	struct json_doc schema;
	const char *dir;
};

static void load(struct rules *rules, const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	doc_load(&rules->schema, path);
	rules->dir = dir;
}

/* The document with bytes [from, to) replaced; to be freed. */
static char *replaced(const struct json_doc *doc, size_t from, size_t to,
		      const char *by)
{
	char *text;

	if (asprintf(&text, "%.*s%s%s", (int)from, doc->text, by,
		     doc->text + to) < 0)
		ck_abort_msg("out of memory");
	return text;
}

/* Frees the text. */
static int check_text(const struct rules *rules, char *text)
{
	struct json_doc doc;
	char err[512];
	int ret = json_parse(&doc, NULL, text, strlen(text), 1 << 24, err,
			     sizeof(err));

	ck_assert_msg(!ret, "%s", err);
	ret = schema_check(&rules->schema, rules->dir, &doc, NULL, err,
			   sizeof(err));
	json_free(&doc);
	free(text);
	return ret;
}

/* The n-th element of an array is like its first, and so is what is in it. */
static bool is_further_element(const struct json_doc *doc,
			       const struct json_node *node)
{
	while (node != json_root(doc)) {
		const struct json_node *around = &doc->nodes[node->parent];

		if (around->type == JSON_ARRAY &&
		    node != json_first(doc, around))
			return true;
		node = around;
	}
	return false;
}

static void expect_noticed(const struct rules *rules,
			   const struct json_doc *doc,
			   const struct json_node *node)
{
	size_t quote = node->type == JSON_STRING;
	bool empty = !node->children;
	char path[256];

	json_path(doc, node, path, sizeof(path));
	ck_assert_msg(check_text(rules, replaced(doc, node->start - quote,
						 node->end + quote,
						 "{\"odd\": 0}")) == -EINVAL,
		      "another kind of value passes at %s", path);
	if (node->type == JSON_OBJECT)
		ck_assert_msg(
			check_text(rules, replaced(doc, node->start + 1,
						   node->start + 1,
						   empty ? "\"odd\": 0"
							 : "\"odd\": 0,")) ==
				-EINVAL,
			"a new member passes at %s", path);
}

void schema_expect(const char *dir, const char *name,
		   const struct json_doc *doc)
{
	struct rules rules;
	char err[512];

	load(&rules, dir, name);
	ck_assert_msg(
		!schema_check(&rules.schema, dir, doc, NULL, err, sizeof(err)),
		"%s", err);
	json_free(&rules.schema);
}

void schema_expect_tight(const char *dir, const char *name,
			 const struct json_doc *doc)
{
	struct rules rules;

	schema_expect(dir, name, doc);
	load(&rules, dir, name);
	for (uint32_t n = 0; n < doc->node_count; n++)
		if (!doc->nodes[n].is_key &&
		    !is_further_element(doc, &doc->nodes[n]))
			expect_noticed(&rules, doc, &doc->nodes[n]);
	json_free(&rules.schema);
}
