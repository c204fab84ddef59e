// SPDX-License-Identifier: MIT
/*
 * config_reader - messages of the config's readers.
 *
 * Each names the place of the value at fault, in the file or in an override.
 * Not done here: deciding what is at fault.
 */
#include "config_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "config_describe.h"
#include "config_table.h"
#include "json.h"

static void place(const struct config_source *source,
		  const struct json_node *node, char *buf, size_t size)
{
	unsigned line, column;
	char path[160];

	json_path(source->doc, node, path, sizeof(path));
	if (source->set_key) {
		snprintf(buf, size, "--set %s%s", source->set_key, path);
		return;
	}
	json_where(source->doc, node, &line, &column);
	snprintf(buf, size, "%s:%u:%u%s%s", source->file, line, column,
		 *path ? ": " : "", path);
}

int config_fail(const struct config_source *source,
		const struct json_node *node, char *err, size_t err_size,
		const char *format, ...)
{
	char where[512], what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	place(source, node, where, sizeof(where));
	snprintf(err, err_size, "%s: %s", where, what);
	return -EINVAL;
}

int config_fail_memory(const struct config_reader *r)
{
	CONFIG_FAIL(r, r->node, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

int config_fail_expected(const struct config_reader *r)
{
	char expected[256] = "", found[128] = "";

	config_describe(r->key, expected, sizeof(expected));
	config_describe_value(r->source->doc, r->node, found, sizeof(found));
	return CONFIG_FAIL(r, r->node, "expected %s, found %s", expected,
			   found);
}

void *config_field(const struct config_reader *r)
{
	return (char *)r->config + r->key->offset;
}
