/* SPDX-License-Identifier: MIT */
/*
 * bus - port and memory accesses of the guest, and the devices behind them.
 *
 * One lock for all devices: none of them is on the timer's path. A device
 * model only says what is to be done; bus_out returns that to the vCPU
 * thread, which acts after the lock is gone.
 */
#ifndef VMM_BUS_H
#define VMM_BUS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acpi_pm.h"
#include "i8042.h"
#include "reset_ctl.h"
#include "serial_port.h"

enum bus_action_kind {
	BUS_NONE,
	BUS_CONSOLE, /* value: the byte */
	BUS_EXIT,    /* value: what was written, unchanged */
	BUS_RESET,
	BUS_POWEROFF,
	BUS_LATENESS, /* value: guest-physical address of a report */
};

struct bus_action {
	enum bus_action_kind kind;
	uint32_t value;
};

struct bus {
	/* Set once. */
	int exit_port;	    /* -1: none */
	int serial_room_fd; /* eventfd, see bus_serial_room; -1: none */
	/* Guarded by lock. */
	struct serial_port com1;
	struct i8042 i8042;
	struct reset_ctl reset_ctl;
	struct acpi_pm acpi_pm;
	uint64_t unclaimed_in, unclaimed_out; /* port accesses to nothing */
	uint64_t unclaimed_mmio;
	pthread_mutex_t lock;
};

void bus_init(struct bus *bus, int exit_port);
void bus_destroy(struct bus *bus);

/* IN and OUT of size 1, 2 or 4. Nobody home: reads give all ones, writes
 * vanish, both are counted. vCPU threads. */
uint32_t bus_in(struct bus *bus, uint16_t port, unsigned int size);
struct bus_action bus_out(struct bus *bus, uint16_t port, unsigned int size,
			  uint32_t value);

/* An access to guest-physical memory that is not RAM: all ones on a read,
 * nothing on a write; counted. vCPU threads. */
void bus_mmio(struct bus *bus, bool is_write, uint8_t *data, unsigned int len);

/* Bytes for the serial port; returns how many of them had room. Main thread. */
size_t bus_serial_put(struct bus *bus, const uint8_t *bytes, size_t count);

/* How many it would take, or, unless eager, 0 until the guest looks for input.
 * After a 0 serial_room_fd becomes readable when there is room. Main thread. */
size_t bus_serial_room(struct bus *bus, bool eager);

#endif
