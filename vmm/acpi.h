/* SPDX-License-Identifier: MIT */
/*
 * acpi - the ACPI tables of the machine.
 *
 * RSDP (revision 2) with RSDT and XSDT, FADT (revision 6), FACS, MADT, DSDT.
 * The hardware is not of the reduced kind: PM1a registers, 8259s and an
 * IOAPIC are there. Pure: writes to the caller's buffer.
 * Reference: ACPI Specification 6.4, chapter 5 "ACPI Software Programming
 * Model".
 */
#ifndef VMM_ACPI_H
#define VMM_ACPI_H

#include <stdint.h>

#define ACPI_TABLES_SIZE UINT32_C(0x1000)

/*
 * Write the tables for that many vCPUs (1 to PLATFORM_CPUS_MAX) to out, which
 * a guest sees at gpa: 64-byte aligned, all below 4 GiB. The RSDP is at gpa.
 * Bytes of out that no table needs are left alone. Returns how many bytes are
 * in use. Any thread.
 */
uint32_t acpi_write(uint8_t out[ACPI_TABLES_SIZE], uint32_t gpa,
		    unsigned int cpus);

/* The DSDT's AML without its header; *size in bytes. */
const uint8_t *acpi_dsdt_aml(uint32_t *size);

#endif
