/* SPDX-License-Identifier: MIT */
/*
 * plain64 - a guest that is nothing but an ELF64 file with a 64-bit entry: no
 * PVH note, no multiboot header, no runtime of the other guests around it.
 *
 * Tells what it was given (command line, RAM, modules), touches the last
 * bytes of every piece of RAM, and ends as its words say: status=N, or
 *   arm=N, arm_ahead=N  a deadline at that TSC, or so far ahead; then waits in
 *                       HLT. There is no IDT: any interrupt is a triple fault
 *   fetch_hole          runs into a page where nothing is
 * Reference: the VMM's "elf64" protocol; Xen public header
 * arch-x86/hvm/start_info.h, version 1. Not here: exceptions, more than one
 * CPU.
 */
#include "apic.h"
#include "arch.h"
#include "console.h"
#include "power.h"
#include "words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define START_INFO_MAGIC 0x336ec578
#define MEMORY_RAM	 1
#define STATUS_BAD_START 1
#define STATUS_BAD_RAM	 2

#define PAGE_TABLE	 0x3ull	 /* P RW */
#define PAGE_2M		 0x83ull /* P RW PS */
#define TABLE_ADDRESS	 0xffffffffff000ull
#define MAPPED_END	 (4ull << 30)
#define HOLE_GPA	 0xd0000000ull /* above RAM, below the local APIC */
#define PATTERN		 0x706c61696e3634ull

struct start_info {
	uint32_t magic, version, flags, nr_modules;
	uint64_t modlist_gpa, cmdline_gpa, rsdp_gpa, memmap_gpa;
	uint32_t memmap_entries, reserved;
};

struct module {
	uint64_t gpa, bytes, cmdline_gpa, reserved;
};

struct memmap_entry {
	uint64_t gpa, bytes;
	uint32_t type, reserved;
};

/* The entry point; called by nobody. */
__attribute__((noreturn)) void plain64_entry(const struct start_info *info);

static uint64_t high_directory[512] __attribute__((aligned(4096)));
static char command_line[COMMAND_LINE_MAX + 1];

static void *at_gpa(uint64_t gpa)
{
	return (void *)(uintptr_t)gpa;
}

/* Maps the 2 MiB around an address past the first 4 GiB, below 512 GiB. */
static void map_high(uint64_t gpa)
{
	uint64_t cr3;
	uint64_t *pdpt;

	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	pdpt = at_gpa(*(const uint64_t *)at_gpa(cr3 & TABLE_ADDRESS) &
		      TABLE_ADDRESS);
	high_directory[gpa >> 21 & 511] = (gpa & ~0x1fffffull) | PAGE_2M;
	pdpt[gpa >> 30] = (uint64_t)(uintptr_t)high_directory | PAGE_TABLE;
	__asm__ volatile("mov %0, %%cr3" : : "r"(cr3) : "memory");
}

static void touch_ram_end(uint64_t end_gpa)
{
	volatile uint64_t *last = at_gpa(end_gpa - sizeof(*last));

	if (end_gpa > MAPPED_END)
		map_high(end_gpa - 1);
	*last = PATTERN;
	if (*last == PATTERN)
		return;
	console_printf("plain64: no RAM below %llx\n",
		       (unsigned long long)end_gpa);
	power_exit(STATUS_BAD_RAM);
}

static void show_ram(const struct start_info *info)
{
	const struct memmap_entry *map = at_gpa(info->memmap_gpa);
	uint64_t bytes = 0, end_gpa = 0;
	unsigned regions = 0;

	for (uint32_t i = 0; i < info->memmap_entries; i++) {
		if (map[i].type != MEMORY_RAM)
			continue;
		end_gpa = map[i].gpa + map[i].bytes;
		bytes += map[i].bytes;
		regions++;
		touch_ram_end(end_gpa);
	}
	console_printf("plain64: RAM %llu KiB in %u pieces, up to %llx\n",
		       (unsigned long long)bytes / 1024, regions,
		       (unsigned long long)end_gpa);
}

static void show_modules(const struct start_info *info)
{
	const struct module *modules = at_gpa(info->modlist_gpa);

	for (uint32_t i = 0; i < info->nr_modules; i++) {
		const uint8_t *bytes = at_gpa(modules[i].gpa);
		uint32_t sum = 0;

		for (uint64_t n = 0; n < modules[i].bytes; n++)
			sum += bytes[n];
		console_printf("plain64: module of %llu bytes, sum %u\n",
			       (unsigned long long)modules[i].bytes, sum);
	}
}

static void show_command_line(const struct start_info *info)
{
	const char *text = at_gpa(info->cmdline_gpa);
	size_t n = 0;

	while (n < COMMAND_LINE_MAX && text[n]) {
		command_line[n] = text[n];
		n++;
	}
	console_printf("plain64: command line \"%s\"\n", command_line);
}

static __attribute__((noreturn)) void arm_and_halt(uint64_t deadline_guest_tsc)
{
	apic_init();
	apic_timer_deadline_mode();
	apic_timer_arm(deadline_guest_tsc);
	console_puts("plain64: armed\n");
	for (;;)
		__asm__ volatile("sti\n\thlt" : : : "memory");
}

static void fetch_hole(void)
{
	void (*hole)(void) = (void (*)(void))(uintptr_t)HOLE_GPA;

	hole();
}

void plain64_entry(const struct start_info *info)
{
	uint64_t deadline_guest_tsc, ahead_tsc;
	uint32_t status;
	bool hole;

	console_init();
	if (info->magic != START_INFO_MAGIC || info->version < 1)
		power_exit(STATUS_BAD_START);
	show_command_line(info);
	words_init(command_line);
	deadline_guest_tsc = words_u64("arm", 1, UINT64_MAX, 0);
	ahead_tsc = words_u64("arm_ahead", 1, UINT64_MAX, 0);
	status = (uint32_t)words_u64("status", 0, UINT32_MAX, 0);
	hole = words_flag("fetch_hole");
	words_end();
	/* The modules first: the end of RAM may be where they are. */
	show_modules(info);
	show_ram(info);
	if (hole)
		fetch_hole();
	if (ahead_tsc)
		deadline_guest_tsc = tsc_read() + ahead_tsc;
	if (deadline_guest_tsc)
		arm_and_halt(deadline_guest_tsc);
	power_exit(status);
}
