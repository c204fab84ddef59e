/* SPDX-License-Identifier: MIT */
/*
 * loader_elf - read the headers and notes of an ELF executable.
 *
 * Decoding is libelf's; every offset and size is checked against the file
 * here, because the file may be hostile. Any thread; an open image belongs to
 * one caller, and its bytes must stay unchanged and mapped until it is closed.
 */
#ifndef VMM_LOADER_ELF_H
#define VMM_LOADER_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Elf;
struct image_bytes;
struct load_error;
struct load_plan;

struct loader_elf {
	struct Elf *handle;
	const struct image_bytes *image;
	size_t header_count;  /* program headers, all of them in the file */
	uint64_t entry_vaddr; /* e_entry */
	bool is_elf64;
};

/* Does the file start with the ELF magic? */
bool loader_elf_magic(const struct image_bytes *image);

/*
 * Check the ELF header: ELF32 for i386 or ELF64 for x86-64, little endian,
 * version 1, ET_EXEC, a program header table that lies in the file. Returns 0;
 * -EINVAL if that does not hold; or -ENOMEM. On an error there is nothing to
 * close. Source: System V ABI "ELF Header".
 */
int loader_elf_open(struct loader_elf *elf, const struct image_bytes *image,
		    struct load_error *err);
void loader_elf_close(struct loader_elf *elf);

/*
 * Add every PT_LOAD header to the plan, in any order, at its p_paddr, with
 * entry_gpa left alone. Returns 0 or -EINVAL. Source: "Program Header".
 */
int loader_elf_plan(const struct loader_elf *elf, struct load_plan *plan,
		    struct load_error *err);

/*
 * Where e_entry is in guest-physical memory. It is a virtual address in most
 * images and is looked up in the segments of the plan; in some (an x86 Linux
 * vmlinux) it is in no segment's virtual range and already physical.
 */
uint64_t loader_elf_entry_gpa(const struct loader_elf *elf,
			      const struct load_plan *plan);

/*
 * Find the first note of this name (with its NUL) and type in the PT_NOTE
 * segments. Returns 1 and its descriptor, which lies in the file's bytes; 0
 * if there is none; -EINVAL if a PT_NOTE header or a note before it is
 * broken. Source: System V ABI "Note Section".
 */
int loader_elf_note(const struct loader_elf *elf, const char *name,
		    uint32_t type, const uint8_t **desc, uint32_t *desc_size,
		    struct load_error *err);

#endif
