/* SPDX-License-Identifier: MIT */
/*
 * The long mode state: page tables walked as a CPU would, the stack as a
 * called function finds it, descriptors decoded bit by bit.
 */
#define _GNU_SOURCE
#include "boot_elf64.h"

#include <check.h>

#include "boot_pvh.h"
#include "boot_tables.h"
#include "load_case.h"
#include "tap.h"

static uint64_t get64(const struct load_case *c, uint64_t gpa)
{
	uint64_t value;

	memcpy(&value, ram_ptr(&c->ram, gpa, 8), 8);
	return value;
}

static void write_elf64(struct load_case *c)
{
	struct boot_content content = {
		.cmdline = "x", .initrd_name = "", .cpus = 1};

	load_case_init(c, RAM_MIN_SIZE);
	load_case_dirty(c, 0x8f000, 0x10000);
	boot_elf64_write(&c->ram, &content, &c->state);
}

/* SDM "4-Level Paging": physical address of a linear one, all ones if it is
 * not mapped writable by a 2 MiB page. */
static uint64_t walk(const struct load_case *c, uint64_t linear)
{
	uint64_t entry = c->state.cr3_gpa;

	for (int shift = 39; shift >= 21; shift -= 9) {
		uint64_t index = linear >> shift & 511;

		entry = get64(c, (entry & ~UINT64_C(0xfff)) + index * 8);
		if ((entry & 3) != 3 || !!(entry & 0x80) != (shift == 21))
			return UINT64_MAX;
		/* Reserved and no-execute bits. */
		if (entry >> 32)
			return UINT64_MAX;
	}
	if (entry & 0x1fe000)
		return UINT64_MAX;
	return (entry & ~UINT64_C(0x1fffff)) | (linear & 0x1fffff);
}

START_TEST(test_boot_elf64_maps_4_gib_one_to_one)
{
	struct load_case c;

	write_elf64(&c);
	for (uint64_t at = 0; at < UINT64_C(0x100000000); at += 0x1fffff)
		ck_assert(walk(&c, at) == at);
	ck_assert_uint_eq(walk(&c, 0xffffffff), 0xffffffff);
	ck_assert_uint_eq(walk(&c, UINT64_C(0x100000000)), UINT64_MAX);
	ck_assert_uint_eq(walk(&c, UINT64_C(0xffffffff80000000)), UINT64_MAX);
	load_case_end(&c);
}
END_TEST

START_TEST(test_boot_elf64_stack_is_as_after_a_call)
{
	struct load_case c;

	write_elf64(&c);
	ck_assert_uint_eq(c.state.rsp % 16, 8);
	ck_assert_uint_eq(get64(&c, c.state.rsp), 0);
	ck_assert_uint_ge(c.state.rsp, BOOT_STACK_GPA + 0x3f00);
	ck_assert_uint_le(c.state.rsp + 8, BOOT_STACK_END_GPA);
	/* Nothing beyond the tables, nor before them. */
	ck_assert(load_case_all(&c, 0x8f000, 0x1000, LOAD_CASE_PATTERN));
	ck_assert(load_case_all(&c, BOOT_STACK_END_GPA, 0x1000,
				LOAD_CASE_PATTERN));
	load_case_end(&c);
}
END_TEST

START_TEST(test_boot_elf64_registers)
{
	struct load_case c;

	write_elf64(&c);
	ck_assert_int_eq(c.state.used, BOOT_ELF64);
	ck_assert_int_eq(c.state.mode, ENTRY_LONG64);
	ck_assert_uint_eq((uint32_t)get64(&c, c.state.rdi), PVH_START_MAGIC);
	ck_assert_uint_eq(c.state.rax, 0);
	ck_assert_uint_eq(c.state.rbx, 0);
	ck_assert_str_eq(ram_ptr(&c.ram, c.state.cmdline_gpa, 2), "x");
	load_case_end(&c);
}
END_TEST

static uint64_t descriptor(const struct load_case *c, uint16_t selector)
{
	ck_assert_uint_le(selector + 7, c->state.gdt_limit);
	return get64(c, c->state.gdt_gpa + selector);
}

/* Access byte and flags; base and limit are checked to be flat. */
static uint64_t flat_rights(uint64_t d)
{
	ck_assert_uint_eq(d & 0xffff, 0xffff);
	ck_assert_uint_eq(d >> 16 & 0xffffff, 0);
	ck_assert_uint_eq(d >> 48 & 0xf, 0xf);
	ck_assert_uint_eq(d >> 56, 0);
	return (d >> 40 & 0xff) | (d >> 52 & 0xf) << 8;
}

START_TEST(test_boot_elf64_gdt_holds_the_promised_segments)
{
	struct load_case c;
	struct boot_state prot32;
	struct boot_content content = {.cmdline = "", .cpus = 1};
	uint64_t tss;

	write_elf64(&c);
	ck_assert_uint_eq(get64(&c, c.state.gdt_gpa), 0);
	/* G L; present, code, readable, accessed. */
	ck_assert_uint_eq(flat_rights(descriptor(&c, c.state.cs_selector)),
			  0xa9b);
	/* G D; present, data, writable, accessed. */
	ck_assert_uint_eq(flat_rights(descriptor(&c, c.state.ds_selector)),
			  0xc93);
	tss = descriptor(&c, c.state.tr_selector);
	ck_assert_uint_eq(tss, 0x00008b0000000067);
	ck_assert_uint_eq(descriptor(&c, c.state.tr_selector + 8), 0);

	boot_tables_write(&c.ram, ENTRY_PROT32, &content, &prot32);
	ck_assert_uint_eq(flat_rights(descriptor(&c, prot32.cs_selector)),
			  0xc9b);
	ck_assert_uint_eq(prot32.ds_selector, c.state.ds_selector);
	ck_assert_uint_eq(prot32.rsp, 0);
	load_case_end(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boot_elf64");
	TCase *tc = tcase_create("boot_elf64");

	tcase_add_test(tc, test_boot_elf64_maps_4_gib_one_to_one);
	tcase_add_test(tc, test_boot_elf64_stack_is_as_after_a_call);
	tcase_add_test(tc, test_boot_elf64_registers);
	tcase_add_test(tc, test_boot_elf64_gdt_holds_the_promised_segments);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
