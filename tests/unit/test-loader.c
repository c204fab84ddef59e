/* SPDX-License-Identifier: MIT */
/*
 * Whole loads, as the VMM does them: that every byte lands where the image
 * says and the rest is zero, and which protocol is chosen.
 */
#define _GNU_SOURCE
#include "loader.h"

#include <check.h>
#include <errno.h>

#include "load_case.h"
#include "tap.h"

#define MIB LOAD_CASE_MIB

/* Load b; the case must have been begun. */
static int run_elf(struct load_case *c, struct elf_build *b)
{
	elf_build_write(b);
	load_case_image(c, b->bytes, b->size);
	elf_build_free(b);
	return load_case_run(c);
}

#define ASSERT_LOADS(c, b) ck_assert_msg(run_elf((c), (b)) == 0, "%s", (c)->err)

/* Guest RAM at gpa must hold the file's bytes from offset, then zeroes up to
 * memsz, then what was there before. */
static void check_segment(const struct load_case *c, uint64_t gpa,
			  uint64_t offset, uint64_t filesz, uint64_t memsz)
{
	const uint8_t *host = ram_ptr(&c->ram, gpa, memsz + 1);

	ck_assert_ptr_nonnull(host);
	for (uint64_t i = 0; i < filesz; i++)
		if (host[i] != elf_build_fill(offset + i))
			ck_abort_msg("byte 0x%lx of the segment at 0x%lx",
				     (unsigned long)i, (unsigned long)gpa);
	ck_assert(load_case_all(c, gpa + filesz, memsz - filesz, 0));
	ck_assert_uint_eq(host[memsz], LOAD_CASE_PATTERN);
	ck_assert(load_case_all(c, gpa - 1, 1, LOAD_CASE_PATTERN));
}

START_TEST(test_loader_headers_in_reversed_order)
{
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	elf_build_init(&b, true);
	elf_build_load(&b, 0x300000, 0x1000, 0x123, 0x456);
	elf_build_load(&b, 0x200000, 0x1400, 0x200, 0x200);
	elf_build_load(&b, 0x100000, 0x1800, 0x300, 0x2001);
	/* The entry is in the middle one. */
	b.entry = 0x200004;
	ASSERT_LOADS(&c, &b);
	check_segment(&c, 0x300000, 0x1000, 0x123, 0x456);
	check_segment(&c, 0x200000, 0x1400, 0x200, 0x200);
	check_segment(&c, 0x100000, 0x1800, 0x300, 0x2001);
	ck_assert_uint_eq(c.state.entry_gpa, 0x200004);
	ck_assert_uint_eq(c.state.image_end_gpa, 0x300456);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_bss_only_segment_ends_the_image)
{
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	elf_build_init(&b, true);
	elf_build_load(&b, 0x100000, 0x1000, 0x100, 0x100);
	/* Its offset is behind the end of the file, as linkers make it. */
	elf_build_load(&b, 0x140010, 0x3010, 0, 0x5678);
	b.entry = 0x100000;
	ASSERT_LOADS(&c, &b);
	check_segment(&c, 0x140010, 0, 0, 0x5678);
	ck_assert_uint_eq(c.state.image_end_gpa, 0x145688);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_unaligned_bss_tail_over_dirty_memory)
{
	struct elf_build b;
	struct load_case c;

	for (uint64_t filesz = 0xffd; filesz < 0x1003; filesz++) {
		load_case_begin(&c);
		elf_build_init(&b, true);
		elf_build_load(&b, 0x100800, 0x800, filesz, 0x4321);
		b.entry = 0x100800;
		ASSERT_LOADS(&c, &b);
		check_segment(&c, 0x100800, 0x800, filesz, 0x4321);
		load_case_end(&c);
	}
}
END_TEST

START_TEST(test_loader_loads_at_the_physical_address)
{
	const uint64_t high = 0xffffffff80000000;
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	elf_build_init(&b, true);
	elf_build_load(&b, 0x200000, 0x1000, 0x200, 0x300)->vaddr = high;
	elf_build_load(&b, 0x100000, 0x1400, 0x200, 0x300)->vaddr = 0x200000;
	b.entry = high + 0x40;
	ASSERT_LOADS(&c, &b);
	check_segment(&c, 0x200000, 0x1000, 0x200, 0x300);
	check_segment(&c, 0x100000, 0x1400, 0x200, 0x300);
	ck_assert_uint_eq(c.state.entry_gpa, 0x200040);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_segment_above_4_gib)
{
	struct elf_build b;
	struct load_case c;

	load_case_init(&c, 3072 * MIB + MIB);
	elf_build_init(&b, true);
	elf_build_load(&b, 0x100000, 0x1000, 0x200, 0x200);
	elf_build_load(&b, 0x100000000, 0x1400, 0x200, 0x1000);
	b.entry = 0x100000;
	ASSERT_LOADS(&c, &b);
	ck_assert_uint_eq(*(uint8_t *)ram_ptr(&c.ram, 0x1000001ff, 1),
			  elf_build_fill(0x15ff));
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_auto_takes_the_first_that_is_offered)
{
	static const struct {
		bool is64, pvh, multiboot;
		enum boot_protocol used; /* BOOT_AUTO: none */
		uint64_t entry_gpa;
	} offers[] = {
		{true, true, true, BOOT_PVH, 0x200010},
		{false, true, true, BOOT_PVH, 0x200010},
		{true, false, true, BOOT_MULTIBOOT, 0x200020},
		{false, false, true, BOOT_MULTIBOOT, 0x200020},
		{true, false, false, BOOT_ELF64, 0x200020},
		{false, false, false, BOOT_AUTO, 0},
	};

	for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++) {
		struct elf_build b;
		struct load_case c;
		int rc;

		load_case_begin(&c);
		load_case_offer(&b, offers[i].is64, offers[i].pvh);
		rc = load_case_run_offer(&c, &b, offers[i].multiboot,
					 BOOT_AUTO);
		if (offers[i].used == BOOT_AUTO) {
			ck_assert_int_eq(rc, -EINVAL);
			LOAD_CASE_SAYS(&c, "no way to boot it");
		} else {
			ck_assert_msg(!rc, "%s", c.err);
			ck_assert_int_eq(c.state.used, offers[i].used);
			ck_assert_uint_eq(c.state.entry_gpa,
					  offers[i].entry_gpa);
		}
		elf_build_free(&b);
		load_case_end(&c);
	}
}
END_TEST

START_TEST(test_loader_asked_protocol_must_be_offered)
{
	static const struct {
		bool is64, pvh, multiboot;
		enum boot_protocol asked;
		const char *says; /* NULL: works */
	} asks[] = {
		{true, true, true, BOOT_PVH, NULL},
		{true, true, true, BOOT_MULTIBOOT, NULL},
		{true, true, true, BOOT_ELF64, NULL},
		{true, false, true, BOOT_PVH, "no PVH entry note"},
		{true, true, false, BOOT_MULTIBOOT, "no valid Multiboot 1"},
		{false, true, true, BOOT_ELF64, "not an ELF64 file"},
	};

	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		struct elf_build b;
		struct load_case c;
		int rc;

		load_case_begin(&c);
		load_case_offer(&b, asks[i].is64, asks[i].pvh);
		rc = load_case_run_offer(&c, &b, asks[i].multiboot,
					 asks[i].asked);
		ck_assert_int_eq(rc, asks[i].says ? -EINVAL : 0);
		if (asks[i].says)
			LOAD_CASE_SAYS(&c, asks[i].says);
		else
			ck_assert_int_eq(c.state.used, asks[i].asked);
		elf_build_free(&b);
		load_case_end(&c);
	}
}
END_TEST

/* Only long mode needs the page tables' place and the stack's. */
START_TEST(test_loader_tables_depend_on_the_protocol)
{
	for (int pvh = 0; pvh < 2; pvh++) {
		struct elf_build b;
		struct load_case c;
		int rc;

		load_case_begin(&c);
		elf_build_init(&b, true);
		elf_build_load(&b, 0x99fff, 0x1000, 0x100, 0x2000);
		if (pvh)
			elf_build_pvh(&b, 0x1c00, 0x9a000, 4);
		b.entry = 0x9a000;
		rc = run_elf(&c, &b);
		ck_assert_int_eq(rc, pvh ? 0 : -EINVAL);
		if (!pvh)
			LOAD_CASE_SAYS(&c, "the boot page tables at 0x94000-");
		load_case_end(&c);
	}
}
END_TEST

START_TEST(test_loader_elf_with_boot_sector_magic_is_still_elf)
{
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	load_case_offer(&b, true, true);
	memcpy(b.bytes + 0x1fe, "\x55\xaa", 2);
	memcpy(b.bytes + 0x202, "HdrS", 4);
	ck_assert_msg(load_case_run_offer(&c, &b, false, BOOT_AUTO) == 0, "%s",
		      c.err);
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_multiboot_flat_file)
{
	const uint32_t words[] = {0x300040, 0x300000, 0x300200, 0x300400,
				  0x300080};
	uint8_t file[0x200];
	struct load_case c;

	for (size_t i = 0; i < sizeof(file); i++)
		file[i] = elf_build_fill(i);
	load_case_begin(&c);
	/* Without addresses nobody knows where it goes. */
	elf_build_multiboot(file + 0x40, 0, NULL);
	load_case_image(&c, file, sizeof(file));
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "without load addresses (flag bit 16)");

	elf_build_multiboot(file + 0x40, 0x10000, words);
	load_case_image(&c, file, sizeof(file));
	ck_assert_msg(load_case_run(&c) == 0, "%s", c.err);
	ck_assert_uint_eq(c.state.entry_gpa, 0x300080);
	ck_assert_int_eq(memcmp(ram_ptr(&c.ram, 0x300000, 0x200), file, 0x200),
			 0);
	ck_assert(load_case_all(&c, 0x300200, 0x200, 0));
	ck_assert(load_case_all(&c, 0x300400, 0x200, LOAD_CASE_PATTERN));
	load_case_end(&c);
}
END_TEST

/* In an ELF file the address fields win, and if multiboot was asked for they
 * make even a broken ELF header irrelevant. */
START_TEST(test_loader_multiboot_addresses_replace_elf_headers)
{
	const uint32_t words[] = {0x300400, 0x300000, 0, 0, 0x300080};
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	load_case_offer(&b, true, false);
	elf_build_multiboot(b.bytes + 0x400, 0x10000, words);
	load_case_image(&c, b.bytes, b.size);
	ck_assert_msg(load_case_run(&c) == 0, "%s", c.err);
	ck_assert_int_eq(c.state.used, BOOT_MULTIBOOT);
	ck_assert_uint_eq(c.state.entry_gpa, 0x300080);
	ck_assert(load_case_all(&c, 0x200000, 0x200, LOAD_CASE_PATTERN));
	ck_assert_int_eq(
		memcmp(ram_ptr(&c.ram, 0x300000, b.size), b.bytes, b.size), 0);

	b.bytes[EI_CLASS] = 9;
	load_case_image(&c, b.bytes, b.size);
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "ELF class 9");
	c.req.protocol = BOOT_MULTIBOOT;
	ck_assert_msg(load_case_run(&c) == 0, "%s", c.err);
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_multiboot_video_is_refused_even_by_auto)
{
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	load_case_offer(&b, true, false);
	elf_build_multiboot(b.bytes + 0x400, 4, NULL);
	load_case_image(&c, b.bytes, b.size);
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "video mode");
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_smallest_ram_holds_the_tables)
{
	for (int asked = BOOT_ELF64; asked <= BOOT_MULTIBOOT; asked++) {
		struct elf_build b;
		struct load_case c;

		load_case_init(&c, RAM_MIN_SIZE);
		elf_build_init(&b, true);
		elf_build_load(&b, 0x10000, 0x1000, 0x200, 0x200);
		elf_build_pvh(&b, 0x1c00, 0x10010, 4);
		b.entry = 0x10000;
		elf_build_write(&b);
		ck_assert_msg(load_case_run_offer(&c, &b, true,
						  (enum boot_protocol)asked) ==
				      0,
			      "%s", c.err);
		elf_build_free(&b);
		load_case_end(&c);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loader");
	TCase *tc = tcase_create("loader");

	tcase_add_test(tc, test_loader_headers_in_reversed_order);
	tcase_add_test(tc, test_loader_bss_only_segment_ends_the_image);
	tcase_add_test(tc, test_loader_unaligned_bss_tail_over_dirty_memory);
	tcase_add_test(tc, test_loader_loads_at_the_physical_address);
	tcase_add_test(tc, test_loader_segment_above_4_gib);
	tcase_add_test(tc, test_loader_auto_takes_the_first_that_is_offered);
	tcase_add_test(tc, test_loader_asked_protocol_must_be_offered);
	tcase_add_test(tc, test_loader_tables_depend_on_the_protocol);
	tcase_add_test(tc, test_loader_elf_with_boot_sector_magic_is_still_elf);
	tcase_add_test(tc, test_loader_multiboot_flat_file);
	tcase_add_test(tc, test_loader_multiboot_addresses_replace_elf_headers);
	tcase_add_test(tc, test_loader_multiboot_video_is_refused_even_by_auto);
	tcase_add_test(tc, test_loader_smallest_ram_holds_the_tables);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
