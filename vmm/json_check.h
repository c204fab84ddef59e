/* SPDX-License-Identifier: MIT */
/*
 * json_check - is this text JSON, and if not, where and why.
 *
 * Serves json.c alone, which has the public interface. Pure: no allocation,
 * no state.
 */
#ifndef VMM_JSON_CHECK_H
#define VMM_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One step from a container to what is in it. */
struct json_step {
	bool is_element;
	bool is_named;	/* a member whose name is known */
	uint32_t index; /* of an element */
	size_t start;	/* of a member's name in the text, quotes left out */
	size_t end;
};

struct json_fault {
	size_t offset;	/* of the byte that is wrong; may be the length */
	char what[128]; /* what was expected there */
	char path[160]; /* of the value it is in; "" for the root */
};

/*
 * Checks len bytes against RFC 8259 and json.h's limits on depth, encoding
 * and surrogates; duplicate names are not looked for. Returns 0 and the
 * number of values and names, or -EINVAL and the fault.
 */
int json_check(const char *text, size_t len, uint32_t *token_count,
	       struct json_fault *fault);

/* Writes steps as a path, "run.list[2].name", cut to fit size. */
void json_path_format(const char *text, const struct json_step *steps,
		      size_t count, char *buf, size_t size);

/* Line and column of a byte, both from 1; columns count characters. */
void json_locate(const char *text, size_t offset, unsigned *line,
		 unsigned *column);

/* The 16-bit value of \uXXXX's digits at s; -1 if they are not four. */
int json_hex4(const char *s, size_t len);

#endif
