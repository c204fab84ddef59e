/* SPDX-License-Identifier: MIT */
/*
 * doc - json.h with assertions in place of return values. The parser is the
 * program's own, strict one: what it refuses is not JSON.
 */
#define _GNU_SOURCE
#include "doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

enum {
	DOC_SIZE_MAX = 64 << 20,
	PATH_TEXT_MAX = 256,
};

static char *read_file(const char *path, size_t *len)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	if (!file)
		ck_abort_msg("%s: %s", path, strerror(errno));
	/* A file holds no NUL if it is JSON, so this takes all of it. */
	n = getdelim(&text, &size, '\0', file);
	fclose(file);
	if (n < 0)
		ck_abort_msg("%s: empty", path);
	*len = (size_t)n;
	return text;
}

void doc_load(struct json_doc *doc, const char *path)
{
	char err[512];
	size_t len;
	char *text = read_file(path, &len);

	if (json_parse(doc, path, text, len, DOC_SIZE_MAX, err, sizeof(err)))
		ck_abort_msg("%s", err);
	free(text);
}

const struct json_node *doc_get(const struct json_doc *doc, const char *path)
{
	const struct json_node *node = json_get(doc, json_root(doc), path);

	if (!node)
		ck_abort_msg("no member %s in: %.2000s", path, doc->text);
	return node;
}

uint64_t doc_u64(const struct json_doc *doc, const char *path, ...)
{
	char text[PATH_TEXT_MAX];
	uint64_t value = 0;
	va_list args;

	va_start(args, path);
	vsnprintf(text, sizeof(text), path, args);
	va_end(args);
	if (json_u64(doc, doc_get(doc, text), &value))
		ck_abort_msg("%s is no natural number", text);
	return value;
}

const char *doc_text(const struct json_doc *doc, const char *path, char *buf,
		     size_t size)
{
	const struct json_node *node = doc_get(doc, path);
	char *text;

	if (node->type == JSON_NULL) {
		buf[0] = '\0';
		return buf;
	}
	if (json_string(doc, node, &text))
		ck_abort_msg("%s is no string", path);
	snprintf(buf, size, "%s", text);
	free(text);
	return buf;
}

bool doc_bool(const struct json_doc *doc, const char *path)
{
	bool value = false;

	if (json_bool(doc, doc_get(doc, path), &value))
		ck_abort_msg("%s is neither true nor false", path);
	return value;
}
