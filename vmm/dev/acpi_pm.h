/* SPDX-License-Identifier: MIT */
/*
 * acpi_pm - the fixed power management registers, enough to power off.
 *
 * Pure: no I/O, no locks; the owner serialises calls and hands over byte
 * accesses with their offset from ACPI_PM_PORT. A wider access is its bytes,
 * low one first: what acts, SLP_EN with its SLP_TYP, is in one byte.
 * Reference: ACPI Specification 6.4 "PM1 Event Grouping", "PM1 Control
 * Grouping". Not modelled: the power and sleep buttons, the timer, wake-up,
 * general-purpose events; no event is ever pending, so no SCI either.
 *
 *   0x600  PM1a status   2 bytes, always 0
 *   0x602  PM1a enable   2 bytes, reads back
 *   0x604  PM1a control  2 bytes
 */
#ifndef DEV_ACPI_PM_H
#define DEV_ACPI_PM_H

#include <stdbool.h>
#include <stdint.h>

#define ACPI_PM_PORT	   0x600u
#define ACPI_PM_WINDOW	   6u
#define ACPI_PM_EVENT_PORT ACPI_PM_PORT /* the FADT's PM1a_EVT_BLK */
#define ACPI_PM_EVENT_SIZE 4u
#define ACPI_PM_CNT_PORT   (ACPI_PM_PORT + ACPI_PM_EVENT_SIZE)
#define ACPI_PM_CNT_SIZE   2u

/* SLP_TYP of soft off, as the DSDT's _S5 says. */
#define ACPI_PM_SLEEP_S5   5u

struct acpi_pm {
	uint8_t enable[2];
	uint8_t control[2];
};

/* State after power-on. */
void acpi_pm_reset(struct acpi_pm *pm);

/* Guest reads the byte at offset, 0 to ACPI_PM_WINDOW - 1. */
uint8_t acpi_pm_read(const struct acpi_pm *pm, unsigned int offset);

/* Guest writes the byte at offset, 0 to ACPI_PM_WINDOW - 1. True: it powers
 * the machine off. */
bool acpi_pm_write(struct acpi_pm *pm, unsigned int offset, uint8_t value);

#endif
