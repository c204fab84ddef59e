/* SPDX-License-Identifier: MIT */
/*
 * What the program `punctual-slowed` has behind the wait for a deadline: 2000
 * cycles more, between it and the entry into the guest, where no tuner makes
 * up for them. All else in it is punctual. A benchmark has to notice; the lab
 * job "slowed" looks. The linker (--wrap) puts it in place.
 */
#include <x86intrin.h>

#include "wait.h"

enum {
	DELAY_TSC = 2000,
};

enum wait_result __real_wait_until(const struct clock *clock,
				   uint64_t target_host_tsc,
				   struct wait_stats *stats);
enum wait_result __wrap_wait_until(const struct clock *clock,
				   uint64_t target_host_tsc,
				   struct wait_stats *stats);

enum wait_result __wrap_wait_until(const struct clock *clock,
				   uint64_t target_host_tsc,
				   struct wait_stats *stats)
{
	enum wait_result result =
		__real_wait_until(clock, target_host_tsc, stats);
	const uint64_t start_host_tsc = __rdtsc();

	while (__rdtsc() - start_host_tsc < DELAY_TSC)
		;
	return result;
}
