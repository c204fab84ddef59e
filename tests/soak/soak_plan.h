/* SPDX-License-Identifier: MIT */
/*
 * soak_plan - what one run of a soak does: a random choice that repeats.
 */
#ifndef TESTS_SOAK_PLAN_H
#define TESTS_SOAK_PLAN_H

#include <stdint.h>

enum {
	SOAK_SETS = 9,
	SOAK_SET_SIZE = 128,
	SOAK_FIRES_MIN = 20,
	SOAK_FIRES_MAX = 5000, /* unless asked for fewer; of each vCPU */
	SOAK_PERIOD_MIN_US = 50,
	SOAK_PERIOD_MAX_US = 5000,
	SOAK_VCPUS_MAX = 4,
	SOAK_RUN_MAX_US = 3000000, /* of fires times period */
	SOAK_ADVANCE_MIN_NS = 1000,
	SOAK_ADVANCE_MAX_NS = 200000,
	SOAK_TIMEOUT_MS = 300000,
};

struct soak_limits {
	uint32_t fires_max; /* SOAK_FIRES_MIN to SOAK_FIRES_MAX */
	uint32_t hogs_max;  /* at least 1 */
};

struct soak_choice {
	char sets[SOAK_SETS][SOAK_SET_SIZE]; /* KEY=VALUE for --set */
	uint32_t hogs; /* processes that only burn CPU time meanwhile */
};

/* Run `run` of the series that the seed begins; the same for the same
 * arguments. Pure. */
void soak_choose(struct soak_choice *choice, uint64_t seed, uint64_t run,
		 const struct soak_limits *limits);

#endif
