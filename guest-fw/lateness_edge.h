/* SPDX-License-Identifier: MIT */
/*
 * lateness_edge - deadlines at the edges, one line "ok" or "FAIL" each.
 */
#ifndef GUEST_LATENESS_EDGE_H
#define GUEST_LATENESS_EDGE_H

#include "lateness_run.h"

#include <stdint.h>

#define STATUS_EDGE_FAILED 3

/*
 * Asks on the calling CPU: 0, the past, the near future, arming again while
 * armed, 2^63 and the like; waits in ring 3 whatever plan->wait says. Uses
 * period_tsc as the unit of "a while" and tsc_khz. Exit status 0 or
 * STATUS_EDGE_FAILED. Ring 0, IF clear, APIC on.
 */
uint32_t lateness_edge(const struct lateness_plan *plan);

#endif
