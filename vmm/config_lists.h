/* SPDX-License-Identifier: MIT */
/*
 * config_lists - readers of list values, for config_value.c.
 * Each returns 0, -EINVAL or -ENOMEM with its message in r->err.
 */
#ifndef VMM_CONFIG_LISTS_H
#define VMM_CONFIG_LISTS_H

struct config_reader;

/* CONFIG_CPUS: into the field, a cpu_set_t *. */
int config_read_cpus(const struct config_reader *r);

/* CONFIG_CPUS_PER_VCPU: into cpu_affinity, any number of lists. */
int config_read_cpus_per_vcpu(const struct config_reader *r);

/* CONFIG_FLAGS: into hide_cpuid. */
int config_read_flags(const struct config_reader *r);

#endif
