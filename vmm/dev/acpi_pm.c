/* SPDX-License-Identifier: MIT */
/*
 * PM1a: status, enable and control register, a byte at a time.
 * Reference: ACPI Specification 6.4 "PM1 Status Registers", "PM1 Enable
 * Registers", "PM1 Control Registers". A sleep state other than S5 is not
 * entered: the DSDT offers none.
 */
#include "acpi_pm.h"

#include <assert.h>

/* Offsets of the bytes. */
enum {
	PM1_STATUS = 0,
	PM1_ENABLE = 2,
	PM1_CONTROL = 4,
};

/* Low byte of control. Hardware is in ACPI mode from the start: the FADT has
 * no SMI command port that could change it. */
#define CONTROL_SCI_EN	      0x01u
#define CONTROL_LOW_KEPT      0x02u /* BM_RLD; GBL_RLS reads as 0 */

/* High byte of control. */
#define CONTROL_SLP_TYP	      0x1cu
#define CONTROL_SLP_TYP_SHIFT 2
#define CONTROL_SLP_EN	      0x20u /* reads as 0 */

void acpi_pm_reset(struct acpi_pm *pm)
{
	*pm = (struct acpi_pm){.control = {CONTROL_SCI_EN}};
}

uint8_t acpi_pm_read(const struct acpi_pm *pm, unsigned int offset)
{
	assert(offset < ACPI_PM_WINDOW);
	if (offset >= PM1_CONTROL)
		return pm->control[offset - PM1_CONTROL];
	if (offset >= PM1_ENABLE)
		return pm->enable[offset - PM1_ENABLE];
	return 0;
}

bool acpi_pm_write(struct acpi_pm *pm, unsigned int offset, uint8_t value)
{
	assert(offset < ACPI_PM_WINDOW);
	switch (offset) {
	case PM1_ENABLE:
	case PM1_ENABLE + 1:
		pm->enable[offset - PM1_ENABLE] = value;
		return false;
	case PM1_CONTROL:
		pm->control[0] = (value & CONTROL_LOW_KEPT) | CONTROL_SCI_EN;
		return false;
	case PM1_CONTROL + 1:
		pm->control[1] = value & CONTROL_SLP_TYP;
		return (value & CONTROL_SLP_EN) &&
		       (value & CONTROL_SLP_TYP) >> CONTROL_SLP_TYP_SHIFT ==
			       ACPI_PM_SLEEP_S5;
	default:
		/* Writing ones clears status bits; none is ever set. */
		return false;
	}
}
