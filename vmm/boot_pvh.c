/* SPDX-License-Identifier: MIT */
/*
 * Models the part of Xen's PVH boot protocol that a direct boot needs: entry
 * note, start_info version 1, module list, memory map. Reference: Xen
 * "x86/HVM direct boot ABI", public/elfnote.h, hvm/start_info.h. Does not
 * model hypercalls or Xen features; modules carry no command
 * line of their own.
 */
#include "boot_pvh.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "boot_tables.h"
#include "load_plan.h"
#include "loader_elf.h"
#include "memory.h"

#define PVH_NOTE_NAME	      "Xen"
#define PVH_NOTE_PHYS32_ENTRY 18
#define PVH_START_VERSION     1

/* The module list follows start_info in the same page. */
#define PVH_MODLIST_GPA	      (BOOT_INFO_GPA + 0x100)

_Static_assert(sizeof(struct pvh_start_info) == 56, "start_info v1");
_Static_assert(sizeof(struct pvh_module) == 32, "module entry");
_Static_assert(sizeof(struct pvh_memmap_entry) == 24, "memory map entry");

int boot_pvh_entry(const struct loader_elf *elf, uint64_t *entry_gpa,
		   struct load_error *err)
{
	const uint8_t *desc;
	uint32_t desc_size;
	uint64_t entry = 0;
	int rc = loader_elf_note(elf, PVH_NOTE_NAME, PVH_NOTE_PHYS32_ENTRY,
				 &desc, &desc_size, err);

	if (rc <= 0)
		return rc;
	/* One machine word of the image's own class, in practice. */
	if (desc_size != sizeof(uint32_t) && desc_size != sizeof(uint64_t))
		return load_fail(err, -EINVAL,
				 "PVH entry note of %" PRIu32
				 " bytes; make it 4 or 8",
				 desc_size);
	memcpy(&entry, desc, desc_size);
	if (entry > UINT32_MAX)
		return load_fail(err, -EINVAL,
				 "PVH entry point 0x%" PRIx64
				 " is above 4 GiB; the note must hold a "
				 "32-bit physical address",
				 entry);
	*entry_gpa = entry;
	return 1;
}

static uint32_t boot_pvh_write_map(const struct guest_ram *ram)
{
	struct ram_map_entry map[RAM_MAP_MAX];
	struct pvh_memmap_entry out[RAM_MAP_MAX] = {0};
	unsigned int count = ram_map_entries(ram, map);

	for (unsigned int i = 0; i < count; i++) {
		out[i].addr = map[i].gpa;
		out[i].size = map[i].size;
		out[i].type = map[i].type;
	}
	boot_tables_put(ram, BOOT_MAP_GPA, out, count * sizeof(out[0]));
	return count;
}

uint64_t boot_pvh_write_info(const struct guest_ram *ram,
			     const struct boot_content *content)
{
	struct pvh_start_info info = {
		.magic = PVH_START_MAGIC,
		.version = PVH_START_VERSION,
		.cmdline_paddr = BOOT_CMDLINE_GPA,
		.rsdp_paddr = BOOT_RSDP_GPA,
		.memmap_paddr = BOOT_MAP_GPA,
		.memmap_entries = boot_pvh_write_map(ram),
	};

	if (content->initrd_gpa) {
		struct pvh_module module = {
			.paddr = content->initrd_gpa,
			.size = content->initrd_size,
		};

		boot_tables_put(ram, PVH_MODLIST_GPA, &module, sizeof(module));
		info.nr_modules = 1;
		info.modlist_paddr = PVH_MODLIST_GPA;
	}
	boot_tables_put(ram, BOOT_INFO_GPA, &info, sizeof(info));
	return BOOT_INFO_GPA;
}

void boot_pvh_write(const struct guest_ram *ram,
		    const struct boot_content *content,
		    struct boot_state *state)
{
	boot_tables_write(ram, ENTRY_PROT32, content, state);
	state->used = BOOT_PVH;
	state->rbx = boot_pvh_write_info(ram, content);
}
