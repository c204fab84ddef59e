/* SPDX-License-Identifier: MIT */
/*
 * elf_builder - make small ELF files in memory, right ones and wrong ones.
 *
 * Every header field is a plain member, so that a test can spoil just one. A
 * byte of the file that no header or note covers is elf_build_fill() of its
 * offset, so that a test can tell where loaded bytes came from. The file is
 * an allocation of its exact size: a sanitizer sees a read past its end.
 */
#ifndef TESTS_ELF_BUILDER_H
#define TESTS_ELF_BUILDER_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ELF_BUILD_HEADERS_MAX 72

struct elf_build_header {
	uint32_t type;
	uint64_t offset;
	uint64_t vaddr;
	uint64_t paddr;
	uint64_t filesz;
	uint64_t memsz;
	uint64_t align;
};

struct elf_build_note {
	uint64_t offset; /* in the file; 0: no note is written */
	uint32_t namesz;
	uint32_t descsz;
	uint32_t type;
	char name[8];
	uint64_t desc;
};

struct elf_build {
	uint8_t ident[EI_NIDENT];
	uint16_t type;
	uint16_t machine;
	uint32_t version;
	uint64_t entry;
	uint64_t phoff; /* as said in the file header */
	uint16_t phentsize;
	uint16_t phnum;
	struct elf_build_header ph[ELF_BUILD_HEADERS_MAX];
	unsigned int ph_written; /* behind the file header */
	struct elf_build_note note;
	uint64_t size; /* of the file, at most ELF_BUILD_SIZE_MAX */
	uint8_t *bytes;
};

#define ELF_BUILD_SIZE_MAX 0x4000

static inline uint8_t elf_build_fill(uint64_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8) * 13 + 0x41);
}

static inline bool elf_build_is64(const struct elf_build *b)
{
	return b->ident[EI_CLASS] == ELFCLASS64;
}

/* An executable of that class without program headers, of 8 KiB. */
static inline void elf_build_init(struct elf_build *b, bool is64)
{
	memset(b, 0, sizeof(*b));
	memcpy(b->ident, ELFMAG, SELFMAG);
	b->ident[EI_CLASS] = is64 ? ELFCLASS64 : ELFCLASS32;
	b->ident[EI_DATA] = ELFDATA2LSB;
	b->ident[EI_VERSION] = EV_CURRENT;
	b->type = ET_EXEC;
	b->machine = is64 ? EM_X86_64 : EM_386;
	b->version = EV_CURRENT;
	b->phoff = is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	b->phentsize = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	b->size = 0x2000;
}

/* Add a PT_LOAD whose virtual address is its physical one. */
static inline struct elf_build_header *
elf_build_load(struct elf_build *b, uint64_t paddr, uint64_t offset,
	       uint64_t filesz, uint64_t memsz)
{
	struct elf_build_header *ph = &b->ph[b->ph_written++];

	b->phnum = (uint16_t)b->ph_written;
	ph->type = PT_LOAD;
	ph->offset = offset;
	ph->vaddr = paddr;
	ph->paddr = paddr;
	ph->filesz = filesz;
	ph->memsz = memsz;
	ph->align = 0x1000;
	return ph;
}

/* Add a PT_NOTE at offset with one Xen PHYS32_ENTRY note. */
static inline struct elf_build_header *elf_build_pvh(struct elf_build *b,
						     uint64_t offset,
						     uint64_t entry,
						     uint32_t descsz)
{
	struct elf_build_header *ph = &b->ph[b->ph_written++];

	b->phnum = (uint16_t)b->ph_written;
	b->note.offset = offset;
	b->note.namesz = 4;
	b->note.descsz = descsz;
	b->note.type = 18;
	memcpy(b->note.name, "Xen", 4);
	b->note.desc = entry;
	ph->type = PT_NOTE;
	ph->offset = offset;
	ph->filesz = 16 + descsz;
	ph->memsz = ph->filesz;
	ph->align = 4;
	return ph;
}

static inline size_t elf_build_write_header(const struct elf_build *b,
					    uint8_t *out)
{
	if (elf_build_is64(b)) {
		Elf64_Ehdr h = {
			.e_type = b->type,
			.e_machine = b->machine,
			.e_version = b->version,
			.e_entry = b->entry,
			.e_phoff = b->phoff,
			.e_ehsize = sizeof(h),
			.e_phentsize = b->phentsize,
			.e_phnum = b->phnum,
		};

		memcpy(h.e_ident, b->ident, EI_NIDENT);
		memcpy(out, &h, sizeof(h));
		return sizeof(h);
	} else {
		Elf32_Ehdr h = {
			.e_type = b->type,
			.e_machine = b->machine,
			.e_version = b->version,
			.e_entry = (uint32_t)b->entry,
			.e_phoff = (uint32_t)b->phoff,
			.e_ehsize = sizeof(h),
			.e_phentsize = b->phentsize,
			.e_phnum = b->phnum,
		};

		memcpy(h.e_ident, b->ident, EI_NIDENT);
		memcpy(out, &h, sizeof(h));
		return sizeof(h);
	}
}

static inline size_t elf_build_write_ph(const struct elf_build *b,
					const struct elf_build_header *ph,
					uint8_t *out)
{
	if (elf_build_is64(b)) {
		Elf64_Phdr h = {
			.p_type = ph->type,
			.p_offset = ph->offset,
			.p_vaddr = ph->vaddr,
			.p_paddr = ph->paddr,
			.p_filesz = ph->filesz,
			.p_memsz = ph->memsz,
			.p_align = ph->align,
		};

		memcpy(out, &h, sizeof(h));
		return sizeof(h);
	} else {
		Elf32_Phdr h = {
			.p_type = ph->type,
			.p_offset = (uint32_t)ph->offset,
			.p_vaddr = (uint32_t)ph->vaddr,
			.p_paddr = (uint32_t)ph->paddr,
			.p_filesz = (uint32_t)ph->filesz,
			.p_memsz = (uint32_t)ph->memsz,
			.p_align = (uint32_t)ph->align,
		};

		memcpy(out, &h, sizeof(h));
		return sizeof(h);
	}
}

static inline void elf_build_put32(uint8_t *out, uint32_t value)
{
	memcpy(out, &value, sizeof(value));
}

/* Write a Multiboot 1 header with a right checksum; words[0..4] are its
 * address fields, or NULL for none. */
static inline void elf_build_multiboot(uint8_t *out, uint32_t flags,
				       const uint32_t *words)
{
	elf_build_put32(out, 0x1badb002U);
	elf_build_put32(out + 4, flags);
	elf_build_put32(out + 8, 0U - 0x1badb002U - flags);
	for (unsigned int i = 0; words && i < 5; i++)
		elf_build_put32(out + 12 + i * 4, words[i]);
}

/* Make the file: b->bytes of b->size. Free it with elf_build_free. */
static inline void elf_build_write(struct elf_build *b)
{
	uint8_t whole[ELF_BUILD_SIZE_MAX];
	size_t at;

	for (size_t i = 0; i < sizeof(whole); i++)
		whole[i] = elf_build_fill(i);
	at = elf_build_write_header(b, whole);
	for (unsigned int i = 0; i < b->ph_written; i++)
		at += elf_build_write_ph(b, &b->ph[i], whole + at);
	if (b->note.offset) {
		uint8_t *out = whole + b->note.offset;

		elf_build_put32(out, b->note.namesz);
		elf_build_put32(out + 4, b->note.descsz);
		elf_build_put32(out + 8, b->note.type);
		memcpy(out + 12, b->note.name, 4);
		memcpy(out + 16, &b->note.desc, sizeof(b->note.desc));
	}
	free(b->bytes);
	b->bytes = malloc(b->size ? b->size : 1);
	if (!b->bytes)
		abort();
	memcpy(b->bytes, whole, b->size);
}

static inline void elf_build_free(struct elf_build *b)
{
	free(b->bytes);
	b->bytes = NULL;
}

#endif
