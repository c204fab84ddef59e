/* SPDX-License-Identifier: MIT */
/*
 * bus - decodes ports and hands accesses to the device models.
 *
 * Wide accesses to byte devices are split into bytes, low byte at the low
 * port, as a PC's bus does. Not here yet: IOAPIC, 8259, 8254, RTC and the
 * input side of the serial port; their ports read as nothing.
 */
#include "bus.h"

#include <string.h>

#include "report.h"

enum {
	PORT_COM1 = 0x3f8,
};

void bus_init(struct bus *bus, int exit_port)
{
	memset(bus, 0, sizeof(*bus));
	bus->exit_port = exit_port;
	uart16550_reset(&bus->com1);
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
		return uart16550_read(&bus->com1, port - PORT_COM1);
	if (port == I8042_STATUS_PORT)
		return i8042_read_status(&bus->i8042);
	if (port == RESET_CTL_PORT)
		return reset_ctl_read(&bus->reset_ctl);
	if (port_is_acpi_pm(port))
		return acpi_pm_read(&bus->acpi_pm, port - ACPI_PM_PORT);
	bus->unclaimed_in++;
	return 0xff;
}

uint32_t bus_in(struct bus *bus, uint16_t port, unsigned int size)
{
	uint32_t value = 0;

	pthread_mutex_lock(&bus->lock);
	for (unsigned int i = 0; i < size; i++)
		value |= (uint32_t)bus_in_byte_locked(bus, (uint16_t)(port + i))
			 << (8 * i);
	pthread_mutex_unlock(&bus->lock);
	return value;
}

static struct bus_action bus_out_byte_locked(struct bus *bus, uint16_t port,
					     uint8_t value)
{
	struct bus_action action = {.kind = BUS_NONE};

	uint8_t byte;

	if (port_is_com1(port)) {
		if (uart16550_write(&bus->com1, port - PORT_COM1, value,
				    &byte)) {
			uart16550_sent(&bus->com1);
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
	pthread_mutex_unlock(&bus->lock);
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
