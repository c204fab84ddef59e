/* SPDX-License-Identifier: MIT */
/*
 * uart16550_case - a serial port, and both ends of it.
 */
#ifndef TESTS_UART16550_CASE_H
#define TESTS_UART16550_CASE_H

#include "uart16550.h"

#include "tap.h"

static struct uart16550 uart;

static inline void setup(void)
{
	uart16550_reset(&uart);
}

/* And a while goes by. */
static inline uint8_t rd(unsigned int offset)
{
	uint8_t value = uart16550_read(&uart, offset);

	uart16550_timed_out(&uart);
	return value;
}

/* A write that sends; the byte is out at once. */
static inline void send(uint8_t value)
{
	uint8_t out_byte = (uint8_t)~value;

	ck_assert(uart16550_write(&uart, 0, value, &out_byte));
	ck_assert_uint_eq(out_byte, value);
	uart16550_sent(&uart);
}

static inline bool irq(void)
{
	return uart16550_irq(&uart);
}

static inline void receive(const char *text)
{
	for (; *text; text++)
		ck_assert(uart16550_receive(&uart, (uint8_t)*text));
}

/* A write that must not send anything. */
static inline void wr(unsigned int offset, uint8_t value)
{
	uint8_t out_byte = 0xee;

	ck_assert(!uart16550_write(&uart, offset, value, &out_byte));
	ck_assert_uint_eq(out_byte, 0xee);
}

#endif
