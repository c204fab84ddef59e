// SPDX-License-Identifier: MIT
/*
 * config - loading: defaults, the file, the overrides, then what concerns
 * two keys at once.
 *
 * The file is checked whole before an override replaces part of it: a typo
 * must not hide behind --set. Every value, defaults included, goes through
 * config_value_read(), so there is one set of rules.
 * Not checked here: whether images, CPUs and directories exist.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_describe.h"
#include "config_reader.h"
#include "config_table.h"
#include "config_value.h"
#include "config_words.h"
#include "json.h"
#include "jsonw.h"
#include "utf8.h"

#define WORDS_PREFIX "boot_args."

/* Where a key's value was last set. node is NULL for a default. */
struct origin {
	const struct config_source *source;
	const struct json_node *node;
};

struct loader {
	const struct config_key *keys;
	size_t key_count;
	struct config *config;
	struct origin *origins; /* one for each key */
	struct json_doc file_doc;
	struct config_source file;
	/* One for each override: messages about two keys come last. */
	struct json_doc *set_docs;
	struct config_source *sets;
	char *err;
	size_t err_size;
};

static int set_defaults(struct loader *l)
{
	struct json_doc doc;
	struct config_source source = {.doc = &doc, .file = l->file.file};
	int ret = 0;

	for (size_t i = 0; i < l->key_count && !ret; i++) {
		const struct config_key *key = &l->keys[i];

		if (!key->initial)
			continue;
		ret = json_parse(&doc, NULL, key->initial, strlen(key->initial),
				 JSON_SIZE_MAX, l->err, l->err_size);
		if (!ret)
			ret = config_value_read(key, &source, json_root(&doc),
						l->config, l->err, l->err_size);
		assert(ret != -EINVAL); /* the table is ours */
		json_free(&doc);
	}
	return ret;
}

static int read_key(struct loader *l, size_t i,
		    const struct config_source *source,
		    const struct json_node *node)
{
	l->origins[i] = (struct origin){source, node};
	return config_value_read(&l->keys[i], source, node, l->config, l->err,
				 l->err_size);
}

/* The row whose key this value of the file is given to, or key_count. */
static size_t find_row(const struct loader *l, const struct json_node *node)
{
	const struct json_doc *doc = &l->file_doc;
	size_t i = 0;

	while (i < l->key_count &&
	       json_get(doc, json_root(doc), l->keys[i].path) != node)
		i++;
	return i;
}

/* The name of the section this value of the root is given to, as the first
 * len bytes of a row's path; NULL if it is none. */
static const char *find_section(const struct loader *l,
				const struct json_node *node, size_t *len)
{
	char name[32];

	for (size_t i = 0; i < l->key_count; i++) {
		*len = strcspn(l->keys[i].path, ".");
		snprintf(name, sizeof(name), "%.*s", (int)*len,
			 l->keys[i].path);
		if (json_equals(&l->file_doc, json_key(&l->file_doc, node),
				name))
			return l->keys[i].path;
	}
	return NULL;
}

static int read_section(struct loader *l, const struct json_node *section)
{
	const struct json_doc *doc = &l->file_doc;
	const struct json_node *node;
	char known[512] = "";
	const char *name;
	size_t len;
	int ret = 0;

	name = find_section(l, section, &len);
	if (!name) {
		config_describe_sections(known, sizeof(known));
		return config_fail(&l->file, section, l->err, l->err_size,
				   "unknown section (there are: %s)", known);
	}
	if (section->type != JSON_OBJECT)
		return config_fail(&l->file, section, l->err, l->err_size,
				   "expected an object, found %s",
				   json_type_name(section->type));
	for (node = json_first(doc, section); node && !ret;
	     node = json_next(doc, node)) {
		size_t row = find_row(l, node);

		if (row < l->key_count) {
			ret = read_key(l, row, &l->file, node);
			continue;
		}
		config_describe_section(name, len, known, sizeof(known));
		ret = config_fail(&l->file, node, l->err, l->err_size,
				  "unknown key (%.*s has: %s)", (int)len, name,
				  known);
	}
	return ret;
}

static int read_file(struct loader *l)
{
	const struct json_node *root, *section;
	char known[512] = "";
	int ret = json_load_file(&l->file_doc, l->file.file, JSON_SIZE_MAX,
				 l->err, l->err_size);

	if (ret)
		return ret;
	root = json_root(&l->file_doc);
	if (root->type != JSON_OBJECT) {
		config_describe_sections(known, sizeof(known));
		return config_fail(&l->file, root, l->err, l->err_size,
				   "expected an object with the sections %s, "
				   "found %s",
				   known, json_type_name(root->type));
	}
	for (section = json_first(&l->file_doc, root); section && !ret;
	     section = json_next(&l->file_doc, section))
		ret = read_section(l, section);
	return ret;
}

static bool is_utf8(const char *s)
{
	size_t len = strlen(s), length = 1;

	for (; len && length; s += length, len -= length)
		length = utf8_length(s, len);
	return !len;
}

/* Makes a document of an override's value: JSON if it is, else a string. */
static int parse_set(const char *value, struct json_doc *doc, char *err,
		     size_t err_size)
{
	struct jsonw w;
	const char *text;
	size_t len;
	int ret = json_parse(doc, NULL, value, strlen(value), JSON_SIZE_MAX,
			     err, err_size);

	if (ret != -EINVAL)
		return ret;
	if (!is_utf8(value)) {
		snprintf(err, err_size, "a value that is not valid UTF-8");
		return -EINVAL;
	}
	jsonw_init(&w, 0, JSON_SIZE_MAX);
	jsonw_string(&w, NULL, value);
	text = jsonw_text(&w, &len);
	if (text) {
		ret = json_parse(doc, NULL, text, len, JSON_SIZE_MAX, err,
				 err_size);
	} else {
		ret = jsonw_error(&w);
		snprintf(err, err_size, "%s", strerror(-ret));
	}
	jsonw_free(&w);
	return ret;
}

static int fail_set(struct loader *l, const char *set, const char *what)
{
	snprintf(l->err, l->err_size, "--set %.*s: %s", (int)strcspn(set, "="),
		 set, what);
	/* One line, whatever the key looks like. */
	for (char *at = l->err; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\x7f')
			*at = '?';
	return -EINVAL;
}

static int fail_unknown_set(struct loader *l, const char *set, size_t key_len)
{
	char known[512] = "", what[600];
	size_t len = strcspn(set, ".=");

	if (len < key_len)
		config_describe_section(set, len, known, sizeof(known));
	if (*known)
		snprintf(what, sizeof(what), "unknown key (%.*s has: %s)",
			 (int)len, set, known);
	else
		snprintf(what, sizeof(what),
			 "unknown key (write SECTION.KEY=VALUE, such as "
			 "timer.mode=kernel, or boot_args.WORD=VALUE)");
	return fail_set(l, set, what);
}

static int set_word(struct loader *l, const char *set)
{
	int ret = config_words_set(&l->config->boot_args,
				   set + strlen(WORDS_PREFIX));

	if (ret == -EINVAL)
		return fail_set(l, set,
				"expected WORD=VALUE in printable "
				"ASCII without spaces");
	if (ret == -ENOTSUP) {
		fail_set(l, set,
			 "the command line has quotes, which only its guest "
			 "can read (set boot-source.boot_args as a whole)");
		return -EINVAL;
	}
	if (ret)
		fail_set(l, set, strerror(-ret));
	return ret;
}

static int apply_set(struct loader *l, const char *set, size_t i)
{
	size_t key_len = strcspn(set, "=");
	const struct config_key *key;
	char why[256];
	int ret;

	if (!strncmp(set, WORDS_PREFIX, strlen(WORDS_PREFIX)))
		return set_word(l, set);
	if (!set[key_len])
		return fail_set(
			l, set,
			"expected KEY=VALUE, such as timer.mode=kernel");
	key = config_table_find(set, key_len);
	if (!key)
		return fail_unknown_set(l, set, key_len);
	ret = parse_set(set + key_len + 1, &l->set_docs[i], why, sizeof(why));
	if (ret) {
		fail_set(l, set, why);
		return ret;
	}
	l->sets[i] = (struct config_source){
		.doc = &l->set_docs[i],
		.file = l->file.file,
		.set_key = key->path,
	};
	return read_key(l, (size_t)(key - l->keys), &l->sets[i],
			json_root(&l->set_docs[i]));
}

/* A message about a key that may have its value from a default. */
__attribute__((format(printf, 3, 4))) static int
fail_key(struct loader *l, const char *path, const char *format, ...)
{
	const struct config_key *key = config_table_find(path, strlen(path));
	const struct origin *origin = &l->origins[key - l->keys];
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (origin->node)
		return config_fail(origin->source, origin->node, l->err,
				   l->err_size, "%s", what);
	return config_fail(&l->file, json_root(&l->file_doc), l->err,
			   l->err_size, "%s: %s", path, what);
}

/* Told of the one that somebody gave. */
static int fail_same_port(struct loader *l, uint64_t port)
{
	static const char marker[] = "run.marker_port", end[] = "run.exit_port";
	const struct config_key *key =
		config_table_find(marker, strlen(marker));
	bool is_given = l->origins[key - l->keys].node;

	return fail_key(l, is_given ? marker : end,
			"port %" PRIu64 " is %s, too (use another for one of "
			"them)",
			port, is_given ? end : marker);
}

/* Of a port's key that has been given: the defaults are no such ports. */
static int check_test_port(struct loader *l, const char *path,
			   const struct optional_value *port)
{
	const struct config_port_range *range =
		port->is_given ? config_test_port_owner(port->value) : NULL;

	if (!range || !l->config->test_device)
		return 0;
	return fail_key(l, path,
			"port %" PRIu64 " (0x%" PRIx64 ") belongs to %s (use "
			"another, or turn off machine-config.test_device)",
			port->value, port->value, range->owner);
}

/* What one key asks of another. */
static int check_together(struct loader *l)
{
	const struct config *c = l->config;
	int ret;

	if (!c->kernel_image_path)
		return fail_key(l, "boot-source.kernel_image_path",
				"missing (name the guest image)");
	if (c->cpu_affinity && c->cpu_affinity_count != c->vcpu_count)
		return fail_key(l, "machine-config.cpu_affinity",
				"lists CPUs for %zu vCPUs, but vcpu_count is "
				"%u (give one list for each)",
				c->cpu_affinity_count, c->vcpu_count);
	if (c->advance.mode == TUNE_FIXED && c->advance.ns > c->max_advance_ns)
		return fail_key(l, "timer.advance",
				"%" PRIu64 " is above timer.max_advance_ns, "
				"which is %" PRIu64 " (lower the one or raise "
				"the other)",
				c->advance.ns, c->max_advance_ns);
	if (c->timer_affinity && c->source == TIMER_SOURCE_POSIX)
		return fail_key(l, "timer.timer_affinity",
				"with timer.source \"posix\" there is no timer "
				"thread (remove it, or use \"timerfd\")");
	if (c->exit_port.is_given && c->marker_port.is_given &&
	    c->exit_port.value == c->marker_port.value)
		return fail_same_port(l, c->exit_port.value);
	ret = check_test_port(l, "run.exit_port", &c->exit_port);
	if (!ret)
		ret = check_test_port(l, "run.marker_port", &c->marker_port);
	if (ret)
		return ret;
	if (c->allow_early && c->vmentry_advance.mode != TUNE_FIXED)
		return fail_key(l, "timer.allow_early",
				"only with a timer.vmentry_advance in ns "
				"(remove it, or give a number there)");
	return 0;
}

static int load(struct loader *l, const char *const *sets, size_t set_count)
{
	int ret = set_defaults(l);

	if (!ret)
		ret = read_file(l);
	for (size_t i = 0; i < set_count && !ret; i++)
		ret = apply_set(l, sets[i], i);
	return ret ? ret : check_together(l);
}

int config_load(const char *path, const char *const *sets, size_t set_count,
		struct config *config, char *err, size_t err_size)
{
	struct loader l = {
		.config = config,
		.file = {.doc = &l.file_doc, .file = path},
		.err = err,
		.err_size = err_size,
	};
	int ret = -ENOMEM;

	*config = (struct config){0};
	l.keys = config_table(&l.key_count);
	l.origins = calloc(l.key_count, sizeof(*l.origins));
	l.set_docs = calloc(set_count + 1, sizeof(*l.set_docs));
	l.sets = calloc(set_count + 1, sizeof(*l.sets));
	if (l.origins && l.set_docs && l.sets)
		ret = load(&l, sets, set_count);
	else
		snprintf(err, err_size, "%s: %s", path, strerror(ENOMEM));
	for (size_t i = 0; i < set_count && l.set_docs; i++)
		json_free(&l.set_docs[i]);
	json_free(&l.file_doc);
	free(l.set_docs);
	free(l.sets);
	free(l.origins);
	if (ret)
		config_free(config);
	return ret;
}

void config_free(struct config *config)
{
	size_t count;
	const struct config_key *key = config_table(&count);

	for (; count--; key++) {
		if (!key->not_yet)
			config_value_clear(key, config);
	}
	*config = (struct config){0};
}
