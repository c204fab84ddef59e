/* SPDX-License-Identifier: MIT */
/*
 * schema_tight - a document keeps to its schema, and the schema is tight: it
 * notices a value of another kind, and a member that is not described, at
 * each place of the document. What is wrong fails the test.
 */
#ifndef TESTS_SCHEMA_TIGHT_H
#define TESTS_SCHEMA_TIGHT_H

struct json_doc;

/* dir/name is the schema; those that it refers to are beside it. */
void schema_expect(const char *dir, const char *name,
		   const struct json_doc *doc);

/* That, and tries each value of doc, but of an array its first element alone.
 */
void schema_expect_tight(const char *dir, const char *name,
			 const struct json_doc *doc);

#endif
