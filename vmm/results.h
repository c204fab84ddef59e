/* SPDX-License-Identifier: MIT */
/*
 * results - the JSON document of one run ("schema": "punctual-result-1").
 * Every member is explained in README, "What the numbers mean".
 */
#ifndef VMM_RESULTS_H
#define VMM_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

struct host_info;
struct jsonw;
struct vm;

struct results_context {
	const struct host_info *before; /* read before the run */
	const struct host_info *after;
	uint64_t wall_ns; /* from the start of the vCPUs to their end */
	uint64_t user_cpu_ns, system_cpu_ns; /* of the whole process */
	int status;			     /* exit status to be */
	const char *rung;		     /* probe_rung_name */
	bool with_samples;
	bool tsc_allowed_unstable;
	bool early_allowed;
	struct ram_residence residence;
};

/* Writes the document. 0 or -ENOMEM. Main thread, vCPU threads gone. */
int results_write(struct vm *vm, const struct results_context *context,
		  struct jsonw *w);

#endif
