/* SPDX-License-Identifier: MIT */
/*
 * config_reader - what the readers of single values share.
 */
#ifndef VMM_CONFIG_READER_H
#define VMM_CONFIG_READER_H

#include <stddef.h>

struct config;
struct config_key;
struct json_doc;
struct json_node;

/* Where values come from: the file, or one override whose value alone is the
 * document. */
struct config_source {
	const struct json_doc *doc;
	const char *file;    /* the config file's path as given */
	const char *set_key; /* NULL for the file itself */
};

/* One value on its way into its field. */
struct config_reader {
	const struct config_key *key;
	const struct config_source *source;
	const struct json_node *node;
	struct config *config;
	char *err; /* one line on failure */
	size_t err_size;
};

/* Writes "PLACE: message" to err, PLACE being that of node in its source, and
 * returns -EINVAL. */
__attribute__((format(printf, 5, 6))) int
config_fail(const struct config_source *source, const struct json_node *node,
	    char *err, size_t err_size, const char *format, ...);

#define CONFIG_FAIL(r, node, ...) \
	config_fail((r)->source, node, (r)->err, (r)->err_size, __VA_ARGS__)

/* "expected ..., found ...", for the whole value. Returns -EINVAL. */
int config_fail_expected(const struct config_reader *r);

/* Returns -ENOMEM. */
int config_fail_memory(const struct config_reader *r);

/* The key's field in the config. */
void *config_field(const struct config_reader *r);

#endif
