/* SPDX-License-Identifier: MIT */
/*
 * boot - reads PVH start information or multiboot information.
 * Reference: Xen public header arch-x86/hvm/start_info.h (struct
 * hvm_start_info, version 1); Multiboot Specification 0.6.96, "Boot
 * information format". Not read: modules, boot device, symbols.
 * Everything is copied out at once: low memory is reused for the trampoline.
 */
#include "boot.h"

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "power.h"
#include "report.h"
#include "string.h"
#include "words.h"

#include <stdint.h>

#define MULTIBOOT_MAGIC		  0x2badb002
#define MULTIBOOT_INFO_MEMORY	  (1u << 0)
#define MULTIBOOT_INFO_CMDLINE	  (1u << 2)
#define MULTIBOOT_INFO_MEMORY_MAP (1u << 6)

#define PVH_MAGIC		  0x336ec578

#define MEMORY_RAM		  1 /* in both protocols */

#define MIB			  0x100000ull
#define LOW_LIMIT		  (3 * 1024 * MIB)
#define PAGE			  4096ull

struct multiboot_info {
	uint32_t flags;
	uint32_t mem_lower_kib, mem_upper_kib;
	uint32_t boot_device;
	uint32_t cmdline_gpa;
	uint32_t mods_count, mods_gpa;
	uint32_t syms[4];
	uint32_t mmap_bytes, mmap_gpa;
};

struct multiboot_mmap_entry {
	uint32_t size; /* of what follows */
	uint64_t gpa, bytes;
	uint32_t type;
} __attribute__((packed));

struct pvh_start_info {
	uint32_t magic, version, flags, nr_modules;
	uint64_t modlist_gpa, cmdline_gpa, rsdp_gpa, memmap_gpa;
	uint32_t memmap_entries, reserved;
};

struct pvh_memmap_entry {
	uint64_t gpa, bytes;
	uint32_t type, reserved;
};

/* Called from entry.S; no header, since nobody else may. */
__attribute__((noreturn)) void boot_main(uint32_t magic, uint32_t info_gpa);

extern char image_end[];

static char command_line[COMMAND_LINE_MAX + 1];
static char command_line_words[COMMAND_LINE_MAX + 1];
static const char *protocol;
static uint64_t alloc_gpa, ram_end_gpa, rsdp_gpa;

static const void *low_memory(uint64_t gpa)
{
	return (const void *)(uintptr_t)gpa;
}

static void boot_take_command_line(uint64_t gpa)
{
	const char *text = low_memory(gpa);
	size_t n = 0;

	while (text[n]) {
		if (n == COMMAND_LINE_MAX) {
			console_puts("boot: command line longer than 4095\n");
			power_exit(STATUS_USAGE);
		}
		command_line[n] = text[n];
		command_line_words[n] = text[n];
		n++;
	}
}

static void boot_take_region(uint64_t gpa, uint64_t bytes, uint32_t type)
{
	uint64_t end_gpa = gpa + bytes;

	if (type == MEMORY_RAM && gpa <= alloc_gpa && alloc_gpa < end_gpa)
		ram_end_gpa = end_gpa < LOW_LIMIT ? end_gpa : LOW_LIMIT;
}

static void boot_read_multiboot(const struct multiboot_info *info)
{
	uint64_t at_gpa = info->mmap_gpa;
	const uint64_t end_gpa = at_gpa + info->mmap_bytes;

	protocol = "multiboot";
	if (info->flags & MULTIBOOT_INFO_CMDLINE)
		boot_take_command_line(info->cmdline_gpa);
	if (info->flags & MULTIBOOT_INFO_MEMORY)
		boot_take_region(MIB, info->mem_upper_kib * 1024ull,
				 MEMORY_RAM);
	if (!(info->flags & MULTIBOOT_INFO_MEMORY_MAP))
		return;
	while (at_gpa < end_gpa) {
		const struct multiboot_mmap_entry *e = low_memory(at_gpa);

		boot_take_region(e->gpa, e->bytes, e->type);
		at_gpa += e->size + sizeof(e->size);
	}
}

static void boot_read_pvh(const struct pvh_start_info *info)
{
	const struct pvh_memmap_entry *map;

	protocol = "pvh";
	if (info->cmdline_gpa)
		boot_take_command_line(info->cmdline_gpa);
	rsdp_gpa = info->rsdp_gpa;
	if (info->version < 1)
		return;
	map = low_memory(info->memmap_gpa);
	for (uint32_t i = 0; i < info->memmap_entries; i++)
		boot_take_region(map[i].gpa, map[i].bytes, map[i].type);
}

void boot_main(uint32_t magic, uint32_t info_gpa)
{
	port_out8(MARKER_PORT, MARKER_C);
	console_init();
	cpu_init(0);
	alloc_gpa = ((uintptr_t)image_end + PAGE - 1) & ~(PAGE - 1);
	if (magic == MULTIBOOT_MAGIC) {
		boot_read_multiboot(low_memory(info_gpa));
	} else if (*(const uint32_t *)low_memory(info_gpa) == PVH_MAGIC) {
		boot_read_pvh(low_memory(info_gpa));
	} else {
		console_puts("boot: neither multiboot nor PVH\n");
		power_exit(STATUS_USAGE);
	}
	words_init(command_line_words);
	guest_main();
	power_exit(0);
}

const char *boot_command_line(void)
{
	return command_line;
}

const char *boot_protocol(void)
{
	return protocol;
}

uint64_t boot_rsdp_gpa(void)
{
	return rsdp_gpa;
}

void *boot_alloc(size_t bytes)
{
	uint64_t gpa = alloc_gpa;
	uint64_t room = ram_end_gpa > gpa ? ram_end_gpa - gpa : 0;

	if (bytes > room)
		return NULL;
	bytes = (bytes + PAGE - 1) & ~(PAGE - 1);
	alloc_gpa = bytes < room ? gpa + bytes : ram_end_gpa;
	return (void *)(uintptr_t)gpa;
}
