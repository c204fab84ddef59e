/* SPDX-License-Identifier: MIT */
/*
 * fake_clock - a clock that moves by a step on every read.
 *
 * A clock that stands still would hang a busy-wait; this one ends it and shows
 * its overshoot exactly. It can be told to freeze or to step back, both at a
 * given read.
 */
#ifndef TESTS_FAKE_CLOCK_H
#define TESTS_FAKE_CLOCK_H

#include <stdint.h>

#include "clock.h"

struct fake_clock {
	uint64_t now_tsc;	 /* what the next read returns */
	uint64_t step_tsc;	 /* added after every read */
	uint64_t reads;		 /* so far */
	uint64_t freeze_at_read; /* from this read on no steps; 0: never */
	uint64_t back_at_read;	 /* after this read ... 0: never */
	uint64_t back_tsc;	 /* ... the time falls by this much */
};

static inline uint64_t fake_clock_read(void *ctx)
{
	struct fake_clock *f = ctx;
	uint64_t value_tsc = f->now_tsc;

	f->reads++;
	if (!f->freeze_at_read || f->reads < f->freeze_at_read)
		f->now_tsc += f->step_tsc;
	if (f->back_at_read && f->reads == f->back_at_read)
		f->now_tsc -= f->back_tsc;
	return value_tsc;
}

/* The clock that reads *f, which must outlive it. */
static inline struct clock fake_clock_of(struct fake_clock *f)
{
	return (struct clock){.read_tsc = fake_clock_read, .ctx = f};
}

#endif
