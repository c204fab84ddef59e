// SPDX-License-Identifier: MIT
/*
 * config_describe - words for messages about the config.
 *
 * Made from the table, so that a message never asks for what the parser
 * refuses. Not done here: where in the text a value stands (config_value.c).
 */
#include "config_describe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config_table.h"
#include "json.h"

/* Appends to a text of size bytes; what does not fit is cut. */
__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size,
						      const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

/* "a", "b" or "c": the choices of this version. more tells that another way
 * to say it follows, which takes the "or". */
static void add_choices(const struct config_choice *choices, bool more,
			char *text, size_t size)
{
	const struct config_choice *last = NULL, *c;
	bool is_first = true;

	for (c = choices; c->name; c++) {
		if (!c->not_yet)
			last = c;
	}
	for (c = choices; c->name; c++) {
		if (c->not_yet)
			continue;
		if (!is_first)
			add(text, size, c == last && !more ? " or " : ", ");
		add(text, size, "\"%s\"", c->name);
		is_first = false;
	}
}

void config_describe(const struct config_key *key, char *text, size_t size)
{
	switch (key->type) {
	case CONFIG_INPUT_PATH:
	case CONFIG_OUTPUT_PATH:
		add(text, size, "a file name, a string of 1 to 4095 bytes");
		break;
	case CONFIG_WORDS:
		add(text, size, "a string");
		break;
	case CONFIG_NUMBER:
	case CONFIG_OPTIONAL:
		add(text, size, "a whole number from %" PRIu64 " to %" PRIu64,
		    key->min, key->max);
		break;
	case CONFIG_SHARE:
		add(text, size, "a number from %g to %g",
		    (double)key->min / 1000, (double)key->max / 1000);
		break;
	case CONFIG_CHOICE:
		add_choices(key->choices, false, text, size);
		break;
	case CONFIG_TUNE:
		add_choices(key->choices, true, text, size);
		add(text, size,
		    " or a whole number of ns from %" PRIu64 " to %" PRIu64,
		    key->min, key->max);
		break;
	case CONFIG_BOOL:
		add(text, size, "true or false");
		break;
	case CONFIG_CPUS:
		add(text, size, "a list of CPU numbers, such as [1]");
		break;
	case CONFIG_CPUS_PER_VCPU:
		add(text, size,
		    "one list of CPU numbers for each vCPU, such "
		    "as [[1]]");
		break;
	case CONFIG_FLAGS:
		add(text, size,
		    "a list of CPU feature names, such as "
		    "[\"cx16\"]");
		break;
	case CONFIG_SERIAL:
		add_choices(key->choices, true, text, size);
		add(text, size, " or \"file:PATH\"");
		break;
	case CONFIG_PORT:
		add(text, size, "an I/O port from %" PRIu64 " to %" PRIu64,
		    key->min, key->max);
		break;
	}
	if (key->nullable)
		add(text, size, ", or null");
}

void config_describe_value(const struct json_doc *doc,
			   const struct json_node *node, char *text,
			   size_t size)
{
	bool is_string = node->type == JSON_STRING;
	int len = (int)(node->end - node->start);
	size_t before = strlen(text);

	if (node->type == JSON_ARRAY || node->type == JSON_OBJECT || len > 60)
		add(text, size, "%s", json_type_name(node->type));
	else
		add(text, size, "%s%.*s%s", is_string ? "\"" : "", len,
		    doc->text + node->start, is_string ? "\"" : "");
	/* The one control character that JSON lets pass. */
	for (char *at = text + before; *at; at++)
		if (*at == '\x7f')
			*at = '?';
}

void config_describe_section(const char *section, size_t len, char *text,
			     size_t size)
{
	bool is_first = true;
	size_t count;
	const struct config_key *key = config_table(&count);

	for (; count--; key++) {
		if (key->not_yet || strncmp(key->path, section, len) ||
		    key->path[len] != '.')
			continue;
		add(text, size, "%s%s", is_first ? "" : ", ",
		    key->path + len + 1);
		is_first = false;
	}
}

void config_describe_sections(char *text, size_t size)
{
	const struct config_key *key, *last = NULL;
	size_t count, len;

	key = config_table(&count);
	for (; count--; last = key++) {
		len = strcspn(key->path, ".") + 1;
		if (!last || strncmp(key->path, last->path, len))
			add(text, size, "%s%.*s", last ? ", " : "",
			    (int)len - 1, key->path);
	}
}
