/* SPDX-License-Identifier: MIT */
/*
 * i8259_case - a pair of interrupt controllers, and a guest's way to it.
 */
#ifndef TESTS_I8259_CASE_H
#define TESTS_I8259_CASE_H

#include "i8259.h"

#include "tap.h"

static struct i8259 pic;

static inline void out(uint16_t port, uint8_t value)
{
	i8259_write(&pic, port, value);
}

static inline uint8_t in(uint16_t port)
{
	return i8259_read(&pic, port);
}

static inline void line(unsigned int irq, bool asserted)
{
	i8259_set_line(&pic, irq, asserted);
}

/* As guests do it: vectors from 0x30 and from 0x38. */
static inline void initialise(uint8_t icw4_first)
{
	out(0x20, 0x11);
	out(0x21, 0x30);
	out(0x21, 0x04);
	out(0x21, icw4_first);
	out(0xa0, 0x11);
	out(0xa1, 0x38);
	out(0xa1, 0x02);
	out(0xa1, 0x01);
}

static inline void setup_cold(void)
{
	i8259_reset(&pic);
}

static inline void setup(void)
{
	i8259_reset(&pic);
	initialise(0x01);
}

static inline void check_idle(void)
{
	ck_assert(!i8259_intr(&pic));
}

static inline void check_ack(uint8_t vector)
{
	ck_assert(i8259_intr(&pic));
	ck_assert_uint_eq(i8259_intack(&pic), vector);
}

static inline uint8_t isr(uint16_t port)
{
	out(port, 0x0b);
	return in(port);
}

static inline uint8_t irr(uint16_t port)
{
	out(port, 0x0a);
	return in(port);
}

#endif
