/* SPDX-License-Identifier: MIT */
/*
 * loader - put a guest image, its initrd and its boot tables into guest RAM.
 *
 * Four protocols; BOOT_AUTO takes the first that the image offers:
 *
 * linux      a bzImage, boot protocol 2.12 or later, with a 64-bit entry point.
 *            Long mode, the first 4 GiB mapped 1:1 in 2 MiB pages, RSI =
 *            boot_params, RSP = a 16 KiB stack. Source: Linux
 *            Documentation/arch/x86/boot.rst "64-bit BOOT PROTOCOL".
 * pvh        the image has a Xen note PHYS32_ENTRY in a PT_NOTE segment (ELF32
 *            or ELF64). 32-bit protected mode, paging off, EBX = start_info.
 *            Source: Xen "x86/HVM direct boot ABI", start_info version 1.
 * multiboot  a Multiboot 1 header in the first 8 KiB. 32-bit protected mode,
 *            paging off, EAX = 0x2badb002, EBX = Multiboot information.
 *            Source: Multiboot Specification 0.6.96 "Machine state".
 * elf64      the entry point of an ELF64 x86-64 executable. Long mode, the
 *            first 4 GiB mapped 1:1 in 2 MiB pages, RDI = the same start_info
 *            as with pvh, RSP = a 16 KiB stack, as if called from address 0:
 *            a C function void entry(struct start_info *) may be the entry.
 *
 * In all four: interrupts off (RFLAGS = 2), flat segments from the GDT
 * below, registers not named here 0, and no IDT.
 *
 * The tables live at fixed guest-physical addresses in low memory. Those below
 * 640 KiB stay ordinary RAM in the memory map: a guest copies what it needs,
 * then may use the space. An image segment that needs a table's place is an
 * error.
 *
 *   0x90000  4 KiB   GDT: 0x08 code32, 0x10 data, 0x18 code64, 0x20 TSS;
 *                    linux: 0x10 code64, 0x18 data, 0x20 TSS
 *   0x91000  4 KiB   start_info or Multiboot information, module list, names;
 *                    linux: boot_params
 *   0x92000  4 KiB   memory map
 *   0x93000  4 KiB   command line
 *   0x94000  24 KiB  page tables (elf64, linux): PML4, PDPT, 4 page directories
 *   0x9a000  16 KiB  stack (elf64, linux)
 *   0xf0000  8 KiB   ACPI tables, RSDP first; at 0xf1000 MP tables, pointer
 *                    first. The map reports these as reserved.
 *
 * Image segments go to their p_paddr, a bzImage's kernel to its pref_address.
 * The initrd is page aligned and as high as it fits below 3 GiB, and with linux
 * below initrd_addr_max; never below 1 MiB.
 *
 * Command line: printable ASCII, whole or an error. pvh: at most 2047 bytes,
 * what an x86 Linux takes (it would cut the rest in silence); multiboot and
 * elf64: 4095 bytes; linux: the kernel's own cmdline_size, at most 4095. All
 * but multiboot pass boot_args as it is. multiboot passes "NAME boot_args",
 * NAME being the image's file name with every byte that is not a printable,
 * non-space ASCII character replaced by '_': guests of this protocol expect a
 * program name as the first word. NAME counts.
 *
 * Not in this version: Multiboot 2, Multiboot video modes, symbols and drives,
 * relocatable images (ET_DYN).
 */
#ifndef VMM_LOADER_H
#define VMM_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"

struct guest_ram;

#define LOADER_IMAGE_MAX                                         \
	UINT64_C(0x20000000)	  /* 512 MiB: largest image file \
				   */
#define LOADER_SEGMENTS_MAX  64	  /* PT_LOAD headers with memory */
#define LOADER_CMDLINE_PVH   2047 /* bytes without the NUL */
#define LOADER_CMDLINE_OTHER 4095

struct loader_request {
	const char *image_path;
	const char *initrd_path; /* NULL: none */
	const char *boot_args;	 /* NULL: empty */
	unsigned int cpus;	 /* for the firmware tables: 1 to 64 */
	enum boot_protocol protocol;
};

enum boot_entry {
	ENTRY_PROT32, /* CR0 = PE, CR3 = CR4 = EFER = 0 */
	ENTRY_LONG64, /* CR0 = PE|PG, CR4 = PAE, EFER = LME|LMA */
};

/* Everything the bootstrap vCPU's registers need. All are values before the
 * first guest instruction; addresses are guest-physical. */
struct boot_state {
	enum boot_protocol used; /* never BOOT_AUTO */
	enum boot_entry mode;
	uint64_t entry_gpa; /* RIP */
	uint64_t rsp;	    /* 0 in ENTRY_PROT32 */
	uint64_t rax;
	uint64_t rbx;
	uint64_t rsi;
	uint64_t rdi;
	uint64_t cr3_gpa; /* 0 in ENTRY_PROT32 */
	uint64_t gdt_gpa;
	uint16_t gdt_limit;	/* as in GDTR: size - 1 */
	uint16_t cs_selector;	/* base 0, limit 4 GiB, execute/read, accessed;
				   32-bit, or L=1 in ENTRY_LONG64 */
	uint16_t ds_selector;	/* DS ES FS GS SS: base 0, limit 4 GiB,
				   read/write, accessed, 32-bit */
	uint16_t tr_selector;	/* busy TSS (type 11), base 0, limit 0x67 */
	uint64_t cmdline_gpa;	/* NUL-terminated, as the guest sees it */
	uint64_t image_end_gpa; /* past the highest byte of any segment */
	uint64_t initrd_gpa;	/* 0: none */
	uint64_t initrd_size;	/* bytes */
};

/*
 * Load the image (and initrd) into ram and write the boot tables. Everything
 * is validated before the first byte is written, except that an initrd may
 * still fail to be read. Returns 0 and fills *out; or -EINVAL for an image,
 * command line or memory size that does not work; or the -errno of open, read
 * or an allocation. On error err holds one line that names the file, the
 * segment where there is one, and how to mend it; it is cut at errsz.
 * Any thread, while no vCPU runs.
 */
int loader_load(const struct loader_request *req, const struct guest_ram *ram,
		struct boot_state *out, char *err, size_t errsz);

#endif
