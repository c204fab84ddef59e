/* SPDX-License-Identifier: MIT */
/*
 * The processor's TSC as a struct clock.
 * Reference: SDM 2B "RDTSC".
 * Does not look whether the TSC is invariant or in step across processors.
 */
#include "clock.h"

static uint64_t clock_host_read(void *ctx)
{
	(void)ctx;
	return clock_read_tsc();
}

const struct clock clock_host = {.read_tsc = clock_host_read, .ctx = 0};
