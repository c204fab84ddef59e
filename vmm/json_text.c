// SPDX-License-Identifier: MIT
/*
 * json_text - escapes of RFC 8259 section 7 "Strings", decoded to UTF-8.
 * Only for what json_check() accepted: every escape is whole and every high
 * surrogate has its low one. Not done here: other encodings.
 */
#include "json_text.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "json.h"
#include "json_check.h"
#include "utf8.h"

/* The cursor is behind a backslash. */
static void cursor_decode(struct json_cursor *cursor)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *name;
	uint32_t code_point;

	cursor->pending_at = 0;
	if (*cursor->at != 'u') {
		name = strchr(names, *cursor->at++);
		assert(name);
		cursor->pending[0] = bytes[name - names];
		cursor->pending_len = 1;
		return;
	}
	code_point = (uint32_t)json_hex4(cursor->at + 1, 4);
	cursor->at += 5;
	if (code_point >= 0xd800 && code_point <= 0xdbff) {
		/* Checked: its low half follows, as \uXXXX. */
		code_point = 0x10000 + ((code_point - 0xd800) << 10) +
			     ((uint32_t)json_hex4(cursor->at + 2, 4) - 0xdc00);
		cursor->at += 6;
	}
	cursor->pending_len = utf8_encode(code_point, cursor->pending);
}

struct json_cursor json_cursor_open(const struct json_doc *doc,
				    const struct json_node *node)
{
	return (struct json_cursor){.at = doc->text + node->start,
				    .end = doc->text + node->end};
}

int json_cursor_next(struct json_cursor *cursor)
{
	if (cursor->pending_at == cursor->pending_len) {
		if (cursor->at == cursor->end)
			return -1;
		if (*cursor->at != '\\')
			return (unsigned char)*cursor->at++;
		cursor->at++;
		cursor_decode(cursor);
	}
	return (unsigned char)cursor->pending[cursor->pending_at++];
}
