/* SPDX-License-Identifier: MIT */
/*
 * Keeps the rules that hold for every image format: sizes that fit the file,
 * addresses that fit RAM, no overlap, an entry that was loaded, memory beyond
 * the file's bytes zeroed. Reference: ELF (System V ABI) "Program Header".
 * Does not relocate, and does not look at segment permissions: a guest sets
 * up its own page tables.
 */
#include "load_plan.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

#define MIB		UINT64_C(0x100000)
#define ENTRY_GPA_LIMIT UINT64_C(0x100000000)

int load_fail(struct load_error *err, int rc, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return rc;
}

int load_plan_add(struct load_plan *plan, const struct load_segment *segment,
		  uint64_t image_size, struct load_error *err)
{
	if (segment->file_size > segment->mem_size)
		return load_fail(
			err, -EINVAL,
			"%s: 0x%" PRIx64 " bytes in the file but 0x%" PRIx64
			" in memory; link the image again",
			segment->name, segment->file_size, segment->mem_size);
	if (!segment->mem_size)
		return 0;
	/* Linkers give a segment without bytes any offset, even past the end
	 * of the file, so it counts only where there are bytes. */
	if (segment->file_size &&
	    (segment->file_offset > image_size ||
	     segment->file_size > image_size - segment->file_offset))
		return load_fail(err, -EINVAL,
				 "%s: 0x%" PRIx64 " bytes at offset 0x%" PRIx64
				 " are not in the file of 0x%" PRIx64
				 " bytes; is it cut short?",
				 segment->name, segment->file_size,
				 segment->file_offset, image_size);
	if (segment->mem_size - 1 > UINT64_MAX - segment->gpa)
		return load_fail(err, -EINVAL,
				 "%s: 0x%" PRIx64 " bytes at address 0x%" PRIx64
				 " wrap round; link the image again",
				 segment->name, segment->mem_size,
				 segment->gpa);
	if (plan->count == LOADER_SEGMENTS_MAX)
		return load_fail(err, -EINVAL,
				 "%s: more than %d loadable segments; merge "
				 "some when linking",
				 segment->name, LOADER_SEGMENTS_MAX);
	plan->segments[plan->count++] = *segment;
	return 0;
}

/* Last byte; sizes are at least 1 and were checked not to wrap. */
static uint64_t segment_last(const struct load_segment *segment)
{
	return segment->gpa + (segment->mem_size - 1);
}

static bool segment_meets(const struct load_segment *segment, uint64_t gpa,
			  uint64_t size)
{
	return segment->gpa <= gpa + (size - 1) && gpa <= segment_last(segment);
}

/* The RAM that all segments below the device hole need, in MiB. */
static uint64_t load_plan_need_mib(const struct load_plan *plan)
{
	uint64_t need_mib = 0;

	for (unsigned int i = 0; i < plan->count; i++) {
		uint64_t last = segment_last(&plan->segments[i]);

		if (last < RAM_LOW_END && last / MIB + 1 > need_mib)
			need_mib = last / MIB + 1;
	}
	return need_mib;
}

static int load_plan_check_ram(const struct load_plan *plan,
			       const struct load_segment *segment,
			       const struct guest_ram *ram,
			       struct load_error *err)
{
	uint64_t last = segment_last(segment);

	if (ram_ptr(ram, segment->gpa, segment->mem_size))
		return 0;
	if (last < RAM_LOW_END)
		return load_fail(err, -EINVAL,
				 "%s at 0x%" PRIx64 "-0x%" PRIx64
				 " is not all in RAM; set mem_size_mib to at "
				 "least %" PRIu64,
				 segment->name, segment->gpa, last,
				 load_plan_need_mib(plan));
	return load_fail(err, -EINVAL,
			 "%s at 0x%" PRIx64 "-0x%" PRIx64 " is not all in RAM "
			 "(none is at 0x%" PRIx64 "-0x%" PRIx64
			 "); link it lower",
			 segment->name, segment->gpa, last, RAM_LOW_END,
			 RAM_HIGH_START - 1);
}

static int load_plan_check_segment(const struct load_plan *plan,
				   unsigned int index,
				   const struct load_area *areas,
				   unsigned int area_count,
				   struct load_error *err)
{
	const struct load_segment *segment = &plan->segments[index];

	for (unsigned int i = 0; i < index; i++) {
		const struct load_segment *other = &plan->segments[i];

		if (segment_meets(segment, other->gpa, other->mem_size))
			return load_fail(err, -EINVAL,
					 "%s at 0x%" PRIx64 "-0x%" PRIx64
					 " overlaps %s at 0x%" PRIx64
					 "-0x%" PRIx64 "; link the image again",
					 segment->name, segment->gpa,
					 segment_last(segment), other->name,
					 other->gpa, segment_last(other));
	}
	for (unsigned int i = 0; i < area_count; i++) {
		if (segment_meets(segment, areas[i].gpa, areas[i].size))
			return load_fail(err, -EINVAL,
					 "%s at 0x%" PRIx64 "-0x%" PRIx64
					 " needs the place of the boot %s at "
					 "0x%" PRIx64 "-0x%" PRIx64
					 "; link it elsewhere",
					 segment->name, segment->gpa,
					 segment_last(segment), areas[i].name,
					 areas[i].gpa,
					 areas[i].gpa + (areas[i].size - 1));
	}
	return 0;
}

static int load_plan_check_entry(const struct load_plan *plan,
				 struct load_error *err)
{
	bool loaded = false;

	for (unsigned int i = 0; i < plan->count; i++)
		if (segment_meets(&plan->segments[i], plan->entry_gpa, 1))
			loaded = true;
	if (!loaded)
		return load_fail(err, -EINVAL,
				 "the entry point 0x%" PRIx64
				 " is in no loaded segment; check the linker "
				 "script's ENTRY",
				 plan->entry_gpa);
	if (plan->entry_gpa >= ENTRY_GPA_LIMIT)
		return load_fail(err, -EINVAL,
				 "the entry point 0x%" PRIx64
				 " is above 4 GiB, "
				 "where a guest cannot start; link it lower",
				 plan->entry_gpa);
	return 0;
}

int load_plan_check(const struct load_plan *plan, const struct guest_ram *ram,
		    const struct load_area *areas, unsigned int area_count,
		    struct load_error *err)
{
	if (!plan->count)
		return load_fail(err, -EINVAL,
				 "nothing to load: no PT_LOAD program header "
				 "with memory; is it an object file?");
	for (unsigned int i = 0; i < plan->count; i++) {
		int rc =
			load_plan_check_ram(plan, &plan->segments[i], ram, err);

		if (!rc)
			rc = load_plan_check_segment(plan, i, areas, area_count,
						     err);
		if (rc)
			return rc;
	}
	return load_plan_check_entry(plan, err);
}

void load_plan_write(const struct load_plan *plan, const struct guest_ram *ram,
		     const struct image_bytes *image)
{
	for (unsigned int i = 0; i < plan->count; i++) {
		const struct load_segment *segment = &plan->segments[i];
		uint8_t *host = ram_ptr(ram, segment->gpa, segment->mem_size);
		int rc;

		assert(host);
		if (segment->file_size)
			memcpy(host, image->data + segment->file_offset,
			       segment->file_size);
		/* Said explicitly, though fresh RAM is zero: RAM may have been
		 * used before. */
		rc = ram_zero(ram, segment->gpa + segment->file_size,
			      segment->mem_size - segment->file_size);
		assert(!rc);
	}
}

uint64_t load_plan_end(const struct load_plan *plan)
{
	uint64_t end_gpa = 0;

	for (unsigned int i = 0; i < plan->count; i++) {
		uint64_t segment_end = segment_last(&plan->segments[i]) + 1;

		if (segment_end > end_gpa)
			end_gpa = segment_end;
	}
	return end_gpa;
}

/* The segment that is in the way of [gpa, gpa + size), or NULL. */
static const struct load_segment *load_plan_hit(const struct load_plan *plan,
						uint64_t gpa, uint64_t size)
{
	for (unsigned int i = 0; i < plan->count; i++)
		if (segment_meets(&plan->segments[i], gpa, size))
			return &plan->segments[i];
	return NULL;
}

uint64_t load_plan_place_limit(const struct load_plan *plan,
			       const struct guest_ram *ram)
{
	uint64_t limit_gpa = ram->regions[0].size;

	if (plan->place_limit_gpa && plan->place_limit_gpa < limit_gpa)
		limit_gpa = plan->place_limit_gpa & ~(RAM_PAGE_SIZE - 1);
	return limit_gpa;
}

bool load_plan_place(const struct load_plan *plan, const struct guest_ram *ram,
		     uint64_t size, uint64_t *gpa)
{
	const uint64_t page_mask = RAM_PAGE_SIZE - 1;
	uint64_t limit_gpa = load_plan_place_limit(plan, ram);

	if (size > RAM_LOW_END)
		return false;
	/* Whole pages, shared with no segment: a guest may map them. */
	size = (size + page_mask) & ~page_mask;
	/* Each turn ends below one more segment, so this ends. */
	while (limit_gpa > RAM_EXT_START && size <= limit_gpa - RAM_EXT_START) {
		uint64_t start_gpa = limit_gpa - size;
		const struct load_segment *hit =
			load_plan_hit(plan, start_gpa, size);

		if (!hit) {
			*gpa = start_gpa;
			return true;
		}
		limit_gpa = hit->gpa & ~page_mask;
	}
	return false;
}
