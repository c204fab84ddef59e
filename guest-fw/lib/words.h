/* SPDX-License-Identifier: MIT */
/*
 * words - the command line as words "name" or "name=value".
 *
 * Boot CPU only. A word that nobody asked for, a word given twice, a number
 * that is none or out of range: each is a message and status 60, because a
 * typo that runs with the defaults would be measured and believed. The first
 * word is passed over if it looks like the image's path (it holds a '/' or
 * ends in ".elf" or ".elf64"), which some boot loaders put there.
 */
#ifndef GUEST_WORDS_H
#define GUEST_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define COMMAND_LINE_MAX 4095 /* bytes, without the final NUL */

/* Takes over and cuts up text (NUL-terminated, changed in place). */
void words_init(char *text);

/* The value of a word: "" for a bare one, NULL if it is not there. */
const char *words_get(const char *name);

/* Whether the bare word is there; with a value it is an error. */
bool words_flag(const char *name);

/* Decimal number in [min, max], or fallback if the word is not there. */
uint64_t words_u64(const char *name, uint64_t min, uint64_t max,
		   uint64_t fallback);

/* Index of the value in the NULL-ended list; fallback if not there. */
unsigned words_choice(const char *name, const char *const *choices,
		      unsigned fallback);

/* To be called when all have been asked for: refuses the rest. */
void words_end(void);

/* Prints "command line: name: what" and ends with STATUS_USAGE. */
__attribute__((noreturn)) void words_refuse(const char *name, const char *what);

#endif
