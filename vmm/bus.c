/* SPDX-License-Identifier: MIT */
/*
 * bus - decodes ports and hands accesses to the device models.
 *
 * Wide accesses to byte devices are split into bytes, low byte at the low
 * port, as a PC's bus does. Not here yet: IOAPIC, 8259, 8254 and RTC; their
 * ports read as nothing.
 */
#include "bus.h"

#include <string.h>
#include <unistd.h>

#include "report.h"

enum {
	PORT_COM1 = 0x3f8,
};

void bus_init(struct bus *bus, int exit_port)
{
	memset(bus, 0, sizeof(*bus));
	bus->exit_port = exit_port;
	bus->serial_room_fd = -1;
	serial_port_init(&bus->com1);
	i8042_reset(&bus->i8042);
	reset_ctl_reset(&bus->reset_ctl);
	acpi_pm_reset(&bus->acpi_pm);
	pthread_mutex_init(&bus->lock, NULL);
}

void bus_destroy(struct bus *bus)
{
	pthread_mutex_destroy(&bus->lock);
}

static bool port_is_com1(uint16_t port)
{
	return port >= PORT_COM1 && port < PORT_COM1 + UART16550_WINDOW;
}

static bool port_is_acpi_pm(uint16_t port)
{
	return port >= ACPI_PM_PORT && port < ACPI_PM_PORT + ACPI_PM_WINDOW;
}

static uint8_t bus_in_byte_locked(struct bus *bus, uint16_t port)
{
	if (port_is_com1(port))
		return serial_port_read(&bus->com1, port - PORT_COM1);
	if (port == I8042_STATUS_PORT)
		return i8042_read_status(&bus->i8042);
	if (port == RESET_CTL_PORT)
		return reset_ctl_read(&bus->reset_ctl);
	if (port_is_acpi_pm(port))
		return acpi_pm_read(&bus->acpi_pm, port - ACPI_PM_PORT);
	bus->unclaimed_in++;
	return 0xff;
}

/* The main thread may go on with what it has for the serial port: after half
 * a line of bytes at the soonest, so this is no write for each. */
static void bus_tell_of_room(const struct bus *bus, bool wants)
{
	const uint64_t one = 1;

	if (wants && bus->serial_room_fd >= 0 &&
	    write(bus->serial_room_fd, &one, sizeof(one)) < 0)
		return; /* it was told before, and has not looked yet */
}

uint32_t bus_in(struct bus *bus, uint16_t port, unsigned int size)
{
	uint32_t value = 0;
	bool wants;

	pthread_mutex_lock(&bus->lock);
	for (unsigned int i = 0; i < size; i++)
		value |= (uint32_t)bus_in_byte_locked(bus, (uint16_t)(port + i))
			 << (8 * i);
	wants = serial_port_wants(&bus->com1);
	pthread_mutex_unlock(&bus->lock);
	bus_tell_of_room(bus, wants);
	return value;
}

static struct bus_action bus_out_byte_locked(struct bus *bus, uint16_t port,
					     uint8_t value)
{
	struct bus_action action = {.kind = BUS_NONE};

	uint8_t byte;

	if (port_is_com1(port)) {
		if (serial_port_write(&bus->com1, port - PORT_COM1, value,
				      &byte)) {
			action.kind = BUS_CONSOLE;
			action.value = byte;
		}
	} else if (port == I8042_STATUS_PORT) {
		if (i8042_write_command(&bus->i8042, value))
			action.kind = BUS_RESET;
	} else if (port == RESET_CTL_PORT) {
		if (reset_ctl_write(&bus->reset_ctl, value))
			action.kind = BUS_RESET;
	} else if (port_is_acpi_pm(port)) {
		if (acpi_pm_write(&bus->acpi_pm, port - ACPI_PM_PORT, value))
			action.kind = BUS_POWEROFF;
	} else {
		bus->unclaimed_out++;
	}
	return action;
}

struct bus_action bus_out(struct bus *bus, uint16_t port, unsigned int size,
			  uint32_t value)
{
	struct bus_action action = {.kind = BUS_NONE};
	bool wants;

	/* These two are not byte devices: the value counts whole. */
	if (port == bus->exit_port || port == LATENESS_REPORT_PORT) {
		action.kind =
			port == LATENESS_REPORT_PORT ? BUS_LATENESS : BUS_EXIT;
		action.value = value;
		return action;
	}
	pthread_mutex_lock(&bus->lock);
	/* A wide write to the UART reaches one register with an effect at
	 * most, its first; a later byte must not undo what it asked for. */
	for (unsigned int i = 0; i < size; i++) {
		struct bus_action one = bus_out_byte_locked(
			bus, (uint16_t)(port + i), (uint8_t)(value >> (8 * i)));

		if (action.kind == BUS_NONE)
			action = one;
	}
	wants = serial_port_wants(&bus->com1);
	pthread_mutex_unlock(&bus->lock);
	bus_tell_of_room(bus, wants);
	return action;
}

void bus_mmio(struct bus *bus, bool is_write, uint8_t *data, unsigned int len)
{
	pthread_mutex_lock(&bus->lock);
	bus->unclaimed_mmio++;
	pthread_mutex_unlock(&bus->lock);
	if (!is_write)
		memset(data, 0xff, len);
}

size_t bus_serial_put(struct bus *bus, const uint8_t *bytes, size_t count)
{
	size_t taken;

	pthread_mutex_lock(&bus->lock);
	taken = serial_port_put(&bus->com1, bytes, count);
	pthread_mutex_unlock(&bus->lock);
	return taken;
}

size_t bus_serial_room(struct bus *bus, bool eager)
{
	size_t room;

	pthread_mutex_lock(&bus->lock);
	room = serial_port_room(&bus->com1, eager);
	pthread_mutex_unlock(&bus->lock);
	return room;
}
