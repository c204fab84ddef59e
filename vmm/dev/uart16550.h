/* SPDX-License-Identifier: MIT */
/*
 * uart16550 - serial port, a 16550A in an eight-byte register window.
 *
 * Pure: no I/O, no locks. The owner serialises calls, sends out the bytes it
 * is handed, hands in those that arrive, and looks at uart16550_irq after each
 * call. Output is instant, so the transmitter is always empty.
 * Reference: National Semiconductor PC16550D data sheet, "Registers", "FIFO
 * Interrupt Mode Operation"; for OUT2, IBM PC AT Technical Reference, "Serial/
 * Parallel Adapter".
 * Not modelled: line speed and format, with what they can do to a byte (parity
 * and framing errors, breaks), DMA signals, a peer that ever goes away (CTS,
 * DSR and DCD are on, RI is off).
 * Simplified: the time-out of the receive FIFO. What is below the trigger
 * level counts as timed out at once, since what arrives here comes in bursts
 * with silence after them; only after a read the owner says when, for the line
 * is low in between. A guest that reads on until there is no more, as Linux
 * does, then finds nothing in one more interrupt: those that come while it
 * reads are one to it.
 */
#ifndef DEV_UART16550_H
#define DEV_UART16550_H

#include <stdbool.h>
#include <stdint.h>

#define UART16550_WINDOW 8u
#define UART16550_FIFO	 16u

/* Offsets of two registers, for an owner that looks how a guest goes about:
 * the first sets the FIFOs up, the other tells whether there is a byte. */
#define UART16550_FCR	 2u
#define UART16550_LSR	 5u

struct uart16550 {
	/* Guest-visible registers. */
	uint8_t ier;
	uint8_t lcr;
	uint8_t mcr;
	uint8_t lsr; /* without DR, which is received > 0 */
	uint8_t msr_delta;
	uint8_t scr;
	uint8_t dll;
	uint8_t dlm;
	/* All that is kept of FCR, which is write-only. */
	bool fifo_enabled;
	uint8_t trigger; /* bytes */
	/* THR became empty, and nobody was told yet. */
	bool thr_news;
	/* Receive FIFO: the oldest of so many bytes. Without FIFO mode, one. */
	uint8_t fifo[UART16550_FIFO];
	uint8_t oldest, received;
	uint8_t echoes; /* of those, the last: sent by the guest, in loopback */
	bool just_read; /* one of those before them: no time-out yet */
	uint8_t rbr;	/* the last byte that was read */
};

/* State after master reset. */
void uart16550_reset(struct uart16550 *u);

/* Guest reads the byte at offset (only its low three bits count). Reading RBR,
 * IIR, LSR and MSR has the side effects of the chip. uart16550_timed_out is to
 * be called next. */
uint8_t uart16550_read(struct uart16550 *u, unsigned int offset);

/* Guest writes the byte at offset (only its low three bits count). True: send
 * *out_byte to the line. False: *out_byte is untouched. */
bool uart16550_write(struct uart16550 *u, unsigned int offset, uint8_t value,
		     uint8_t *out_byte);

/* The byte of the last write is out, or as good as that: to be called after
 * each write that was true, before any other call but uart16550_irq. Apart
 * from the write because the interrupt line is low in between, and an edge
 * input that does not see it would miss that THR is empty again. */
void uart16550_sent(struct uart16550 *u);

/* It is a while since the last read: to be called after each, before any other
 * call but uart16550_irq. Apart from the read because it ends a time-out, and
 * the interrupt line is low until the next: an edge input that does not see it
 * would miss what a guest left in the FIFO for that. */
void uart16550_timed_out(struct uart16550 *u);

/* A byte arrives from the line. False: there is no room, or the chip is not on
 * the line (loopback), or what came by loopback is yet to be read; nothing has
 * changed, and the owner is to keep the byte. A real line would lose it. Room
 * may come with any guest access. */
bool uart16550_receive(struct uart16550 *u, uint8_t value);

/* Bytes of the line that the chip has for the guest: they come before those of
 * loopback. */
unsigned int uart16550_from_line(const struct uart16550 *u);

/* Bytes of the line from which on the guest is told of data: the trigger level,
 * or one without FIFOs. */
unsigned int uart16550_trigger(const struct uart16550 *u);

/* Whether the guest wants to be told of bytes that arrive. */
bool uart16550_expects(const struct uart16550 *u);

/* Level of the interrupt line, IRQ 4 for COM1. On a PC it goes through a gate
 * that OUT2 opens, and that loopback shuts. */
bool uart16550_irq(const struct uart16550 *u);

#endif
