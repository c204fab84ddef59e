// SPDX-License-Identifier: MIT
/*
 * config_lists - keys that hold lists: CPUs to run on, CPUID flags to hide.
 *
 * Each list is built aside and replaces the field when it is whole.
 * Not checked here: whether the host has such a CPU, and lets us use it.
 */
#define _GNU_SOURCE /* CPU_SET */
#include "config_lists.h"

#include <inttypes.h>
#include <stdlib.h>

#include "config.h"
#include "config_describe.h"
#include "config_reader.h"
#include "config_table.h"
#include "config_value.h"
#include "cpuid_flags.h"
#include "json.h"

static int read_cpu_list(const struct config_reader *r,
			 const struct json_node *list, cpu_set_t *cpus)
{
	const struct json_node *node;
	uint64_t cpu;

	CPU_ZERO(cpus);
	if (list->type != JSON_ARRAY || !list->children)
		return CONFIG_FAIL(
			r, list,
			"expected a list of at least one CPU number, "
			"found %s",
			list->type == JSON_ARRAY ? "an empty one"
						 : json_type_name(list->type));
	for (node = json_first(r->source->doc, list); node;
	     node = json_next(r->source->doc, node)) {
		if (json_u64(r->source->doc, node, &cpu) || cpu > r->key->max)
			return CONFIG_FAIL(
				r, node,
				"expected a CPU number from 0 to %" PRIu64,
				r->key->max);
		if (CPU_ISSET(cpu, cpus))
			return CONFIG_FAIL(r, node,
					   "CPU %" PRIu64 " is in this list "
					   "already (remove one)",
					   cpu);
		CPU_SET(cpu, cpus);
	}
	return 0;
}

int config_read_cpus(const struct config_reader *r)
{
	cpu_set_t **slot = config_field(r), *cpus;
	int ret;

	if (r->node->type != JSON_ARRAY)
		return config_fail_expected(r);
	cpus = malloc(sizeof(*cpus));
	if (!cpus)
		return config_fail_memory(r);
	ret = read_cpu_list(r, r->node, cpus);
	if (ret) {
		free(cpus);
		return ret;
	}
	free(*slot);
	*slot = cpus;
	return 0;
}

int config_read_cpus_per_vcpu(const struct config_reader *r)
{
	const struct json_node *node;
	cpu_set_t *cpus;
	size_t count = 0;
	int ret = 0;

	if (r->node->type != JSON_ARRAY || !r->node->children)
		return config_fail_expected(r);
	cpus = calloc(r->node->children, sizeof(*cpus));
	if (!cpus)
		return config_fail_memory(r);
	for (node = json_first(r->source->doc, r->node); node && !ret;
	     node = json_next(r->source->doc, node))
		ret = read_cpu_list(r, node, &cpus[count++]);
	if (ret) {
		free(cpus);
		return ret;
	}
	config_value_clear(r->key, r->config);
	r->config->cpu_affinity = cpus;
	r->config->cpu_affinity_count = count;
	return 0;
}

/* By comparison rather than by cpuid_flag_find(): a name may hold NULs. */
static const struct cpuid_flag *find_flag(const struct config_reader *r,
					  const struct json_node *node)
{
	size_t count;
	const struct cpuid_flag *table = cpuid_flag_table(&count);

	for (size_t i = 0; i < count; i++) {
		if (json_equals(r->source->doc, node, table[i].name))
			return &table[i];
	}
	return NULL;
}

/* Appends every bit of one name to flags, which has room for the table. */
static int read_flag(const struct config_reader *r,
		     const struct json_node *node,
		     const struct cpuid_flag **flags, size_t *count)
{
	const struct cpuid_flag *flag = find_flag(r, node);
	char found[128] = "";

	config_describe_value(r->source->doc, node, found, sizeof(found));
	if (!flag)
		return CONFIG_FAIL(
			r, node,
			"%s is no CPU feature known here (the names are "
			"those after \"flags\" in /proc/cpuinfo)",
			found);
	for (size_t i = 0; i < *count; i++) {
		if (flags[i] == flag)
			return CONFIG_FAIL(
				r, node,
				"%s is in this list already (remove one)",
				found);
	}
	for (; flag; flag = cpuid_flag_find(flag->name, flag))
		flags[(*count)++] = flag;
	return 0;
}

int config_read_flags(const struct config_reader *r)
{
	const struct cpuid_flag **flags;
	const struct json_node *node;
	size_t room, count = 0;
	int ret = 0;

	if (r->node->type != JSON_ARRAY)
		return config_fail_expected(r);
	cpuid_flag_table(&room);
	flags = calloc(room, sizeof(*flags));
	if (!flags)
		return config_fail_memory(r);
	for (node = json_first(r->source->doc, r->node); node && !ret;
	     node = json_next(r->source->doc, node))
		ret = read_flag(r, node, flags, &count);
	if (ret) {
		free(flags);
		return ret;
	}
	config_value_clear(r->key, r->config);
	r->config->hide_cpuid = flags;
	r->config->hide_cpuid_count = count;
	return 0;
}
