/* SPDX-License-Identifier: MIT */
/*
 * echo - reads the serial port and sends back what it reads.
 *
 *   until=N  the byte that ends it (default 4, end of transmission); it is
 *            not sent back
 *   bytes=N  or so many bytes, the last of which is sent back
 *   sum      no echo: the number of bytes and their sum at the end
 *   fifo=N   0: without the FIFO, one byte at a time (default 1)
 *   slow     three other accesses of the port before each byte
 *   late_ms=N  does not look at the port before that
 *   halt     looks whether there is input, and halts for ever, interrupts on
 * Then exits with status 0.
 */
#include "apic.h"
#include "arch.h"
#include "boot.h"
#include "console.h"
#include "cpu.h"
#include "power.h"
#include "tsc_khz.h"
#include "words.h"

#include <stdbool.h>

#define UART_RBR    0x3f8
#define UART_FCR    0x3fa
#define FCR_ON	    0x07
#define UART_LSR    0x3fd
#define LSR_DR	    0x01
#define UART_SCR    0x3ff
#define SLOW_WRITES 3
#define LOOKS	    20 /* in a row: a VMM may take this for polling */
#define NOT_A_BYTE  256
#define DEFAULT_KHZ 1000000u /* where nobody tells the frequency */

static uint8_t read_byte(bool slow)
{
	for (int i = 0; slow && i < SLOW_WRITES; i++)
		port_out8(UART_SCR, (uint8_t)i);
	while (!(port_in8(UART_LSR) & LSR_DR))
		cpu_relax();
	return port_in8(UART_RBR);
}

static void wait_ms(uint64_t ms)
{
	const char *source;
	uint64_t khz = tsc_khz_from_host(&source);
	uint64_t until_tsc = tsc_read() + ms * (khz ? khz : DEFAULT_KHZ);

	while (tsc_read() < until_tsc)
		cpu_relax();
}

static void look_and_halt(void)
{
	for (int i = 0; i < LOOKS; i++)
		port_in8(UART_LSR);
	apic_init();
	irqwait_hlt(cpu_irqwait(0));
}

void guest_main(void)
{
	bool sum_only = words_flag("sum"), slow = words_flag("slow");
	uint64_t bytes = words_u64("bytes", 1, UINT64_MAX, 0);
	unsigned until = (unsigned)words_u64("until", 0, NOT_A_BYTE, 4);
	bool fifo = words_u64("fifo", 0, 1, 1);
	uint64_t late_ms = words_u64("late_ms", 0, 60000, 0);
	bool halt = words_flag("halt");
	uint64_t count = 0, sum = 0;

	words_end();
	port_out8(UART_FCR, fifo ? FCR_ON : 0);
	console_puts("echo: ready\n");
	wait_ms(late_ms);
	if (halt)
		look_and_halt();
	while (!bytes || count < bytes) {
		uint8_t byte = read_byte(slow);

		if (!bytes && byte == until)
			break;
		count++;
		/* The order counts, too. */
		sum = sum * 31 + byte;
		if (!sum_only)
			console_printf("%c", byte);
	}
	console_printf("echo: %llu bytes, sum %llx\n",
		       (unsigned long long)count, (unsigned long long)sum);
	power_exit(0);
}
