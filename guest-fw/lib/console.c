/* SPDX-License-Identifier: MIT */
/*
 * console - polled output on a 16550 at 0x3f8, and a small printf.
 * Reference: PC16550D data sheet, register names as there.
 * Not modelled: input, interrupts, flow control.
 */
#include "console.h"

#include "arch.h"

#include <stdarg.h>
#include <stdbool.h>

#define UART_BASE      0x3f8

#define UART_THR       0
#define UART_DLL       0
#define UART_IER       1
#define UART_DLM       1
#define UART_FCR       2
#define UART_LCR       3
#define LCR_8N1	       0x03
#define LCR_DLAB       0x80
#define UART_MCR       4
#define MCR_DTR_RTS    0x03
#define UART_LSR       5
#define LSR_THRE       0x20

#define DIVISOR_115200 1

void console_init(void)
{
	port_out8(UART_BASE + UART_IER, 0);
	port_out8(UART_BASE + UART_LCR, LCR_8N1 | LCR_DLAB);
	port_out8(UART_BASE + UART_DLL, DIVISOR_115200);
	port_out8(UART_BASE + UART_DLM, 0);
	port_out8(UART_BASE + UART_LCR, LCR_8N1);
	port_out8(UART_BASE + UART_FCR, 0x07);
	port_out8(UART_BASE + UART_MCR, MCR_DTR_RTS);
}

static void console_putc(char c)
{
	while (!(port_in8(UART_BASE + UART_LSR) & LSR_THRE))
		cpu_relax();
	port_out8(UART_BASE + UART_THR, (uint8_t)c);
}

void console_puts(const char *text)
{
	while (*text)
		console_putc(*text++);
}

static void console_put_number(uint64_t value, unsigned base, bool negative,
			       unsigned width, char pad)
{
	char digits[24];
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative && pad == '0')
		console_putc('-');
	for (unsigned used = n + negative; used < width; used++)
		console_putc(pad);
	if (negative && pad != '0')
		console_putc('-');
	while (n)
		console_putc(digits[--n]);
}

static void console_put_signed(int64_t value, unsigned width, char pad)
{
	uint64_t magnitude = (uint64_t)value;

	if (value < 0)
		magnitude = -magnitude;
	console_put_number(magnitude, 10, value < 0, width, pad);
}

void console_printf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	for (; *format; format++) {
		unsigned width = 0, longs = 0;
		char pad = ' ';

		if (*format != '%') {
			console_putc(*format);
			continue;
		}
		format++;
		if (*format == '0')
			pad = *format++;
		for (; *format >= '0' && *format <= '9'; format++)
			width = width * 10 + (unsigned)(*format - '0');
		for (; *format == 'l'; format++)
			longs++;
		switch (*format) {
		case 's':
			console_puts(va_arg(args, const char *));
			break;
		case 'c':
			console_putc((char)va_arg(args, int));
			break;
		case 'd':
			console_put_signed(longs ? va_arg(args, int64_t)
						 : va_arg(args, int),
					   width, pad);
			break;
		case 'u':
		case 'x':
			console_put_number(longs ? va_arg(args, uint64_t)
						 : va_arg(args, unsigned),
					   *format == 'x' ? 16 : 10, false,
					   width, pad);
			break;
		default:
			console_putc(*format);
			break;
		}
	}
	va_end(args);
}
