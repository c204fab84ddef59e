/* SPDX-License-Identifier: MIT */
/*
 * fuzz-config - a config file and up to four overrides, all of them hostile.
 * The input is split at NULs: the file, then each --set.
 *
 * Rules: a mistake has one line to say and leaves nothing behind; what is
 * accepted is within every range that config.h names; and the effective config,
 * written out and read again, is the same config.
 */
#define _GNU_SOURCE /* CPU_COUNT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "json.h"
#include "jsonw.h"

enum {
	SETS_MAX = 4,
	TEXT_MAX = 1 << 20,
};

static const char path[] = "/dir/c.json";
static const char *file; /* its text */

/* The linker puts this in the place of json_load_file (see targets), whose
 * buffer for the largest file there may be takes most of the time. */
int __wrap_json_load_file(struct json_doc *doc, const char *name,
			  size_t max_size, char *err, size_t err_size);

int __wrap_json_load_file(struct json_doc *doc, const char *name,
			  size_t max_size, char *err, size_t err_size)
{
	FUZZ_CHECK(!strcmp(name, path));
	return json_parse(doc, name, file, strlen(file), max_size, err,
			  err_size);
}

static void check_tune(const struct tune_value *value)
{
	FUZZ_CHECK(value->mode <= TUNE_AUTO);
	FUZZ_CHECK((value->mode == TUNE_FIXED) == (value->ns > 0));
}

static void check_words(const char *words)
{
	FUZZ_CHECK(words);
	for (; *words; words++)
		FUZZ_CHECK(*words >= ' ' && *words <= '~');
}

static void check_ranges(const struct config *c)
{
	FUZZ_CHECK(c->kernel_image_path && *c->kernel_image_path);
	check_words(c->boot_args);
	FUZZ_CHECK(c->protocol <= BOOT_LINUX);
	FUZZ_CHECK(c->vcpu_count >= 1 && c->vcpu_count <= 64);
	FUZZ_CHECK(c->mem_size_mib >= 1 && c->mem_size_mib <= 65536);
	FUZZ_CHECK(!c->cpu_affinity || c->cpu_affinity_count == c->vcpu_count);
	for (size_t i = 0; c->cpu_affinity && i < c->cpu_affinity_count; i++)
		FUZZ_CHECK(CPU_COUNT(&c->cpu_affinity[i]) >= 1);
	FUZZ_CHECK(c->mode <= TIMER_KERNEL);
	FUZZ_CHECK(c->source <= TIMER_SOURCE_POSIX);
	check_tune(&c->advance);
	check_tune(&c->vmentry_advance);
	FUZZ_CHECK(c->max_advance_ns >= 1000 && c->max_advance_ns <= 100000000);
	FUZZ_CHECK(c->advance.ns <= c->max_advance_ns);
	FUZZ_CHECK(c->target_quantile >= 0.5 && c->target_quantile <= 0.999);
	FUZZ_CHECK(c->max_spin_share >= 0 && c->max_spin_share <= 1);
	FUZZ_CHECK(!c->allow_early || c->vmentry_advance.mode == TUNE_FIXED);
	FUZZ_CHECK(!c->timer_affinity || c->source == TIMER_SOURCE_TIMERFD);
	FUZZ_CHECK(c->halt_poll_ns.value <= 1000000000);
	FUZZ_CHECK((c->serial == SERIAL_FILE) == !!c->serial_path);
	FUZZ_CHECK(c->timeout_ms <= 604800000);
}

/* Text of the effective config, to be freed. */
static char *effective(const struct config *config)
{
	struct jsonw w;
	const char *text;
	char *copy;
	size_t len;

	jsonw_init(&w, 2, TEXT_MAX);
	jsonw_object_begin(&w, NULL);
	config_write_effective(config, &w);
	jsonw_object_end(&w);
	text = jsonw_text(&w, &len);
	FUZZ_CHECK(text && strlen(text) == len);
	copy = strdup(text);
	jsonw_free(&w);
	return copy;
}

/* Paths that are no UTF-8 cannot be written, and mode kernel has a member that
 * is not for reading. */
static void check_again(const struct config *config)
{
	struct config again;
	char err[512] = "";
	char *text, *text_again;

	if (config->mode == TIMER_KERNEL)
		return;
	text = effective(config);
	file = text;
	FUZZ_CHECK(!config_load(path, NULL, 0, &again, err, sizeof(err)));
	text_again = effective(&again);
	FUZZ_CHECK(!strcmp(text, text_again));
	config_free(&again);
	free(text_again);
	free(text);
}

static void check_fault(int ret, const char *err, const struct config *config)
{
	static const struct config empty;

	FUZZ_CHECK(ret == -EINVAL);
	FUZZ_CHECK(*err);
	for (const char *at = err; *at; at++)
		FUZZ_CHECK((unsigned char)*at >= ' ' && *at != '\x7f');
	FUZZ_CHECK(!strncmp(err, path, strlen(path)) ||
		   !strncmp(err, "--set ", 6));
	FUZZ_CHECK(!memcmp(config, &empty, sizeof(empty)));
}

/* Cuts text, which ends in a NUL, into overrides. */
static size_t take_sets(char *text, const char *end, const char *sets[SETS_MAX])
{
	size_t count = 0;

	for (; text < end && count < SETS_MAX; text += strlen(text) + 1)
		sets[count++] = text;
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *sets[SETS_MAX];
	struct config config;
	char err[512] = "";
	size_t len, count;
	int ret;

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	len = strlen(text);
	count = take_sets(text + len + 1, text + size + 1, sets);
	file = text;
	ret = config_load(path, sets, count, &config, err, sizeof(err));
	if (ret) {
		check_fault(ret, err, &config);
	} else {
		check_ranges(&config);
		check_again(&config);
		config_free(&config);
	}
	free(text);
	return 0;
}
