/* SPDX-License-Identifier: MIT */
/*
 * The bounded spin: read the TSC until it has reached a target.
 * Reference: SDM 2B "RDTSC"; the bound itself is set in deadline.c.
 * Does not use PAUSE: it would add up to 140 cycles to the overshoot, and on a
 * nested host it may exit to the hypervisor below. Does not yield.
 */
#include "wait.h"

#include <stdbool.h>

#include "clock.h"
#include "tsc.h"

enum wait_result wait_until(const struct clock *clock, uint64_t target_host_tsc,
			    struct wait_stats *stats)
{
	uint64_t last_host_tsc = clock->read_tsc(clock->ctx);
	enum wait_result result = WAIT_REACHED;
	uint64_t reads = 1;
	uint32_t same_reads = 1;

	stats->start_host_tsc = last_host_tsc;
	while (tsc_diff(last_host_tsc, target_host_tsc) < 0) {
		uint64_t now_host_tsc = clock->read_tsc(clock->ctx);
		int64_t step_tsc = tsc_diff(now_host_tsc, last_host_tsc);

		reads++;
		last_host_tsc = now_host_tsc;
		if (step_tsc < 0) {
			result = WAIT_TSC_BACKWARDS;
			break;
		}
		same_reads = step_tsc ? 1 : same_reads + 1;
		if (same_reads == WAIT_STOPPED_READS) {
			result = WAIT_TSC_STOPPED;
			break;
		}
	}
	stats->end_host_tsc = last_host_tsc;
	stats->reads = reads;
	return result;
}
