/* SPDX-License-Identifier: MIT */
/*
 * uart16550 - serial port, a 16550A in an eight-byte register window.
 *
 * Pure: no I/O, no locks. The owner serialises calls and sends out the bytes
 * it is handed. Output is instant, so the transmitter is always empty.
 * Reference: National Semiconductor PC16550D data sheet, register summary.
 * Not modelled: input from outside (data arrives in loopback only), the
 * interrupt line (IER is stored but raises nothing), line speed, modem status
 * changes, receive FIFO depth beyond one byte.
 */
#ifndef DEV_UART16550_H
#define DEV_UART16550_H

#include <stdbool.h>
#include <stdint.h>

#define UART16550_WINDOW 8u

struct uart16550 {
	/* Guest-visible registers. */
	uint8_t rbr;
	uint8_t ier;
	uint8_t lcr;
	uint8_t mcr;
	uint8_t lsr;
	uint8_t scr;
	uint8_t dll;
	uint8_t dlm;
	bool fifo_enabled; /* all that is kept of FCR, which is write-only */
};

/* State after master reset. */
void uart16550_reset(struct uart16550 *u);

/* Guest reads the byte at offset (only its low three bits count). Reading RBR
 * and LSR has the side effects of the chip. */
uint8_t uart16550_read(struct uart16550 *u, unsigned int offset);

/* Guest writes the byte at offset (only its low three bits count). True: send
 * *out_byte to the line. False: *out_byte is untouched. */
bool uart16550_write(struct uart16550 *u, unsigned int offset, uint8_t value,
		     uint8_t *out_byte);

#endif
