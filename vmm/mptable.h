/* SPDX-License-Identifier: MIT */
/*
 * mptable - the MultiProcessor tables, for guests that know no ACPI.
 *
 * Floating pointer and configuration table. Pure: writes to the caller's
 * buffer. Reference: Intel MultiProcessor Specification 1.4, chapter 4 "MP
 * Configuration Table".
 */
#ifndef VMM_MPTABLE_H
#define VMM_MPTABLE_H

#include <stdint.h>

#define MPTABLE_SIZE UINT32_C(0x1000)

/*
 * Write the tables for that many vCPUs (1 to PLATFORM_CPUS_MAX) to out, which
 * a guest sees at gpa: 16-byte aligned, all below 4 GiB. The floating pointer
 * is at gpa, which must lie where guests look for it: 0xf0000-0xfffff. Bytes
 * that the tables do not need are left alone. Returns how many are in use.
 * Any thread.
 */
uint32_t mptable_write(uint8_t out[MPTABLE_SIZE], uint32_t gpa,
		       unsigned int cpus);

#endif
