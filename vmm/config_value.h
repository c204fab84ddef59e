/* SPDX-License-Identifier: MIT */
/*
 * config_value - one value of the config, from JSON into its field.
 * Serves config.c; which keys exist is config_table's.
 */
#ifndef VMM_CONFIG_VALUE_H
#define VMM_CONFIG_VALUE_H

#include <stddef.h>

struct config;
struct config_key;
struct config_source;
struct json_node;

/*
 * Checks node against key's row and puts it into *config in place of what
 * the field held. Returns 0; -EINVAL or -ENOMEM with one line in err, the
 * field then as it was or empty.
 */
int config_value_read(const struct config_key *key,
		      const struct config_source *source,
		      const struct json_node *node, struct config *config,
		      char *err, size_t err_size);

/* Frees what key's field holds and makes it the empty value. */
void config_value_clear(const struct config_key *key, struct config *config);

#endif
