/* SPDX-License-Identifier: MIT */
/*
 * string - the few C library functions the firmware needs; compilers may
 * call the mem* ones by themselves. Semantics of ISO C 7.24.
 */
#ifndef GUEST_STRING_H
#define GUEST_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
char *strchr(const char *s, int c);

#endif
