/* SPDX-License-Identifier: MIT */
/*
 * Models a boot loader that enters a bzImage at its 64-bit entry point.
 * Reference: Linux Documentation/arch/x86/boot.rst, boot protocol 2.12 to 2.15;
 * zero-page.rst for boot_params. Does not model the real-mode and 32-bit
 * entries, setup_data, EFI, a video mode, kernels or initrds above 4 GiB.
 */
#include "boot_linux.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "boot_tables.h"
#include "load_plan.h"
#include "loader_elf.h"
#include "memory.h"

/* Offsets in the file, and in boot_params too: the header keeps its place. */
enum {
	HDR_SETUP_SECTS = 0x1f1, /* 1 byte; the header starts here */
	HDR_SYSSIZE = 0x1f4,	 /* 4 */
	HDR_BOOT_FLAG = 0x1fe,	 /* 2 */
	HDR_JUMP_DISTANCE = 0x201,
	HDR_MAGIC = 0x202,	      /* 4; the jump is from here */
	HDR_VERSION = 0x206,	      /* 2 */
	HDR_TYPE_OF_LOADER = 0x210,   /* 1 */
	HDR_LOADFLAGS = 0x211,	      /* 1 */
	HDR_RAMDISK_IMAGE = 0x218,    /* 4 */
	HDR_RAMDISK_SIZE = 0x21c,     /* 4 */
	HDR_CMD_LINE_PTR = 0x228,     /* 4 */
	HDR_INITRD_ADDR_MAX = 0x22c,  /* 4; the last byte */
	HDR_KERNEL_ALIGNMENT = 0x230, /* 4 */
	HDR_RELOCATABLE = 0x234,      /* 1 */
	HDR_XLOADFLAGS = 0x236,	      /* 2 */
	HDR_CMDLINE_SIZE = 0x238,     /* 4; without the NUL */
	HDR_SETUP_DATA = 0x250,	      /* 8 */
	HDR_PREF_ADDRESS = 0x258,     /* 8 */
	HDR_INIT_SIZE = 0x260,	      /* 4 */
	HDR_END_2_12 = 0x268,
};

/* In boot_params alone. */
enum {
	PARAMS_RSDP = 0x070,	     /* 8 */
	PARAMS_E820_ENTRIES = 0x1e8, /* 1 */
	PARAMS_HDR_END_MAX = 0x290,  /* another member starts */
	PARAMS_E820 = 0x2d0,
	PARAMS_E820_ENTRY = 20,
	PARAMS_E820_MAX = 128,
	PARAMS_SIZE = 0x1000,
};

#define BOOT_FLAG	    0xaa55
#define VERSION_MIN	    0x020c
#define LOADED_HIGH	    0x01
#define XLF_KERNEL_64	    0x0001
#define LOADER_UNDEFINED    0xff /* one without a number of its own */
#define SECTOR		    512u
#define SETUP_SECTS_DEFAULT 4 /* what 0 stands for */
#define PARAGRAPH	    16u
#define ENTRY_64	    0x200u /* from the start of the kernel */
#define GPA_LIMIT	    UINT64_C(0x100000000)

#define SEL_BOOT_CS	    0x10
#define SEL_BOOT_DS	    0x18
#define SEL_BOOT_TSS	    0x20

/* __BOOT_CS and __BOOT_DS are where the protocol wants them. */
static const uint64_t linux_gdt[] = {
	0x0000000000000000,			/* null */
	0x0000000000000000, 0x00af9b000000ffff, /* execute/read, 64-bit */
	0x00cf93000000ffff,			/* read/write */
	0x00008b0000000067,			/* busy TSS of 104 bytes at 0 */
	0x0000000000000000,			/* upper half of its base */
};

_Static_assert(PARAMS_SIZE <= BOOT_INFO_SIZE, "boot_params is one page");
_Static_assert(RAM_MAP_MAX <= PARAMS_E820_MAX, "the whole map");

/* The field of size bytes at offset; the caller knows it is in the file. */
static uint64_t header_get(const struct image_bytes *image, unsigned int offset,
			   unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value, image->data + offset, size);
	return value;
}

bool boot_linux_find(const struct image_bytes *image)
{
	return image->size >= HDR_VERSION + 2 && !loader_elf_magic(image) &&
	       header_get(image, HDR_BOOT_FLAG, 2) == BOOT_FLAG &&
	       !memcmp(image->data + HDR_MAGIC, "HdrS", 4);
}

/* Where the header ends, by its own jump. */
static uint64_t header_end(const struct image_bytes *image)
{
	return HDR_MAGIC + header_get(image, HDR_JUMP_DISTANCE, 1);
}

static int check_header(const struct image_bytes *image, struct load_error *err)
{
	uint64_t version = header_get(image, HDR_VERSION, 2);
	uint64_t end = header_end(image);

	if (version < VERSION_MIN)
		return load_fail(err, -EINVAL,
				 "a bzImage of boot protocol %" PRIu64
				 ".%02" PRIu64 "; 2.12 (Linux 3.8) or later "
				 "is needed",
				 version >> 8, version & 0xff);
	if (end < HDR_END_2_12 || end > PARAMS_HDR_END_MAX)
		return load_fail(
			err, -EINVAL,
			"a bzImage whose setup header ends at 0x%" PRIx64
			", not between 0x%x and 0x%x; is it damaged?",
			end, HDR_END_2_12, PARAMS_HDR_END_MAX);
	if (end > image->size)
		return load_fail(err, -EINVAL,
				 "a bzImage of %" PRIu64 " bytes, shorter than "
				 "its setup header; is it cut short?",
				 image->size);
	if (!(header_get(image, HDR_LOADFLAGS, 1) & LOADED_HIGH))
		return load_fail(err, -EINVAL,
				 "a zImage, which loads below 640 KiB "
				 "(loadflags bit 0); build a bzImage");
	if (!(header_get(image, HDR_XLOADFLAGS, 2) & XLF_KERNEL_64))
		return load_fail(err, -EINVAL,
				 "a bzImage without a 64-bit entry point "
				 "(xloadflags bit 0); build it for x86-64");
	return 0;
}

/* Where the kernel is to be. A kernel that could be anywhere still runs from
 * pref_address up, so any place below is as good as that one. */
static int choose_place(const struct image_bytes *image, uint64_t *gpa,
			struct load_error *err)
{
	uint64_t pref_gpa = header_get(image, HDR_PREF_ADDRESS, 8);
	uint64_t alignment = header_get(image, HDR_KERNEL_ALIGNMENT, 4);

	if (pref_gpa >= GPA_LIMIT)
		return load_fail(err, -EINVAL,
				 "a bzImage that wants to be at 0x%" PRIx64
				 " (pref_address), above 4 GiB; build it with "
				 "a lower CONFIG_PHYSICAL_START",
				 pref_gpa);
	*gpa = pref_gpa;
	if (!header_get(image, HDR_RELOCATABLE, 1))
		return 0;
	if (!alignment || alignment & (alignment - 1))
		return load_fail(err, -EINVAL,
				 "a bzImage with a kernel_alignment of "
				 "0x%" PRIx64 ", which is no power of two; is "
				 "it damaged?",
				 alignment);
	if (*gpa < RAM_EXT_START)
		*gpa = RAM_EXT_START;
	*gpa = (*gpa + alignment - 1) & ~(alignment - 1);
	return 0;
}

static int plan_kernel(const struct image_bytes *image, uint64_t gpa,
		       struct load_plan *plan, struct load_error *err)
{
	uint64_t sectors = header_get(image, HDR_SETUP_SECTS, 1);
	struct load_segment kernel = {
		.name = "the kernel",
		.gpa = gpa,
		.vaddr = gpa,
		.mem_size = header_get(image, HDR_INIT_SIZE, 4),
		.file_size = header_get(image, HDR_SYSSIZE, 4) * PARAGRAPH,
	};

	if (!sectors)
		sectors = SETUP_SECTS_DEFAULT;
	/* The boot sector itself is not counted. */
	kernel.file_offset = (sectors + 1) * SECTOR;
	if (kernel.file_size <= ENTRY_64)
		return load_fail(err, -EINVAL,
				 "a bzImage with 0x%" PRIx64 " bytes of kernel "
				 "(syssize), too few for a 64-bit entry point "
				 "at 0x%x; is it damaged?",
				 kernel.file_size, ENTRY_64);
	plan->entry_gpa = gpa + ENTRY_64;
	return load_plan_add(plan, &kernel, image->size, err);
}

int boot_linux_plan(const struct image_bytes *image, struct load_plan *plan,
		    struct load_error *err)
{
	uint64_t gpa = 0, cmdline_size;
	int rc = check_header(image, err);

	if (!rc)
		rc = choose_place(image, &gpa, err);
	if (!rc)
		rc = plan_kernel(image, gpa, plan, err);
	if (rc)
		return rc;
	cmdline_size = header_get(image, HDR_CMDLINE_SIZE, 4);
	if (cmdline_size < plan->cmdline_max)
		plan->cmdline_max = (size_t)cmdline_size;
	plan->place_limit_gpa = header_get(image, HDR_INITRD_ADDR_MAX, 4) + 1;
	return 0;
}

static void params_put(uint8_t *params, unsigned int offset, uint64_t value,
		       unsigned int size)
{
	memcpy(params + offset, &value, size);
}

static void params_put_map(uint8_t *params, const struct guest_ram *ram)
{
	struct ram_map_entry map[RAM_MAP_MAX];
	unsigned int count = ram_map_entries(ram, map);
	unsigned int at = PARAMS_E820;

	for (unsigned int i = 0; i < count; i++, at += PARAMS_E820_ENTRY) {
		params_put(params, at, map[i].gpa, 8);
		params_put(params, at + 8, map[i].size, 8);
		params_put(params, at + 16, map[i].type, 4);
	}
	params_put(params, PARAMS_E820_ENTRIES, count, 1);
}

static void write_params(const struct guest_ram *ram,
			 const struct boot_content *content)
{
	const struct image_bytes *image = content->image;
	uint8_t params[PARAMS_SIZE] = {0};
	uint64_t end = header_end(image);

	assert(end <= PARAMS_HDR_END_MAX && end <= image->size);
	memcpy(params + HDR_SETUP_SECTS, image->data + HDR_SETUP_SECTS,
	       end - HDR_SETUP_SECTS);
	/* What the loader has to say, also where that is nothing. */
	params_put(params, HDR_TYPE_OF_LOADER, LOADER_UNDEFINED, 1);
	params_put(params, HDR_RAMDISK_IMAGE, content->initrd_gpa, 4);
	params_put(params, HDR_RAMDISK_SIZE, content->initrd_size, 4);
	params_put(params, HDR_CMD_LINE_PTR, BOOT_CMDLINE_GPA, 4);
	params_put(params, HDR_SETUP_DATA, 0, 8);
	params_put(params, PARAMS_RSDP, BOOT_RSDP_GPA, 8);
	params_put_map(params, ram);
	boot_tables_put(ram, BOOT_INFO_GPA, params, sizeof(params));
}

void boot_linux_write(const struct guest_ram *ram,
		      const struct boot_content *content,
		      struct boot_state *state)
{
	boot_tables_write(ram, ENTRY_LONG64, content, state);
	boot_tables_write_paging(ram, state);
	boot_tables_put(ram, BOOT_GDT_GPA, linux_gdt, sizeof(linux_gdt));
	write_params(ram, content);
	state->used = BOOT_LINUX;
	state->gdt_limit = sizeof(linux_gdt) - 1;
	state->cs_selector = SEL_BOOT_CS;
	state->ds_selector = SEL_BOOT_DS;
	state->tr_selector = SEL_BOOT_TSS;
	state->rsi = BOOT_INFO_GPA;
	state->rsp = BOOT_STACK_END_GPA;
}
