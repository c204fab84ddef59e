/* SPDX-License-Identifier: MIT */
/*
 * Bad ELF files: each differs from a good one in one or two fields, and each
 * must be refused with one line that says what is wrong, before a byte of
 * guest RAM is written. The same table runs for ELF32 and ELF64.
 */
#define _GNU_SOURCE
#include "loader_elf.h"

#include <check.h>
#include <errno.h>
#include <stddef.h>

#include "elf_builder.h"
#include "load_case.h"
#include "load_plan.h"
#include "tap.h"

#define RAM_SIZE UINT64_C(0x1000000)

enum {
	BOTH,
	ONLY32,
	ONLY64,
};

struct spoil {
	size_t offset; /* of a member of struct elf_build */
	size_t size;   /* 0: no change */
	uint64_t value;
};

struct bad_elf {
	const char *name;
	struct spoil spoil[4];
	const char *says;
	int class;
};

#define SET(member, v)                                             \
	{                                                          \
		offsetof(struct elf_build, member),                \
			sizeof(((struct elf_build *)0)->member), v \
	}

/* The good file: two loadable segments and a PVH note. */
static void good_elf(struct elf_build *b, bool is64)
{
	elf_build_init(b, is64);
	elf_build_load(b, 0x100000, 0x1000, 0x200, 0x400);
	elf_build_load(b, 0x200000, 0x1800, 0x100, 0x100);
	elf_build_pvh(b, 0x1c00, 0x100010, 4);
	b->entry = 0x100000;
}

static const struct bad_elf bad_elves[] = {
	{"magic and nothing else", {SET(size, 4)}, "cut short", BOTH},
	{"identification only", {SET(size, 16)}, "cut short", BOTH},
	{"header less a byte", {SET(size, 51)}, "cut short", ONLY32},
	{"header less a byte", {SET(size, 63)}, "cut short", ONLY64},
	{"header only", {SET(size, 64)}, "program headers", BOTH},
	{"class 0", {SET(ident[EI_CLASS], 0)}, "ELF class 0", BOTH},
	{"class 3", {SET(ident[EI_CLASS], 3)}, "ELF class 3", BOTH},
	{"byte order 0", {SET(ident[EI_DATA], 0)}, "byte order 0", BOTH},
	{"big endian", {SET(ident[EI_DATA], 2)}, "byte order 2", BOTH},
	{"ident version 0", {SET(ident[EI_VERSION], 0)}, "ELF version 0", BOTH},
	{"version 2", {SET(version, 2)}, "ELF version 2", BOTH},
	{"AArch64", {SET(machine, EM_AARCH64)}, "ELF machine 183", BOTH},
	{"i386 in ELF64", {SET(machine, EM_386)}, "machine 3", ONLY64},
	{"x32", {SET(machine, EM_X86_64)}, "machine 62", ONLY32},
	{"no type", {SET(type, ET_NONE)}, "ELF type 0", BOTH},
	{"object file", {SET(type, ET_REL)}, "ELF type 1", BOTH},
	{"shared object", {SET(type, ET_DYN)}, "-no-pie", BOTH},
	{"core file", {SET(type, ET_CORE)}, "ELF type 4", BOTH},
	{"no headers", {SET(phnum, 0)}, "no program headers", BOTH},
	{"extended count", {SET(phnum, 0xffff)}, "65535", BOTH},
	{"too many for the file",
	 {SET(phnum, 0xfffe)},
	 "not in the file",
	 BOTH},
	{"header size 0", {SET(phentsize, 0)}, "of 0 bytes", BOTH},
	{"header size 1", {SET(phentsize, 1)}, "of 1 bytes", BOTH},
	{"header size 64", {SET(phentsize, 64)}, "of 64 bytes", BOTH},
	{"table at the end", {SET(phoff, 0x2000)}, "not in the file", BOTH},
	{"table beyond the end", {SET(phoff, 0x2001)}, "not in the file", BOTH},
	{"last header cut",
	 {SET(phoff, 0x2000 - 3 * 32 + 1)},
	 "not in the file",
	 ONLY32},
	{"last header cut",
	 {SET(phoff, 0x2000 - 3 * 56 + 1)},
	 "not in the file",
	 ONLY64},
	{"table at -1", {SET(phoff, UINT64_MAX)}, "not in the file", BOTH},
	{"table end wraps",
	 {SET(phoff, UINT64_MAX - 100)},
	 "not in the file",
	 BOTH},
	{"more in the file than in memory",
	 {SET(ph[1].memsz, 0xff)},
	 "program header 1: 0x100 bytes in the file but 0xff in memory",
	 BOTH},
	{"file bytes without memory",
	 {SET(ph[0].memsz, 0)},
	 "program header 0: 0x200 bytes in the file but 0x0",
	 BOTH},
	{"offset past the end",
	 {SET(ph[1].offset, 0x2001)},
	 "program header 1: 0x100 bytes at offset 0x2001",
	 BOTH},
	{"one byte past the end",
	 {SET(ph[1].offset, 0x1f01)},
	 "offset 0x1f01 are not in the file",
	 BOTH},
	{"offset -1",
	 {SET(ph[0].offset, UINT64_MAX)},
	 "program header 0",
	 BOTH},
	{"offset + size wraps to the file",
	 {SET(ph[0].offset, UINT64_MAX - 0xff)},
	 "are not in the file",
	 ONLY64},
	{"sizes -1",
	 {SET(ph[0].filesz, UINT64_MAX), SET(ph[0].memsz, UINT64_MAX)},
	 "are not in the file",
	 BOTH},
	{"memory size -1",
	 {SET(ph[0].memsz, UINT64_MAX)},
	 "wrap round",
	 ONLY64},
	{"memory size -1",
	 {SET(ph[0].memsz, UINT32_MAX)},
	 "not all in RAM",
	 ONLY32},
	{"end wraps by one",
	 {SET(ph[0].paddr, UINT64_MAX - 0x3fe)},
	 "program header 0: 0x400 bytes at address 0xfffffffffffffc01 wrap",
	 ONLY64},
	{"end is 2^64 exactly",
	 {SET(ph[0].paddr, UINT64_MAX - 0x3ff)},
	 "program header 0 at 0xfffffffffffffc00-0xffffffffffffffff is not "
	 "all in RAM",
	 ONLY64},
	{"end is 4 GiB exactly",
	 {SET(ph[0].paddr, 0xfffffc00)},
	 "not all in RAM (none is at 0xc0000000-0xffffffff); link it lower",
	 BOTH},
	{"in the device hole",
	 {SET(ph[0].paddr, 0xd0000000)},
	 "link it lower",
	 BOTH},
	{"behind RAM",
	 {SET(ph[1].paddr, 0x2000000)},
	 "program header 1 at 0x2000000-0x20000ff is not all in RAM; set "
	 "mem_size_mib to at least 33",
	 BOTH},
	{"one byte behind RAM",
	 {SET(ph[0].paddr, RAM_SIZE - 0x3ff)},
	 "mem_size_mib to at least 17",
	 BOTH},
	{"across the end of RAM",
	 {SET(ph[0].memsz, RAM_SIZE)},
	 "mem_size_mib to at least 17",
	 BOTH},
	{"terabytes of bss",
	 {SET(ph[0].memsz, UINT64_C(1) << 42)},
	 "not all in RAM",
	 ONLY64},
	{"the same place twice",
	 {SET(ph[1].paddr, 0x100000)},
	 "program header 1 at 0x100000-0x1000ff overlaps program header 0 at "
	 "0x100000-0x1003ff",
	 BOTH},
	{"overlap of one byte",
	 {SET(ph[1].paddr, 0x1003ff)},
	 "overlaps program header 0",
	 BOTH},
	{"overlap of one byte below",
	 {SET(ph[1].paddr, 0xfff01)},
	 "overlaps program header 0",
	 BOTH},
	{"one within the other",
	 {SET(ph[1].paddr, 0x100100)},
	 "overlaps program header 0",
	 BOTH},
	{"one byte into the GDT",
	 {SET(ph[1].paddr, 0x8ff01)},
	 "program header 1 at 0x8ff01-0x90000 needs the place of the boot GDT "
	 "at 0x90000-0x90fff",
	 BOTH},
	{"within the information page",
	 {SET(ph[1].paddr, 0x91800)},
	 "the boot information at 0x91000-0x91fff",
	 BOTH},
	{"last byte of the command line",
	 {SET(ph[1].paddr, 0x93fff)},
	 "the boot command line at 0x93000-0x93fff",
	 BOTH},
	{"over all tables",
	 {SET(ph[1].paddr, 0x10000), SET(ph[1].memsz, 0x90000)},
	 "the boot GDT",
	 BOTH},
	{"only other types",
	 {SET(ph[0].type, 0x60000001), SET(ph[1].type, 0x70000001)},
	 "nothing to load",
	 BOTH},
	{"no memory in any segment",
	 {SET(ph[0].filesz, 0), SET(ph[0].memsz, 0), SET(ph[1].type, 0)},
	 "nothing to load",
	 BOTH},
	{"entry below", {SET(note.desc, 0xfffff)}, "entry point 0xfffff", BOTH},
	{"entry at the end", {SET(note.desc, 0x100400)}, "0x100400", BOTH},
	{"entry at 0", {SET(note.desc, 0)}, "entry point 0x0 is in no", BOTH},
	{"entry above 4 GiB",
	 {SET(note.descsz, 8), SET(ph[2].filesz, 24),
	  SET(note.desc, UINT64_C(0x100100000))},
	 "PVH entry point 0x100100000 is above 4 GiB",
	 BOTH},
	{"note segment past the end",
	 {SET(ph[2].offset, 0x2001)},
	 "program header 2 (PT_NOTE): 0x14 bytes at offset 0x2001",
	 BOTH},
	{"note segment one byte too long",
	 {SET(ph[2].filesz, 0x401)},
	 "are not in the file",
	 BOTH},
	{"note offset wraps",
	 {SET(ph[2].offset, UINT64_MAX - 7)},
	 "are not in the file",
	 BOTH},
	{"note name too long",
	 {SET(note.namesz, 5)},
	 "program header 2 (PT_NOTE): the note at its byte 0 does not fit",
	 BOTH},
	{"note name of 4 GiB",
	 {SET(note.namesz, UINT32_MAX)},
	 "does not fit",
	 BOTH},
	{"note descriptor too long",
	 {SET(note.descsz, 5)},
	 "does not fit",
	 BOTH},
	{"note descriptor of 4 GiB",
	 {SET(note.descsz, UINT32_MAX)},
	 "does not fit",
	 BOTH},
	{"note sizes whose sum wraps",
	 {SET(note.namesz, 0xfffffff0), SET(note.descsz, 0x10)},
	 "does not fit",
	 BOTH},
	{"note cut in its descriptor",
	 {SET(ph[2].filesz, 19)},
	 "does not fit",
	 BOTH},
	{"descriptor of 2 bytes",
	 {SET(note.descsz, 2)},
	 "PVH entry note of 2 bytes",
	 BOTH},
	{"descriptor of no bytes",
	 {SET(note.descsz, 0)},
	 "PVH entry note of 0 bytes",
	 BOTH},
};

#define BAD_ELVES (sizeof(bad_elves) / sizeof(bad_elves[0]))

static void spoil_elf(struct elf_build *b, const struct bad_elf *bad)
{
	for (size_t i = 0; i < sizeof(bad->spoil) / sizeof(bad->spoil[0]); i++)
		memcpy((uint8_t *)b + bad->spoil[i].offset,
		       &bad->spoil[i].value, bad->spoil[i].size);
}

/* Where the good file and the boot tables would go. */
static const struct {
	uint64_t gpa;
	uint64_t size;
} watched[] = {
	{0x8f000, 0x10000},
	{0x100000, 0x1000},
	{0x200000, 0x1000},
};

#define WATCHED (sizeof(watched) / sizeof(watched[0]))

static void check_bad(struct load_case *c, const struct bad_elf *bad, bool is64)
{
	struct elf_build b;
	int rc;

	good_elf(&b, is64);
	spoil_elf(&b, bad);
	elf_build_write(&b);
	load_case_image(c, b.bytes, b.size);
	rc = load_case_run(c);
	ck_assert_msg(rc == -EINVAL, "%s: %d", bad->name, rc);
	ck_assert_msg(!strncmp(c->err, c->image_path, strlen(c->image_path)) &&
			      strstr(c->err, bad->says) &&
			      !strchr(c->err, '\n'),
		      "%s: %s", bad->name, c->err);
	for (size_t i = 0; i < WATCHED; i++)
		ck_assert_msg(load_case_all(c, watched[i].gpa, watched[i].size,
					    LOAD_CASE_PATTERN),
			      "%s: RAM was written", bad->name);
	elf_build_free(&b);
}

START_TEST(test_loader_elf_bad_files_are_refused)
{
	struct load_case c;

	load_case_init(&c, RAM_SIZE);
	for (size_t i = 0; i < WATCHED; i++)
		load_case_dirty(&c, watched[i].gpa, watched[i].size);
	for (size_t i = 0; i < BAD_ELVES; i++)
		if (bad_elves[i].class != (_i ? ONLY32 : ONLY64))
			check_bad(&c, &bad_elves[i], _i);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_elf_the_unspoilt_file_loads)
{
	for (int is64 = 0; is64 < 2; is64++) {
		struct elf_build b;
		struct load_case c;

		load_case_init(&c, RAM_SIZE);
		good_elf(&b, is64);
		elf_build_write(&b);
		load_case_image(&c, b.bytes, b.size);
		ck_assert_msg(load_case_run(&c) == 0, "%s", c.err);
		ck_assert_int_eq(c.state.used, BOOT_PVH);
		ck_assert_uint_eq(c.state.entry_gpa, 0x100010);
		elf_build_free(&b);
		load_case_end(&c);
	}
}
END_TEST

START_TEST(test_loader_elf_too_many_segments)
{
	for (unsigned int n = LOADER_SEGMENTS_MAX; n <= LOADER_SEGMENTS_MAX + 1;
	     n++) {
		struct elf_build b;
		struct load_case c;
		int rc;

		load_case_init(&c, RAM_SIZE);
		elf_build_init(&b, true);
		for (unsigned int i = 0; i < n; i++)
			elf_build_load(&b, 0x100000 + i * 0x1000, 0x1800, 8, 8);
		/* Empty ones do not count. */
		elf_build_load(&b, 0x100000, 0, 0, 0);
		b.entry = 0x100000;
		elf_build_write(&b);
		load_case_image(&c, b.bytes, b.size);
		rc = load_case_run(&c);
		ck_assert_int_eq(rc, n > LOADER_SEGMENTS_MAX ? -EINVAL : 0);
		if (rc)
			ck_assert_ptr_nonnull(
				strstr(c.err, "program header 64: more than "
					      "64 loadable segments"));
		elf_build_free(&b);
		load_case_end(&c);
	}
}
END_TEST

/* Cut at every length: an error, or all that was asked for is still there. */
START_TEST(test_loader_elf_cut_short_anywhere)
{
	struct elf_build b;
	struct load_case c;

	load_case_init(&c, RAM_SIZE);
	good_elf(&b, _i);
	elf_build_write(&b);
	for (uint64_t size = 1; size < 0x1c20;
	     size += size < 0xf0 || size > 0x1bfc ? 1 : 487) {
		int rc;

		load_case_image(&c, b.bytes, size);
		rc = load_case_run(&c);
		ck_assert_msg(rc == (size < 0x1c14 ? -EINVAL : 0),
			      "size 0x%lx: %d %s", (unsigned long)size, rc,
			      c.err);
	}
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

/* Headers with bytes changed at random, from a fixed seed: any verdict will
 * do, but no read or write out of bounds. */
START_TEST(test_loader_elf_random_damage)
{
	uint64_t seed = 0x9e3779b97f4a7c15 + (uint64_t)_i;
	struct elf_build b;
	struct load_case c;

	load_case_init(&c, RAM_SIZE);
	good_elf(&b, _i);
	for (unsigned int round = 0; round < 400; round++) {
		elf_build_write(&b);
		for (unsigned int i = 0; i < 3; i++) {
			uint64_t at;

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			at = seed % 0x114;
			/* The last part of that range stands for the note. */
			if (at >= 0x100)
				at = 0x1c00 + (at - 0x100);
			b.bytes[at] = (uint8_t)(seed >> 40);
		}
		load_case_image(&c, b.bytes, b.size);
		if (load_case_run(&c))
			ck_assert_ptr_nonnull(strchr(c.err, ':'));
	}
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

/* Directly: where an entry point that is virtual lies in memory. */
static uint64_t entry_gpa(uint64_t entry, uint64_t vaddr)
{
	struct elf_build b;
	struct load_plan plan = {0};
	struct load_error err;
	struct loader_elf elf;
	struct image_bytes bytes;
	uint64_t gpa;

	elf_build_init(&b, true);
	elf_build_load(&b, 0x200000, 0x1000, 0x100, 0x200);
	elf_build_load(&b, 0x100000, 0x1000, 0x100, 0x200)->vaddr = vaddr;
	b.entry = entry;
	elf_build_write(&b);
	bytes.data = b.bytes;
	bytes.size = b.size;
	ck_assert_int_eq(loader_elf_open(&elf, &bytes, &err), 0);
	ck_assert_int_eq(loader_elf_plan(&elf, &plan, &err), 0);
	gpa = loader_elf_entry_gpa(&elf, &plan);
	loader_elf_close(&elf);
	loader_elf_close(&elf);
	elf_build_free(&b);
	return gpa;
}

START_TEST(test_loader_elf_entry_is_translated)
{
	const uint64_t high = 0xffffffff80100000;

	ck_assert_uint_eq(entry_gpa(high, high), 0x100000);
	ck_assert_uint_eq(entry_gpa(high + 0x1ff, high), 0x1001ff);
	ck_assert_uint_eq(entry_gpa(high + 0x200, high), high + 0x200);
	ck_assert_uint_eq(entry_gpa(high - 1, high), high - 1);
	/* In no virtual range: physical already. */
	ck_assert_uint_eq(entry_gpa(0x100010, high), 0x100010);
	/* The other segment's addresses are the same in both. */
	ck_assert_uint_eq(entry_gpa(0x200010, high), 0x200010);
	/* Up to the very top of the address space. */
	ck_assert_uint_eq(entry_gpa(UINT64_MAX, UINT64_MAX - 0x1ff), 0x1001ff);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loader_elf");
	TCase *tc = tcase_create("loader_elf");

	tcase_add_loop_test(tc, test_loader_elf_bad_files_are_refused, 0, 2);
	tcase_add_test(tc, test_loader_elf_the_unspoilt_file_loads);
	tcase_add_test(tc, test_loader_elf_too_many_segments);
	tcase_add_loop_test(tc, test_loader_elf_cut_short_anywhere, 0, 2);
	tcase_add_loop_test(tc, test_loader_elf_random_damage, 0, 2);
	tcase_add_test(tc, test_loader_elf_entry_is_translated);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
