/* SPDX-License-Identifier: MIT */
/*
 * boot_tables - the fixed low-memory places of loader.h, and what all boot
 * protocols share there: GDT, command line and firmware tables.
 *
 * All writers expect RAM of at least RAM_MIN_SIZE. Any thread, while no vCPU
 * runs.
 */
#ifndef VMM_BOOT_TABLES_H
#define VMM_BOOT_TABLES_H

#include <stdint.h>

#include "loader.h"

struct guest_ram;
struct image_bytes;
struct load_area;

#define BOOT_GDT_GPA	      UINT64_C(0x90000)
#define BOOT_INFO_GPA	      UINT64_C(0x91000)
#define BOOT_MAP_GPA	      UINT64_C(0x92000)
#define BOOT_CMDLINE_GPA      UINT64_C(0x93000)
#define BOOT_PAGE_TABLES_GPA  UINT64_C(0x94000)
#define BOOT_STACK_GPA	      UINT64_C(0x9a000)
#define BOOT_STACK_END_GPA    UINT64_C(0x9e000)

/* Where a guest looks for both, if nobody tells it. */
#define BOOT_RSDP_GPA	      UINT64_C(0xf0000)
#define BOOT_MPTABLE_GPA      UINT64_C(0xf1000)
#define BOOT_FIRMWARE_END_GPA UINT64_C(0xf2000)

#define BOOT_INFO_SIZE	      UINT64_C(0x1000)
#define BOOT_MAP_SIZE	      UINT64_C(0x1000)
#define BOOT_CMDLINE_SIZE     UINT64_C(0x1000)
#define BOOT_PAGE_TABLES_SIZE UINT64_C(0x6000)

/* What a protocol passes on, whatever form it gives it. */
struct boot_content {
	const char *cmdline; /* checked; at most 4095 bytes */
	uint64_t initrd_gpa; /* 0: none */
	uint64_t initrd_size;
	const char *initrd_name; /* file name, "" if none */
	unsigned int cpus;	 /* for the firmware tables; at least 1 */
	const struct image_bytes *image; /* the file; for its setup header */
};

/* The areas that an entry state uses, in *areas; returns how many. */
unsigned int boot_tables_areas(enum boot_entry mode,
			       const struct load_area **areas);

/* Write GDT, command line, ACPI and MP tables, and set the members of *state
 * that follow from the entry mode: mode, GDT, selectors, command line. The
 * rest is zeroed. */
void boot_tables_write(const struct guest_ram *ram, enum boot_entry mode,
		       const struct boot_content *content,
		       struct boot_state *state);

/* For ENTRY_LONG64: map the first 4 GiB 1:1, writable, supervisor only, in
 * 2 MiB pages, and set state->cr3_gpa. Source: SDM 3A "4-Level Paging". */
void boot_tables_write_paging(const struct guest_ram *ram,
			      struct boot_state *state);

/* Copy size bytes to an area of low memory. */
void boot_tables_put(const struct guest_ram *ram, uint64_t gpa,
		     const void *bytes, uint64_t size);

#endif
