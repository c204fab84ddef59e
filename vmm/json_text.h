/* SPDX-License-Identifier: MIT */
/*
 * json_text - the text a checked JSON string stands for, byte by byte.
 * Shared by json.c and json_query.c. Pure: no allocation.
 */
#ifndef VMM_JSON_TEXT_H
#define VMM_JSON_TEXT_H

#include <stddef.h>

struct json_doc;
struct json_node;

struct json_cursor {
	const char *at;
	const char *end;
	char pending[4]; /* a decoded escape, as UTF-8 */
	size_t pending_at;
	size_t pending_len;
};

/* Starts before the first byte of a JSON_STRING of a parsed document. */
struct json_cursor json_cursor_open(const struct json_doc *doc,
				    const struct json_node *node);

/* The next byte of the decoded text, 0-255, or -1 behind the last. */
int json_cursor_next(struct json_cursor *cursor);

#endif
