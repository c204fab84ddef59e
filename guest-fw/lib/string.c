/* SPDX-License-Identifier: MIT */
/*
 * string - byte loops. Slow on purpose: nothing here may move much, since
 * ring-0 code is interpreted on some back ends.
 * Not provided: memmove, memcmp; nobody needs them.
 */
#include "string.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *out = to;
	const unsigned char *in = from;

	while (n--)
		*out++ = *in++;
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	unsigned char *out = to;

	while (n--)
		*out++ = (unsigned char)byte;
	return to;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

char *strchr(const char *s, int c)
{
	/* The C library's own cast: the string is the caller's. */
	union {
		const char *in;
		char *out;
	} at = {.in = s};

	for (; *at.in != (char)c; at.in++) {
		if (!*at.in)
			return NULL;
	}
	return at.out;
}
