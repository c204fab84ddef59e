/* SPDX-License-Identifier: MIT */
/*
 * Multiboot 1: where a header counts, which headers are refused, what the
 * address fields mean, and the information structure at the offsets of the
 * specification.
 */
#define _GNU_SOURCE
#include "boot_multiboot.h"

#include <check.h>
#include <errno.h>

#include "boot_tables.h"
#include "elf_builder.h"
#include "load_case.h"
#include "load_plan.h"
#include "tap.h"

#define MIB UINT64_C(0x100000)

/* A file of size bytes with a header at offset; exactly allocated. */
static bool find_at(uint64_t size, uint64_t offset, uint32_t flags,
		    uint32_t damage, struct multiboot_header *header)
{
	static const uint32_t words[] = {1, 2, 3, 4, 5};
	uint8_t whole[0x4000 + 32] = {0};
	struct image_bytes image = {.size = size};
	uint8_t *data = malloc(size);
	bool found;

	ck_assert_ptr_nonnull(data);
	elf_build_multiboot(whole + offset, flags, words);
	whole[offset + 8] ^= (uint8_t)damage;
	memcpy(data, whole, size);
	image.data = data;
	found = boot_multiboot_find(&image, header);
	free(data);
	return found;
}

START_TEST(test_boot_multiboot_header_is_searched_in_8_kib)
{
	struct multiboot_header h;
	const uint32_t addr = MULTIBOOT_ADDRESSES;

	ck_assert(find_at(0x3000, 0, 0, 0, &h));
	ck_assert_uint_eq(h.file_offset, 0);
	ck_assert_uint_eq(h.entry_addr, 0);
	ck_assert(find_at(0x3000, 8192 - 12, 0, 0, &h));
	ck_assert_uint_eq(h.file_offset, 8192 - 12);
	ck_assert(!find_at(0x3000, 8192 - 8, 0, 0, &h));
	ck_assert(!find_at(0x3000, 8192, 0, 0, &h));
	ck_assert(find_at(0x3000, 8192 - 32, addr, 0, &h));
	ck_assert_uint_eq(h.header_addr, 1);
	ck_assert_uint_eq(h.load_addr, 2);
	ck_assert_uint_eq(h.load_end_addr, 3);
	ck_assert_uint_eq(h.bss_end_addr, 4);
	ck_assert_uint_eq(h.entry_addr, 5);
	ck_assert(!find_at(0x3000, 8192 - 28, addr, 0, &h));
}
END_TEST

START_TEST(test_boot_multiboot_header_must_be_whole_aligned_and_sum_to_0)
{
	struct multiboot_header h;

	ck_assert(!find_at(0x3000, 0x102, 0, 0, &h));
	ck_assert(!find_at(0x3000, 0x100, 0, 1, &h));
	ck_assert(find_at(0x10c, 0x100, 3, 0, &h));
	ck_assert_uint_eq(h.flags, 3);
	for (uint64_t size = 1; size < 0x10c; size++)
		ck_assert(!find_at(size, 0x100, 0, 0, &h));
	for (uint64_t size = 0x10c; size < 0x120; size++)
		ck_assert(!find_at(size, 0x100, MULTIBOOT_ADDRESSES, 0, &h));
	ck_assert(find_at(0x120, 0x100, MULTIBOOT_ADDRESSES, 0, &h));
}
END_TEST

START_TEST(test_boot_multiboot_refuses_what_it_cannot_give)
{
	struct multiboot_header h = {0};
	struct load_error err;

	h.flags = 0x00010003;
	ck_assert_int_eq(boot_multiboot_check(&h, &err), 0);
	/* The upper half may be ignored. */
	h.flags = 0xffff0000;
	ck_assert_int_eq(boot_multiboot_check(&h, &err), 0);
	h.flags = 0x00000007;
	ck_assert_int_eq(boot_multiboot_check(&h, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "video mode (flag bit 2)"));
	h.flags = 0x0000800a;
	ck_assert_int_eq(boot_multiboot_check(&h, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "flag bits 0x8008"));
}
END_TEST

/* header_addr, load_addr, load_end_addr, bss_end_addr, entry_addr for a header
 * at 0x100 of a file of 0x1000 bytes. */
static int plan_addresses(const uint32_t words[5], struct load_plan *plan,
			  struct load_error *err)
{
	struct multiboot_header h = {
		.file_offset = 0x100,
		.flags = MULTIBOOT_ADDRESSES,
		.header_addr = words[0],
		.load_addr = words[1],
		.load_end_addr = words[2],
		.bss_end_addr = words[3],
		.entry_addr = words[4],
	};

	memset(plan, 0, sizeof(*plan));
	return boot_multiboot_plan(&h, 0x1000, plan, err);
}

START_TEST(test_boot_multiboot_address_fields)
{
	static const struct {
		uint32_t words[5];
		uint64_t gpa, mem_size, file_offset, file_size;
	} good[] = {
		{{0x200100, 0x200000, 0x200800, 0x200c00, 0x200010},
		 0x200000,
		 0xc00,
		 0,
		 0x800},
		/* From the header on only. */
		{{0x200000, 0x200000, 0x200f00, 0, 0x200000},
		 0x200000,
		 0xf00,
		 0x100,
		 0xf00},
		/* 0: to the end of the file, no bss. */
		{{0x200100, 0x2000c0, 0, 0, 0x200100},
		 0x2000c0,
		 0xf40,
		 0xc0,
		 0xf40},
		{{0x100, 0, 0, 0x2000, 0}, 0, 0x2000, 0, 0x1000},
	};
	struct load_plan plan;
	struct load_error err;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct load_segment *s = &plan.segments[0];

		ck_assert_int_eq(plan_addresses(good[i].words, &plan, &err), 0);
		ck_assert_uint_eq(plan.count, 1);
		ck_assert_uint_eq(plan.entry_gpa, good[i].words[4]);
		ck_assert_uint_eq(s->gpa, good[i].gpa);
		ck_assert_uint_eq(s->mem_size, good[i].mem_size);
		ck_assert_uint_eq(s->file_offset, good[i].file_offset);
		ck_assert_uint_eq(s->file_size, good[i].file_size);
	}
}
END_TEST

START_TEST(test_boot_multiboot_bad_address_fields)
{
	static const struct {
		uint32_t words[5];
		const char *says;
	} bad[] = {
		{{0x1fffff, 0x200000, 0, 0, 0x200000}, "does not fit"},
		{{0x200101, 0x200000, 0, 0, 0x200000}, "does not fit"},
		{{UINT32_MAX, 0, 0, 0, 0}, "does not fit"},
		{{0x200100, 0x200000, 0x1fffff, 0, 0}, "not in order"},
		{{0x200100, 0x200000, 0x200800, 0x2007ff, 0}, "not in order"},
		{{0x200100, 0x200000, 0, 0x200fff, 0}, "not in order"},
		{{0x200100, 0x200000, 0, 0x1fffff, 0}, "not in order"},
		{{0x200100, 0x200000, 0x201001, 0, 0}, "not in the file"},
		{{0x200100, 0x200000, UINT32_MAX, 0, 0}, "not in the file"},
	};
	struct load_plan plan;
	struct load_error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(plan_addresses(bad[i].words, &plan, &err),
				 -EINVAL);
		ck_assert_msg(strstr(err.text, bad[i].says) != NULL, "%zu: %s",
			      i, err.text);
	}
}
END_TEST

static uint32_t get32(const struct load_case *c, uint64_t gpa)
{
	uint32_t value;

	memcpy(&value, ram_ptr(&c->ram, gpa, 4), 4);
	return value;
}

START_TEST(test_boot_multiboot_information_without_module)
{
	struct boot_content content = {
		.cmdline = "k.elf a=1", .initrd_name = "", .cpus = 1};
	struct load_case c;
	uint64_t info, map;

	load_case_init(&c, 3072 * MIB + 5 * MIB);
	load_case_dirty(&c, BOOT_GDT_GPA, 0x4000);
	boot_multiboot_write(&c.ram, &content, &c.state);
	ck_assert_int_eq(c.state.used, BOOT_MULTIBOOT);
	ck_assert_int_eq(c.state.mode, ENTRY_PROT32);
	ck_assert_uint_eq(c.state.rax, 0x2badb002);
	info = c.state.rbx;
	ck_assert_uint_eq(get32(&c, info), 0x245);
	ck_assert_uint_eq(get32(&c, info + 4), 639);
	ck_assert_uint_eq(get32(&c, info + 8), 3071 * 1024);
	ck_assert_uint_eq(get32(&c, info + 12), 0);
	ck_assert_str_eq(ram_ptr(&c.ram, get32(&c, info + 16), 10),
			 "k.elf a=1");
	ck_assert_uint_eq(get32(&c, info + 20), 0);
	ck_assert_uint_eq(get32(&c, info + 24), 0);
	ck_assert_uint_eq(get32(&c, info + 44), 4 * 24);
	map = get32(&c, info + 48);
	ck_assert_str_eq(ram_ptr(&c.ram, get32(&c, info + 64), 9), "punctual");
	/* No VBE, no APM. */
	ck_assert(load_case_all(&c, info + 68, 20, 0));
	/* Entries of 4 + 20 bytes: size, base, length, type. */
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(get32(&c, map + i * 24), 20);
	ck_assert_uint_eq(get32(&c, map + 12), 0x9fc00);
	ck_assert_uint_eq(get32(&c, map + 20), 1);
	ck_assert_uint_eq(get32(&c, map + 24 + 4), 0x9fc00);
	ck_assert_uint_eq(get32(&c, map + 24 + 20), 2);
	ck_assert_uint_eq(get32(&c, map + 72 + 4), 0);
	ck_assert_uint_eq(get32(&c, map + 72 + 8), 1);
	ck_assert_uint_eq(get32(&c, map + 72 + 12), 5 * MIB);
	ck_assert_uint_eq(get32(&c, map + 72 + 16), 0);
	load_case_end(&c);
}
END_TEST

START_TEST(test_boot_multiboot_information_with_module)
{
	struct boot_content content = {
		.cmdline = "k",
		.initrd_gpa = 0xbffff000,
		.initrd_size = 0x1000,
		.cpus = 1,
	};
	char name[300];
	struct load_case c;
	uint64_t info, module;

	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	content.initrd_name = name;
	load_case_init(&c, MIB);
	load_case_dirty(&c, BOOT_GDT_GPA, 0x4000);
	boot_multiboot_write(&c.ram, &content, &c.state);
	info = c.state.rbx;
	ck_assert_uint_eq(get32(&c, info), 0x24d);
	ck_assert_uint_eq(get32(&c, info + 8), 0);
	ck_assert_uint_eq(get32(&c, info + 20), 1);
	module = get32(&c, info + 24);
	ck_assert_uint_eq(get32(&c, module), 0xbffff000);
	ck_assert_uint_eq(get32(&c, module + 4), 0xc0000000);
	ck_assert_str_eq(ram_ptr(&c.ram, get32(&c, module + 8), 256), name);
	ck_assert_uint_eq(get32(&c, module + 12), 0);
	/* The longest name disturbs nothing beside it. */
	ck_assert_str_eq(ram_ptr(&c.ram, get32(&c, info + 64), 9), "punctual");
	load_case_end(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boot_multiboot");
	TCase *tc = tcase_create("boot_multiboot");

	tcase_add_test(tc, test_boot_multiboot_header_is_searched_in_8_kib);
	tcase_add_test(
		tc,
		test_boot_multiboot_header_must_be_whole_aligned_and_sum_to_0);
	tcase_add_test(tc, test_boot_multiboot_refuses_what_it_cannot_give);
	tcase_add_test(tc, test_boot_multiboot_address_fields);
	tcase_add_test(tc, test_boot_multiboot_bad_address_fields);
	tcase_add_test(tc, test_boot_multiboot_information_without_module);
	tcase_add_test(tc, test_boot_multiboot_information_with_module);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
