/* SPDX-License-Identifier: MIT */
/* The escape keys, byte by byte. */
#include "escape.h"

#include <string.h>

#include "tap.h"

#define A "\x01"

static const struct {
	const char *typed, *sent;
	enum escape_command last;
} cases[] = {
	{"", "", ESCAPE_NONE},
	{"hello x h\r", "hello x h\r", ESCAPE_NONE},
	/* Ctrl-C, Ctrl-D, Ctrl-Z are the guest's. */
	{"\x03\x04\x1a", "\x03\x04\x1a", ESCAPE_NONE},
	{A, "", ESCAPE_NONE},
	{A "x", "", ESCAPE_END},
	{A "h", "", ESCAPE_HELP},
	{"ab" A "x", "ab", ESCAPE_END},
	{A A, A, ESCAPE_NONE},
	{A A "x", A "x", ESCAPE_NONE},
	{A A A "x", A, ESCAPE_END},
	{A "hx", "x", ESCAPE_NONE},
	{A "h" A "x", "", ESCAPE_END},
	/* What is no command is not lost. */
	{A "X", A "X", ESCAPE_NONE},
	{A "q" A "x", A "q", ESCAPE_END},
};

START_TEST(test_escape_sequences)
{
	enum escape_command last = ESCAPE_NONE;
	struct escape escape;
	char sent[64] = "";
	uint8_t out[2];
	size_t n;

	escape_init(&escape);
	for (const char *at = cases[_i].typed; *at; at++) {
		last = escape_take(&escape, (uint8_t)*at, out, &n);
		ck_assert_uint_le(n, 2);
		strncat(sent, (const char *)out, n);
	}
	ck_assert_str_eq(sent, cases[_i].sent);
	ck_assert_int_eq(last, cases[_i].last);
}
END_TEST

/* All other bytes, NUL and those above 127 too. */
START_TEST(test_escape_every_byte)
{
	struct escape escape;
	uint8_t out[2];
	size_t n;

	escape_init(&escape);
	for (unsigned int byte = 0; byte < 256; byte++) {
		ck_assert_int_eq(escape_take(&escape, (uint8_t)byte, out, &n),
				 ESCAPE_NONE);
		ck_assert_uint_eq(n, byte != 1);
		if (byte == 1)
			escape_init(&escape);
		else
			ck_assert_uint_eq(out[0], byte);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("escape");
	TCase *tc = tcase_create("keys");

	tcase_add_loop_test(tc, test_escape_sequences, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, test_escape_every_byte);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
