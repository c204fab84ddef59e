/* SPDX-License-Identifier: MIT */
/*
 * schema - does a JSON document keep to a JSON Schema? A subset, for tests.
 *
 * Draft 2020-12 ("Core" and "Validation"), these keywords: $ref, type, enum,
 * const, properties, required, additionalProperties, items, minItems,
 * maxItems, uniqueItems, minimum, maximum, minLength, pattern, anyOf, and
 * those that only describe. A schema with any other is refused, so that no
 * rule is passed over in silence.
 *
 * $ref takes "#/NAME/..." within the schema and "FILE#/NAME/..." of a file
 * beside it. A pattern must mean the same as a POSIX extended one. enum,
 * const and uniqueItems compare numbers by value, arrays and objects as
 * written.
 */
#ifndef TESTS_SCHEMA_H
#define TESTS_SCHEMA_H

#include <stddef.h>

struct json_doc;
struct json_node;

/*
 * Checks one value of doc, NULL: the root. dir is where other files are
 * looked for, NULL: there are none. 0; -EINVAL if the value breaks a rule,
 * "PATH: what" in err; -ENOTSUP if the schema is not one of the subset, or a
 * file it names cannot be read, "schema: what" in err; -ENOMEM.
 */
int schema_check(const struct json_doc *schema, const char *dir,
		 const struct json_doc *doc, const struct json_node *value,
		 char *err, size_t err_size);

#endif
