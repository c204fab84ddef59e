// SPDX-License-Identifier: MIT
/*
 * json_query - reading a parsed document.
 *
 * Nodes stand in the order of the text; a container's contents are the nodes
 * between itself and its `past`, a member's name right before its value.
 * Numbers stay text until asked for (RFC 8259 section 6 "Numbers").
 * Not modelled: numbers beyond 64 bits or a double.
 */
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_check.h"
#include "json_text.h"

const struct json_node *json_root(const struct json_doc *doc)
{
	return doc->nodes;
}

static uint32_t index_of(const struct json_doc *doc,
			 const struct json_node *node)
{
	return (uint32_t)(node - doc->nodes);
}

/* The value at or right after index i, if that is still before `past`. */
static const struct json_node *value_at(const struct json_doc *doc, uint32_t i,
					uint32_t past)
{
	if (i >= past)
		return NULL;
	return doc->nodes[i].is_key ? &doc->nodes[i + 1] : &doc->nodes[i];
}

const struct json_node *json_first(const struct json_doc *doc,
				   const struct json_node *container)
{
	return value_at(doc, index_of(doc, container) + 1, container->past);
}

const struct json_node *json_next(const struct json_doc *doc,
				  const struct json_node *value)
{
	return value_at(doc, value->past, doc->nodes[value->parent].past);
}

const struct json_node *json_key(const struct json_doc *doc,
				 const struct json_node *value)
{
	uint32_t i = index_of(doc, value);

	return i && doc->nodes[i - 1].is_key ? &doc->nodes[i - 1] : NULL;
}

static bool text_equals(const struct json_doc *doc,
			const struct json_node *node, const char *s, size_t len)
{
	struct json_cursor cursor = json_cursor_open(doc, node);

	for (size_t i = 0; i < len; i++) {
		if (json_cursor_next(&cursor) != (unsigned char)s[i])
			return false;
	}
	return json_cursor_next(&cursor) < 0;
}

static const struct json_node *find_member(const struct json_doc *doc,
					   const struct json_node *object,
					   const char *name, size_t len)
{
	const struct json_node *value;

	if (object->type != JSON_OBJECT)
		return NULL;
	for (value = json_first(doc, object); value;
	     value = json_next(doc, value)) {
		if (text_equals(doc, json_key(doc, value), name, len))
			return value;
	}
	return NULL;
}

const struct json_node *json_member(const struct json_doc *doc,
				    const struct json_node *object,
				    const char *name)
{
	return find_member(doc, object, name, strlen(name));
}

/* *path is at a '['; leaves it behind the ']'. */
static const struct json_node *find_element(const struct json_doc *doc,
					    const struct json_node *array,
					    const char **path)
{
	const struct json_node *value;
	char *end;
	unsigned long index;

	if (array->type != JSON_ARRAY || (*path)[1] < '0' || (*path)[1] > '9')
		return NULL;
	index = strtoul(*path + 1, &end, 10);
	if (*end != ']' || index >= array->children)
		return NULL;
	*path = end + 1;
	value = json_first(doc, array);
	while (index--)
		value = json_next(doc, value);
	return value;
}

const struct json_node *json_get(const struct json_doc *doc,
				 const struct json_node *from, const char *path)
{
	const char *start = path;

	while (from && *path) {
		if (*path == '[') {
			from = find_element(doc, from, &path);
			continue;
		}
		if (*path == '.' && path != start)
			path++;
		from = find_member(doc, from, path, strcspn(path, ".["));
		path += strcspn(path, ".[");
	}
	return from;
}

bool json_equals(const struct json_doc *doc, const struct json_node *node,
		 const char *s)
{
	return node->type == JSON_STRING &&
	       text_equals(doc, node, s, strlen(s));
}

int json_string(const struct json_doc *doc, const struct json_node *node,
		char **out)
{
	struct json_cursor cursor;
	size_t len = 0;
	char *s;
	int byte;

	if (node->type != JSON_STRING)
		return -EINVAL;
	/* No escape is shorter than what it stands for. */
	s = malloc(node->end - node->start + 1);
	if (!s)
		return -ENOMEM;
	cursor = json_cursor_open(doc, node);
	while ((byte = json_cursor_next(&cursor)) > 0)
		s[len++] = (char)byte;
	if (byte == 0) {
		free(s);
		return -EINVAL;
	}
	s[len] = '\0';
	*out = s;
	return 0;
}

int json_bool(const struct json_doc *doc, const struct json_node *node,
	      bool *out)
{
	if (node->type != JSON_BOOL)
		return -EINVAL;
	*out = doc->text[node->start] == 't';
	return 0;
}

/* The absolute value of a whole number, and whether a '-' stands before. */
static int read_magnitude(const struct json_doc *doc,
			  const struct json_node *node, bool *is_negative,
			  uint64_t *out)
{
	const char *at = doc->text + node->start, *end = doc->text + node->end;
	bool overflow = false;
	uint64_t value = 0;

	if (node->type != JSON_NUMBER)
		return -EINVAL;
	*is_negative = *at == '-';
	for (at += *is_negative; at < end; at++) {
		if (*at < '0' || *at > '9')
			return -EINVAL;
		overflow |= __builtin_mul_overflow(value, 10, &value);
		overflow |= __builtin_add_overflow(value, (uint64_t)(*at - '0'),
						   &value);
	}
	*out = value;
	return overflow ? -ERANGE : 0;
}

int json_u64(const struct json_doc *doc, const struct json_node *node,
	     uint64_t *out)
{
	bool is_negative;
	uint64_t value;
	int ret = read_magnitude(doc, node, &is_negative, &value);

	if (ret)
		return ret;
	if (is_negative && value)
		return -ERANGE;
	*out = value;
	return 0;
}

int json_i64(const struct json_doc *doc, const struct json_node *node,
	     int64_t *out)
{
	bool is_negative;
	uint64_t value;
	int ret = read_magnitude(doc, node, &is_negative, &value);

	if (ret)
		return ret;
	if (value > (uint64_t)INT64_MAX + is_negative)
		return -ERANGE;
	/* -value would overflow for INT64_MIN. */
	*out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
	return 0;
}

int json_double(const struct json_doc *doc, const struct json_node *node,
		double *out)
{
	double value;

	if (node->type != JSON_NUMBER)
		return -EINVAL;
	/* What follows a number in a document never continues it. */
	value = strtod(doc->text + node->start, NULL);
	if (isinf(value))
		return -ERANGE;
	*out = value;
	return 0;
}

void json_where(const struct json_doc *doc, const struct json_node *node,
		unsigned *line, unsigned *column)
{
	json_locate(doc->text, node->start - (node->type == JSON_STRING), line,
		    column);
}

static uint32_t position_in(const struct json_doc *doc, uint32_t array,
			    uint32_t element)
{
	uint32_t position = 0;

	for (uint32_t i = array + 1; i < element; i = doc->nodes[i].past)
		position++;
	return position;
}

const char *json_path(const struct json_doc *doc, const struct json_node *node,
		      char *buf, size_t size)
{
	struct json_step steps[JSON_DEPTH_MAX + 1];
	size_t first = JSON_DEPTH_MAX + 1;
	uint32_t i = index_of(doc, node);

	for (; i; i = doc->nodes[i].parent) {
		const struct json_node *key = json_key(doc, &doc->nodes[i]);
		uint32_t parent = doc->nodes[i].parent;

		steps[--first] = (struct json_step){
			.is_element = !key,
			.is_named = key,
			.index = key ? 0 : position_in(doc, parent, i),
			.start = key ? key->start : 0,
			.end = key ? key->end : 0,
		};
	}
	json_path_format(doc->text, steps + first, JSON_DEPTH_MAX + 1 - first,
			 buf, size);
	return buf;
}

const char *json_type_name(enum json_type type)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",	    [JSON_BOOL] = "true or false",
		[JSON_NUMBER] = "a number", [JSON_STRING] = "a string",
		[JSON_ARRAY] = "an array",  [JSON_OBJECT] = "an object",
	};

	return names[type];
}
