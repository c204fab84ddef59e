/* SPDX-License-Identifier: MIT */
/*
 * table_checksum - the byte that makes a table's bytes add up to 0, which is
 * how firmware's tables are checked (ACPI, "System Description Table Header";
 * MultiProcessor Specification, "MP Configuration Table").
 */
#ifndef VMM_TABLE_CHECKSUM_H
#define VMM_TABLE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of size bytes, among which the checksum's own is 0. Pure. */
static inline uint8_t table_checksum(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint8_t sum = 0;

	while (size--)
		sum = (uint8_t)(sum + *at++);
	return (uint8_t)-sum;
}

#endif
