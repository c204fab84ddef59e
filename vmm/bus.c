/* SPDX-License-Identifier: MIT */
/*
 * bus - decodes ports and hands accesses to the device models.
 *
 * Wide accesses to byte devices are split into bytes, low byte at the low
 * port, as a PC's bus does. After each byte the device's interrupt line is
 * looked at, so that what is an edge to one register is one to the next.
 * The test ports come first: some take more than a byte at once.
 */
#include "bus.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "platform.h"
#include "report.h"
#include "test_ports.h"

enum {
	PORT_COM1 = 0x3f8,
	PORT_PCI_ADDRESS = 0xcf8, /* 32 bits wide; there is no PCI */
	IRQ_KEYBOARD = 1,
	IRQ_COM1 = 4,
	IOAPIC_WINDOW = 0x1000,
};

void bus_init(struct bus *bus, int exit_port, uint64_t (*read_ns)(clockid_t))
{
	struct irqs_work power_on = {.msg_count = 0};

	memset(bus, 0, sizeof(*bus));
	bus->exit_port = exit_port;
	bus->marker_port = -1;
	bus->serial_room_fd = -1;
	serial_port_init(&bus->com1);
	i8042_reset(&bus->i8042);
	reset_ctl_reset(&bus->reset_ctl);
	acpi_pm_reset(&bus->acpi_pm);
	clocks_init(&bus->clocks, read_ns);
	irqs_init(&bus->irqs, &bus->lock);
	/* High, as the timer's output is then: to choose a wave is no edge. */
	irqs_set_isa_locked(&bus->irqs, PLATFORM_IRQ_TIMER, true, &power_on);
	pthread_mutex_init(&bus->lock, NULL);
}

void bus_destroy(struct bus *bus)
{
	test_ports_free(bus->test);
	irqs_destroy(&bus->irqs);
	pthread_mutex_destroy(&bus->lock);
}

void bus_connect(struct bus *bus, uint64_t ram_low_bytes,
		 uint64_t ram_high_bytes, const struct irqs_target *target)
{
	bus->irqs.target = *target;
	clocks_set_ram(&bus->clocks, ram_low_bytes, ram_high_bytes);
}

int bus_add_test_ports(struct bus *bus, uint64_t ram_bytes, unsigned int cpus)
{
	bus->test = test_ports_new(ram_bytes, cpus);
	return bus->test ? 0 : -ENOMEM;
}

/* Lets the lock go, and then delivers. */
static void bus_unlock(struct bus *bus, struct irqs_work *work)
{
	irqs_close_locked(&bus->irqs, work);
	pthread_mutex_unlock(&bus->lock);
	irqs_deliver(&bus->irqs, work);
}

static void bus_follow_com1(struct bus *bus, struct irqs_work *work)
{
	irqs_set_isa_locked(&bus->irqs, IRQ_COM1, serial_port_irq(&bus->com1),
			    work);
}

static void bus_follow_keyboard(struct bus *bus, struct irqs_work *work)
{
	irqs_set_isa_locked(&bus->irqs, IRQ_KEYBOARD, i8042_irq(&bus->i8042),
			    work);
}

static bool port_is_com1(uint16_t port)
{
	return port >= PORT_COM1 && port < PORT_COM1 + UART16550_WINDOW;
}

static bool port_is_acpi_pm(uint16_t port)
{
	return port >= ACPI_PM_PORT && port < ACPI_PM_PORT + ACPI_PM_WINDOW;
}

static uint8_t bus_in_com1_locked(struct bus *bus, uint16_t port,
				  struct irqs_work *work)
{
	uint8_t value = serial_port_read(&bus->com1, port - PORT_COM1);

	/* As after a write: that there is more is an edge, for a driver that
	 * takes a byte for each interrupt, or as many as the trigger says. To
	 * one that reads all there is they are one interrupt too many. */
	bus_follow_com1(bus, work);
	serial_port_go_on(&bus->com1);
	bus_follow_com1(bus, work);
	return value;
}

static uint8_t bus_in_byte_locked(struct bus *bus, uint16_t port,
				  struct irqs_work *work)
{
	uint8_t value;

	if (port_is_com1(port))
		return bus_in_com1_locked(bus, port, work);
	if (port == I8042_DATA_PORT) {
		value = i8042_read_data(&bus->i8042);
		bus_follow_keyboard(bus, work);
		return value;
	}
	if (port == I8042_STATUS_PORT)
		return i8042_read_status(&bus->i8042);
	if (irqs_has_port(port))
		return irqs_port_read_locked(&bus->irqs, port, work);
	if (clocks_has_port(port))
		return clocks_read_locked(&bus->clocks, port, &bus->irqs, work);
	if (port == RESET_CTL_PORT)
		return reset_ctl_read(&bus->reset_ctl);
	if (port_is_acpi_pm(port))
		return acpi_pm_read(&bus->acpi_pm, port - ACPI_PM_PORT);
	bus->unclaimed_in++;
	return 0xff;
}

/* As many of the size bytes as belong together, at least one; the low bytes of
 * *value. */
static unsigned int bus_in_part_locked(struct bus *bus, uint16_t port,
				       unsigned int size, uint32_t *value,
				       struct irqs_work *work)
{
	unsigned int taken = 0;

	if (bus->test)
		taken = test_ports_read_locked(bus->test, port, size, value);
	if (taken)
		return taken;
	*value = bus_in_byte_locked(bus, port, work);
	return 1;
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
	struct irqs_work work = {.msg_count = 0};
	uint32_t value = 0, part;
	unsigned int taken;
	bool wants;

	pthread_mutex_lock(&bus->lock);
	for (unsigned int i = 0; i < size; i += taken) {
		taken = bus_in_part_locked(bus, (uint16_t)(port + i), size - i,
					   &part, &work);
		value |= part << (8 * i);
	}
	wants = serial_port_wants(&bus->com1);
	bus_unlock(bus, &work);
	bus_tell_of_room(bus, wants);
	return value;
}

static struct bus_action bus_out_com1_locked(struct bus *bus, uint16_t port,
					     uint8_t value,
					     struct irqs_work *work)
{
	struct bus_action action = {.kind = BUS_NONE};
	uint8_t byte;

	if (serial_port_write(&bus->com1, port - PORT_COM1, value, &byte)) {
		action.kind = BUS_CONSOLE;
		action.value = byte;
		/* Low until the byte is out: "empty again" is an edge. That is
		 * one message a byte, also of a driver that fills the FIFO:
		 * for the line each byte finds it empty, and a driver that
		 * writes a byte for each interrupt, and asks nothing, needs
		 * every edge. Those that come before the guest took the first
		 * are one interrupt to it: Linux takes some 40 for 4 KiB. */
		bus_follow_com1(bus, work);
		serial_port_sent(&bus->com1);
	}
	bus_follow_com1(bus, work);
	return action;
}

static struct bus_action bus_out_keyboard_locked(struct bus *bus, uint16_t port,
						 uint8_t value,
						 struct irqs_work *work)
{
	bool resets = port == I8042_DATA_PORT
			      ? i8042_write_data(&bus->i8042, value)
			      : i8042_write_command(&bus->i8042, value);

	bus_follow_keyboard(bus, work);
	return (struct bus_action){.kind = resets ? BUS_RESET : BUS_NONE};
}

static struct bus_action bus_out_byte_locked(struct bus *bus, uint16_t port,
					     uint8_t value,
					     struct irqs_work *work)
{
	struct bus_action action = {.kind = BUS_NONE};

	if (port_is_com1(port)) {
		return bus_out_com1_locked(bus, port, value, work);
	} else if (port == I8042_DATA_PORT || port == I8042_STATUS_PORT) {
		return bus_out_keyboard_locked(bus, port, value, work);
	} else if (irqs_has_port(port)) {
		irqs_port_write_locked(&bus->irqs, port, value, work);
	} else if (clocks_has_port(port)) {
		clocks_write_locked(&bus->clocks, port, value, &bus->irqs,
				    work);
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

static unsigned int bus_out_part_locked(struct bus *bus, uint16_t port,
					unsigned int size, uint32_t value,
					struct bus_action *action,
					struct irqs_work *work)
{
	unsigned int taken = 0;

	if (bus->test)
		taken = test_ports_write_locked(bus->test, port, size, value,
						&bus->irqs, work, action);
	if (taken)
		return taken;
	/* Nobody's, unlike its single bytes (82441FX data sheet, "CONFADD"). */
	if (port == PORT_PCI_ADDRESS && size == sizeof(value)) {
		bus->unclaimed_out += size;
		return size;
	}
	*action = bus_out_byte_locked(bus, port, (uint8_t)value, work);
	return 1;
}

static enum bus_action_kind bus_whole_port(const struct bus *bus, uint16_t port)
{
	if (port == bus->exit_port)
		return BUS_EXIT;
	if (port == bus->marker_port)
		return BUS_MARKER;
	return port == LATENESS_REPORT_PORT ? BUS_LATENESS : BUS_NONE;
}

struct bus_action bus_out(struct bus *bus, uint16_t port, unsigned int size,
			  uint32_t value)
{
	struct bus_action action = {.kind = BUS_NONE};
	struct irqs_work work = {.msg_count = 0};
	unsigned int taken;
	bool wants;

	/* These are not byte devices: the value counts whole. */
	action.kind = bus_whole_port(bus, port);
	if (action.kind != BUS_NONE) {
		action.value = value;
		return action;
	}
	pthread_mutex_lock(&bus->lock);
	/* A wide write to the UART reaches one register with an effect at
	 * most, its first; a later byte must not undo what it asked for. */
	for (unsigned int i = 0; i < size; i += taken) {
		struct bus_action one = {.kind = BUS_NONE};

		taken = bus_out_part_locked(bus, (uint16_t)(port + i), size - i,
					    value >> (8 * i), &one, &work);
		if (action.kind == BUS_NONE)
			action = one;
	}
	wants = serial_port_wants(&bus->com1);
	bus_unlock(bus, &work);
	bus_tell_of_room(bus, wants);
	return action;
}

/* No register is wider than four bytes; the model counts what is. */
static void bus_ioapic_locked(struct bus *bus, uint32_t offset, bool is_write,
			      uint8_t *data, unsigned int len,
			      struct irqs_work *work)
{
	uint32_t value = 0;
	unsigned int used = len < sizeof(value) ? len : sizeof(value);

	if (is_write) {
		memcpy(&value, data, used);
		irqs_ioapic_write_locked(&bus->irqs, offset, len, value, work);
		return;
	}
	value = irqs_ioapic_read_locked(&bus->irqs, offset, len);
	memcpy(data, &value, used);
}

void bus_mmio(struct bus *bus, uint64_t gpa, bool is_write, uint8_t *data,
	      unsigned int len)
{
	struct irqs_work work = {.msg_count = 0};

	if (!is_write)
		memset(data, 0xff, len);
	pthread_mutex_lock(&bus->lock);
	if (gpa >= PLATFORM_IOAPIC_GPA &&
	    gpa < PLATFORM_IOAPIC_GPA + IOAPIC_WINDOW)
		bus_ioapic_locked(bus, (uint32_t)(gpa - PLATFORM_IOAPIC_GPA),
				  is_write, data, len, &work);
	else if (!bus->test ||
		 !test_ports_mmio_locked(bus->test, gpa, is_write, data, len))
		bus->unclaimed_mmio++;
	bus_unlock(bus, &work);
}

void bus_eoi(struct bus *bus, uint8_t vector)
{
	struct irqs_work work = {.msg_count = 0};

	pthread_mutex_lock(&bus->lock);
	irqs_eoi_locked(&bus->irqs, vector, &work);
	bus_unlock(bus, &work);
}

bool bus_intack(struct bus *bus, uint8_t *vector, bool *more)
{
	bool took;

	pthread_mutex_lock(&bus->lock);
	took = irqs_intack_locked(&bus->irqs, vector, more);
	pthread_mutex_unlock(&bus->lock);
	return took;
}

bool bus_reaches_all(struct bus *bus)
{
	bool reaches;

	pthread_mutex_lock(&bus->lock);
	reaches = ioapic_reaches_all(&bus->irqs.ioapic);
	pthread_mutex_unlock(&bus->lock);
	return reaches;
}

void bus_set_timer(struct bus *bus, int timer_fd)
{
	pthread_mutex_lock(&bus->lock);
	clocks_set_timer_locked(&bus->clocks, timer_fd);
	pthread_mutex_unlock(&bus->lock);
}

void bus_timer_expired(struct bus *bus)
{
	struct irqs_work work = {.msg_count = 0};

	pthread_mutex_lock(&bus->lock);
	clocks_run_locked(&bus->clocks, &bus->irqs, &work);
	bus_unlock(bus, &work);
}

size_t bus_serial_put(struct bus *bus, const uint8_t *bytes, size_t count)
{
	struct irqs_work work = {.msg_count = 0};
	size_t taken;

	pthread_mutex_lock(&bus->lock);
	taken = serial_port_put(&bus->com1, bytes, count);
	bus_follow_com1(bus, &work);
	bus_unlock(bus, &work);
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
