/* SPDX-License-Identifier: MIT */
/*
 * fuzz_plan - what every format makes of an image, looked at before it is
 * written: the rules of load_plan.h, by another arithmetic.
 *
 * Rules: a plan that was found good has segments in RAM, their bytes in the
 * file, no two of them in one place and none in that of a table, and an entry
 * in one of them; what is placed beside them is in RAM, in pages of its own.
 */
#ifndef TESTS_FUZZ_FUZZ_PLAN_H
#define TESTS_FUZZ_FUZZ_PLAN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "boot_linux.h"
#include "boot_multiboot.h"
#include "boot_pvh.h"
#include "boot_tables.h"
#include "fuzz.h"
#include "load_plan.h"
#include "loader_elf.h"
#include "memory.h"

__extension__ typedef unsigned __int128 fuzz_wide;

/* Of two ranges, neither empty. */
static inline bool fuzz_plan_meet(uint64_t a, uint64_t a_size, uint64_t b,
				  uint64_t b_size)
{
	return (fuzz_wide)a < (fuzz_wide)b + b_size &&
	       (fuzz_wide)b < (fuzz_wide)a + a_size;
}

static inline bool fuzz_plan_in_ram(const struct guest_ram *ram, uint64_t gpa,
				    uint64_t size)
{
	for (unsigned int i = 0; i < ram->count; i++)
		if (gpa >= ram->regions[i].gpa &&
		    (fuzz_wide)gpa + size <= (fuzz_wide)ram->regions[i].gpa +
						     ram->regions[i].size)
			return true;
	return false;
}

static inline void fuzz_plan_check_place(const struct load_plan *plan,
					 const struct guest_ram *ram,
					 uint64_t size)
{
	uint64_t gpa = 0, pages;

	if (!load_plan_place(plan, ram, size, &gpa))
		return;
	pages = (size + RAM_PAGE_SIZE - 1) / RAM_PAGE_SIZE * RAM_PAGE_SIZE;
	FUZZ_CHECK(gpa % RAM_PAGE_SIZE == 0 && gpa >= RAM_EXT_START);
	FUZZ_CHECK(gpa + pages <= load_plan_place_limit(plan, ram));
	FUZZ_CHECK(!plan->place_limit_gpa ||
		   gpa + pages <= plan->place_limit_gpa);
	FUZZ_CHECK(fuzz_plan_in_ram(ram, gpa, pages));
	for (unsigned int i = 0; i < plan->count; i++)
		FUZZ_CHECK(!fuzz_plan_meet(gpa, pages, plan->segments[i].gpa,
					   plan->segments[i].mem_size));
}

static inline void fuzz_plan_check_segment(const struct load_plan *plan,
					   unsigned int index,
					   uint64_t image_size,
					   const struct guest_ram *ram,
					   enum boot_entry mode)
{
	const struct load_segment *s = &plan->segments[index];
	const struct load_area *areas;
	unsigned int count = boot_tables_areas(mode, &areas);

	FUZZ_CHECK(s->mem_size && s->file_size <= s->mem_size);
	FUZZ_CHECK(!s->file_size ||
		   (fuzz_wide)s->file_offset + s->file_size <= image_size);
	FUZZ_CHECK(fuzz_plan_in_ram(ram, s->gpa, s->mem_size));
	for (unsigned int i = 0; i < index; i++)
		FUZZ_CHECK(!fuzz_plan_meet(s->gpa, s->mem_size,
					   plan->segments[i].gpa,
					   plan->segments[i].mem_size));
	for (unsigned int i = 0; i < count; i++)
		FUZZ_CHECK(!fuzz_plan_meet(s->gpa, s->mem_size, areas[i].gpa,
					   areas[i].size));
}

static inline void fuzz_plan_check_whole(const struct load_plan *plan,
					 uint64_t image_size,
					 const struct guest_ram *ram,
					 enum boot_entry mode)
{
	const struct load_area *areas;
	unsigned int count = boot_tables_areas(mode, &areas);
	struct load_error err;
	bool entered = false;

	if (load_plan_check(plan, ram, areas, count, &err))
		return;
	FUZZ_CHECK(plan->count && plan->count <= LOADER_SEGMENTS_MAX);
	for (unsigned int i = 0; i < plan->count; i++) {
		fuzz_plan_check_segment(plan, i, image_size, ram, mode);
		entered |= fuzz_plan_meet(plan->segments[i].gpa,
					  plan->segments[i].mem_size,
					  plan->entry_gpa, 1);
		FUZZ_CHECK(load_plan_end(plan) >=
			   plan->segments[i].gpa + plan->segments[i].mem_size);
	}
	FUZZ_CHECK(entered && plan->entry_gpa < RAM_HIGH_START);
	fuzz_plan_check_place(plan, ram, 1);
	fuzz_plan_check_place(plan, ram, 0x1001);
	fuzz_plan_check_place(plan, ram, 0x100000);
	fuzz_plan_check_place(plan, ram, UINT64_MAX);
}

static inline void fuzz_plan_check_elf(const struct image_bytes *image,
				       const struct guest_ram *ram)
{
	struct load_plan plan = {.count = 0};
	struct loader_elf elf;
	struct load_error err;
	uint64_t entry_gpa;

	if (!loader_elf_magic(image) || loader_elf_open(&elf, image, &err))
		return;
	if (!loader_elf_plan(&elf, &plan, &err)) {
		plan.entry_gpa = loader_elf_entry_gpa(&elf, &plan);
		fuzz_plan_check_whole(&plan, image->size, ram, ENTRY_LONG64);
		if (boot_pvh_entry(&elf, &entry_gpa, &err) == 1)
			FUZZ_CHECK(entry_gpa <= UINT32_MAX);
	}
	loader_elf_close(&elf);
}

/* The bytes in an allocation of their exact size, for the sanitizer. */
static inline void fuzz_plan_check(const uint8_t *bytes, size_t size,
				   const struct guest_ram *ram)
{
	struct load_plan linux_plan = {.cmdline_max = LOADER_CMDLINE_OTHER};
	struct load_plan multiboot_plan = {.count = 0};
	struct multiboot_header header;
	struct load_error err;
	uint8_t *copy = malloc(size ? size : 1);
	struct image_bytes image = {.data = copy, .size = size};

	FUZZ_CHECK(copy);
	memcpy(copy, bytes, size);
	if (boot_linux_find(&image) &&
	    !boot_linux_plan(&image, &linux_plan, &err)) {
		FUZZ_CHECK(linux_plan.cmdline_max <= LOADER_CMDLINE_OTHER);
		fuzz_plan_check_whole(&linux_plan, size, ram, ENTRY_LONG64);
	}
	if (boot_multiboot_find(&image, &header) &&
	    !boot_multiboot_plan(&header, size, &multiboot_plan, &err))
		fuzz_plan_check_whole(&multiboot_plan, size, ram, ENTRY_PROT32);
	fuzz_plan_check_elf(&image, ram);
	free(copy);
}

#endif
