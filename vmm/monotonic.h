/* SPDX-License-Identifier: MIT */
/* monotonic - the clock that durations are taken from. */
#ifndef VMM_MONOTONIC_H
#define VMM_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns, see clock_gettime(2). Any thread. */
uint64_t monotonic_ns(void);

/* Any clock, in ns; 0 if it cannot be read. Any thread. */
uint64_t clock_ns(clockid_t clock);

#endif
