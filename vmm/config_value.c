// SPDX-License-Identifier: MIT
/*
 * config_value - types and ranges of single values.
 *
 * Each reader checks its node whole before it touches the field, so that an
 * error leaves nothing half done. Not checked here: what takes two keys
 * (config.c), and what only the host can tell (does the CPU exist?).
 */
#define _GNU_SOURCE /* asprintf */
#include "config_value.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "config_describe.h"
#include "config_lists.h"
#include "config_reader.h"
#include "config_table.h"
#include "json.h"

#define FILE_PREFIX "file:"

/* A planned value, which deserves to be named. */
static int fail_not_yet(const struct config_reader *r, const char *name)
{
	char others[256] = "";

	config_describe(r->key, others, sizeof(others));
	return CONFIG_FAIL(r, r->node, "%s is not in this version (use %s)",
			   name, others);
}

/* The string's choice. -ENOENT if it is none of the list, so that the caller
 * may try another reading; any other error has its message. */
static int find_choice(const struct config_reader *r, unsigned *out)
{
	const struct config_choice *c;
	char quoted[64];

	for (c = r->key->choices; c->name; c++) {
		if (!json_equals(r->source->doc, r->node, c->name))
			continue;
		if (c->not_yet) {
			snprintf(quoted, sizeof(quoted), "\"%s\"", c->name);
			return fail_not_yet(r, quoted);
		}
		*out = c->value;
		return 0;
	}
	return -ENOENT;
}

/* A non-empty string without NUL that a system call would take. */
static int read_name(const struct config_reader *r, char **out)
{
	int ret = json_string(r->source->doc, r->node, out);

	if (ret == -ENOMEM)
		return config_fail_memory(r);
	if (ret)
		return config_fail_expected(r);
	if (**out && strlen(*out) < PATH_MAX)
		return 0;
	free(*out);
	return config_fail_expected(r);
}

static void replace_string(char **slot, char *value)
{
	free(*slot);
	*slot = value;
}

static int read_output_path(const struct config_reader *r)
{
	char *name;
	int ret = read_name(r, &name);

	if (!ret)
		replace_string(config_field(r), name);
	return ret;
}

static int read_input_path(const struct config_reader *r)
{
	const char *slash = strrchr(r->source->file, '/');
	int dir_len = slash ? (int)(slash + 1 - r->source->file) : 0;
	char *name, *path;
	int ret = read_name(r, &name);

	if (ret)
		return ret;
	if (name[0] == '/' || !dir_len) {
		replace_string(config_field(r), name);
		return 0;
	}
	ret = asprintf(&path, "%.*s%s", dir_len, r->source->file, name);
	free(name);
	if (ret < 0)
		return config_fail_memory(r);
	replace_string(config_field(r), path);
	return 0;
}

static int read_words(const struct config_reader *r)
{
	char *words;
	int ret = json_string(r->source->doc, r->node, &words);

	if (ret == -ENOMEM)
		return config_fail_memory(r);
	if (ret && r->node->type != JSON_STRING)
		return config_fail_expected(r);
	if (ret)
		return CONFIG_FAIL(r, r->node,
				   "a NUL character, which would end the "
				   "command line (remove \\u0000)");
	for (const char *at = words; *at; at++) {
		if (*at >= ' ' && *at <= '~')
			continue;
		ret = CONFIG_FAIL(
			r, r->node,
			"byte 0x%02x at offset %zu: a command line is "
			"printable ASCII (remove it)",
			(unsigned)(unsigned char)*at, (size_t)(at - words));
		free(words);
		return ret;
	}
	replace_string(config_field(r), words);
	return 0;
}

static bool in_range(const struct config_reader *r, uint64_t *out)
{
	return !json_u64(r->source->doc, r->node, out) && *out >= r->key->min &&
	       *out <= r->key->max;
}

static int read_number(const struct config_reader *r)
{
	uint64_t value;

	if (!in_range(r, &value))
		return config_fail_expected(r);
	if (r->key->size == sizeof(unsigned))
		*(unsigned *)config_field(r) = (unsigned)value;
	else
		*(uint64_t *)config_field(r) = value;
	return 0;
}

static int read_optional(const struct config_reader *r)
{
	struct optional_value value = {.is_given = true};

	if (!in_range(r, &value.value))
		return config_fail_expected(r);
	*(struct optional_value *)config_field(r) = value;
	return 0;
}

static int read_share(const struct config_reader *r)
{
	double value;

	if (json_double(r->source->doc, r->node, &value) ||
	    !(value * 1000 >= (double)r->key->min) ||
	    !(value * 1000 <= (double)r->key->max))
		return config_fail_expected(r);
	*(double *)config_field(r) = value;
	return 0;
}

static int read_choice(const struct config_reader *r)
{
	unsigned value;
	int ret = find_choice(r, &value);

	if (ret == -ENOENT)
		return config_fail_expected(r);
	if (!ret)
		*(unsigned *)config_field(r) =
			value; /* an enum without negatives */
	return ret;
}

static int read_tune(const struct config_reader *r)
{
	struct tune_value *tune = config_field(r);
	uint64_t value;
	unsigned mode;
	int ret = find_choice(r, &mode);

	if (!ret) {
		*tune = (struct tune_value){.mode = (enum tune_mode)mode};
		return 0;
	}
	if (ret != -ENOENT)
		return ret;
	if (!in_range(r, &value))
		return config_fail_expected(r);
	*tune = (struct tune_value){.mode = TUNE_FIXED, .ns = value};
	return 0;
}

static int read_bool(const struct config_reader *r)
{
	if (json_bool(r->source->doc, r->node, config_field(r)))
		return config_fail_expected(r);
	return 0;
}

static int read_serial(const struct config_reader *r)
{
	const size_t prefix_len = strlen(FILE_PREFIX);
	unsigned kind;
	char *text;
	int ret = find_choice(r, &kind);

	if (!ret) {
		config_value_clear(r->key, r->config);
		r->config->serial = (enum serial_kind)kind;
		return 0;
	}
	if (ret != -ENOENT)
		return ret;
	ret = read_name(r, &text);
	if (ret)
		return ret;
	if (strncmp(text, FILE_PREFIX, prefix_len) || !text[prefix_len]) {
		free(text);
		return config_fail_expected(r);
	}
	memmove(text, text + prefix_len, strlen(text + prefix_len) + 1);
	replace_string(&r->config->serial_path, text);
	r->config->serial = SERIAL_FILE;
	return 0;
}

static int read_port(const struct config_reader *r)
{
	struct optional_value port = {.is_given = true};
	const struct config_port_range *range;

	if (!in_range(r, &port.value))
		return config_fail_expected(r);
	range = config_port_owner(port.value);
	if (range)
		return CONFIG_FAIL(
			r, r->node,
			"port %" PRIu64 " (0x%" PRIx64 ") belongs to %s "
			"(use another, such as %s)",
			port.value, port.value, range->owner, r->key->initial);
	*(struct optional_value *)config_field(r) = port;
	return 0;
}

static int read_value(const struct config_reader *r)
{
	switch (r->key->type) {
	case CONFIG_INPUT_PATH:
		return read_input_path(r);
	case CONFIG_OUTPUT_PATH:
		return read_output_path(r);
	case CONFIG_WORDS:
		return read_words(r);
	case CONFIG_NUMBER:
		return read_number(r);
	case CONFIG_OPTIONAL:
		return read_optional(r);
	case CONFIG_SHARE:
		return read_share(r);
	case CONFIG_CHOICE:
		return read_choice(r);
	case CONFIG_TUNE:
		return read_tune(r);
	case CONFIG_BOOL:
		return read_bool(r);
	case CONFIG_CPUS:
		return config_read_cpus(r);
	case CONFIG_CPUS_PER_VCPU:
		return config_read_cpus_per_vcpu(r);
	case CONFIG_FLAGS:
		return config_read_flags(r);
	case CONFIG_SERIAL:
		return read_serial(r);
	case CONFIG_PORT:
		return read_port(r);
	}
	assert(!"a row of config_table.c has no type");
	return -EINVAL;
}

int config_value_read(const struct config_key *key,
		      const struct config_source *source,
		      const struct json_node *node, struct config *config,
		      char *err, size_t err_size)
{
	struct config_reader r = {key, source, node, config, err, err_size};

	if (key->not_yet)
		return CONFIG_FAIL(
			&r, node,
			"this key is not in this version (remove it)");
	if (!key->nullable || node->type != JSON_NULL)
		return read_value(&r);
	config_value_clear(key, config);
	return 0;
}

void config_value_clear(const struct config_key *key, struct config *config)
{
	char *field_at = (char *)config + key->offset;

	switch (key->type) {
	case CONFIG_INPUT_PATH:
	case CONFIG_OUTPUT_PATH:
	case CONFIG_WORDS:
		replace_string((char **)(void *)field_at, NULL);
		break;
	case CONFIG_CPUS:
		free(*(cpu_set_t **)(void *)field_at);
		*(cpu_set_t **)(void *)field_at = NULL;
		break;
	case CONFIG_CPUS_PER_VCPU:
		free(config->cpu_affinity);
		config->cpu_affinity = NULL;
		config->cpu_affinity_count = 0;
		break;
	case CONFIG_FLAGS:
		free(config->hide_cpuid);
		config->hide_cpuid = NULL;
		config->hide_cpuid_count = 0;
		break;
	case CONFIG_SERIAL:
		replace_string(&config->serial_path, NULL);
		break;
	case CONFIG_OPTIONAL:
	case CONFIG_PORT:
		*(struct optional_value *)(void *)field_at =
			(struct optional_value){0};
		break;
	case CONFIG_NUMBER:
	case CONFIG_SHARE:
	case CONFIG_CHOICE:
	case CONFIG_TUNE:
	case CONFIG_BOOL:
		break;
	}
}
