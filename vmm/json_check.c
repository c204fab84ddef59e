// SPDX-License-Identifier: MIT
/*
 * json_check - the grammar of RFC 8259 by recursive descent.
 *
 * Recursion is bounded by JSON_DEPTH_MAX. Every function leaves the cursor
 * behind what it accepted, or records the first fault and returns false.
 * Not done here: duplicate names (json.c), the meaning of numbers.
 */
#include "json_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "utf8.h"

struct checker {
	const char *text;
	size_t len;
	size_t pos;
	uint32_t tokens;
	unsigned depth;
	struct json_step steps[JSON_DEPTH_MAX];
	struct json_fault *fault;
};

void json_path_format(const char *text, const struct json_step *steps,
		      size_t count, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count && used + 1 < size; i++) {
		const struct json_step *step = &steps[i];

		if (step->is_element) {
			used += (size_t)snprintf(buf + used, size - used,
						 "[%u]", step->index);
			continue;
		}
		if (!step->is_named)
			continue;
		if (i && used + 1 < size)
			buf[used++] = '.';
		for (size_t at = step->start; at < step->end && used + 1 < size;
		     at++)
			buf[used++] = text[at] == '\x7f' ? '?' : text[at];
		buf[used] = '\0';
	}
}

int json_hex4(const char *s, size_t len)
{
	int value = 0;

	if (len < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit;

		if (s[i] >= '0' && s[i] <= '9')
			digit = s[i] - '0';
		else if (s[i] >= 'a' && s[i] <= 'f')
			digit = s[i] - 'a' + 10;
		else if (s[i] >= 'A' && s[i] <= 'F')
			digit = s[i] - 'A' + 10;
		else
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

__attribute__((format(printf, 2, 3))) static bool fail(struct checker *c,
						       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->fault->what, sizeof(c->fault->what), format, args);
	va_end(args);
	c->fault->offset = c->pos;
	json_path_format(c->text, c->steps, c->depth, c->fault->path,
			 sizeof(c->fault->path));
	return false;
}

static bool fail_expected(struct checker *c, const char *expected)
{
	unsigned byte;

	if (c->pos == c->len)
		return fail(c, "expected %s, found the end of the text",
			    expected);
	byte = (unsigned char)c->text[c->pos];
	if (byte > 0x20 && byte < 0x7f)
		return fail(c, "expected %s, found '%c'", expected, (int)byte);
	return fail(c, "expected %s, found byte 0x%02x", expected, byte);
}

/* NUL stands for the end as well as for itself: neither is ever accepted. */
static char peek(const struct checker *c)
{
	return c->pos < c->len ? c->text[c->pos] : '\0';
}

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static void skip_space(struct checker *c)
{
	while (peek(c) == ' ' || peek(c) == '\t' || peek(c) == '\n' ||
	       peek(c) == '\r')
		c->pos++;
}

static bool check_literal(struct checker *c, const char *word)
{
	size_t len = strlen(word);

	if (c->len - c->pos < len || memcmp(c->text + c->pos, word, len))
		return fail(c, "expected %s", word);
	c->pos += len;
	return true;
}

static bool check_digits(struct checker *c)
{
	if (!is_digit(peek(c)))
		return fail_expected(c, "a digit");
	while (is_digit(peek(c)))
		c->pos++;
	return true;
}

static bool check_number(struct checker *c)
{
	if (peek(c) == '-')
		c->pos++;
	if (peek(c) == '0') {
		c->pos++;
		if (is_digit(peek(c)))
			return fail(c, "a number must not start with a zero "
				       "that is followed by a digit");
	} else if (!check_digits(c)) {
		return false;
	}
	if (peek(c) == '.') {
		c->pos++;
		if (!check_digits(c))
			return false;
	}
	if (peek(c) == 'e' || peek(c) == 'E') {
		c->pos++;
		if (peek(c) == '+' || peek(c) == '-')
			c->pos++;
		if (!check_digits(c))
			return false;
	}
	return true;
}

/* The cursor is on the 'u'. */
static bool check_unicode_escape(struct checker *c)
{
	int unit = json_hex4(c->text + c->pos + 1, c->len - c->pos - 1);
	int low = -1;

	if (unit < 0)
		return fail(c, "expected four hexadecimal digits after \\u");
	if (unit >= 0xdc00 && unit <= 0xdfff)
		return fail(c, "a low surrogate without a high one before it");
	if (unit < 0xd800 || unit > 0xdbff) {
		c->pos += 5;
		return true;
	}
	if (c->len - c->pos >= 11 && c->text[c->pos + 5] == '\\' &&
	    c->text[c->pos + 6] == 'u')
		low = json_hex4(c->text + c->pos + 7, 4);
	if (low < 0xdc00 || low > 0xdfff)
		return fail(c, "a high surrogate without a low one after it");
	c->pos += 11;
	return true;
}

static bool check_escape(struct checker *c)
{
	c->pos++;
	if (peek(c) == 'u')
		return check_unicode_escape(c);
	if (peek(c) == '\0' || !strchr("\"\\/bfnrt", peek(c)))
		return fail_expected(c, "one of \" \\ / b f n r t u after \\");
	c->pos++;
	return true;
}

/* The cursor is on the opening quote. */
static bool check_string(struct checker *c)
{
	c->pos++;
	while (peek(c) != '"') {
		size_t length;

		if (c->pos == c->len)
			return fail(c, "a string without its closing quote");
		if ((unsigned char)peek(c) < 0x20)
			return fail(c,
				    "a control character in a string "
				    "(write it as \\u%04x)",
				    (unsigned)(unsigned char)peek(c));
		if (peek(c) == '\\') {
			if (!check_escape(c))
				return false;
			continue;
		}
		length = utf8_length(c->text + c->pos, c->len - c->pos);
		if (!length)
			return fail(c, "a string that is not valid UTF-8");
		c->pos += length;
	}
	c->pos++;
	return true;
}

static bool check_value(struct checker *c);

/* Both containers: true with the cursor behind the opening bracket. */
static bool enter(struct checker *c, bool is_array)
{
	if (c->depth == JSON_DEPTH_MAX)
		return fail(c,
			    "more than %d arrays and objects inside each "
			    "other",
			    JSON_DEPTH_MAX);
	c->steps[c->depth++] = (struct json_step){.is_element = is_array};
	c->pos++;
	skip_space(c);
	return true;
}

static bool check_array(struct checker *c)
{
	struct json_step *step = &c->steps[c->depth];

	if (!enter(c, true))
		return false;
	while (peek(c) != ']' || step->index) {
		if (!check_value(c))
			return false;
		skip_space(c);
		if (peek(c) == ']')
			break;
		if (peek(c) != ',')
			return fail_expected(c, "',' or ']'");
		c->pos++;
		skip_space(c);
		step->index++;
	}
	c->pos++;
	c->depth--;
	return true;
}

static bool check_member(struct checker *c, struct json_step *step)
{
	size_t start = c->pos + 1;

	step->is_named = false;
	if (peek(c) != '"')
		return fail_expected(c, "a name in double quotes");
	if (!check_string(c))
		return false;
	c->tokens++;
	step->start = start;
	step->end = c->pos - 1;
	step->is_named = true;
	skip_space(c);
	if (peek(c) != ':')
		return fail_expected(c, "':' after the name");
	c->pos++;
	skip_space(c);
	return check_value(c);
}

static bool check_object(struct checker *c)
{
	struct json_step *step = &c->steps[c->depth];
	bool is_first = true;

	if (!enter(c, false))
		return false;
	while (peek(c) != '}' || !is_first) {
		if (!check_member(c, step))
			return false;
		is_first = false;
		skip_space(c);
		if (peek(c) == '}')
			break;
		if (peek(c) != ',')
			return fail_expected(c, "',' or '}'");
		c->pos++;
		skip_space(c);
	}
	c->pos++;
	c->depth--;
	return true;
}

static bool check_value(struct checker *c)
{
	c->tokens++;
	switch (peek(c)) {
	case '{':
		return check_object(c);
	case '[':
		return check_array(c);
	case '"':
		return check_string(c);
	case 't':
		return check_literal(c, "true");
	case 'f':
		return check_literal(c, "false");
	case 'n':
		return check_literal(c, "null");
	default:
		if (peek(c) == '-' || is_digit(peek(c)))
			return check_number(c);
		return fail_expected(c, "a value");
	}
}

static bool check_text(struct checker *c)
{
	if (c->len >= 3 && !memcmp(c->text, "\xef\xbb\xbf", 3))
		return fail(c, "a byte order mark (save the file as UTF-8 "
			       "without one)");
	skip_space(c);
	if (!check_value(c))
		return false;
	skip_space(c);
	if (c->pos != c->len)
		return fail_expected(c, "nothing more after the value");
	return true;
}

int json_check(const char *text, size_t len, uint32_t *token_count,
	       struct json_fault *fault)
{
	struct checker c = {.text = text, .len = len, .fault = fault};

	if (!check_text(&c))
		return -EINVAL;
	*token_count = c.tokens;
	return 0;
}

void json_locate(const char *text, size_t offset, unsigned *line,
		 unsigned *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			++*column;
		}
	}
}
