/* SPDX-License-Identifier: MIT */
/*
 * Models the state a boot loader would leave for 64-bit code: the first 4 GiB
 * mapped 1:1, writable, supervisor only, in 2 MiB pages, and a small stack.
 * Reference: SDM 3A "4-Level Paging", "Initializing IA-32e Mode"; System V
 * ABI x86-64 "The Stack Frame". Does not map RAM above 4 GiB, the guest's
 * higher half, or user pages.
 */
#include "boot_elf64.h"

#include "boot_pvh.h"
#include "boot_tables.h"
#include "memory.h"

void boot_elf64_write(const struct guest_ram *ram,
		      const struct boot_content *content,
		      struct boot_state *state)
{
	const uint64_t return_address = 0;

	boot_tables_write(ram, ENTRY_LONG64, content, state);
	boot_tables_write_paging(ram, state);
	state->used = BOOT_ELF64;
	state->rdi = boot_pvh_write_info(ram, content);
	/* As after a call: a C function expects RSP + 8 on a 16-byte boundary,
	 * and the first thing on the stack is where it would return to. */
	state->rsp = BOOT_STACK_END_GPA - sizeof(return_address);
	boot_tables_put(ram, state->rsp, &return_address,
			sizeof(return_address));
}
