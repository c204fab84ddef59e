/* SPDX-License-Identifier: MIT */
/*
 * guard - notices when measured entry costs may no longer hold: the host was
 * suspended, or its clocksource changed (the kernel does that when the TSC
 * turned out not to be what it was taken for).
 */
#ifndef VMM_GUARD_H
#define VMM_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard {
	int64_t suspended_ns; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	char clocksource[64];
	uint64_t trips;
};

/* Remembers how things are. Main thread. */
void guard_init(struct guard *guard);

/* Has something changed since? Remembers and counts it. Main thread. */
bool guard_tripped(struct guard *guard);

#endif
