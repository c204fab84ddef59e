/* SPDX-License-Identifier: MIT */
/* utf8 - well-formed UTF-8, as Unicode section "Conformance" table 3-7 has
 * it: shortest form, no surrogates, nothing above U+10FFFF. */
#ifndef VMM_UTF8_H
#define VMM_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes (1-4) of the character at s, of which len bytes may be read; 0 if
 * they begin no well-formed character. */
size_t utf8_length(const char *s, size_t len);

/* Writes code_point, below 0x110000, to out; returns the bytes used. */
size_t utf8_encode(uint32_t code_point, char out[4]);

#endif
