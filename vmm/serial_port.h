/* SPDX-License-Identifier: MIT */
/*
 * serial_port - the first serial port: the chip, and the bytes on the line
 * that wait for it.
 *
 * Pure: no I/O, no locks; the bus serialises calls. A byte leaves the line
 * when the guest has read it, not before: a guest that empties the chip's
 * FIFO, as drivers do when they start, gets the byte again. For the same
 * reason nothing is handed to the chip until the guest looks for input: it
 * has the receive interrupt on, or it polls.
 *
 * A look of a guest that polls is a read of LSR right after another one: this
 * chip's transmitter is always ready, so one that prints has no reason for it.
 * SERIAL_LOOKS looks since FCR was last written are a guest that polls. One is
 * not: Linux, in serial8250_do_startup, empties the FIFOs, reads LSR for a port
 * that is there, again for its transmitter, and some accesses later throws away
 * what is in RBR; then its receive interrupt goes on.
 */
#ifndef VMM_SERIAL_PORT_H
#define VMM_SERIAL_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uart16550.h"

enum {
	SERIAL_LINE_SIZE = 4096, /* a power of two */
	SERIAL_LOOKS = 8,
};

struct serial_port {
	struct uart16550 uart;
	/* Bytes from outside that the guest has not read, oldest first; the
	 * first handed of them are in the chip. */
	uint8_t line[SERIAL_LINE_SIZE];
	uint64_t taken, put; /* ever; put - taken wait */
	unsigned int handed;
	bool lsr_was_read;  /* by the last access */
	unsigned int looks; /* since FCR was written; SERIAL_LOOKS at most */
	bool awaited;	    /* the guest has looked for input, ever */
	bool starved;	    /* whoever fills the line waits for room */
};

void serial_port_init(struct serial_port *port);

/* The guest's accesses, as uart16550_read and uart16550_write: after a read the
 * owner looks at the interrupt line, then calls serial_port_go_on, before
 * anything else; after a write that was true, serial_port_sent. */
uint8_t serial_port_read(struct serial_port *port, unsigned int offset);
bool serial_port_write(struct serial_port *port, unsigned int offset,
		       uint8_t value, uint8_t *out_byte);

/* What waits on the line comes into the chip, and what a read left there is
 * reported: on a real line either takes a while, and the interrupt line is low
 * for it. */
void serial_port_go_on(struct serial_port *port);

/* The byte is out: a console takes it at once. */
void serial_port_sent(struct serial_port *port);

/* Level of the interrupt line, to be looked at after each call. */
bool serial_port_irq(const struct serial_port *port);

/* Puts bytes on the line; returns how many had room. */
size_t serial_port_put(struct serial_port *port, const uint8_t *bytes,
		       size_t count);

/*
 * Room on the line, in bytes: 0 until the guest has looked for input, unless
 * eager. After a 0 serial_port_wants tells when to ask again.
 */
size_t serial_port_room(struct serial_port *port, bool eager);

/* True once for each 0 of serial_port_room: the line is half empty again, and
 * the guest looks for input. To be asked after each access of the guest. */
bool serial_port_wants(struct serial_port *port);

#endif
