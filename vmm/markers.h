/* SPDX-License-Identifier: MIT */
/*
 * markers - what the guest wrote to the marker port, and when: how far it was
 * at which time.
 *
 * Times are CLOCK_MONOTONIC since the entry of main(): what the program does
 * before the guest is in them, what the host did to start the program is not.
 */
#ifndef VMM_MARKERS_H
#define VMM_MARKERS_H

#include <stdatomic.h>
#include <stdint.h>

struct jsonw;

enum {
	MARKERS_MAX = 64, /* that are kept: the first ones */
};

struct marker {
	uint64_t since_start_ns;
	uint32_t value;
	uint32_t vcpu;
};

struct markers {
	/* Set once, before the vCPU threads start: monotonic. */
	uint64_t start_ns;
	/* Writer: the vCPU thread whose place it is. Reader: the main thread,
	 * after the join. */
	struct marker kept[MARKERS_MAX];
	/* vCPU threads. All that came. */
	atomic_ullong count;
};

/* The guest wrote value, and its exit was seen at now_ns (monotonic). Of two
 * vCPUs at the same time, either may be first. vCPU threads. */
void markers_add(struct markers *markers, uint64_t now_ns, uint32_t value,
		 uint32_t vcpu);

/* How many are kept. After the vCPU threads. */
unsigned int markers_kept(const struct markers *markers);

/* Members "markers" and "markers_dropped" of the object the caller has begun.
 */
void markers_write(const struct markers *markers, struct jsonw *w);

#endif
