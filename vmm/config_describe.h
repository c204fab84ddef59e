/* SPDX-License-Identifier: MIT */
/*
 * config_describe - what a key takes, and what was found instead.
 * All append to the text in buf and cut at size bytes. Pure.
 */
#ifndef VMM_CONFIG_DESCRIBE_H
#define VMM_CONFIG_DESCRIBE_H

#include <stddef.h>

struct config_key;
struct json_doc;
struct json_node;

/* The values that key takes in this version: "off", "auto" or a ... */
void config_describe(const struct config_key *key, char *buf, size_t size);

/* A value as it stands in the text, or its type if that would be long. */
void config_describe_value(const struct json_doc *doc,
			   const struct json_node *node, char *buf,
			   size_t size);

/* The keys of a section of len bytes in this version, separated by ", ". */
void config_describe_section(const char *section, size_t len, char *buf,
			     size_t size);

/* All sections, separated by ", ". */
void config_describe_sections(char *buf, size_t size);

#endif
