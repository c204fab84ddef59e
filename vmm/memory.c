/* SPDX-License-Identifier: MIT */
/*
 * Models the RAM of a small PC: one piece from 0 to at most 3 GiB and the rest
 * from 4 GiB, with the usual reserved part below 1 MiB. Reference: ACPI
 * Specification "System Address Map Interfaces"; Linux mmap(2), madvise(2)
 * (MADV_POPULATE_WRITE: Linux 5.14), mlock(2), mprotect(2).
 * Does not model ROM, hot-plug, NUMA, or memory that is shared or backed by a
 * file. The reserved part is real RAM too: only the map says otherwise.
 */
#include "memory.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

static int ram_add_region(struct guest_ram *ram, uint64_t gpa, uint64_t size)
{
	struct ram_region *region = &ram->regions[ram->count];
	void *host = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (host == MAP_FAILED)
		return -errno;
	region->gpa = gpa;
	region->size = size;
	region->host = host;
	ram->count++;
	return 0;
}

/* The end of the region that starts at 0; 0 if there is none. */
static uint64_t ram_low_end(const struct guest_ram *ram)
{
	return ram->count ? ram->regions[0].size : 0;
}

int ram_alloc(struct guest_ram *ram, uint64_t size_bytes)
{
	uint64_t low_size = size_bytes;
	int rc;

	memset(ram, 0, sizeof(*ram));
	if (size_bytes < RAM_MIN_SIZE || size_bytes > RAM_MAX_SIZE ||
	    size_bytes % RAM_PAGE_SIZE)
		return -EINVAL;
	if (low_size > RAM_LOW_END)
		low_size = RAM_LOW_END;
	rc = ram_add_region(ram, 0, low_size);
	if (!rc && size_bytes > low_size)
		rc = ram_add_region(ram, RAM_HIGH_START, size_bytes - low_size);
	if (rc)
		ram_free(ram);
	return rc;
}

static bool ram_lock(const struct guest_ram *ram)
{
	for (unsigned int i = 0; i < ram->count; i++)
		if (mlock(ram->regions[i].host, ram->regions[i].size)) {
			while (i--)
				munlock(ram->regions[i].host,
					ram->regions[i].size);
			return false;
		}
	return true;
}

struct ram_residence ram_make_resident(const struct guest_ram *ram,
				       uint64_t max_size)
{
	struct ram_residence residence = {0};
	uint64_t size = 0;

	for (unsigned int i = 0; i < ram->count; i++)
		size += ram->regions[i].size;
	if (size > max_size)
		return residence;
	for (unsigned int i = 0; i < ram->count; i++)
		if (madvise(ram->regions[i].host, ram->regions[i].size,
			    MADV_POPULATE_WRITE))
			return residence;
	residence.is_prefaulted = true;
	residence.is_locked = ram_lock(ram);
	return residence;
}

void ram_free(struct guest_ram *ram)
{
	for (unsigned int i = 0; i < ram->count; i++)
		munmap(ram->regions[i].host, ram->regions[i].size);
	memset(ram, 0, sizeof(*ram));
}

void *ram_ptr(const struct guest_ram *ram, uint64_t gpa, uint64_t len)
{
	if (!len)
		len = 1;
	for (unsigned int i = 0; i < ram->count; i++) {
		const struct ram_region *region = &ram->regions[i];
		uint64_t offset = gpa - region->gpa;

		/* gpa below the region wraps offset to a huge value; neither
		 * comparison can overflow. */
		if (offset < region->size && len <= region->size - offset)
			return region->host + offset;
	}
	return NULL;
}

int ram_zero(const struct guest_ram *ram, uint64_t gpa, uint64_t len)
{
	const uint64_t page_mask = RAM_PAGE_SIZE - 1;
	uint64_t head, pages;
	uint8_t *host;

	if (!len)
		return 0;
	host = ram_ptr(ram, gpa, len);
	if (!host)
		return -EINVAL;
	/* Host and guest addresses have the same offset into a page. */
	head = -gpa & page_mask;
	if (head > len)
		head = len;
	pages = (len - head) & ~page_mask;
	memset(host, 0, head);
	host += head;
	/* Dropping the pages makes them read as zero and costs no memory: an
	 * image may claim gigabytes of bss. Locked pages cannot be dropped. */
	if (pages && madvise(host, pages, MADV_DONTNEED))
		memset(host, 0, pages);
	memset(host + pages, 0, len - head - pages);
	return 0;
}

/* A change of protection makes the kernel tell KVM (mmu notifier), whatever the
 * change is. To PROT_NONE it would be as good, but not for a dump of the state
 * or a report that is copied out of the page just then. */
int ram_drop_translation(const struct guest_ram *ram, uint64_t gpa)
{
	void *page = ram_ptr(ram, gpa & ~(RAM_PAGE_SIZE - 1), RAM_PAGE_SIZE);

	if (!page)
		return -EFAULT;
	if (mprotect(page, RAM_PAGE_SIZE, PROT_READ) ||
	    mprotect(page, RAM_PAGE_SIZE, PROT_READ | PROT_WRITE))
		return -errno;
	return 0;
}

static void ram_map_add(struct ram_map_entry *out, unsigned int *count,
			uint64_t start_gpa, uint64_t end_gpa,
			enum ram_map_type type)
{
	if (start_gpa >= end_gpa)
		return;
	out[*count].gpa = start_gpa;
	out[*count].size = end_gpa - start_gpa;
	out[*count].type = type;
	(*count)++;
}

unsigned int ram_map_entries(const struct guest_ram *ram,
			     struct ram_map_entry out[RAM_MAP_MAX])
{
	unsigned int count = 0;

	if (!ram->count)
		return 0;
	ram_map_add(out, &count, 0, RAM_BASE_END, RAM_MAP_USABLE);
	ram_map_add(out, &count, RAM_BASE_END, RAM_EXT_START, RAM_MAP_RESERVED);
	ram_map_add(out, &count, RAM_EXT_START, ram_low_end(ram),
		    RAM_MAP_USABLE);
	for (unsigned int i = 1; i < ram->count; i++) {
		const struct ram_region *region = &ram->regions[i];

		ram_map_add(out, &count, region->gpa,
			    region->gpa + region->size, RAM_MAP_USABLE);
	}
	return count;
}
