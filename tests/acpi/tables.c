/* SPDX-License-Identifier: MIT */
/*
 * tables DIRECTORY CPUS - write each ACPI table to a file of its own, named
 * after its signature, for iasl.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acpi.h"

#define GPA UINT32_C(0xf0000)

static uint8_t memory[ACPI_TABLES_SIZE];

static uint32_t get32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static const uint8_t *save(const char *directory, uint32_t gpa)
{
	const uint8_t *table = memory + (gpa - GPA);
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%.4s.dat", directory,
		 (const char *)table);
	file = fopen(path, "wb");
	if (!file || fwrite(table, get32(table + 4), 1, file) != 1 ||
	    fclose(file)) {
		perror(path);
		exit(1);
	}
	return table;
}

int main(int argc, char **argv)
{
	const uint8_t *rsdt, *fadt;

	if (argc != 3)
		return 64;
	acpi_write(memory, GPA, (unsigned int)atoi(argv[2]));
	rsdt = save(argv[1], get32(memory + 16));
	save(argv[1], get32(memory + 24));
	fadt = save(argv[1], get32(rsdt + 36));
	save(argv[1], get32(rsdt + 40));
	save(argv[1], get32(fadt + 36));
	save(argv[1], get32(fadt + 40));
	return 0;
}
