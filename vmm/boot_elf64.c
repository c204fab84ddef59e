/* SPDX-License-Identifier: MIT */
/*
 * Models the state a boot loader would leave for 64-bit code: the first 4 GiB
 * mapped 1:1, writable, supervisor only, in 2 MiB pages, and a small stack.
 * Reference: SDM 3A "4-Level Paging", "Initializing IA-32e Mode"; System V
 * ABI x86-64 "The Stack Frame". Does not map RAM above 4 GiB, the guest's
 * higher half, or user pages.
 */
#include "boot_elf64.h"

#include <assert.h>
#include <string.h>

#include "boot_pvh.h"
#include "boot_tables.h"
#include "memory.h"

#define PTE_P		  UINT64_C(0x001)
#define PTE_RW		  UINT64_C(0x002)
#define PTE_PS		  UINT64_C(0x080)

#define ENTRIES_PER_TABLE 512
#define DIRECTORIES	  4 /* of 1 GiB each */
#define LARGE_PAGE_SIZE	  UINT64_C(0x200000)

static void boot_elf64_write_page_tables(const struct guest_ram *ram)
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
}

void boot_elf64_write(const struct guest_ram *ram,
		      const struct boot_content *content,
		      struct boot_state *state)
{
	const uint64_t return_address = 0;

	boot_tables_write(ram, ENTRY_LONG64, content, state);
	boot_elf64_write_page_tables(ram);
	state->used = BOOT_ELF64;
	state->cr3_gpa = BOOT_PAGE_TABLES_GPA;
	state->rdi = boot_pvh_write_info(ram, content);
	/* As after a call: a C function expects RSP + 8 on a 16-byte boundary,
	 * and the first thing on the stack is where it would return to. */
	state->rsp = BOOT_STACK_END_GPA - sizeof(return_address);
	boot_tables_put(ram, state->rsp, &return_address,
			sizeof(return_address));
}
