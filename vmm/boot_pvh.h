/* SPDX-License-Identifier: MIT */
/*
 * boot_pvh - the PVH entry note and start_info.
 *
 * Source: Xen "x86/HVM direct boot ABI" and its public header start_info.h,
 * version 1 of the structure. Any thread, while no vCPU runs.
 */
#ifndef VMM_BOOT_PVH_H
#define VMM_BOOT_PVH_H

#include <stdint.h>

struct boot_content;
struct boot_state;
struct guest_ram;
struct load_error;
struct loader_elf;

#define PVH_START_MAGIC 0x336ec578U

struct pvh_start_info {
	uint32_t magic;
	uint32_t version;
	uint32_t flags;
	uint32_t nr_modules;
	uint64_t modlist_paddr;
	uint64_t cmdline_paddr;
	uint64_t rsdp_paddr; /* ACPI */
	uint64_t memmap_paddr;
	uint32_t memmap_entries;
	uint32_t reserved;
};

struct pvh_module {
	uint64_t paddr;
	uint64_t size;
	uint64_t cmdline_paddr; /* 0: none */
	uint64_t reserved;
};

struct pvh_memmap_entry {
	uint64_t addr;
	uint64_t size;
	uint32_t type; /* enum ram_map_type */
	uint32_t reserved;
};

/*
 * The 32-bit physical entry point from the image's Xen note PHYS32_ENTRY.
 * Returns 1 and *entry_gpa; 0 if there is no such note; -EINVAL if a note is
 * broken or the entry point does not fit in 32 bits.
 */
int boot_pvh_entry(const struct loader_elf *elf, uint64_t *entry_gpa,
		   struct load_error *err);

/* Write start_info, module list and memory map; returns start_info's address.
 * The command line is where boot_tables_write put it. */
uint64_t boot_pvh_write_info(const struct guest_ram *ram,
			     const struct boot_content *content);

/* Write all that the protocol needs and fill *state, but for entry_gpa. */
void boot_pvh_write(const struct guest_ram *ram,
		    const struct boot_content *content,
		    struct boot_state *state);

#endif
