// SPDX-License-Identifier: MIT
/*
 * config_write - the config in force, as JSON.
 *
 * The members are those of a config file, each with its value. Paths of
 * input files are shown as they will be opened, relative to the working
 * directory, not to the config file.
 */
#define _GNU_SOURCE /* CPU_ISSET */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config_table.h"
#include "cpuid_flags.h"
#include "jsonw.h"

static const char *choice_name(const struct config_choice *choices,
			       unsigned value)
{
	for (; choices->name; choices++) {
		if (!choices->not_yet && choices->value == value)
			return choices->name;
	}
	return NULL;
}

static void write_cpus(struct jsonw *w, const char *name, const cpu_set_t *cpus)
{
	jsonw_array_begin(w, name);
	for (unsigned cpu = 0; cpu <= CONFIG_CPU_MAX; cpu++) {
		if (CPU_ISSET(cpu, cpus))
			jsonw_u64(w, NULL, cpu);
	}
	jsonw_array_end(w);
}

static void write_affinity(struct jsonw *w, const char *name,
			   const struct config *config)
{
	if (!config->cpu_affinity) {
		jsonw_null(w, name);
		return;
	}
	jsonw_array_begin(w, name);
	for (size_t i = 0; i < config->cpu_affinity_count; i++)
		write_cpus(w, NULL, &config->cpu_affinity[i]);
	jsonw_array_end(w);
}

static void write_flags(struct jsonw *w, const char *name,
			const struct config *config)
{
	jsonw_array_begin(w, name);
	for (size_t i = 0; i < config->hide_cpuid_count; i++) {
		const struct cpuid_flag *flag = config->hide_cpuid[i];

		/* A name's second bit does not name it again. */
		if (cpuid_flag_find(flag->name, NULL) == flag)
			jsonw_string(w, NULL, flag->name);
	}
	jsonw_array_end(w);
}

static void write_serial(struct jsonw *w, const char *name,
			 const struct config_choice *choices,
			 const struct config *config)
{
	char text[PATH_MAX + sizeof("file:")];

	if (config->serial != SERIAL_FILE) {
		jsonw_string(w, name, choice_name(choices, config->serial));
		return;
	}
	snprintf(text, sizeof(text), "file:%s", config->serial_path);
	jsonw_string(w, name, text);
}

static void write_tune(struct jsonw *w, const char *name,
		       const struct config_choice *choices,
		       const struct tune_value *tune)
{
	if (tune->mode == TUNE_FIXED)
		jsonw_u64(w, name, tune->ns);
	else
		jsonw_string(w, name, choice_name(choices, tune->mode));
}

static void write_number(struct jsonw *w, const char *name,
			 const struct config_key *key, const void *field)
{
	if (key->size == sizeof(unsigned))
		jsonw_u64(w, name, *(const unsigned *)field);
	else
		jsonw_u64(w, name, *(const uint64_t *)field);
}

static void write_key(struct jsonw *w, const char *name,
		      const struct config_key *key, const struct config *config)
{
	const void *field = (const char *)config + key->offset;
	const struct optional_value *optional;
	cpu_set_t *const *cpus;

	switch (key->type) {
	case CONFIG_INPUT_PATH:
	case CONFIG_OUTPUT_PATH:
	case CONFIG_WORDS:
		jsonw_string(w, name, *(char *const *)field);
		break;
	case CONFIG_NUMBER:
		write_number(w, name, key, field);
		break;
	case CONFIG_OPTIONAL:
	case CONFIG_PORT:
		optional = field;
		if (optional->is_given)
			jsonw_u64(w, name, optional->value);
		else
			jsonw_null(w, name);
		break;
	case CONFIG_SHARE:
		jsonw_double(w, name, *(const double *)field);
		break;
	case CONFIG_CHOICE:
		jsonw_string(
			w, name,
			choice_name(key->choices, *(const unsigned *)field));
		break;
	case CONFIG_TUNE:
		write_tune(w, name, key->choices, field);
		break;
	case CONFIG_BOOL:
		jsonw_bool(w, name, *(const bool *)field);
		break;
	case CONFIG_CPUS:
		cpus = field;
		if (*cpus)
			write_cpus(w, name, *cpus);
		else
			jsonw_null(w, name);
		break;
	case CONFIG_CPUS_PER_VCPU:
		write_affinity(w, name, config);
		break;
	case CONFIG_FLAGS:
		write_flags(w, name, config);
		break;
	case CONFIG_SERIAL:
		write_serial(w, name, key->choices, config);
		break;
	}
}

/* KVM's own timer leaves the keys of the section without effect, but for those
 * that are not about the timer. */
static void write_unused(struct jsonw *w)
{
	size_t count;
	const struct config_key *key = config_table(&count);

	jsonw_array_begin(w, "unused");
	for (; count--; key++) {
		if (!key->not_yet && !strncmp(key->path, "timer.", 6) &&
		    strcmp(key->path, "timer.mode") &&
		    strcmp(key->path, "timer.halt_poll_ns"))
			jsonw_string(w, NULL, key->path);
	}
	jsonw_array_end(w);
}

void config_write_effective(const struct config *config, struct jsonw *w)
{
	const char *section = NULL;
	size_t count;
	const struct config_key *key = config_table(&count);

	for (; count--; key++) {
		size_t len = strcspn(key->path, ".");
		char name[32];

		if (key->not_yet)
			continue;
		if (!section || strncmp(key->path, section, len + 1)) {
			if (section)
				jsonw_object_end(w);
			snprintf(name, sizeof(name), "%.*s", (int)len,
				 key->path);
			jsonw_object_begin(w, name);
			section = key->path;
		}
		write_key(w, key->path + len + 1, key, config);
	}
	jsonw_object_end(w);
	if (config->mode == TIMER_KERNEL)
		write_unused(w);
}
