/* SPDX-License-Identifier: MIT */
/*
 * The entry note among other notes, and start_info byte by byte at the
 * offsets of the published structure.
 */
#define _GNU_SOURCE
#include "boot_pvh.h"

#include <check.h>
#include <errno.h>

#include "boot_tables.h"
#include "elf_builder.h"
#include "load_case.h"
#include "load_plan.h"
#include "loader_elf.h"
#include "tap.h"

#define MIB UINT64_C(0x100000)

/* Append a note to out; descsz bytes of 0x5a unless desc is given. */
static size_t put_note(uint8_t *out, const char *name, uint32_t type,
		       const void *desc, uint32_t descsz, uint32_t align)
{
	uint32_t namesz = (uint32_t)strlen(name) + 1;
	size_t desc_at = 12 + namesz;

	desc_at = (desc_at + align - 1) / align * align;
	elf_build_put32(out, namesz);
	elf_build_put32(out + 4, descsz);
	elf_build_put32(out + 8, type);
	memcpy(out + 12, name, namesz);
	if (desc)
		memcpy(out + desc_at, desc, descsz);
	else
		memset(out + desc_at, 0x5a, descsz);
	return (desc_at + descsz + align - 1) / align * align;
}

/* Search the notes at 0x1800 of a file whose PT_NOTE has this alignment. */
static int find_entry(const uint8_t *notes, size_t size, uint64_t align,
		      uint64_t *entry_gpa)
{
	struct elf_build b;
	struct image_bytes bytes;
	struct load_error err;
	struct loader_elf elf;
	int rc;

	elf_build_init(&b, true);
	elf_build_load(&b, 0x100000, 0x1000, 0x100, 0x100);
	/* An empty note segment first, outside the file: nothing to read. */
	elf_build_load(&b, 0, 0x9000, 0, 0)->type = PT_NOTE;
	elf_build_load(&b, 0, 0x1800, size, size)->type = PT_NOTE;
	b.ph[2].align = align;
	elf_build_write(&b);
	memcpy(b.bytes + 0x1800, notes, size);
	bytes.data = b.bytes;
	bytes.size = b.size;
	ck_assert_int_eq(loader_elf_open(&elf, &bytes, &err), 0);
	rc = boot_pvh_entry(&elf, entry_gpa, &err);
	loader_elf_close(&elf);
	elf_build_free(&b);
	return rc;
}

START_TEST(test_boot_pvh_entry_among_other_notes)
{
	const uint32_t entry = 0x100020;
	static const uint64_t aligns[] = {0, 1, 4};

	for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]); i++) {
		uint8_t notes[256] = {0};
		uint64_t entry_gpa = 0;
		size_t size = 0;

		size += put_note(notes + size, "GNU", 3, NULL, 20, 4);
		size += put_note(notes + size, "Xen", 5, "linux", 6, 4);
		size += put_note(notes + size, "Xem", 18, NULL, 4, 4);
		size += put_note(notes + size, "Xen4", 18, NULL, 4, 4);
		size += put_note(notes + size, "Xen", 18, &entry, 4, 4);
		/* The first one counts. */
		size += put_note(notes + size, "Xen", 18, NULL, 4, 4);
		ck_assert_int_eq(find_entry(notes, size, aligns[i], &entry_gpa),
				 1);
		ck_assert_uint_eq(entry_gpa, entry);
	}
}
END_TEST

START_TEST(test_boot_pvh_entry_in_notes_aligned_to_8)
{
	const uint64_t entry = 0x200040;
	uint8_t notes[256] = {0};
	uint64_t entry_gpa = 0;
	size_t size = 0;

	size += put_note(notes + size, "GNU", 5, NULL, 20, 8);
	size += put_note(notes + size, "Xen", 18, &entry, 8, 8);
	ck_assert_int_eq(find_entry(notes, size, 8, &entry_gpa), 1);
	ck_assert_uint_eq(entry_gpa, entry);
}
END_TEST

START_TEST(test_boot_pvh_no_entry_note)
{
	uint8_t notes[256] = {0};
	uint64_t entry_gpa = 7;
	size_t size = put_note(notes, "Xen", 17, NULL, 4, 4);

	ck_assert_int_eq(find_entry(notes, size, 4, &entry_gpa), 0);
	/* Bytes too few for one more note are padding. */
	ck_assert_int_eq(find_entry(notes, size + 11, 4, &entry_gpa), 0);
	ck_assert_int_eq(find_entry(notes, 11, 4, &entry_gpa), 0);
	ck_assert_uint_eq(entry_gpa, 7);
}
END_TEST

/* The size of a name counts its NUL. */
START_TEST(test_boot_pvh_name_without_nul_is_another_name)
{
	const uint32_t entry = 0x100020;
	uint8_t notes[32] = {0};
	uint64_t entry_gpa = 0;
	size_t size = put_note(notes, "Xen", 18, &entry, 4, 4);

	ck_assert_int_eq(find_entry(notes, size, 4, &entry_gpa), 1);
	elf_build_put32(notes, 3);
	ck_assert_int_eq(find_entry(notes, size, 4, &entry_gpa), 0);
}
END_TEST

static uint32_t get32(const struct load_case *c, uint64_t gpa)
{
	uint32_t value;

	memcpy(&value, ram_ptr(&c->ram, gpa, 4), 4);
	return value;
}

static uint64_t get64(const struct load_case *c, uint64_t gpa)
{
	return get32(c, gpa) | (uint64_t)get32(c, gpa + 4) << 32;
}

START_TEST(test_boot_pvh_start_info_without_module)
{
	struct boot_content content = {
		.cmdline = "a=1", .initrd_name = "", .cpus = 1};
	struct load_case c;
	uint64_t info, map;

	load_case_init(&c, 3072 * MIB + 5 * MIB);
	load_case_dirty(&c, BOOT_GDT_GPA, 0x4000);
	boot_pvh_write(&c.ram, &content, &c.state);
	ck_assert_int_eq(c.state.used, BOOT_PVH);
	ck_assert_int_eq(c.state.mode, ENTRY_PROT32);
	ck_assert_uint_eq(c.state.rax, 0);
	ck_assert_uint_eq(c.state.rdi, 0);
	ck_assert_uint_eq(c.state.cr3_gpa, 0);
	info = c.state.rbx;
	ck_assert_uint_eq(get32(&c, info), 0x336ec578);
	ck_assert_uint_eq(get32(&c, info + 4), 1);
	ck_assert_uint_eq(get32(&c, info + 8), 0);
	ck_assert_uint_eq(get32(&c, info + 12), 0);
	ck_assert_uint_eq(get64(&c, info + 16), 0);
	ck_assert_str_eq(ram_ptr(&c.ram, get64(&c, info + 24), 4), "a=1");
	ck_assert_uint_eq(get64(&c, info + 32), 0xf0000);
	map = get64(&c, info + 40);
	ck_assert_uint_eq(get32(&c, info + 48), 4);
	ck_assert_uint_eq(get32(&c, info + 52), 0);
	/* Entries of 24 bytes: base, size, type, reserved. */
	ck_assert_uint_eq(get64(&c, map), 0);
	ck_assert_uint_eq(get64(&c, map + 8), 0x9fc00);
	ck_assert_uint_eq(get64(&c, map + 16), 1);
	ck_assert_uint_eq(get64(&c, map + 24), 0x9fc00);
	ck_assert_uint_eq(get64(&c, map + 32), 0x60400);
	ck_assert_uint_eq(get64(&c, map + 40), 2);
	ck_assert_uint_eq(get64(&c, map + 48), MIB);
	ck_assert_uint_eq(get64(&c, map + 56), 3071 * MIB);
	ck_assert_uint_eq(get64(&c, map + 64), 1);
	ck_assert_uint_eq(get64(&c, map + 72), 4096 * MIB);
	ck_assert_uint_eq(get64(&c, map + 80), 5 * MIB);
	ck_assert_uint_eq(get64(&c, map + 88), 1);
	load_case_end(&c);
}
END_TEST

START_TEST(test_boot_pvh_start_info_with_module)
{
	struct boot_content content = {
		.cmdline = "",
		.initrd_gpa = 0xbffff000,
		.initrd_size = 0xfff,
		.cpus = 1,
		.initrd_name = "initrd",
	};
	struct load_case c;
	uint64_t info, list;

	load_case_init(&c, MIB);
	load_case_dirty(&c, BOOT_GDT_GPA, 0x4000);
	boot_pvh_write(&c.ram, &content, &c.state);
	info = c.state.rbx;
	ck_assert_uint_eq(get32(&c, info + 12), 1);
	list = get64(&c, info + 16);
	ck_assert_uint_eq(get64(&c, list), 0xbffff000);
	ck_assert_uint_eq(get64(&c, list + 8), 0xfff);
	ck_assert_uint_eq(get64(&c, list + 16), 0);
	ck_assert_uint_eq(get64(&c, list + 24), 0);
	ck_assert_str_eq(ram_ptr(&c.ram, get64(&c, info + 24), 1), "");
	load_case_end(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boot_pvh");
	TCase *tc = tcase_create("boot_pvh");

	tcase_add_test(tc, test_boot_pvh_entry_among_other_notes);
	tcase_add_test(tc, test_boot_pvh_entry_in_notes_aligned_to_8);
	tcase_add_test(tc, test_boot_pvh_no_entry_note);
	tcase_add_test(tc, test_boot_pvh_name_without_nul_is_another_name);
	tcase_add_test(tc, test_boot_pvh_start_info_without_module);
	tcase_add_test(tc, test_boot_pvh_start_info_with_module);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
