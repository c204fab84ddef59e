/* SPDX-License-Identifier: MIT */
/*
 * guard - see guard.h. Reference: clock_gettime(2): CLOCK_BOOTTIME counts the
 * time a system is suspended, CLOCK_MONOTONIC does not.
 */
#include "guard.h"

#include <string.h>
#include <time.h>

#include "host.h"
#include "monotonic.h"

/* Two clocks are not read at one instant; a suspend takes longer. */
#define SUSPEND_MIN_NS 10000000

static void look(struct guard *guard)
{
	guard->suspended_ns =
		(int64_t)(clock_ns(CLOCK_BOOTTIME) - monotonic_ns());
	host_read_clocksource(guard->clocksource, sizeof(guard->clocksource));
}

void guard_init(struct guard *guard)
{
	guard->trips = 0;
	look(guard);
}

bool guard_tripped(struct guard *guard)
{
	const struct guard before = *guard;
	int64_t slept_ns;

	look(guard);
	slept_ns = guard->suspended_ns - before.suspended_ns;
	if (slept_ns < SUSPEND_MIN_NS && slept_ns > -SUSPEND_MIN_NS &&
	    !strcmp(before.clocksource, guard->clocksource))
		return false;
	guard->trips++;
	return true;
}
