/* SPDX-License-Identifier: MIT */
/*
 * i8254_case - an interval timer, an instant, and a guest's way to it.
 */
#ifndef TESTS_I8254_CASE_H
#define TESTS_I8254_CASE_H

#include "i8254.h"

#include "tap.h"

static struct i8254 pit;
static uint64_t now_pit;

static inline void setup(void)
{
	i8254_reset(&pit);
	/* Any instant will do. */
	now_pit = 1000;
}

static inline void out(uint16_t port, uint8_t value)
{
	i8254_write(&pit, port, value, now_pit);
}

static inline uint8_t in(uint16_t port)
{
	return i8254_read(&pit, port, now_pit);
}

static inline unsigned int in_word(uint16_t port)
{
	unsigned int low = in(port);

	return in(port) << 8 | low;
}

static inline void out_word(uint16_t port, unsigned int value)
{
	out(port, (uint8_t)value);
	out(port, (uint8_t)(value >> 8));
}

/* The output of a channel at `from`, and for so many ticks. */
static inline void check_out(unsigned int channel, uint64_t from_pit,
			     uint64_t ticks, bool level)
{
	ck_assert_int_eq(i8254_out(&pit, channel, from_pit), level);
	ck_assert_int_eq(i8254_out(&pit, channel, from_pit + ticks - 1), level);
}

static inline void check_rise(unsigned int channel, uint64_t after_pit,
			      uint64_t expected_pit)
{
	uint64_t rise_pit = 0;

	ck_assert(i8254_next_rise(&pit, channel, after_pit, &rise_pit));
	ck_assert_uint_eq(rise_pit, expected_pit);
}

static inline void check_no_rise(unsigned int channel, uint64_t after_pit)
{
	uint64_t rise_pit;

	ck_assert(!i8254_next_rise(&pit, channel, after_pit, &rise_pit));
}

#endif
