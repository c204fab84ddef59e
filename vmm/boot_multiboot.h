/* SPDX-License-Identifier: MIT */
/*
 * boot_multiboot - Multiboot 1 header and information structure.
 *
 * Source: Multiboot Specification 0.6.96 "OS image format", "Machine state",
 * "Boot information format". Any thread, while no vCPU runs.
 */
#ifndef VMM_BOOT_MULTIBOOT_H
#define VMM_BOOT_MULTIBOOT_H

#include <stdbool.h>
#include <stdint.h>

struct boot_content;
struct boot_state;
struct guest_ram;
struct image_bytes;
struct load_error;
struct load_plan;

#define MULTIBOOT_HEADER_MAGIC 0x1badb002U
#define MULTIBOOT_LOADER_MAGIC 0x2badb002U

/* Header flags. Bits 0-15 must be understood, the others may be ignored. */
#define MULTIBOOT_PAGE_ALIGN   0x00000001U /* modules: always page aligned */
#define MULTIBOOT_MEMORY       0x00000002U /* memory map: always given */
#define MULTIBOOT_VIDEO	       0x00000004U /* refused */
#define MULTIBOOT_ADDRESSES    0x00010000U /* the five fields are valid */

struct multiboot_header {
	uint64_t file_offset; /* of the magic number */
	uint32_t flags;
	/* Guest-physical; 0 unless MULTIBOOT_ADDRESSES. */
	uint32_t header_addr;
	uint32_t load_addr;
	uint32_t load_end_addr;
	uint32_t bss_end_addr;
	uint32_t entry_addr;
};

struct multiboot_info {
	uint32_t flags;
	uint32_t mem_lower; /* KiB from 0 */
	uint32_t mem_upper; /* KiB from 1 MiB to the first hole */
	uint32_t boot_device;
	uint32_t cmdline;
	uint32_t mods_count;
	uint32_t mods_addr;
	uint32_t syms[4];
	uint32_t mmap_length; /* bytes */
	uint32_t mmap_addr;
	uint32_t drives_length;
	uint32_t drives_addr;
	uint32_t config_table;
	uint32_t boot_loader_name;
	uint32_t apm_table;
	uint32_t vbe[4];
};

struct multiboot_module {
	uint32_t mod_start;
	uint32_t mod_end; /* one past the last byte */
	uint32_t string;
	uint32_t reserved;
};

struct multiboot_mmap_entry {
	uint32_t size;	       /* of the rest of the entry */
	uint32_t base_addr[2]; /* low word first: entries are not aligned */
	uint32_t length[2];
	uint32_t type; /* enum ram_map_type */
};

/* Find the first header with a right checksum in the first 8 KiB. */
bool boot_multiboot_find(const struct image_bytes *image,
			 struct multiboot_header *header);

/* Refuse what the header asks for and is not in this version. 0 or -EINVAL. */
int boot_multiboot_check(const struct multiboot_header *header,
			 struct load_error *err);

/*
 * Plan the one segment that the header's address fields describe, with its
 * entry. They replace whatever ELF headers the file may have. Returns 0 or
 * -EINVAL. Source: "The address fields of Multiboot header".
 */
int boot_multiboot_plan(const struct multiboot_header *header,
			uint64_t image_size, struct load_plan *plan,
			struct load_error *err);

/* Write all that the protocol needs and fill *state, but for entry_gpa. The
 * module's string is the initrd's file name. */
void boot_multiboot_write(const struct guest_ram *ram,
			  const struct boot_content *content,
			  struct boot_state *state);

#endif
