/* SPDX-License-Identifier: MIT */
/*
 * wait - spin on the TSC until a target, however far it is.
 *
 * The caller bounds the distance beforehand (deadline_check()); the wait
 * itself never gives up early, since that would hand the guest its event
 * before the deadline. Only a TSC that cannot get there ends it.
 */
#ifndef TIMER_WAIT_H
#define TIMER_WAIT_H

#include <stdint.h>

struct clock;

/* So many reads of one and the same value mean that the TSC stands still:
 * some 10 ms of reading where a read takes 10 ns. */
#define WAIT_STOPPED_READS 1000000u

enum wait_result {
	WAIT_REACHED,
	WAIT_TSC_STOPPED,
	WAIT_TSC_BACKWARDS,
};

struct wait_stats {
	uint64_t start_host_tsc; /* first read */
	uint64_t end_host_tsc;	 /* last read */
	uint64_t reads;		 /* 1 if the target had passed already */
};

/*
 * Read the clock until it is at or past target_host_tsc (modular, so less
 * than 2^63 away). Fills *stats whatever the result. Calling thread: the one
 * that waits, with nothing held. An error result means the host's TSC is
 * broken and no deadline can be kept any more.
 */
enum wait_result wait_until(const struct clock *clock, uint64_t target_host_tsc,
			    struct wait_stats *stats);

#endif
