/* SPDX-License-Identifier: MIT */
/*
 * doc - JSON that punctual wrote, as a test reads it: what is missing or of
 * another type fails the test. Paths as json_get() takes them.
 */
#ifndef TESTS_DOC_H
#define TESTS_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

/* Reads and parses a file of at most 64 MiB. json_free() it. */
void doc_load(struct json_doc *doc, const char *path);

/* The value at a path, which must be there. */
const struct json_node *doc_get(const struct json_doc *doc, const char *path);

/* A number that fits; path is a printf format. */
uint64_t doc_u64(const struct json_doc *doc, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* The text of a string, cut to fit size; "" for null. Returns buf. */
const char *doc_text(const struct json_doc *doc, const char *path, char *buf,
		     size_t size);

/* True for the word true, false for false. */
bool doc_bool(const struct json_doc *doc, const char *path);

#endif
