// SPDX-License-Identifier: MIT
/*
 * json - documents as an array of nodes over a copy of their text.
 *
 * json_check() decides what is JSON; jsmn (https://github.com/zserge/jsmn)
 * then finds the tokens, whose count is known by then. jsmn runs in its
 * plain mode: the strict one refuses a number as the root, and still accepts
 * much that is no JSON. Duplicate names are found here.
 * Not modelled: changing a document (jsonw writes new ones).
 */
#define _GNU_SOURCE /* qsort_r */
#include "json.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JSMN_STATIC
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include "json_check.h"
#include "json_text.h"

static void report(const char *name, const char *text,
		   const struct json_fault *fault, char *err, size_t err_size)
{
	unsigned line, column;

	json_locate(text, fault->offset, &line, &column);
	snprintf(err, err_size, "%s%s%u:%u: %s%s%s", name ? name : "",
		 name ? ":" : "", line, column, fault->path,
		 *fault->path ? ": " : "", fault->what);
}

static enum json_type node_type(const jsmntok_t *token, const char *text)
{
	switch (token->type) {
	case JSMN_OBJECT:
		return JSON_OBJECT;
	case JSMN_ARRAY:
		return JSON_ARRAY;
	case JSMN_STRING:
		return JSON_STRING;
	default:
		break;
	}
	switch (text[token->start]) {
	case 'n':
		return JSON_NULL;
	case 't':
	case 'f':
		return JSON_BOOL;
	default:
		return JSON_NUMBER;
	}
}

/* jsmn hangs a member's value below its name; here both are children of the
 * object, so that a node's parent is always a container. */
static void make_node(struct json_doc *doc, const jsmntok_t *tokens, uint32_t i)
{
	struct json_node *node = &doc->nodes[i];
	uint32_t parent = i ? (uint32_t)tokens[i].parent : 0;

	if (i && tokens[parent].type == JSMN_STRING)
		parent = (uint32_t)tokens[parent].parent;
	*node = (struct json_node){
		.type = node_type(&tokens[i], doc->text),
		.start = (uint32_t)tokens[i].start,
		.end = (uint32_t)tokens[i].end,
		.past = i + 1,
		.parent = parent,
	};
	if (!i)
		return;
	node->is_key = tokens[tokens[i].parent].type == JSMN_OBJECT;
	doc->nodes[parent].children += !node->is_key;
}

static int tokenize(struct json_doc *doc, uint32_t count)
{
	jsmn_parser parser;
	jsmntok_t *tokens = calloc(count, sizeof(*tokens));
	int found;

	doc->nodes = calloc(count, sizeof(*doc->nodes));
	if (!tokens || !doc->nodes) {
		free(tokens);
		return -ENOMEM;
	}
	jsmn_init(&parser);
	found = jsmn_parse(&parser, doc->text, doc->len, tokens, count);
	/* The check accepted this text: another answer is a bug of ours. */
	assert(found >= 0 && (uint32_t)found == count);
	doc->node_count = count;
	for (uint32_t i = 0; i < count; i++)
		make_node(doc, tokens, i);
	/* From behind, each node is complete when its parent takes it in. */
	for (uint32_t i = count - 1; i > 0; i--) {
		struct json_node *parent = &doc->nodes[doc->nodes[i].parent];

		if (parent->past < doc->nodes[i].past)
			parent->past = doc->nodes[i].past;
	}
	free(tokens);
	return 0;
}

static int compare_text(const struct json_doc *doc, uint32_t a, uint32_t b)
{
	struct json_cursor left = json_cursor_open(doc, &doc->nodes[a]);
	struct json_cursor right = json_cursor_open(doc, &doc->nodes[b]);
	int x, y;

	do {
		x = json_cursor_next(&left);
		y = json_cursor_next(&right);
	} while (x == y && x >= 0);
	return (x > y) - (x < y);
}

/* Equal names sort by their place, so that the later one is the duplicate. */
static int compare_names(const void *a, const void *b, void *doc)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_text(doc, x, y);

	return order ? order : (x > y) - (x < y);
}

/* Sorting bounds the work for an object of 100 000 names; names has room for
 * all of them. Returns the first duplicate's node, or 0, which is the root. */
static uint32_t find_duplicate(struct json_doc *doc, uint32_t object,
			       uint32_t *names)
{
	uint32_t count = 0, duplicate = 0;
	const struct json_node *value;

	for (value = json_first(doc, &doc->nodes[object]); value;
	     value = json_next(doc, value))
		names[count++] = (uint32_t)(value - doc->nodes) - 1;
	qsort_r(names, count, sizeof(*names), compare_names, doc);
	for (uint32_t i = 1; i < count; i++) {
		if (!compare_text(doc, names[i - 1], names[i]) &&
		    (!duplicate || names[i] < duplicate))
			duplicate = names[i];
	}
	return duplicate;
}

static int check_names(struct json_doc *doc, struct json_fault *fault)
{
	uint32_t *names = calloc(doc->node_count, sizeof(*names));
	uint32_t duplicate = 0;

	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < doc->node_count && !duplicate; i++) {
		if (doc->nodes[i].type == JSON_OBJECT &&
		    doc->nodes[i].children > 1)
			duplicate = find_duplicate(doc, i, names);
	}
	free(names);
	if (!duplicate)
		return 0;
	fault->offset = doc->nodes[duplicate].start - 1;
	json_path(doc, &doc->nodes[duplicate + 1], fault->path,
		  sizeof(fault->path));
	snprintf(fault->what, sizeof(fault->what),
		 "a second member of this name (remove one)");
	return -EINVAL;
}

static int parse(struct json_doc *doc, const char *text, size_t len,
		 struct json_fault *fault)
{
	uint32_t count;
	int ret = json_check(text, len, &count, fault);

	if (ret)
		return ret;
	doc->text = malloc(len + 1);
	if (!doc->text)
		return -ENOMEM;
	memcpy(doc->text, text, len);
	doc->text[len] = '\0';
	doc->len = len;
	ret = tokenize(doc, count);
	return ret ? ret : check_names(doc, fault);
}

int json_parse(struct json_doc *doc, const char *name, const char *text,
	       size_t len, size_t max_size, char *err, size_t err_size)
{
	struct json_fault fault;
	int ret;

	assert(max_size <= 1u << 30); /* jsmn counts in int */
	*doc = (struct json_doc){0};
	if (len > max_size) {
		snprintf(err, err_size,
			 "%s%slarger than %zu bytes, the most allowed",
			 name ? name : "", name ? ": " : "", max_size);
		return -EFBIG;
	}
	ret = parse(doc, text, len, &fault);
	if (!ret)
		return 0;
	if (ret == -EINVAL)
		report(name, text, &fault, err, err_size);
	else
		snprintf(err, err_size, "%s%s%s", name ? name : "",
			 name ? ": " : "", strerror(-ret));
	json_free(doc);
	return ret;
}

/* Reads up to size bytes, fewer only at the file's end. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t used = 0;
	ssize_t got;

	while (used < size) {
		got = read(fd, buf + used, size - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

int json_load_file(struct json_doc *doc, const char *path, size_t max_size,
		   char *err, size_t err_size)
{
	char *buf;
	ssize_t len;
	int fd, ret;

	*doc = (struct json_doc){0};
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path, strerror(-ret));
		return ret;
	}
	/* One byte more than allowed tells a file that is too large. */
	buf = malloc(max_size + 1);
	len = buf ? read_all(fd, buf, max_size + 1) : -ENOMEM;
	close(fd);
	if (len < 0) {
		ret = (int)len;
		snprintf(err, err_size, "%s: %s", path, strerror(-ret));
	} else {
		ret = json_parse(doc, path, buf, (size_t)len, max_size, err,
				 err_size);
	}
	free(buf);
	return ret;
}

void json_free(struct json_doc *doc)
{
	free(doc->text);
	free(doc->nodes);
	*doc = (struct json_doc){0};
}
