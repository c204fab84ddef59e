/* SPDX-License-Identifier: MIT */
/*
 * Models a Multiboot 1 boot loader: header search, address fields, information
 * structure with memory sizes, command line, module, memory map and loader
 * name. Reference: Multiboot Specification 0.6.96. Does not model boot device,
 * symbols, drives, BIOS tables, APM, VBE or framebuffer: their flag bits stay
 * clear.
 */
#include "boot_multiboot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "boot_tables.h"
#include "load_plan.h"
#include "memory.h"

#define SEARCH_SIZE	    8192
#define HEADER_SIZE	    12
#define HEADER_SIZE_ADDRESS 32
#define MANDATORY_FLAGS	    0x0000ffffU

/* Bits of multiboot_info.flags. */
#define INFO_MEMORY	    0x001U
#define INFO_CMDLINE	    0x004U
#define INFO_MODS	    0x008U
#define INFO_MMAP	    0x040U
#define INFO_LOADER_NAME    0x200U

/* In the page of the information structure. */
#define MODULE_GPA	    (BOOT_INFO_GPA + 0x100)
#define LOADER_NAME_GPA	    (BOOT_INFO_GPA + 0x120)
#define MODULE_NAME_GPA	    (BOOT_INFO_GPA + 0x200)
#define MODULE_NAME_MAX	    256

_Static_assert(sizeof(struct multiboot_info) == 88, "information structure");
_Static_assert(sizeof(struct multiboot_module) == 16, "module entry");
_Static_assert(sizeof(struct multiboot_mmap_entry) == 24, "map entry");

static uint32_t image_u32(const struct image_bytes *image, uint64_t offset)
{
	uint32_t value;

	memcpy(&value, image->data + offset, sizeof(value));
	return value;
}

static void boot_multiboot_read(const struct image_bytes *image,
				uint64_t offset,
				struct multiboot_header *header)
{
	memset(header, 0, sizeof(*header));
	header->file_offset = offset;
	header->flags = image_u32(image, offset + 4);
	if (!(header->flags & MULTIBOOT_ADDRESSES))
		return;
	header->header_addr = image_u32(image, offset + 12);
	header->load_addr = image_u32(image, offset + 16);
	header->load_end_addr = image_u32(image, offset + 20);
	header->bss_end_addr = image_u32(image, offset + 24);
	header->entry_addr = image_u32(image, offset + 28);
}

bool boot_multiboot_find(const struct image_bytes *image,
			 struct multiboot_header *header)
{
	uint64_t end = image->size < SEARCH_SIZE ? image->size : SEARCH_SIZE;

	for (uint64_t offset = 0; offset + HEADER_SIZE <= end; offset += 4) {
		uint32_t flags = image_u32(image, offset + 4);

		if (image_u32(image, offset) != MULTIBOOT_HEADER_MAGIC ||
		    MULTIBOOT_HEADER_MAGIC + flags +
			    image_u32(image, offset + 8))
			continue;
		/* All of it must be in the first 8 KiB. */
		if ((flags & MULTIBOOT_ADDRESSES) &&
		    offset + HEADER_SIZE_ADDRESS > end)
			continue;
		boot_multiboot_read(image, offset, header);
		return true;
	}
	return false;
}

int boot_multiboot_check(const struct multiboot_header *header,
			 struct load_error *err)
{
	uint32_t unknown = header->flags & MANDATORY_FLAGS &
			   ~(MULTIBOOT_PAGE_ALIGN | MULTIBOOT_MEMORY);

	if (unknown & MULTIBOOT_VIDEO)
		return load_fail(err, -EINVAL,
				 "the Multiboot header asks for a video mode "
				 "(flag bit 2), which is not in this version; "
				 "build the image without");
	if (unknown)
		return load_fail(err, -EINVAL,
				 "the Multiboot header asks for unknown "
				 "features (flag bits 0x%" PRIx32 "); build "
				 "the image without",
				 unknown);
	return 0;
}

int boot_multiboot_plan(const struct multiboot_header *header,
			uint64_t image_size, struct load_plan *plan,
			struct load_error *err)
{
	uint64_t lead = (uint64_t)header->header_addr - header->load_addr;
	struct load_segment segment = {.name = "Multiboot load area"};

	if (header->load_addr > header->header_addr ||
	    lead > header->file_offset)
		return load_fail(err, -EINVAL,
				 "Multiboot header: load_addr 0x%" PRIx32
				 " does not fit header_addr 0x%" PRIx32
				 " for a header at offset 0x%" PRIx64
				 "; check the header's address fields",
				 header->load_addr, header->header_addr,
				 header->file_offset);
	segment.gpa = segment.vaddr = header->load_addr;
	segment.file_offset = header->file_offset - lead;
	/* load_end_addr 0: to the end of the file; bss_end_addr 0: no bss. */
	segment.file_size =
		header->load_end_addr
			? (uint64_t)header->load_end_addr - header->load_addr
			: image_size - segment.file_offset;
	segment.mem_size =
		header->bss_end_addr
			? (uint64_t)header->bss_end_addr - header->load_addr
			: segment.file_size;
	if ((header->load_end_addr &&
	     header->load_end_addr < header->load_addr) ||
	    (header->bss_end_addr &&
	     (header->bss_end_addr < header->load_addr ||
	      segment.mem_size < segment.file_size)))
		return load_fail(err, -EINVAL,
				 "Multiboot header: load_addr 0x%" PRIx32
				 ", load_end_addr 0x%" PRIx32
				 " and bss_end_addr 0x%" PRIx32
				 " are not in order; check the header's "
				 "address fields",
				 header->load_addr, header->load_end_addr,
				 header->bss_end_addr);
	plan->entry_gpa = header->entry_addr;
	return load_plan_add(plan, &segment, image_size, err);
}

static uint32_t boot_multiboot_write_map(const struct guest_ram *ram)
{
	struct ram_map_entry map[RAM_MAP_MAX];
	struct multiboot_mmap_entry out[RAM_MAP_MAX] = {0};
	unsigned int count = ram_map_entries(ram, map);

	for (unsigned int i = 0; i < count; i++) {
		out[i].size = sizeof(out[i]) - sizeof(out[i].size);
		out[i].base_addr[0] = (uint32_t)map[i].gpa;
		out[i].base_addr[1] = (uint32_t)(map[i].gpa >> 32);
		out[i].length[0] = (uint32_t)map[i].size;
		out[i].length[1] = (uint32_t)(map[i].size >> 32);
		out[i].type = map[i].type;
	}
	boot_tables_put(ram, BOOT_MAP_GPA, out, count * sizeof(out[0]));
	return (uint32_t)(count * sizeof(out[0]));
}

static void boot_multiboot_write_module(const struct guest_ram *ram,
					const struct boot_content *content,
					struct multiboot_info *info)
{
	struct multiboot_module module = {
		.mod_start = (uint32_t)content->initrd_gpa,
		.mod_end =
			(uint32_t)(content->initrd_gpa + content->initrd_size),
		.string = MODULE_NAME_GPA,
	};
	char name[MODULE_NAME_MAX];

	/* A file name has at most 255 bytes. */
	snprintf(name, sizeof(name), "%s", content->initrd_name);
	boot_tables_put(ram, MODULE_NAME_GPA, name, strlen(name) + 1);
	boot_tables_put(ram, MODULE_GPA, &module, sizeof(module));
	info->flags |= INFO_MODS;
	info->mods_count = 1;
	info->mods_addr = MODULE_GPA;
}

void boot_multiboot_write(const struct guest_ram *ram,
			  const struct boot_content *content,
			  struct boot_state *state)
{
	static const char loader_name[] = "punctual";
	uint64_t upper = ram->regions[0].size - RAM_EXT_START;
	struct multiboot_info info = {
		.flags = INFO_MEMORY | INFO_CMDLINE | INFO_MMAP |
			 INFO_LOADER_NAME,
		.mem_lower = (uint32_t)(RAM_BASE_END / 1024),
		.mem_upper = (uint32_t)(upper / 1024),
		.cmdline = BOOT_CMDLINE_GPA,
		.mmap_addr = BOOT_MAP_GPA,
		.mmap_length = boot_multiboot_write_map(ram),
		.boot_loader_name = LOADER_NAME_GPA,
	};

	boot_tables_write(ram, ENTRY_PROT32, content, state);
	if (content->initrd_gpa)
		boot_multiboot_write_module(ram, content, &info);
	boot_tables_put(ram, LOADER_NAME_GPA, loader_name, sizeof(loader_name));
	boot_tables_put(ram, BOOT_INFO_GPA, &info, sizeof(info));
	state->used = BOOT_MULTIBOOT;
	state->rax = MULTIBOOT_LOADER_MAGIC;
	state->rbx = BOOT_INFO_GPA;
}
