/* SPDX-License-Identifier: MIT */
/*
 * schema_rules - the keywords that look at one value alone. Reference: JSON
 * Schema 2020-12, "Validation". A rule for another type of value than the
 * document has is kept, as the standard has it. Not here: rules that contain
 * schemas (schema.c).
 */
#define _GNU_SOURCE
#include "schema_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

int schema_broken(struct schema_check *c, const struct json_node *value,
		  const char *what, ...)
{
	char path[256];
	va_list args;
	int n = snprintf(c->err, c->err_size,
			 "%s: ", json_path(c->doc, value, path, sizeof(path)));

	va_start(args, what);
	if (n >= 0 && (size_t)n < c->err_size)
		vsnprintf(c->err + n, c->err_size - (size_t)n, what, args);
	va_end(args);
	return -EINVAL;
}

int schema_unsupported(struct schema_check *c, struct schema_rule rule,
		       const char *what, ...)
{
	char path[256], text[256];
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	snprintf(c->err, c->err_size, "schema: %s: %s",
		 json_path(rule.doc, rule.node, path, sizeof(path)), text);
	return -ENOTSUP;
}

char *schema_text(struct schema_rule rule)
{
	char *text;

	return json_string(rule.doc, rule.node, &text) ? NULL : text;
}

struct schema_rule schema_at(struct schema_rule rule,
			     const struct json_node *node)
{
	rule.node = node;
	return rule;
}

static bool is_integer(const struct json_doc *doc, const struct json_node *node)
{
	uint64_t u;
	int64_t i;

	return !json_u64(doc, node, &u) || !json_i64(doc, node, &i);
}

static bool same_number(struct schema_rule a, struct schema_rule b)
{
	uint64_t ua, ub;
	double da, db;

	/* Exactly where doubles could not tell them apart. */
	if (!json_u64(a.doc, a.node, &ua) && !json_u64(b.doc, b.node, &ub))
		return ua == ub;
	return !json_double(a.doc, a.node, &da) &&
	       !json_double(b.doc, b.node, &db) && da == db;
}

static bool same_value(struct schema_rule a, struct schema_rule b)
{
	size_t len = a.node->end - a.node->start;
	char *text;
	bool same;

	if (a.node->type != b.node->type)
		return false;
	if (a.node->type == JSON_NUMBER)
		return same_number(a, b);
	if (a.node->type == JSON_STRING) {
		text = schema_text(a);
		same = text && json_equals(b.doc, b.node, text);
		free(text);
		return same;
	}
	return len == b.node->end - b.node->start &&
	       !memcmp(a.doc->text + a.node->start, b.doc->text + b.node->start,
		       len);
}

static int check_type_name(struct schema_check *c, struct schema_rule rule,
			   const struct json_node *value, bool *matches)
{
	static const struct {
		const char *name;
		enum json_type type;
	} types[] = {
		{"null", JSON_NULL},	 {"boolean", JSON_BOOL},
		{"number", JSON_NUMBER}, {"integer", JSON_NUMBER},
		{"string", JSON_STRING}, {"array", JSON_ARRAY},
		{"object", JSON_OBJECT},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!json_equals(rule.doc, rule.node, types[i].name))
			continue;
		if (value->type == types[i].type &&
		    (strcmp(types[i].name, "integer") ||
		     is_integer(c->doc, value)))
			*matches = true;
		return 0;
	}
	return schema_unsupported(c, rule, "no such type");
}

int schema_type(struct schema_check *c, struct schema_rule rule,
		const struct json_node *value)
{
	bool matches = false;
	int ret = 0;

	if (rule.node->type != JSON_ARRAY) {
		ret = check_type_name(c, rule, value, &matches);
	} else {
		for (const struct json_node *n =
			     json_first(rule.doc, rule.node);
		     n && !ret; n = json_next(rule.doc, n))
			ret = check_type_name(c, schema_at(rule, n), value,
					      &matches);
	}
	if (ret || matches)
		return ret;
	return schema_broken(c, value, "is %s", json_type_name(value->type));
}

int schema_const(struct schema_check *c, struct schema_rule rule,
		 const struct json_node *value)
{
	if (same_value(rule, (struct schema_rule){c->doc, value}))
		return 0;
	return schema_broken(c, value, "is not what it must be");
}

int schema_enum(struct schema_check *c, struct schema_rule rule,
		const struct json_node *value)
{
	if (rule.node->type != JSON_ARRAY)
		return schema_unsupported(c, rule, "not a list");
	for (const struct json_node *n = json_first(rule.doc, rule.node); n;
	     n = json_next(rule.doc, n))
		if (same_value(schema_at(rule, n),
			       (struct schema_rule){c->doc, value}))
			return 0;
	return schema_broken(c, value, "is none of the listed values");
}

int schema_unique(struct schema_check *c, struct schema_rule rule,
		  const struct json_node *value)
{
	bool wanted;

	if (json_bool(rule.doc, rule.node, &wanted))
		return schema_unsupported(c, rule, "neither true nor false");
	if (!wanted || value->type != JSON_ARRAY)
		return 0;
	for (const struct json_node *a = json_first(c->doc, value); a;
	     a = json_next(c->doc, a))
		for (const struct json_node *b = json_next(c->doc, a); b;
		     b = json_next(c->doc, b))
			if (same_value((struct schema_rule){c->doc, a},
				       (struct schema_rule){c->doc, b}))
				return schema_broken(c, b, "is there twice");
	return 0;
}

/* A count in the schema against one in the document. */
static int check_count(struct schema_check *c, struct schema_rule rule,
		       const struct json_node *value, uint64_t count,
		       bool is_maximum)
{
	uint64_t limit;

	if (json_u64(rule.doc, rule.node, &limit))
		return schema_unsupported(c, rule, "not a natural number");
	if (is_maximum ? count <= limit : count >= limit)
		return 0;
	return schema_broken(c, value, "has %" PRIu64 ", %s is %" PRIu64, count,
			     is_maximum ? "the most" : "the least", limit);
}

int schema_min_items(struct schema_check *c, struct schema_rule rule,
		     const struct json_node *value)
{
	return value->type == JSON_ARRAY
		       ? check_count(c, rule, value, value->children, false)
		       : 0;
}

int schema_max_items(struct schema_check *c, struct schema_rule rule,
		     const struct json_node *value)
{
	return value->type == JSON_ARRAY
		       ? check_count(c, rule, value, value->children, true)
		       : 0;
}

int schema_min_length(struct schema_check *c, struct schema_rule rule,
		      const struct json_node *value)
{
	uint64_t characters = 0;
	char *text;

	if (json_string(c->doc, value, &text))
		return 0;
	for (const char *at = text; *at; at++)
		characters += ((unsigned char)*at & 0xc0) != 0x80;
	free(text);
	return check_count(c, rule, value, characters, false);
}

static int check_bound(struct schema_check *c, struct schema_rule rule,
		       const struct json_node *value, bool is_maximum)
{
	double bound, number;

	if (json_double(rule.doc, rule.node, &bound))
		return schema_unsupported(c, rule, "not a number");
	if (json_double(c->doc, value, &number) ||
	    (is_maximum ? number <= bound : number >= bound))
		return 0;
	return schema_broken(c, value, "is %s %g",
			     is_maximum ? "above" : "below", bound);
}

int schema_minimum(struct schema_check *c, struct schema_rule rule,
		   const struct json_node *value)
{
	return check_bound(c, rule, value, false);
}

int schema_maximum(struct schema_check *c, struct schema_rule rule,
		   const struct json_node *value)
{
	return check_bound(c, rule, value, true);
}

int schema_pattern(struct schema_check *c, struct schema_rule rule,
		   const struct json_node *value)
{
	char *text = NULL, *pattern = schema_text(rule);
	regex_t regex;
	int ret = 0;

	if (!pattern || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB)) {
		free(pattern);
		return schema_unsupported(c, rule,
					  "not a POSIX extended pattern");
	}
	if (!json_string(c->doc, value, &text) &&
	    regexec(&regex, text, 0, NULL, 0))
		ret = schema_broken(c, value, "does not match %s", pattern);
	regfree(&regex);
	free(text);
	free(pattern);
	return ret;
}
