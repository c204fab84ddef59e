// SPDX-License-Identifier: MIT
/*
 * The table of keys against what is written by hand from it: the schema that
 * editors use, and the man page's section CONFIGURATION.
 */
#define _GNU_SOURCE /* getline */
#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_table.h"
#include "json.h"
#include "tap.h"

#define SCHEMA TEST_SOURCE_ROOT "/configs/schema.json"
#define MANUAL TEST_SOURCE_ROOT "/vmm/punctual.5"

static struct json_doc schema;

static void load_schema(void)
{
	char err[512];

	ck_assert_msg(!json_load_file(&schema, SCHEMA, JSON_SIZE_MAX, err,
				      sizeof(err)),
		      "%s", err);
}

static void free_schema(void)
{
	json_free(&schema);
}

/* The schema's description of a key, or NULL. */
static const struct json_node *described(const struct config_key *key)
{
	int len = (int)strcspn(key->path, ".");
	char path[128];

	snprintf(path, sizeof(path), "properties.%.*s.properties.%s", len,
		 key->path, key->path + len + 1);
	return json_get(&schema, json_root(&schema), path);
}

/* Asserts that the value at path below node is written like text, spaces
 * included. */
static void expect(const struct config_key *key, const struct json_node *node,
		   const char *path, const char *text)
{
	const struct json_node *found = json_get(&schema, node, path);
	bool is_string = found && found->type == JSON_STRING;
	char written[512] = "nothing";

	if (found)
		snprintf(written, sizeof(written), "%s%.*s%s",
			 is_string ? "\"" : "",
			 (int)(found->end - found->start),
			 schema.text + found->start, is_string ? "\"" : "");
	ck_assert_msg(!strcmp(written, text), "%s: %s is %s, not %s", key->path,
		      path, written, text);
}

static void expect_type(const struct config_key *key,
			const struct json_node *node, const char *type)
{
	char text[64];

	snprintf(text, sizeof(text),
		 key->nullable ? "[\"%s\", \"null\"]" : "\"%s\"", type);
	expect(key, node, "type", text);
}

static void expect_range(const struct config_key *key,
			 const struct json_node *node)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, key->min);
	expect(key, node, "minimum", text);
	snprintf(text, sizeof(text), "%" PRIu64, key->max);
	expect(key, node, "maximum", text);
}

static void expect_thousandths(const struct config_key *key,
			       const struct json_node *node, const char *name,
			       uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%g", (double)value / 1000);
	expect(key, node, name, text);
}

static void expect_choices(const struct config_key *key,
			   const struct json_node *node)
{
	const struct config_choice *c;
	char text[256] = "[";

	for (c = key->choices; c->name; c++) {
		if (c->not_yet)
			continue;
		if (text[1])
			strcat(text, ", ");
		strcat(strcat(strcat(text, "\""), c->name), "\"");
	}
	expect(key, node, "enum", strcat(text, "]"));
}

static void expect_serial(const struct config_key *key,
			  const struct json_node *node)
{
	const struct config_choice *c;
	char text[256] = "\"^(";

	for (c = key->choices; c->name; c++) {
		if (!c->not_yet)
			strcat(strcat(text, c->name), "|");
	}
	expect(key, node, "pattern", strcat(text, "file:.+)$\""));
}

static void expect_cpus(const struct config_key *key,
			const struct json_node *list)
{
	expect(key, list, "minItems", "1");
	expect(key, list, "uniqueItems", "true");
	expect(key, list, "items.type", "\"integer\"");
	expect_range(key, json_member(&schema, list, "items"));
}

static void check_schema_of(const struct config_key *key)
{
	const struct json_node *node = described(key);

	switch (key->type) {
	case CONFIG_INPUT_PATH:
	case CONFIG_OUTPUT_PATH:
		expect_type(key, node, "string");
		expect(key, node, "minLength", "1");
		break;
	case CONFIG_WORDS:
		expect_type(key, node, "string");
		expect(key, node, "pattern", "\"^[ -~]*$\"");
		break;
	case CONFIG_NUMBER:
	case CONFIG_OPTIONAL:
	case CONFIG_PORT:
		expect_type(key, node, "integer");
		expect_range(key, node);
		break;
	case CONFIG_SHARE:
		expect_type(key, node, "number");
		expect_thousandths(key, node, "minimum", key->min);
		expect_thousandths(key, node, "maximum", key->max);
		break;
	case CONFIG_CHOICE:
		expect_choices(key, node);
		break;
	case CONFIG_TUNE:
		expect_choices(key, json_get(&schema, node, "anyOf[0]"));
		expect(key, node, "anyOf[1].type", "\"integer\"");
		expect_range(key, json_get(&schema, node, "anyOf[1]"));
		break;
	case CONFIG_BOOL:
		expect_type(key, node, "boolean");
		break;
	case CONFIG_CPUS:
		expect_type(key, node, "array");
		expect_cpus(key, node);
		break;
	case CONFIG_CPUS_PER_VCPU:
		expect_type(key, node, "array");
		expect(key, node, "minItems", "1");
		expect(key, node, "items.type", "\"array\"");
		expect_cpus(key, json_member(&schema, node, "items"));
		break;
	case CONFIG_FLAGS:
		expect_type(key, node, "array");
		expect(key, node, "uniqueItems", "true");
		expect(key, node, "items.type", "\"string\"");
		break;
	case CONFIG_SERIAL:
		expect_type(key, node, "string");
		expect_serial(key, node);
		break;
	}
}

START_TEST(test_config_schema_says_what_the_table_says)
{
	size_t count;
	const struct config_key *key = config_table(&count);

	load_schema();
	for (; count--; key++) {
		const struct json_node *node = described(key);

		ck_assert_msg(!node == key->not_yet, "%s", key->path);
		if (!node)
			continue;
		check_schema_of(key);
		ck_assert_msg(
			json_equals(&schema,
				    json_member(&schema, node, "description"),
				    key->doc),
			"%s: another description", key->path);
		expect(key, node, "default",
		       key->initial ? key->initial : "nothing");
	}
	free_schema();
}
END_TEST

/* True if an object of the schema takes only what is described. */
static bool is_closed(const struct json_node *object)
{
	const struct json_node *node =
		json_member(&schema, object, "additionalProperties");
	bool open = true;

	return node && !json_bool(&schema, node, &open) && !open;
}

/* No key that the table does not have, no section open to others. */
START_TEST(test_config_schema_has_no_more)
{
	const struct json_node *sections, *section;
	size_t count, in_table = 0, in_schema = 0;
	const struct config_key *key = config_table(&count);

	load_schema();
	for (; count--; key++)
		in_table += !key->not_yet;
	ck_assert(is_closed(json_root(&schema)));
	sections = json_member(&schema, json_root(&schema), "properties");
	for (section = json_first(&schema, sections); section;
	     section = json_next(&schema, section)) {
		ck_assert(is_closed(section));
		in_schema +=
			json_member(&schema, section, "properties")->children;
	}
	ck_assert_uint_eq(in_schema, in_table);
	ck_assert(json_equals(&schema,
			      json_get(&schema, json_root(&schema),
				       "properties.boot-source.required[0]"),
			      "kernel_image_path"));
	free_schema();
}
END_TEST

/* Replaces the manual's way to write a double quote by the quote itself. */
static void unescape(char *text)
{
	char *quote;

	while ((quote = strstr(text, "\\(dq"))) {
		*quote = '"';
		memmove(quote + 1, quote + 4, strlen(quote + 4) + 1);
	}
}

/* The next ".It Cm KEY Pq DEFAULT" of section CONFIGURATION; false at its
 * end. */
static bool next_item(FILE *manual, bool *in_section, char **line, size_t *size)
{
	while (getline(line, size, manual) > 0) {
		if (!strncmp(*line, ".Sh ", 4)) {
			if (*in_section)
				return false;
			*in_section = !strcmp(*line, ".Sh DESCRIPTION\n");
		}
		if (*in_section && !strncmp(*line, ".It Cm ", 7)) {
			unescape(*line);
			return true;
		}
	}
	return false;
}

/* The keys of the manual with their defaults, in the table's order. */
START_TEST(test_config_manual_lists_the_table)
{
	FILE *manual = fopen(MANUAL, "r");
	size_t count, size = 0;
	const struct config_key *key = config_table(&count);
	bool in_section = false;
	char *line = NULL, expected[256];

	ck_assert_msg(manual, "%s", MANUAL);
	for (; count--; key++) {
		if (key->not_yet)
			continue;
		snprintf(expected, sizeof(expected), ".It Cm %s Pq %s\n",
			 key->path, key->initial ? key->initial : "required");
		ck_assert_msg(next_item(manual, &in_section, &line, &size),
			      "%s is missing", key->path);
		ck_assert_str_eq(line, expected);
	}
	ck_assert_msg(!next_item(manual, &in_section, &line, &size),
		      "unknown: %s", line);
	free(line);
	fclose(manual);
}
END_TEST

START_TEST(test_config_port_owner)
{
	ck_assert_ptr_null(config_port_owner(244));
	ck_assert_ptr_null(config_port_owner(0x1f));
	ck_assert_ptr_nonnull(config_port_owner(0x20));
	ck_assert_ptr_nonnull(config_port_owner(0x21));
	ck_assert_ptr_null(config_port_owner(0x22));
	ck_assert_ptr_nonnull(config_port_owner(0x64));
	ck_assert_ptr_nonnull(config_port_owner(0xf5));
	ck_assert_ptr_nonnull(config_port_owner(0x3f8));
	ck_assert_ptr_nonnull(config_port_owner(0x3ff));
	ck_assert_ptr_null(config_port_owner(0x400));
	ck_assert_ptr_nonnull(config_port_owner(0xcf9));
	ck_assert_ptr_null(config_port_owner(65535));
}
END_TEST

/* Each end of each range, and not one further. */
START_TEST(test_config_test_port_owner)
{
	static const uint64_t ends[][2] = {
		{0xe0, 0xeb}, {0x510, 0x511}, {0x2000, 0x2017}};

	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_ptr_null(config_test_port_owner(ends[i][0] - 1));
		ck_assert_ptr_nonnull(config_test_port_owner(ends[i][0]));
		ck_assert_ptr_nonnull(config_test_port_owner(ends[i][1]));
		ck_assert_ptr_null(config_test_port_owner(ends[i][1] + 1));
		ck_assert_ptr_null(config_port_owner(ends[i][0]));
	}
}
END_TEST

START_TEST(test_config_table_is_sound)
{
	size_t count;
	const struct config_key *table = config_table(&count);

	for (size_t i = 0; i < count; i++) {
		const char *path = table[i].path;
		const char *dot = strchr(path, '.');

		ck_assert_ptr_nonnull(dot);
		ck_assert_ptr_null(strchr(dot + 1, '.'));
		ck_assert_ptr_eq(config_table_find(path, strlen(path)),
				 &table[i]);
		ck_assert_ptr_null(config_table_find(path, strlen(path) - 1));
		if (table[i].not_yet)
			continue;
		ck_assert_uint_le(table[i].min, table[i].max);
		ck_assert_int_eq(table[i].doc[strlen(table[i].doc) - 1], '.');
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_table");
	TCase *tc = tcase_create("config_table");

	tcase_add_test(tc, test_config_table_is_sound);
	tcase_add_test(tc, test_config_port_owner);
	tcase_add_test(tc, test_config_test_port_owner);
	tcase_add_test(tc, test_config_schema_says_what_the_table_says);
	tcase_add_test(tc, test_config_schema_has_no_more);
	tcase_add_test(tc, test_config_manual_lists_the_table);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
