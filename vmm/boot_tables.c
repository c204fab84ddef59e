/* SPDX-License-Identifier: MIT */
/*
 * Writes the tables common to all entry states. The firmware tables stand in
 * the part of memory that the map reports as reserved. Reference: SDM 3A
 * "Segment Descriptors", "TSS Descriptor", "TSS Descriptor in 64-bit mode"; Xen
 * "x86/HVM direct boot ABI" and Multiboot Specification "Machine state" for the
 * flat segments they ask for. Does not provide an IDT or a task state: a guest
 * that takes an exception before it has its own ends in a triple fault.
 */
#include "boot_tables.h"

#include <assert.h>
#include <string.h>

#include "acpi.h"
#include "load_plan.h"
#include "memory.h"
#include "mptable.h"

/* Selectors; descriptors in this order behind the null one. */
#define SEL_CODE32	  0x08
#define SEL_DATA	  0x10
#define SEL_CODE64	  0x18
#define SEL_TSS		  0x20

#define PTE_P		  UINT64_C(0x001)
#define PTE_RW		  UINT64_C(0x002)
#define PTE_PS		  UINT64_C(0x080)

#define ENTRIES_PER_TABLE 512
#define DIRECTORIES	  4 /* of 1 GiB each */
#define LARGE_PAGE_SIZE	  UINT64_C(0x200000)

/* Base 0, limit 4 GiB. Accessed is set, so that loading a selector does not
 * write to the table. The TSS takes two entries in long mode. */
static const uint64_t boot_gdt[] = {
	0x0000000000000000, /* null */
	0x00cf9b000000ffff, /* execute/read, 32-bit */
	0x00cf93000000ffff, /* read/write */
	0x00af9b000000ffff, /* execute/read, 64-bit */
	0x00008b0000000067, /* busy TSS of 104 bytes at 0 */
	0x0000000000000000, /* upper half of its base */
};

/* The last two are for long mode alone. */
static const struct load_area boot_areas[] = {
	{"GDT", BOOT_GDT_GPA, 0x1000},
	{"information", BOOT_INFO_GPA, BOOT_INFO_SIZE},
	{"memory map", BOOT_MAP_GPA, BOOT_MAP_SIZE},
	{"command line", BOOT_CMDLINE_GPA, BOOT_CMDLINE_SIZE},
	{"firmware tables", BOOT_RSDP_GPA,
	 BOOT_FIRMWARE_END_GPA - BOOT_RSDP_GPA},
	{"page tables", BOOT_PAGE_TABLES_GPA, BOOT_PAGE_TABLES_SIZE},
	{"stack", BOOT_STACK_GPA, BOOT_STACK_END_GPA - BOOT_STACK_GPA},
};

#define BOOT_AREAS_LONG64 (sizeof(boot_areas) / sizeof(boot_areas[0]))
#define BOOT_AREAS_PROT32 (BOOT_AREAS_LONG64 - 2)

unsigned int boot_tables_areas(enum boot_entry mode,
			       const struct load_area **areas)
{
	*areas = boot_areas;
	return mode == ENTRY_LONG64 ? BOOT_AREAS_LONG64 : BOOT_AREAS_PROT32;
}

void boot_tables_put(const struct guest_ram *ram, uint64_t gpa,
		     const void *bytes, uint64_t size)
{
	void *host = ram_ptr(ram, gpa, size);

	assert(host);
	memcpy(host, bytes, size);
}

static void boot_tables_write_firmware(const struct guest_ram *ram,
				       unsigned int cpus)
{
	uint8_t *acpi = ram_ptr(ram, BOOT_RSDP_GPA, ACPI_TABLES_SIZE);
	uint8_t *mptable = ram_ptr(ram, BOOT_MPTABLE_GPA, MPTABLE_SIZE);

	_Static_assert(BOOT_RSDP_GPA + ACPI_TABLES_SIZE == BOOT_MPTABLE_GPA &&
			       BOOT_MPTABLE_GPA + MPTABLE_SIZE ==
				       BOOT_FIRMWARE_END_GPA,
		       "one behind the other");
	assert(acpi && mptable);
	acpi_write(acpi, (uint32_t)BOOT_RSDP_GPA, cpus);
	mptable_write(mptable, (uint32_t)BOOT_MPTABLE_GPA, cpus);
}

void boot_tables_write(const struct guest_ram *ram, enum boot_entry mode,
		       const struct boot_content *content,
		       struct boot_state *state)
{
	const char *cmdline = content->cmdline;
	uint64_t cmdline_size = strlen(cmdline) + 1;

	assert(cmdline_size <= BOOT_CMDLINE_SIZE);
	boot_tables_put(ram, BOOT_GDT_GPA, boot_gdt, sizeof(boot_gdt));
	boot_tables_put(ram, BOOT_CMDLINE_GPA, cmdline, cmdline_size);
	boot_tables_write_firmware(ram, content->cpus);
	memset(state, 0, sizeof(*state));
	state->mode = mode;
	state->gdt_gpa = BOOT_GDT_GPA;
	state->gdt_limit = sizeof(boot_gdt) - 1;
	state->cs_selector = mode == ENTRY_LONG64 ? SEL_CODE64 : SEL_CODE32;
	state->ds_selector = SEL_DATA;
	state->tr_selector = SEL_TSS;
	state->cmdline_gpa = BOOT_CMDLINE_GPA;
}

void boot_tables_write_paging(const struct guest_ram *ram,
			      struct boot_state *state)
{
	uint64_t(*table)[ENTRIES_PER_TABLE];
	uint64_t next_gpa = BOOT_PAGE_TABLES_GPA + 2 * RAM_PAGE_SIZE;

	/* PML4, page-directory-pointer table, then the directories. */
	table = ram_ptr(ram, BOOT_PAGE_TABLES_GPA, BOOT_PAGE_TABLES_SIZE);
	assert(table);
	memset(table, 0, BOOT_PAGE_TABLES_SIZE);
	table[0][0] = (BOOT_PAGE_TABLES_GPA + RAM_PAGE_SIZE) | PTE_RW | PTE_P;
	for (uint64_t d = 0; d < DIRECTORIES; d++) {
		table[1][d] = (next_gpa + d * RAM_PAGE_SIZE) | PTE_RW | PTE_P;
		for (uint64_t e = 0; e < ENTRIES_PER_TABLE; e++)
			table[2 + d][e] =
				(d * ENTRIES_PER_TABLE + e) * LARGE_PAGE_SIZE |
				PTE_PS | PTE_RW | PTE_P;
	}
	state->cr3_gpa = BOOT_PAGE_TABLES_GPA;
}
