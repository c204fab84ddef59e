/* SPDX-License-Identifier: MIT */
/* serial_port - see serial_port.h. Not here: where the bytes come from. */
#include "serial_port.h"

#include <string.h>

enum {
	LINE_MASK = SERIAL_LINE_SIZE - 1,
	LINE_LOW = SERIAL_LINE_SIZE / 2,
};

void serial_port_init(struct serial_port *port)
{
	memset(port, 0, sizeof(*port));
	uart16550_reset(&port->uart);
}

static size_t waiting(const struct serial_port *port)
{
	return port->put - port->taken;
}

static bool guest_looks(const struct serial_port *port)
{
	return uart16550_expects(&port->uart) || port->looks >= SERIAL_LOOKS;
}

/* Hands over what there is, if the guest looks for it, up to the trigger: a
 * line is slow, and a guest that takes so many at each interrupt finds no more.
 * With more in the chip it would not be interrupted again. */
static void feed(struct serial_port *port)
{
	if (!guest_looks(port))
		return;
	port->awaited = true;
	while (port->handed < waiting(port) &&
	       port->handed < uart16550_trigger(&port->uart) &&
	       uart16550_receive(
		       &port->uart,
		       port->line[(port->taken + port->handed) & LINE_MASK]))
		port->handed++;
}

static void note_read(struct serial_port *port, unsigned int offset)
{
	bool is_lsr = offset == UART16550_LSR;

	if (is_lsr && port->lsr_was_read && port->looks < SERIAL_LOOKS)
		port->looks++;
	port->lsr_was_read = is_lsr;
}

/* A byte of the line that the guest took out of the chip is read, and not one
 * that it sent itself, in loopback. */
static void settle_read(struct serial_port *port)
{
	if (uart16550_from_line(&port->uart) == port->handed)
		return;
	port->handed--;
	port->taken++;
}

uint8_t serial_port_read(struct serial_port *port, unsigned int offset)
{
	uint8_t value;

	offset %= UART16550_WINDOW;
	note_read(port, offset);
	feed(port);
	value = uart16550_read(&port->uart, offset);
	settle_read(port);
	return value;
}

void serial_port_go_on(struct serial_port *port)
{
	uart16550_timed_out(&port->uart);
	feed(port);
}

/* A write takes nothing out of the chip but to throw it away. */
static void written(struct serial_port *port)
{
	port->handed = uart16550_from_line(&port->uart);
	feed(port);
}

bool serial_port_write(struct serial_port *port, unsigned int offset,
		       uint8_t value, uint8_t *out_byte)
{
	port->lsr_was_read = false;
	if (offset % UART16550_WINDOW == UART16550_FCR)
		port->looks = 0;
	if (uart16550_write(&port->uart, offset, value, out_byte))
		return true;
	written(port);
	return false;
}

void serial_port_sent(struct serial_port *port)
{
	uart16550_sent(&port->uart);
	written(port);
}

bool serial_port_irq(const struct serial_port *port)
{
	return uart16550_irq(&port->uart);
}

size_t serial_port_put(struct serial_port *port, const uint8_t *bytes,
		       size_t count)
{
	size_t room = SERIAL_LINE_SIZE - waiting(port);

	if (count > room)
		count = room;
	for (size_t i = 0; i < count; i++)
		port->line[port->put++ & LINE_MASK] = bytes[i];
	feed(port);
	return count;
}

size_t serial_port_room(struct serial_port *port, bool eager)
{
	size_t room = 0;

	if (port->awaited || eager)
		room = SERIAL_LINE_SIZE - waiting(port);
	port->starved = !room;
	return room;
}

bool serial_port_wants(struct serial_port *port)
{
	if (!port->starved || !port->awaited || waiting(port) > LINE_LOW)
		return false;
	port->starved = false;
	return true;
}
