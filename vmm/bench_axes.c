/* SPDX-License-Identifier: MIT */
/*
 * bench_axes - reading --vary, and the axes nobody had to ask for.
 *
 * Two overrides of which one undoes the other are a mistake, not a detail:
 * whoever wrote both would read the table wrongly.
 * Not checked here: keys and values, which the config's own parser refuses
 * when the cells are loaded.
 */
#include "bench_axes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define WAIT_KEY BENCH_WORD_PREFIX "wait"

const struct bench_mode bench_modes[] = {
	{"kernel", {BENCH_MODE_KEY "=kernel", NULL}},
	{"userspace off",
	 {BENCH_MODE_KEY "=userspace", BENCH_ADVANCE_KEY "=off"}},
	{"userspace auto",
	 {BENCH_MODE_KEY "=userspace", BENCH_ADVANCE_KEY "=auto"}},
};

static const struct bench_axis mode_axis = {.count = sizeof(bench_modes) /
						     sizeof(bench_modes[0])};
static const struct bench_axis wait_axis = {WAIT_KEY, sizeof(WAIT_KEY) - 1,
					    "spin,hlt", 2};

const char *const bench_kept_sets[BENCH_KEPT_SETS] = {"console.serial=off",
						      "run.stats_path=null"};

struct finder {
	const struct options *options;
	struct bench_axis *axes;
	size_t count;
	char *err;
	size_t err_size;
};

__attribute__((format(printf, 2, 3))) static int fail(struct finder *f,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->err, f->err_size, format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_key(const char *text, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(text, key, len) && text[len] == '=';
}

static bool is_varied(const struct finder *f, const char *key)
{
	for (size_t i = 0; i < f->options->vary_count; i++)
		if (is_key(f->options->vary[i], key))
			return true;
	return false;
}

static bool is_set(const struct finder *f, const char *key)
{
	for (size_t i = 0; i < f->options->set_count; i++)
		if (is_key(f->options->sets[i], key))
			return true;
	return false;
}

static bool has_default_modes(const struct finder *f)
{
	return !is_varied(f, BENCH_MODE_KEY) &&
	       !is_varied(f, BENCH_ADVANCE_KEY);
}

static int check_sets(struct finder *f)
{
	char key[64];

	for (size_t i = 0; i < BENCH_KEPT_SETS; i++) {
		const char *set = bench_kept_sets[i];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(set, "="), set);
		if (is_set(f, key) || is_varied(f, key))
			return fail(f, "%s: bench sets it itself", key);
	}
	if (has_default_modes(f) &&
	    (is_set(f, BENCH_MODE_KEY) || is_set(f, BENCH_ADVANCE_KEY)))
		return fail(f, "--set timer.mode or timer.advance: bench "
			       "varies both itself; --vary says how");
	return 0;
}

/* A value ends at a comma, but not at one inside of JSON. */
static size_t value_len(const char *s)
{
	size_t len;
	int depth = 0;
	bool is_quoted = false;

	for (len = 0; s[len]; len++) {
		char c = s[len];

		if (c == '"')
			is_quoted = !is_quoted;
		if (is_quoted)
			continue;
		if (c == ',' && depth <= 0)
			break;
		depth += (c == '[' || c == '{') - (c == ']' || c == '}');
	}
	return len;
}

const char *bench_axis_value(const struct bench_axis *axis, size_t i, int *len)
{
	const char *at = axis->values;

	while (i--)
		at += value_len(at) + 1;
	*len = (int)value_len(at);
	return at;
}

bool bench_axis_is(const struct bench_axis *axis, const char *key)
{
	return axis->key && axis->key_len == strlen(key) &&
	       !memcmp(axis->key, key, axis->key_len);
}

static int parse_vary(struct finder *f, size_t i, struct bench_axis *axis)
{
	const char *vary = f->options->vary[i];
	size_t key_len = strcspn(vary, "=");
	const char *at = vary + key_len;
	char key[64];

	*axis = (struct bench_axis){
		.key = vary, .key_len = key_len, .values = at + 1};
	if (!key_len || !*at)
		return fail(f, "--vary %s: expected KEY=VALUE,VALUE...", vary);
	do {
		size_t len = value_len(++at);

		if (!len)
			return fail(f, "--vary %s: an empty value", vary);
		axis->count++;
		at += len;
	} while (*at);
	snprintf(key, sizeof(key), "%.*s", (int)key_len, vary);
	if (is_set(f, key))
		return fail(f, "%s: both --vary and --set", key);
	for (size_t j = 0; j < i; j++)
		if (is_key(f->options->vary[j], key))
			return fail(f, "%s: --vary twice", key);
	return 0;
}

/* Those that make rows, or those that do not. */
static int add_varied(struct finder *f, bool rows)
{
	for (size_t i = 0; i < f->options->vary_count; i++) {
		struct bench_axis *axis = &f->axes[f->count];
		int ret = parse_vary(f, i, axis);

		if (ret)
			return ret;
		if (rows == (bench_axis_is(axis, BENCH_MODE_KEY) ||
			     bench_axis_is(axis, BENCH_ADVANCE_KEY)))
			f->count++;
	}
	return 0;
}

static int add_rows(struct finder *f)
{
	struct bench_axis *rows = &f->axes[f->count], advance;
	int ret;

	if (has_default_modes(f)) {
		f->axes[f->count++] = mode_axis;
		return 0;
	}
	ret = add_varied(f, true);
	if (!ret && is_varied(f, BENCH_MODE_KEY) &&
	    bench_axis_is(rows, BENCH_ADVANCE_KEY)) {
		advance = rows[0];
		rows[0] = rows[1];
		rows[1] = advance;
	}
	return ret;
}

int bench_axes_find(const struct options *options, bool has_wait,
		    struct bench_axis *axes, size_t *count, size_t *rows,
		    char *err, size_t err_size)
{
	struct finder f = {
		.options = options,
		.axes = axes,
		.err = err,
		.err_size = err_size,
	};
	int ret = check_sets(&f);

	if (!ret)
		ret = add_varied(&f, false);
	if (ret)
		return ret;
	if (has_wait && !is_set(&f, WAIT_KEY) && !is_varied(&f, WAIT_KEY) &&
	    !is_varied(&f, BENCH_ARGS_KEY))
		f.axes[f.count++] = wait_axis;
	*rows = f.count;
	ret = add_rows(&f);
	*count = f.count;
	return ret;
}

/* Two of our own, and one that is looked at before it is kept. */
size_t bench_axes_room(const struct options *options)
{
	return options->vary_count + 3;
}
