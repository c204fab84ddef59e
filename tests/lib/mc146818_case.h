/* SPDX-License-Identifier: MIT */
/*
 * mc146818_case - a clock of the day, an instant, and a guest's way to it.
 */
#ifndef TESTS_MC146818_CASE_H
#define TESTS_MC146818_CASE_H

#include "mc146818.h"

#include "tap.h"

#define S	 1000000000ull
#define MS	 1000000ull
#define US	 1000ull

/* Saturday, 2026-02-28 23:59:58 UTC. */
#define START_NS (1772323198 * S)

static struct mc146818 rtc;
static uint64_t now_ns;

static inline void setup(void)
{
	now_ns = START_NS;
	mc146818_init(&rtc, 64ull << 20, 0, now_ns);
}

static inline uint8_t rd(uint8_t index)
{
	mc146818_write(&rtc, 0x70, index, now_ns);
	return mc146818_read(&rtc, 0x71, now_ns);
}

static inline void wr(uint8_t index, uint8_t value)
{
	mc146818_write(&rtc, 0x70, index, now_ns);
	mc146818_write(&rtc, 0x71, value, now_ns);
}

static inline bool irq(void)
{
	return mc146818_irq(&rtc, now_ns);
}

/* Century to second, as eight bytes in a row would show them. */
static inline void check_time(uint64_t date, unsigned int time)
{
	ck_assert_uint_eq((uint64_t)rd(0x32) << 24 | (uint64_t)rd(9) << 16 |
				  (uint64_t)rd(8) << 8 | rd(7),
			  date);
	ck_assert_uint_eq((unsigned int)(rd(4) << 16 | rd(2) << 8 | rd(0)),
			  time);
}

static inline void set_time(uint64_t date, unsigned int time)
{
	wr(0x32, (uint8_t)(date >> 24));
	wr(9, (uint8_t)(date >> 16));
	wr(8, (uint8_t)(date >> 8));
	wr(7, (uint8_t)date);
	wr(4, (uint8_t)(time >> 16));
	wr(2, (uint8_t)(time >> 8));
	wr(0, (uint8_t)time);
}

static inline void check_due(uint64_t expected_ns)
{
	uint64_t due_ns;

	ck_assert(mc146818_next_irq(&rtc, now_ns, &due_ns));
	ck_assert_uint_eq(due_ns, expected_ns);
	/* Not a ns before, and then it is there. */
	now_ns = due_ns - 1;
	ck_assert(!irq());
	now_ns = due_ns;
	ck_assert(irq());
}

static inline void check_never(void)
{
	uint64_t due_ns;

	ck_assert(!mc146818_next_irq(&rtc, now_ns, &due_ns));
}

#endif
