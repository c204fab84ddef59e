// SPDX-License-Identifier: MIT
/*
 * utf8 - the two halves of UTF-8 that JSON needs.
 * Reference: The Unicode Standard, table "Well-Formed UTF-8 Byte Sequences";
 * RFC 3629. Not modelled: normal forms and character classes.
 */
#include "utf8.h"

#include <stdbool.h>

static bool in_range(const char *s, unsigned low, unsigned high)
{
	unsigned byte = (unsigned char)*s;

	return byte >= low && byte <= high;
}

size_t utf8_length(const char *s, size_t len)
{
	unsigned lead, low = 0x80, high = 0xbf;
	size_t want;

	if (!len)
		return 0;
	lead = (unsigned char)s[0];
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	want = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	if (len < want)
		return 0;
	/* Only the second byte's range depends on the first: it is what keeps
	 * longer forms, surrogates and too large values out. */
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xf4)
		high = 0x8f;
	if (!in_range(s + 1, low, high))
		return 0;
	for (size_t i = 2; i < want; i++) {
		if (!in_range(s + i, 0x80, 0xbf))
			return 0;
	}
	return want;
}

size_t utf8_encode(uint32_t code_point, char out[4])
{
	if (code_point < 0x80) {
		out[0] = (char)code_point;
		return 1;
	}
	if (code_point < 0x800) {
		out[0] = (char)(0xc0 | code_point >> 6);
		out[1] = (char)(0x80 | (code_point & 0x3f));
		return 2;
	}
	if (code_point < 0x10000) {
		out[0] = (char)(0xe0 | code_point >> 12);
		out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code_point & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code_point >> 18);
	out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code_point & 0x3f));
	return 4;
}
