// SPDX-License-Identifier: MIT
/*
 * jsonw - RFC 8259 text, appended to one growing buffer.
 *
 * A finished document is what json_parse() accepts, if no two members of an
 * object were given one name: that is not looked for.
 * Not modelled: writing to a file (the caller does), sorting of members.
 */
#include "jsonw.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#define FIRST_CAPACITY 256

void jsonw_init(struct jsonw *w, unsigned indent, size_t max_size)
{
	*w = (struct jsonw){.indent = indent, .max_size = max_size};
}

void jsonw_free(struct jsonw *w)
{
	free(w->buf);
	*w = (struct jsonw){0};
}

/* Room for len bytes more and the NUL. */
static int reserve(struct jsonw *w, size_t len)
{
	size_t capacity = w->capacity ? w->capacity : FIRST_CAPACITY;
	char *grown;

	if (len > w->max_size - w->len)
		return -EFBIG;
	if (w->capacity > w->len + len)
		return 0;
	while (capacity <= w->len + len)
		capacity *= 2;
	grown = realloc(w->buf, capacity);
	if (!grown)
		return -ENOMEM;
	w->buf = grown;
	w->capacity = capacity;
	return 0;
}

static void put(struct jsonw *w, const char *s, size_t len)
{
	if (!w->error)
		w->error = reserve(w, len);
	if (w->error)
		return;
	memcpy(w->buf + w->len, s, len);
	w->len += len;
	w->buf[w->len] = '\0';
}

static void put_text(struct jsonw *w, const char *s)
{
	put(w, s, strlen(s));
}

static void put_newline(struct jsonw *w)
{
	if (!w->indent)
		return;
	put(w, "\n", 1);
	for (unsigned i = 0; i < w->depth * w->indent; i++)
		put(w, " ", 1);
}

static void put_escape(struct jsonw *w, unsigned char byte)
{
	static const char bytes[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *found = byte ? strchr(bytes, byte) : NULL;
	char escape[8];

	if (found)
		snprintf(escape, sizeof(escape), "\\%c", names[found - bytes]);
	else
		snprintf(escape, sizeof(escape), "\\u%04x", byte);
	put_text(w, escape);
}

static void put_quoted(struct jsonw *w, const char *s, size_t len)
{
	size_t at = 0;

	put(w, "\"", 1);
	while (at < len && !w->error) {
		unsigned char byte = (unsigned char)s[at];
		size_t length = utf8_length(s + at, len - at);

		if (!length)
			put_text(w, "\xef\xbf\xbd"); /* U+FFFD */
		else if (byte < 0x20 || byte == '"' || byte == '\\')
			put_escape(w, byte);
		else
			put(w, s + at, length);
		at += length ? length : 1;
	}
	put(w, "\"", 1);
}

/* What stands before every value: comma, line break, name. */
static void begin_value(struct jsonw *w, const char *key)
{
	bool in_object = w->depth && w->closer[w->depth - 1] == '}';

	assert(!w->done);
	assert(in_object == (key != NULL));
	if (w->has_items)
		put(w, ",", 1);
	if (w->depth)
		put_newline(w);
	if (key) {
		put_quoted(w, key, strlen(key));
		put_text(w, w->indent ? ": " : ":");
	}
}

static void end_value(struct jsonw *w)
{
	w->has_items = true;
	w->done = !w->depth;
}

static void open_level(struct jsonw *w, const char *key, const char *bracket,
		       char closer)
{
	begin_value(w, key);
	assert(w->depth < JSONW_DEPTH_MAX);
	put_text(w, bracket);
	w->closer[w->depth++] = closer;
	w->has_items = false;
}

static void close_level(struct jsonw *w, char closer)
{
	assert(w->depth && w->closer[w->depth - 1] == closer);
	w->depth--;
	if (w->has_items)
		put_newline(w);
	put(w, &closer, 1);
	end_value(w);
}

void jsonw_object_begin(struct jsonw *w, const char *key)
{
	open_level(w, key, "{", '}');
}

void jsonw_object_end(struct jsonw *w)
{
	close_level(w, '}');
}

void jsonw_array_begin(struct jsonw *w, const char *key)
{
	open_level(w, key, "[", ']');
}

void jsonw_array_end(struct jsonw *w)
{
	close_level(w, ']');
}

static void put_scalar(struct jsonw *w, const char *key, const char *text)
{
	begin_value(w, key);
	put_text(w, text);
	end_value(w);
}

void jsonw_string(struct jsonw *w, const char *key, const char *s)
{
	if (s)
		jsonw_string_n(w, key, s, strlen(s));
	else
		jsonw_null(w, key);
}

void jsonw_string_n(struct jsonw *w, const char *key, const char *s, size_t len)
{
	begin_value(w, key);
	put_quoted(w, s, len);
	end_value(w);
}

void jsonw_u64(struct jsonw *w, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_scalar(w, key, text);
}

void jsonw_i64(struct jsonw *w, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_scalar(w, key, text);
}

void jsonw_double(struct jsonw *w, const char *key, double value)
{
	char text[32];

	if (!isfinite(value)) {
		jsonw_null(w, key);
		return;
	}
	/* %g drops trailing zeros. 15 digits survive any double; 17 always
	 * tell it from its neighbours, but show 0.1 as no human writes it. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	put_scalar(w, key, text);
}

void jsonw_bool(struct jsonw *w, const char *key, bool value)
{
	put_scalar(w, key, value ? "true" : "false");
}

void jsonw_null(struct jsonw *w, const char *key)
{
	put_scalar(w, key, "null");
}

int jsonw_error(const struct jsonw *w)
{
	return w->error;
}

const char *jsonw_text(struct jsonw *w, size_t *len)
{
	assert(w->done && !w->depth);
	if (w->indent && !w->error && w->buf[w->len - 1] != '\n')
		put(w, "\n", 1);
	if (w->error)
		return NULL;
	*len = w->len;
	return w->buf;
}
