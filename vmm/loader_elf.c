/* SPDX-License-Identifier: MIT */
/*
 * Reads ELF headers of guest images. Reference: System V ABI "Object Files"
 * (ELF Header, Program Header, Note Section); libelf for decoding both
 * classes. Does not read section headers, symbols or relocations, does not
 * load shared objects, and does not take extended header counts (PN_XNUM).
 */
#include "loader_elf.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load_plan.h"

bool loader_elf_magic(const struct image_bytes *image)
{
	return image->size >= SELFMAG && !memcmp(image->data, ELFMAG, SELFMAG);
}

/* What must be known before libelf looks at the file at all. */
static int loader_elf_check_ident(const struct image_bytes *image,
				  struct load_error *err)
{
	const uint8_t *ident = image->data;
	uint64_t header_size;

	if (image->size < EI_NIDENT)
		return load_fail(err, -EINVAL, "ELF header cut short");
	if (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64)
		return load_fail(err, -EINVAL,
				 "ELF class %u; only ELF32 and ELF64 are known",
				 ident[EI_CLASS]);
	if (ident[EI_DATA] != ELFDATA2LSB)
		return load_fail(err, -EINVAL,
				 "ELF byte order %u; build it for x86 "
				 "(little endian)",
				 ident[EI_DATA]);
	if (ident[EI_VERSION] != EV_CURRENT)
		return load_fail(err, -EINVAL, "ELF version %u; only 1 exists",
				 ident[EI_VERSION]);
	header_size = ident[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Ehdr)
						    : sizeof(Elf32_Ehdr);
	if (image->size < header_size)
		return load_fail(err, -EINVAL, "ELF header cut short");
	return 0;
}

static int loader_elf_check_kind(const GElf_Ehdr *ehdr, bool is_elf64,
				 struct load_error *err)
{
	if (ehdr->e_version != EV_CURRENT)
		return load_fail(err, -EINVAL, "ELF version %u; only 1 exists",
				 ehdr->e_version);
	if (ehdr->e_machine != (is_elf64 ? EM_X86_64 : EM_386))
		return load_fail(err, -EINVAL,
				 "ELF machine %u in an ELF%d file; build it as "
				 "ELF64 for x86-64 or ELF32 for i386",
				 ehdr->e_machine, is_elf64 ? 64 : 32);
	if (ehdr->e_type == ET_DYN)
		return load_fail(err, -EINVAL,
				 "a relocatable image (ET_DYN); link it with "
				 "-static -no-pie");
	if (ehdr->e_type != ET_EXEC)
		return load_fail(err, -EINVAL,
				 "ELF type %u is not an executable (ET_EXEC); "
				 "link it first",
				 ehdr->e_type);
	return 0;
}

static int loader_elf_check_table(const GElf_Ehdr *ehdr, bool is_elf64,
				  uint64_t image_size, struct load_error *err)
{
	uint64_t entry_size =
		is_elf64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t table_size;

	if (!ehdr->e_phnum)
		return load_fail(err, -EINVAL,
				 "no program headers; link it first");
	if (ehdr->e_phnum == PN_XNUM)
		return load_fail(err, -EINVAL,
				 "65535 program headers or more; link it with "
				 "fewer segments");
	if (ehdr->e_phentsize != entry_size)
		return load_fail(err, -EINVAL,
				 "program headers of %u bytes instead of "
				 "%" PRIu64 "; is the file damaged?",
				 ehdr->e_phentsize, entry_size);
	table_size = ehdr->e_phnum * entry_size;
	if (ehdr->e_phoff > image_size ||
	    table_size > image_size - ehdr->e_phoff)
		return load_fail(err, -EINVAL,
				 "%u program headers at offset 0x%" PRIx64
				 " are not in the file of 0x%" PRIx64
				 " bytes; is it cut short?",
				 ehdr->e_phnum, ehdr->e_phoff, image_size);
	return 0;
}

static int loader_elf_check_header(struct loader_elf *elf,
				   struct load_error *err)
{
	GElf_Ehdr ehdr;
	int rc;

	if (elf_kind(elf->handle) != ELF_K_ELF ||
	    !gelf_getehdr(elf->handle, &ehdr))
		return load_fail(err, -EINVAL, "ELF header not readable: %s",
				 elf_errmsg(-1));
	rc = loader_elf_check_kind(&ehdr, elf->is_elf64, err);
	if (!rc)
		rc = loader_elf_check_table(&ehdr, elf->is_elf64,
					    elf->image->size, err);
	if (rc)
		return rc;
	elf->header_count = ehdr.e_phnum;
	elf->entry_vaddr = ehdr.e_entry;
	return 0;
}

int loader_elf_open(struct loader_elf *elf, const struct image_bytes *image,
		    struct load_error *err)
{
	union {
		const uint8_t *in;
		char *out;
	} bytes = {.in = image->data};
	int rc;

	memset(elf, 0, sizeof(*elf));
	rc = loader_elf_check_ident(image, err);
	if (rc)
		return rc;
	elf->image = image;
	elf->is_elf64 = image->data[EI_CLASS] == ELFCLASS64;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return load_fail(err, -EINVAL, "libelf is too old");
	/* libelf reads only, though its prototype lacks the const. */
	errno = 0;
	elf->handle = elf_memory(bytes.out, image->size);
	if (!elf->handle)
		return load_fail(err, errno == ENOMEM ? -ENOMEM : -EINVAL,
				 "ELF header not readable: %s", elf_errmsg(-1));
	rc = loader_elf_check_header(elf, err);
	if (rc)
		loader_elf_close(elf);
	return rc;
}

void loader_elf_close(struct loader_elf *elf)
{
	if (elf->handle)
		elf_end(elf->handle);
	elf->handle = NULL;
}

static int loader_elf_header(const struct loader_elf *elf, size_t index,
			     GElf_Phdr *phdr, struct load_error *err)
{
	if (gelf_getphdr(elf->handle, (int)index, phdr))
		return 0;
	return load_fail(err, -EINVAL, "program header %zu not readable: %s",
			 index, elf_errmsg(-1));
}

int loader_elf_plan(const struct loader_elf *elf, struct load_plan *plan,
		    struct load_error *err)
{
	for (size_t i = 0; i < elf->header_count; i++) {
		struct load_segment segment = {0};
		GElf_Phdr phdr;
		int rc = loader_elf_header(elf, i, &phdr, err);

		if (rc)
			return rc;
		if (phdr.p_type != PT_LOAD)
			continue;
		snprintf(segment.name, sizeof(segment.name),
			 "program header %zu", i);
		segment.gpa = phdr.p_paddr;
		segment.vaddr = phdr.p_vaddr;
		segment.mem_size = phdr.p_memsz;
		segment.file_offset = phdr.p_offset;
		segment.file_size = phdr.p_filesz;
		rc = load_plan_add(plan, &segment, elf->image->size, err);
		if (rc)
			return rc;
	}
	return 0;
}

uint64_t loader_elf_entry_gpa(const struct loader_elf *elf,
			      const struct load_plan *plan)
{
	for (unsigned int i = 0; i < plan->count; i++) {
		const struct load_segment *segment = &plan->segments[i];
		uint64_t offset = elf->entry_vaddr - segment->vaddr;

		/* Below the segment, offset wraps to a huge value. */
		if (offset < segment->mem_size)
			return segment->gpa + offset;
	}
	return elf->entry_vaddr;
}

/* One PT_NOTE segment; as loader_elf_note. */
static int loader_elf_note_in(Elf_Data *data, size_t index, const char *name,
			      uint32_t type, const uint8_t **desc,
			      uint32_t *desc_size, struct load_error *err)
{
	const uint8_t *bytes = data->d_buf;
	size_t name_size = strlen(name) + 1;
	size_t offset = 0;

	while (data->d_size - offset >= sizeof(Elf32_Nhdr)) {
		size_t name_offset, desc_offset;
		GElf_Nhdr note;
		size_t next = gelf_getnote(data, offset, &note, &name_offset,
					   &desc_offset);

		if (!next || next > data->d_size ||
		    name_offset > data->d_size ||
		    note.n_namesz > data->d_size - name_offset ||
		    desc_offset > data->d_size ||
		    note.n_descsz > data->d_size - desc_offset)
			return load_fail(err, -EINVAL,
					 "program header %zu (PT_NOTE): the "
					 "note at its byte %zu does not fit; "
					 "is the file damaged?",
					 index, offset);
		if (note.n_type == type && note.n_namesz == name_size &&
		    !memcmp(bytes + name_offset, name, name_size)) {
			*desc = bytes + desc_offset;
			*desc_size = note.n_descsz;
			return 1;
		}
		offset = next;
	}
	return 0;
}

int loader_elf_note(const struct loader_elf *elf, const char *name,
		    uint32_t type, const uint8_t **desc, uint32_t *desc_size,
		    struct load_error *err)
{
	uint64_t image_size = elf->image->size;
	int rc = 0;

	for (size_t i = 0; !rc && i < elf->header_count; i++) {
		Elf_Data *data;
		GElf_Phdr phdr;

		rc = loader_elf_header(elf, i, &phdr, err);
		if (rc)
			return rc;
		if (phdr.p_type != PT_NOTE || !phdr.p_filesz)
			continue;
		if (phdr.p_offset > image_size ||
		    phdr.p_filesz > image_size - phdr.p_offset)
			return load_fail(
				err, -EINVAL,
				"program header %zu (PT_NOTE): 0x%" PRIx64
				" bytes at offset 0x%" PRIx64
				" are not in the file; is it cut "
				"short?",
				i, phdr.p_filesz, phdr.p_offset);
		data = elf_getdata_rawchunk(
			elf->handle, (int64_t)phdr.p_offset, phdr.p_filesz,
			phdr.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (!data)
			return load_fail(err, -EINVAL,
					 "program header %zu (PT_NOTE) not "
					 "readable: %s",
					 i, elf_errmsg(-1));
		rc = loader_elf_note_in(data, i, name, type, desc, desc_size,
					err);
	}
	return rc;
}
