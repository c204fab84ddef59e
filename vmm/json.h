/* SPDX-License-Identifier: MIT */
/*
 * json - strict JSON documents, read only.
 *
 * RFC 8259 without its liberties: UTF-8 only, no byte order mark, no lone
 * surrogate, no two members of one name, bounded depth and size. A scalar
 * may be the root. jsmn makes the tokens; the rules are kept here.
 *
 * Nodes belong to their document and live until json_free(). Nothing here
 * keeps state elsewhere: any thread may read a parsed document.
 */
#ifndef VMM_JSON_H
#define VMM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_SIZE_MAX  (1u << 20) /* bytes, where nothing asks for more */
#define JSON_DEPTH_MAX 32	  /* arrays and objects inside each other */

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Positions are byte offsets into json_doc.text; a string's leave its
 * quotes out. Indices are into json_doc.nodes. */
struct json_node {
	enum json_type type;
	bool is_key;	   /* the name of a member; its value follows it */
	uint32_t start;	   /* first byte */
	uint32_t end;	   /* first byte after */
	uint32_t past;	   /* first node after this one's contents */
	uint32_t parent;   /* the array or object around it; root: itself */
	uint32_t children; /* elements or members */
};

struct json_doc {
	char *text; /* own copy, with a NUL after its end */
	size_t len;
	struct json_node *nodes; /* in the order of the text, root first */
	uint32_t node_count;
};

/*
 * Parses len bytes of text, at most max_size (JSON_SIZE_MAX where nothing
 * asks for more; 2^30 is the most), into *doc. name stands before a message,
 * "NAME:LINE:COLUMN: KEY.PATH: what was expected"; NULL leaves it out.
 * Lines and columns count from 1, columns in characters.
 * Returns 0; -EINVAL (not JSON, a duplicate name, too deep), -EFBIG or
 * -ENOMEM, with one line in err and *doc empty.
 */
int json_parse(struct json_doc *doc, const char *name, const char *text,
	       size_t len, size_t max_size, char *err, size_t err_size);

/*
 * Reads a file of at most max_size bytes and parses it, with its path as the
 * name. Returns as json_parse(), or -errno from open and read.
 */
int json_load_file(struct json_doc *doc, const char *path, size_t max_size,
		   char *err, size_t err_size);

/* Frees what the document holds; an empty or a zeroed one is allowed. */
void json_free(struct json_doc *doc);

/* The one value of the document. */
const struct json_node *json_root(const struct json_doc *doc);

/* First and next value in an array or object, NULL after the last. Values
 * of an object come in the order written; json_key() names them. */
const struct json_node *json_first(const struct json_doc *doc,
				   const struct json_node *container);
const struct json_node *json_next(const struct json_doc *doc,
				  const struct json_node *value);

/* The name of a member's value, a JSON_STRING; NULL for an element or the
 * root. */
const struct json_node *json_key(const struct json_doc *doc,
				 const struct json_node *value);

/* The member of that name, or NULL; also NULL if object is none. */
const struct json_node *json_member(const struct json_doc *doc,
				    const struct json_node *object,
				    const char *name);

/*
 * Follows a path from a value: names joined by dots, elements as [N] from 0,
 * e.g. "vcpus[0].exits.hlt". "" is the value itself. A name that holds a dot
 * or a bracket cannot be reached so. NULL where the path ends early.
 */
const struct json_node *json_get(const struct json_doc *doc,
				 const struct json_node *from,
				 const char *path);

/* True if node is a string whose decoded text equals s. */
bool json_equals(const struct json_doc *doc, const struct json_node *node,
		 const char *s);

/* Decoded text of a string as UTF-8 in *out, to be freed by the caller.
 * -EINVAL: no string, or it holds U+0000. -ENOMEM. */
int json_string(const struct json_doc *doc, const struct json_node *node,
		char **out);

/* -EINVAL unless node is true or false. */
int json_bool(const struct json_doc *doc, const struct json_node *node,
	      bool *out);

/* -EINVAL unless node is a number written without fraction and exponent;
 * -ERANGE if it does not fit. */
int json_u64(const struct json_doc *doc, const struct json_node *node,
	     uint64_t *out);
int json_i64(const struct json_doc *doc, const struct json_node *node,
	     int64_t *out);

/* The nearest double. -EINVAL unless node is a number; -ERANGE if it is
 * beyond the largest double. Expects the "C" numeric locale. */
int json_double(const struct json_doc *doc, const struct json_node *node,
		double *out);

/* Line and column of a node's first byte (a string's opening quote). */
void json_where(const struct json_doc *doc, const struct json_node *node,
		unsigned *line, unsigned *column);

/* The path of a node as json_get() reads it, cut to fit size; "" for the
 * root. Bytes that do not print are shown as '?'. Returns buf. */
const char *json_path(const struct json_doc *doc, const struct json_node *node,
		      char *buf, size_t size);

/* What a type is called in a message, with its article: "a number". */
const char *json_type_name(enum json_type type);

#endif
