/* SPDX-License-Identifier: MIT */
/*
 * boot_elf64 - enter an ELF64 image in long mode, with start_info in RDI.
 *
 * Not an outside standard; loader.h is its definition. Any thread, while no
 * vCPU runs.
 */
#ifndef VMM_BOOT_ELF64_H
#define VMM_BOOT_ELF64_H

struct boot_content;
struct boot_state;
struct guest_ram;

/* Write page tables, stack, start_info and the rest, and fill *state, but for
 * entry_gpa. Source of the tables: SDM 3A "4-Level Paging". */
void boot_elf64_write(const struct guest_ram *ram,
		      const struct boot_content *content,
		      struct boot_state *state);

#endif
