/* SPDX-License-Identifier: MIT */
/*
 * jsonw - writes one JSON document into memory.
 *
 * Every call takes the member's name first: required inside an object, NULL
 * inside an array and for the root. Getting that or the nesting wrong is a
 * bug of the caller and asserts. Running out of memory or of max_size is an
 * error that sticks: later calls do nothing, jsonw_error() tells.
 * One writer, one thread.
 */
#ifndef VMM_JSONW_H
#define VMM_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSONW_DEPTH_MAX 32

struct jsonw {
	char *buf; /* NUL-terminated once anything is written */
	size_t len;
	size_t capacity;
	size_t max_size; /* bytes of text */
	int error;	 /* 0, -ENOMEM or -EFBIG; sticks */
	unsigned indent; /* spaces a level; 0: all on one line */
	unsigned depth;
	char closer[JSONW_DEPTH_MAX]; /* '}' or ']' of each open level */
	bool has_items;		      /* the innermost level is not empty */
	bool done;		      /* the root is complete */
};

/* An empty writer. indent: spaces a level, 0 or 2. max_size: the most bytes
 * the text may take. Cannot fail. */
void jsonw_init(struct jsonw *w, unsigned indent, size_t max_size);

/* Frees the text. The writer must be initialised again before use. */
void jsonw_free(struct jsonw *w);

void jsonw_object_begin(struct jsonw *w, const char *key);
void jsonw_object_end(struct jsonw *w);
void jsonw_array_begin(struct jsonw *w, const char *key);
void jsonw_array_end(struct jsonw *w);

/* s is UTF-8, NUL-terminated; NULL writes null. Each byte that is not part
 * of valid UTF-8 becomes U+FFFD. jsonw_string_n takes len bytes, NUL among
 * them if need be. */
void jsonw_string(struct jsonw *w, const char *key, const char *s);
void jsonw_string_n(struct jsonw *w, const char *key, const char *s,
		    size_t len);

void jsonw_u64(struct jsonw *w, const char *key, uint64_t value);
void jsonw_i64(struct jsonw *w, const char *key, int64_t value);

/* Text that reads back as the same double, 17 digits at most; null for a NaN
 * or an infinity, which JSON cannot say. Expects the "C" numeric locale. */
void jsonw_double(struct jsonw *w, const char *key, double value);

void jsonw_bool(struct jsonw *w, const char *key, bool value);
void jsonw_null(struct jsonw *w, const char *key);

/* 0, or the first error: -ENOMEM, -EFBIG. */
int jsonw_error(const struct jsonw *w);

/*
 * The finished document, closed by a newline where it is indented; owned by
 * the writer. NULL after an error. Asserts that every level was ended.
 */
const char *jsonw_text(struct jsonw *w, size_t *len);

#endif
