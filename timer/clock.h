/* SPDX-License-Identifier: MIT */
/*
 * clock - where a loop that must re-read the time gets it from.
 *
 * Only code that spins takes a clock; everything else takes one instant as a
 * value. The tests hand in a clock that steps on every read.
 */
#ifndef TIMER_CLOCK_H
#define TIMER_CLOCK_H

#include <stdint.h>

struct clock {
	/* Host TSC, cycles. Any thread; no side effect but on *ctx. */
	uint64_t (*read_tsc)(void *ctx);
	void *ctx;
};

/* The processor's own time-stamp counter. Stateless, safe on any thread. */
extern const struct clock clock_host;

/*
 * Host TSC, cycles, read after every earlier instruction has completed: two
 * reads in program order never step back on a host whose TSC does not.
 * Reference: SDM 2B "RDTSC" (LFENCE before it orders the read).
 */
static inline uint64_t clock_read_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

#endif
