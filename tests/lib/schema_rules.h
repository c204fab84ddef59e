/* SPDX-License-Identifier: MIT */
/*
 * schema_rules - what schema.c hands a value to; for schema.c alone.
 */
#ifndef TESTS_SCHEMA_RULES_H
#define TESTS_SCHEMA_RULES_H

#include <stddef.h>

struct json_doc;
struct json_node;

/* A place in a schema: a keyword's value, or a schema. */
struct schema_rule {
	const struct json_doc *doc;
	const struct json_node *node;
};

/* What a check needs to know wherever it is. */
struct schema_check {
	const struct json_doc *doc; /* what is checked */
	char *err;
	size_t err_size;
};

/* Write the message; return -EINVAL and -ENOTSUP. */
int schema_broken(struct schema_check *c, const struct json_node *value,
		  const char *what, ...) __attribute__((format(printf, 3, 4)));
int schema_unsupported(struct schema_check *c, struct schema_rule rule,
		       const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* The decoded text of a string in the schema, to be freed; NULL if it is
 * none. */
char *schema_text(struct schema_rule rule);

/* Another place in the same schema. */
struct schema_rule schema_at(struct schema_rule rule,
			     const struct json_node *node);

/* One for each keyword: 0, -EINVAL or -ENOTSUP. */
typedef int schema_rule_fn(struct schema_check *c, struct schema_rule rule,
			   const struct json_node *value);

schema_rule_fn schema_type, schema_const, schema_enum, schema_unique,
	schema_min_items, schema_max_items, schema_min_length, schema_minimum,
	schema_maximum, schema_pattern;

#endif
