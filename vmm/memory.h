/* SPDX-License-Identifier: MIT */
/*
 * memory - guest RAM and the map of it that a guest is told.
 *
 * RAM is private anonymous memory. It starts at guest-physical 0; what does
 * not fit below 3 GiB continues at 4 GiB, so that the last GiB below 4 GiB
 * stays free for the local APIC, the IOAPIC and other device windows.
 * Handing the regions to KVM is the owner's business: one memory slot each.
 * No locks: allocate before the vCPU threads start, free after they ended.
 * ram_ptr() and ram_map_entries() only read and may be called by any thread.
 */
#ifndef VMM_MEMORY_H
#define VMM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define RAM_MIN_SIZE	UINT64_C(0x100000) /* 1 MiB: the boot tables need it */
#define RAM_MAX_SIZE	UINT64_C(0x1000000000) /* 64 GiB */
#define RAM_LOW_END	UINT64_C(0xc0000000)   /* 3 GiB: device hole starts */
#define RAM_HIGH_START	UINT64_C(0x100000000)  /* 4 GiB: device hole ends */
#define RAM_BASE_END	UINT64_C(0x9fc00)  /* first byte reserved as on a PC */
#define RAM_EXT_START	UINT64_C(0x100000) /* 1 MiB: usable again */
#define RAM_PAGE_SIZE	UINT64_C(0x1000)
#define RAM_REGIONS_MAX 2
#define RAM_MAP_MAX	4

struct ram_region {
	uint64_t gpa;  /* first guest-physical byte, page aligned */
	uint64_t size; /* bytes, a multiple of the page size */
	uint8_t *host; /* where punctual sees it, page aligned */
};

struct guest_ram {
	struct ram_region regions[RAM_REGIONS_MAX]; /* ascending gpa */
	unsigned int count;			    /* regions in use, 0-2 */
};

/* Numbered as ACPI "Address Range Types" (INT 15H, E820H) numbers them; PVH
 * and Multiboot memory maps use the same numbers. */
enum ram_map_type {
	RAM_MAP_USABLE = 1,
	RAM_MAP_RESERVED = 2,
};

struct ram_map_entry {
	uint64_t gpa;
	uint64_t size; /* bytes, never 0 */
	enum ram_map_type type;
};

/*
 * Map size_bytes of zeroed guest RAM: RAM_MIN_SIZE to RAM_MAX_SIZE, a multiple
 * of the page size. Nothing is reserved or touched: the host pays for the
 * pages the guest uses. Returns 0; -EINVAL for a size out of range; or the
 * -errno of mmap, with *ram left empty. Any thread.
 */
int ram_alloc(struct guest_ram *ram, uint64_t size_bytes);

/* What the host did for it. */
struct ram_residence {
	bool is_prefaulted; /* every page is there: no fault of the host's */
	bool is_locked;	    /* and stays there */
};

/*
 * Gives *ram all its pages now, writable, and locks them where the limits of
 * the process permit it, unless they are more than max_size bytes: then nothing
 * is done. Contents stay. What cannot be done is not done, and told. KVM's own
 * page tables are still filled as the guest touches its pages. Any thread.
 */
struct ram_residence ram_make_resident(const struct guest_ram *ram,
				       uint64_t max_size);

/* Unmap all regions and leave *ram empty. Safe on an empty one. No vCPU may
 * run and no memory slot may exist any more. */
void ram_free(struct guest_ram *ram);

/*
 * Host address of guest-physical [gpa, gpa + len), or NULL unless all of it
 * lies in one region. gpa and len may be any value, also one whose sum wraps.
 * len 0 is answered like len 1: there must be RAM at gpa. Any thread.
 */
void *ram_ptr(const struct guest_ram *ram, uint64_t gpa, uint64_t len);

/*
 * Make guest-physical [gpa, gpa + len) read as zero without making the host
 * pay for untouched pages. Returns 0, or -EINVAL unless all of it lies in one
 * region; len 0 does nothing. Any thread, while no vCPU runs.
 */
int ram_zero(const struct guest_ram *ram, uint64_t gpa, uint64_t len);

/*
 * Whoever follows this process's page tables, KVM that is, has to look up the
 * page with guest-physical address gpa anew when the guest uses it next.
 * Contents stay, and a thread of this process may read the page meanwhile; one
 * that writes, and a vCPU that runs and writes, may meet a page that is
 * read-only (KVM_RUN: EFAULT). 0; -EFAULT if there is no RAM at gpa; -errno of
 * mprotect, after which the page may be read-only for good. Any thread.
 */
int ram_drop_translation(const struct guest_ram *ram, uint64_t gpa);

/*
 * The memory map for a guest: usable up to 639 KiB, reserved up to 1 MiB as
 * on a PC (an extended BIOS data area and ROM would be there), usable from
 * there on, and the part above 4 GiB. Writes up to RAM_MAP_MAX entries in
 * ascending order, without overlap, and returns how many. Any thread.
 */
unsigned int ram_map_entries(const struct guest_ram *ram,
			     struct ram_map_entry out[RAM_MAP_MAX]);

#endif
