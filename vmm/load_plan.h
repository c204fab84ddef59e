/* SPDX-License-Identifier: MIT */
/*
 * load_plan - what goes where in guest RAM, checked before it is written.
 *
 * The image formats fill a plan, one check looks at the whole, and only then
 * is anything written. Every number in a plan may come from a hostile file.
 * Any thread; a plan belongs to one caller.
 */
#ifndef VMM_LOAD_PLAN_H
#define VMM_LOAD_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader.h"

/* Why something was refused, one line without the file's name. */
struct load_error {
	char text[256];
};

/* The bytes of an image file, in memory of ours. */
struct image_bytes {
	const uint8_t *data;
	uint64_t size;
};

struct load_segment {
	char name[40]; /* for messages: "program header 2" */
	uint64_t gpa;
	uint64_t vaddr; /* where the image believes it is; gpa if unknown */
	uint64_t mem_size;
	uint64_t file_offset;
	uint64_t file_size; /* the rest of mem_size is zeroed */
};

/* A place in guest RAM that punctual itself writes. */
struct load_area {
	const char *name;
	uint64_t gpa;
	uint64_t size;
};

struct load_plan {
	struct load_segment segments[LOADER_SEGMENTS_MAX];
	unsigned int count;
	uint64_t entry_gpa;
	/* What the image takes: the end of where load_plan_place may put
	 * something, 0: no limit; and bytes of command line. */
	uint64_t place_limit_gpa;
	size_t cmdline_max;
};

/* Fill err and return rc, so that a caller can return what it gets. */
int load_fail(struct load_error *err, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Add a copy of segment to the plan, or nothing if its mem_size is 0. Returns
 * 0, or -EINVAL if it has more bytes in the file than in memory, its bytes
 * are not all in the file, its end wraps, or the plan is full.
 */
int load_plan_add(struct load_plan *plan, const struct load_segment *segment,
		  uint64_t image_size, struct load_error *err);

/*
 * Check the whole plan: every segment lies in RAM, none overlaps another or
 * one of the areas, and the entry is in a segment and below 4 GiB, where every
 * entry state can reach it. Returns 0 or -EINVAL.
 */
int load_plan_check(const struct load_plan *plan, const struct guest_ram *ram,
		    const struct load_area *areas, unsigned int area_count,
		    struct load_error *err);

/* Write a checked plan: copy the file's bytes, zero the rest. */
void load_plan_write(const struct load_plan *plan, const struct guest_ram *ram,
		     const struct image_bytes *image);

/* Past the highest byte of all segments, those without file bytes too. */
uint64_t load_plan_end(const struct load_plan *plan);

/* The end of low RAM, or the plan's own limit if that is lower, in whole
 * pages. */
uint64_t load_plan_place_limit(const struct load_plan *plan,
			       const struct guest_ram *ram);

/*
 * The highest page-aligned place for size bytes (at least 1) between 1 MiB
 * and load_plan_place_limit that touches no segment of a checked plan. False
 * if there is none.
 */
bool load_plan_place(const struct load_plan *plan, const struct guest_ram *ram,
		     uint64_t size, uint64_t *gpa);

#endif
