/* SPDX-License-Identifier: MIT */
/*
 * compare_config - walks two configurations side by side.
 *
 * Keys of another version are differences like any other, so a result of a
 * later one can be compared as long as its schema has the same name.
 * Not modelled: what a key means. A path is compared by its last part alone,
 * since it is not the same on two hosts.
 */
#include "compare_config.h"

#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "json.h"

enum {
	NAME_SIZE = 128,
	TEXT_SIZE = 160,
};

/* Of the configuration in force. */
static const char *const refused[] = {
	"boot-source.",
	"machine-config.vcpu_count",
	"machine-config.hide_cpuid",
	"timer.mode",
};

/* Has nothing to do with what was measured. */
static const char *const ignored[] = {
	"unused",
	"console.",
	"run.stats_path",
};

struct walk {
	const struct json_doc *const *docs;
	compare_differ_fn *differ;
	void *ctx;
};

static bool is_listed(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

#define IS_LISTED(list, name) \
	is_listed(list, sizeof(list) / sizeof((list)[0]), name)

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static const char *last_part(const char *text)
{
	const char *slash = strrchr(text, '/');

	return slash ? slash + 1 : text;
}

/* Of two values, arrays element by element; one may be NULL. */
static bool is_same(const struct walk *w, const struct json_node *a,
		    const struct json_node *b)
{
	size_t len;

	if (!a || !b || a->type != b->type)
		return a == b;
	if (a->type == JSON_ARRAY) {
		if (a->children != b->children)
			return false;
		a = json_first(w->docs[0], a);
		b = json_first(w->docs[1], b);
		for (; a && b;
		     a = json_next(w->docs[0], a), b = json_next(w->docs[1], b))
			if (!is_same(w, a, b))
				return false;
		return true;
	}
	len = a->end - a->start;
	return len == b->end - b->start &&
	       !memcmp(w->docs[0]->text + a->start, w->docs[1]->text + b->start,
		       len);
}

static void compare_leaf(const struct walk *w, const char *name,
			 const struct json_node *a, const struct json_node *b)
{
	char text_a[TEXT_SIZE], text_b[TEXT_SIZE];
	const char *at_a = text_a, *at_b = text_b;

	compare_text(w->docs[0], a, text_a, sizeof(text_a));
	compare_text(w->docs[1], b, text_b, sizeof(text_b));
	if (ends_in(name, "_path")) {
		at_a = last_part(text_a);
		at_b = last_part(text_b);
		if (!strcmp(at_a, at_b))
			return;
	} else if (is_same(w, a, b)) {
		return;
	}
	w->differ(w->ctx, name, at_a, at_b);
}

/* Both are objects. The parser bounds the depth. */
static void walk_objects(const struct walk *w, const char *prefix,
			 const struct json_node *a, const struct json_node *b);

static void walk_member(const struct walk *w, const char *prefix,
			const char *key, const struct json_node *a,
			const struct json_node *b)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);
	if (a && b && a->type == JSON_OBJECT && b->type == JSON_OBJECT)
		walk_objects(w, name, a, b);
	else
		compare_leaf(w, name, a, b);
}

static void walk_objects(const struct walk *w, const char *prefix,
			 const struct json_node *a, const struct json_node *b)
{
	const struct json_node *at;
	char key[NAME_SIZE];

	for (at = json_first(w->docs[0], a); at;
	     at = json_next(w->docs[0], at)) {
		compare_text(w->docs[0], json_key(w->docs[0], at), key,
			     sizeof(key));
		walk_member(w, prefix, key, at,
			    json_member(w->docs[1], b, key));
	}
	for (at = json_first(w->docs[1], b); at;
	     at = json_next(w->docs[1], at)) {
		compare_text(w->docs[1], json_key(w->docs[1], at), key,
			     sizeof(key));
		if (!json_member(w->docs[0], a, key))
			walk_member(w, prefix, key, NULL, at);
	}
}

static void walk_configs(const struct walk *w,
			 const struct json_node *const cells[2])
{
	walk_objects(w, "",
		     json_member(w->docs[0], cells[0], "config_in_force"),
		     json_member(w->docs[1], cells[1], "config_in_force"));
}

struct refusal {
	char *why;
	size_t size;
	bool is_made;
};

static void refuse(void *ctx, const char *name, const char *a, const char *b)
{
	struct refusal *r = ctx;

	if (r->is_made || !IS_LISTED(refused, name))
		return;
	r->is_made = true;
	snprintf(r->why, r->size, "%s: %s in A, %s in B", name, a, b);
}

bool compare_config_refuses(const struct json_doc *const docs[2],
			    const struct json_node *const cells[2], char *why,
			    size_t why_size)
{
	struct refusal r = {.why = why, .size = why_size};
	struct walk w = {docs, refuse, &r};

	walk_configs(&w, cells);
	return r.is_made;
}

static void pass_on(void *ctx, const char *name, const char *a, const char *b)
{
	const struct walk *to = ctx;

	if (!IS_LISTED(refused, name) && !IS_LISTED(ignored, name))
		to->differ(to->ctx, name, a, b);
}

void compare_config_differs(const struct json_doc *const docs[2],
			    const struct json_node *const cells[2],
			    compare_differ_fn *differ, void *ctx)
{
	struct walk to = {docs, differ, ctx};
	struct walk w = {docs, pass_on, &to};

	walk_configs(&w, cells);
	compare_leaf(&to, "guest image (FNV-1a)",
		     json_member(docs[0], cells[0], "image_fnv1a"),
		     json_member(docs[1], cells[1], "image_fnv1a"));
}

void compare_context_differs(const struct json_doc *const docs[2],
			     compare_differ_fn *differ, void *ctx)
{
	static const struct {
		const char *path, *name;
	} members[] = {
		{"version", "punctual"},
		{"host.kernel", "kernel"},
		{"host.cpu", "cpu"},
		{"host.cpus", "cpus"},
		{"host.kvm_backend", "kvm"},
		{"host.nested", "nested"},
		{"host.clocksource", "clocksource"},
		{"host.halt_poll_ns", "halt_poll_ns"},
		{"host.preemption_timer", "preemption_timer"},
		{"host.governor", "governor"},
		{"host.allowed_cpus", "allowed_cpus"},
		{"host.scheduler", "scheduler"},
		{"host.priority", "priority"},
		{"host.nice", "nice"},
		{"cells[0].rounds[0].tsc_khz", "tsc_khz"},
		{"cells[0].rounds[0].rung", "rung"},
	};
	struct walk w = {docs, differ, ctx};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		compare_leaf(
			&w, members[i].name,
			json_get(docs[0], json_root(docs[0]), members[i].path),
			json_get(docs[1], json_root(docs[1]), members[i].path));
}
