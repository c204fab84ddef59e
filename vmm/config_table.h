/* SPDX-License-Identifier: MIT */
/*
 * config_table - every key of the config file, once.
 *
 * The parser, the effective config, configs/schema.json and the man page say
 * what this table says: the first two read it, a test compares the others.
 */
#ifndef VMM_CONFIG_TABLE_H
#define VMM_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_type {
	CONFIG_INPUT_PATH,    /* char *; relative to the config file */
	CONFIG_OUTPUT_PATH,   /* char *; relative to the working directory */
	CONFIG_WORDS,	      /* char *; printable ASCII */
	CONFIG_NUMBER,	      /* unsigned or uint64_t; min to max */
	CONFIG_OPTIONAL,      /* struct optional_value; null, or min to max */
	CONFIG_SHARE,	      /* double; min to max thousandths */
	CONFIG_CHOICE,	      /* an enum; one of choices */
	CONFIG_TUNE,	      /* struct tune_value; a choice, or min to max */
	CONFIG_BOOL,	      /* bool */
	CONFIG_CPUS,	      /* cpu_set_t *; CPU numbers min to max */
	CONFIG_CPUS_PER_VCPU, /* cpu_set_t *, an array; the same, nested */
	CONFIG_FLAGS,	      /* hide_cpuid; names of cpuid_flags.h */
	CONFIG_SERIAL,	      /* serial; a choice, or "file:PATH" */
	CONFIG_PORT,	      /* struct optional_value; no device's port */
};

/* A list ends with a NULL name. */
struct config_choice {
	const char *name;
	unsigned value;
	bool not_yet; /* planned: refused by name */
};

struct config_key {
	const char *path; /* "section.key" */
	enum config_type type;
	bool nullable;
	bool not_yet; /* planned: refused by name; only path is set */
	uint64_t min, max;
	const struct config_choice *choices;
	const char *initial; /* the default, as JSON; NULL: required */
	size_t offset, size; /* of the field in struct config */
	const char *doc;     /* one line, also the schema's description */
};

/* A range of I/O ports that a device of the VM answers. */
struct config_port_range {
	uint16_t first, last;
	const char *owner;
};

#define CONFIG_CPU_MAX 1023 /* what a cpu_set_t holds */

/* All rows; those of one section stand together. Any thread. */
const struct config_key *config_table(size_t *count);

/* The row of a path of that many bytes, or NULL. */
const struct config_key *config_table_find(const char *path, size_t len);

/* The range that port is in, or NULL: of the devices that every machine has,
 * and of those that machine-config.test_device adds. */
const struct config_port_range *config_port_owner(uint64_t port);
const struct config_port_range *config_test_port_owner(uint64_t port);

#endif
