/* SPDX-License-Identifier: MIT */
/*
 * schema - walks a schema and a document side by side; see schema.h for the
 * subset. Stops at the first rule that is broken. Not here: keywords that
 * depend on what another has seen (unevaluatedProperties and the like),
 * remote references, annotations as output.
 */
#define _GNU_SOURCE
#include "schema.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "schema_rules.h"

enum {
	FILES_MAX = 4,
	DEPTH_MAX = 64, /* also ends references that go round */
	NAME_MAX_BYTES = 128,
};

/* base is first: the rules of schema_rules.h get a pointer to it. */
struct walk {
	struct schema_check base;
	const char *dir;
	unsigned int depth;
	struct json_doc files[FILES_MAX];
	char names[FILES_MAX][NAME_MAX_BYTES];
	unsigned int file_count;
};

static int walk_value(struct walk *c, struct schema_rule rule,
		      const struct json_node *value);

/* The schema that a keyword's value belongs to. */
static const struct json_node *schema_of(struct schema_rule rule)
{
	return &rule.doc->nodes[rule.node->parent];
}

static int walk_any_of(struct walk *c, struct schema_rule rule,
		       const struct json_node *value)
{
	for (const struct json_node *n = json_first(rule.doc, rule.node); n;
	     n = json_next(rule.doc, n)) {
		int ret = walk_value(c, schema_at(rule, n), value);

		if (ret != -EINVAL)
			return ret;
	}
	return schema_broken(&c->base, value, "fits none of the alternatives");
}

static int walk_properties(struct walk *c, struct schema_rule rule,
			   const struct json_node *value)
{
	int ret = 0;

	if (value->type != JSON_OBJECT)
		return 0;
	for (const struct json_node *n = json_first(rule.doc, rule.node);
	     n && !ret; n = json_next(rule.doc, n)) {
		char *name =
			schema_text(schema_at(rule, json_key(rule.doc, n)));
		const struct json_node *member =
			name ? json_member(c->base.doc, value, name) : NULL;

		free(name);
		if (member)
			ret = walk_value(c, schema_at(rule, n), member);
	}
	return ret;
}

static int walk_additional(struct walk *c, struct schema_rule rule,
			   const struct json_node *value)
{
	const struct json_node *known =
		json_member(rule.doc, schema_of(rule), "properties");
	int ret = 0;

	if (value->type != JSON_OBJECT)
		return 0;
	for (const struct json_node *n = json_first(c->base.doc, value);
	     n && !ret; n = json_next(c->base.doc, n)) {
		char *name;

		if (json_string(c->base.doc, json_key(c->base.doc, n), &name))
			return schema_broken(&c->base, n,
					     "has an unusable name");
		if (!known || !json_member(rule.doc, known, name))
			ret = walk_value(c, rule, n);
		free(name);
	}
	return ret;
}

static int walk_required(struct walk *c, struct schema_rule rule,
			 const struct json_node *value)
{
	int ret = 0;

	if (value->type != JSON_OBJECT)
		return 0;
	for (const struct json_node *n = json_first(rule.doc, rule.node);
	     n && !ret; n = json_next(rule.doc, n)) {
		char *name = schema_text(schema_at(rule, n));

		if (!name)
			return schema_unsupported(&c->base, rule, "not names");
		if (!json_member(c->base.doc, value, name))
			ret = schema_broken(&c->base, value, "lacks %s", name);
		free(name);
	}
	return ret;
}

static int walk_items(struct walk *c, struct schema_rule rule,
		      const struct json_node *value)
{
	int ret = 0;

	if (value->type != JSON_ARRAY)
		return 0;
	for (const struct json_node *n = json_first(c->base.doc, value);
	     n && !ret; n = json_next(c->base.doc, n))
		ret = walk_value(c, rule, n);
	return ret;
}

/* The file of that name, read once. NULL, with a message, if it cannot be. */
static const struct json_doc *find_file(struct walk *c, struct schema_rule rule,
					const char *name)
{
	char path[PATH_MAX], err[256];

	for (unsigned int i = 0; i < c->file_count; i++)
		if (!strcmp(c->names[i], name))
			return &c->files[i];
	if (!c->dir || c->file_count == FILES_MAX ||
	    strlen(name) >= NAME_MAX_BYTES || strchr(name, '/')) {
		schema_unsupported(&c->base, rule, "no file %s here", name);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	if (json_load_file(&c->files[c->file_count], path, JSON_SIZE_MAX, err,
			   sizeof(err))) {
		schema_unsupported(&c->base, rule, "%s", err);
		return NULL;
	}
	strcpy(c->names[c->file_count], name);
	return &c->files[c->file_count++];
}

static int walk_ref(struct walk *c, struct schema_rule rule,
		    const struct json_node *value)
{
	char *text = schema_text(rule), *rest = text, *name;
	struct schema_rule target = rule;
	int ret = 0;

	name = text ? strsep(&rest, "#") : NULL;
	if (!rest || *rest != '/') {
		ret = schema_unsupported(&c->base, rule,
					 "not FILE#/NAME or #/NAME");
	} else if (*name) {
		target.doc = find_file(c, rule, name);
		ret = target.doc ? 0 : -ENOTSUP;
	}
	if (!ret) {
		target.node = json_root(target.doc);
		strsep(&rest, "/");
		while (target.node && rest)
			target.node = json_member(target.doc, target.node,
						  strsep(&rest, "/"));
		ret = target.node ? walk_value(c, target, value)
				  : schema_unsupported(&c->base, rule,
						       "leads nowhere");
	}
	free(text);
	return ret;
}

typedef int walk_fn(struct walk *c, struct schema_rule rule,
		    const struct json_node *value);

static const struct {
	const char *name;
	schema_rule_fn *rule; /* one of the two, or neither: it describes */
	walk_fn *walk;
} keywords[] = {
	{"$schema", NULL, NULL},
	{"$id", NULL, NULL},
	{"$defs", NULL, NULL},
	{"title", NULL, NULL},
	{"description", NULL, NULL},
	{"default", NULL, NULL},
	{"type", schema_type, NULL},
	{"enum", schema_enum, NULL},
	{"const", schema_const, NULL},
	{"minimum", schema_minimum, NULL},
	{"maximum", schema_maximum, NULL},
	{"minLength", schema_min_length, NULL},
	{"pattern", schema_pattern, NULL},
	{"minItems", schema_min_items, NULL},
	{"maxItems", schema_max_items, NULL},
	{"uniqueItems", schema_unique, NULL},
	{"items", NULL, walk_items},
	{"required", NULL, walk_required},
	{"properties", NULL, walk_properties},
	{"additionalProperties", NULL, walk_additional},
	{"anyOf", NULL, walk_any_of},
	{"$ref", NULL, walk_ref},
};

static int walk_keyword(struct walk *c, struct schema_rule rule,
			const struct json_node *value)
{
	const struct json_node *key = json_key(rule.doc, rule.node);

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (!json_equals(rule.doc, key, keywords[i].name))
			continue;
		if (keywords[i].rule)
			return keywords[i].rule(&c->base, rule, value);
		return keywords[i].walk ? keywords[i].walk(c, rule, value) : 0;
	}
	return schema_unsupported(&c->base, rule, "no such keyword here");
}

static int walk_value(struct walk *c, struct schema_rule rule,
		      const struct json_node *value)
{
	bool anything;
	int ret = 0;

	if (!json_bool(rule.doc, rule.node, &anything))
		return anything ? 0
				: schema_broken(&c->base, value, "is unknown");
	if (rule.node->type != JSON_OBJECT)
		return schema_unsupported(&c->base, rule, "not a schema");
	if (++c->depth > DEPTH_MAX)
		return schema_unsupported(&c->base, rule, "goes too deep");
	for (const struct json_node *n = json_first(rule.doc, rule.node);
	     n && !ret; n = json_next(rule.doc, n))
		ret = walk_keyword(c, schema_at(rule, n), value);
	c->depth--;
	return ret;
}

int schema_check(const struct json_doc *schema, const char *dir,
		 const struct json_doc *doc, const struct json_node *value,
		 char *err, size_t err_size)
{
	struct walk walk = {
		.base = {.doc = doc, .err = err, .err_size = err_size},
		.dir = dir,
	};
	struct schema_rule root = {.doc = schema, .node = json_root(schema)};
	int ret = walk_value(&walk, root, value ? value : json_root(doc));

	for (unsigned int i = 0; i < walk.file_count; i++)
		json_free(&walk.files[i]);
	return ret;
}
