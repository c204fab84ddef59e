/* SPDX-License-Identifier: MIT */
/*
 * bzImages, as a kernel finds them loaded: memory, boot_params, registers.
 * Offsets are literal, as boot.rst and zero-page.rst have them.
 */
#define _GNU_SOURCE
#include "boot_linux.h"

#include <check.h>
#include <errno.h>

#include "bzimage_builder.h"
#include "load_case.h"
#include "tap.h"

#define MIB LOAD_CASE_MIB

static struct load_case c;
static struct bzimage b;

static void setup(void)
{
	load_case_init(&c, 16 * MIB);
	load_case_dirty(&c, 0x8f000, 0x12000);
	load_case_dirty(&c, MIB, 4 * MIB);
	bzimage_init(&b);
}

static void teardown(void)
{
	bzimage_free(&b);
	load_case_end(&c);
}

static int run(void)
{
	load_case_image(&c, b.bytes, b.size);
	return load_case_run(&c);
}

#define ASSERT_LOADS() ck_assert_msg(run() == 0, "%s", c.err)

static void refused(const char *text)
{
	ck_assert_int_eq(run(), -EINVAL);
	ck_assert_int_eq(strncmp(c.err, c.image_path, strlen(c.image_path)), 0);
	LOAD_CASE_SAYS(&c, text);
}

static uint64_t get(uint64_t gpa, unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value, ram_ptr(&c.ram, gpa, size), size);
	return value;
}

static void check_kernel_at(uint64_t gpa, uint64_t mem_size)
{
	const uint8_t *host = ram_ptr(&c.ram, gpa, mem_size);

	ck_assert_ptr_nonnull(host);
	ck_assert_int_eq(
		memcmp(host, b.bytes + BZIMAGE_KERNEL_AT, BZIMAGE_KERNEL_SIZE),
		0);
	ck_assert(load_case_all(&c, gpa + BZIMAGE_KERNEL_SIZE,
				mem_size - BZIMAGE_KERNEL_SIZE, 0));
	ck_assert_uint_eq(c.state.entry_gpa, gpa + 0x200);
	ck_assert_uint_eq(c.state.image_end_gpa, gpa + mem_size);
}

START_TEST(test_boot_linux_kernel_is_where_it_wants_to_be)
{
	ASSERT_LOADS();
	ck_assert_int_eq(c.state.used, BOOT_LINUX);
	check_kernel_at(2 * MIB, MIB);
	ck_assert(load_case_all(&c, MIB, MIB, LOAD_CASE_PATTERN));
	ck_assert(load_case_all(&c, 3 * MIB, MIB, LOAD_CASE_PATTERN));
}
END_TEST

START_TEST(test_boot_linux_registers)
{
	uint64_t gdt, params;

	ASSERT_LOADS();
	gdt = c.state.gdt_gpa;
	params = c.state.rsi;
	ck_assert_int_eq(c.state.mode, ENTRY_LONG64);
	ck_assert_uint_eq(c.state.cs_selector, 0x10);
	ck_assert_uint_eq(c.state.ds_selector, 0x18);
	ck_assert_uint_eq(c.state.tr_selector, 0x20);
	ck_assert_uint_eq(c.state.gdt_limit, 0x2f);
	ck_assert_uint_eq(get(gdt, 8), 0);
	ck_assert_uint_eq(get(gdt + 0x10, 8), 0x00af9b000000ffff);
	ck_assert_uint_eq(get(gdt + 0x18, 8), 0x00cf93000000ffff);
	ck_assert_uint_eq(get(gdt + 0x20, 8), 0x00008b0000000067);
	ck_assert_uint_eq(get(gdt + 0x28, 8), 0);
	ck_assert_uint_eq(params % 0x1000, 0);
	ck_assert_uint_eq(c.state.rdi | c.state.rax | c.state.rbx, 0);
	/* The first and the last 2 MiB of 4 GiB; test-boot_elf64 walks all. */
	ck_assert_uint_eq(get(c.state.cr3_gpa + 0x2000, 8), 0x83);
	ck_assert_uint_eq(get(c.state.cr3_gpa + 0x5ff8, 8), 0xffe00083);
}
END_TEST

START_TEST(test_boot_linux_params)
{
	uint64_t params;

	bzimage_set(&b, 0x218, 0x12345678, 4);
	bzimage_set(&b, 0x21c, 0x12345678, 4);
	bzimage_set(&b, 0x250, 0x123456789abc, 8);
	bzimage_set(&b, 0x26b, 0x77, 1);
	bzimage_set(&b, 0x26c, 0x66, 1);
	bzimage_set(&b, 0x1f0, 0x66, 1);
	c.req.boot_args = "console=ttyS0 quiet";
	ASSERT_LOADS();
	params = c.state.rsi;
	/* The header is the image's, to its last byte and no further. */
	ck_assert_int_eq(memcmp(ram_ptr(&c.ram, params + 0x1f1, 0x1f),
				b.bytes + 0x1f1, 0x1f),
			 0);
	ck_assert_int_eq(memcmp(ram_ptr(&c.ram, params + 0x22c, 0x24),
				b.bytes + 0x22c, 0x24),
			 0);
	ck_assert_int_eq(memcmp(ram_ptr(&c.ram, params + 0x258, 0x14),
				b.bytes + 0x258, 0x14),
			 0);
	ck_assert_uint_eq(get(params + 0x26c, 1), 0);
	ck_assert_uint_eq(get(params + 0x1f0, 1), 0);
	/* What the loader says. */
	ck_assert_uint_eq(get(params + 0x210, 1), 0xff);
	ck_assert_uint_eq(get(params + 0x218, 8), 0);
	ck_assert_str_eq(ram_ptr(&c.ram, get(params + 0x228, 4), 20),
			 "console=ttyS0 quiet");
	ck_assert_uint_eq(get(params + 0x250, 8), 0);
	/* Nothing else: no screen, no EDD, no sentinel. */
	ck_assert_uint_eq(get(params + 0x070, 8), 0xf0000);
	ck_assert(load_case_all(&c, params, 0x70, 0));
	ck_assert(load_case_all(&c, params + 0x78, 0x1e8 - 0x78, 0));
	ck_assert(load_case_all(&c, params + 0x26c, 0x2d0 - 0x26c, 0));
	ck_assert(load_case_all(&c, params + 0x2d0 + 3 * 20,
				0x1000 - 0x2d0 - 3 * 20, 0));
	ck_assert_uint_eq(get(params + 0x1e8, 1), 3);
}
END_TEST

START_TEST(test_boot_linux_initrd)
{
	static const struct {
		uint64_t addr_max, gpa;
	} limits[] = {
		{0x7fffffff, 16 * MIB - 0x2000},
		{0xffffffff, 16 * MIB - 0x2000},
		{16 * MIB - 1, 16 * MIB - 0x2000},
		{16 * MIB - 2, 16 * MIB - 0x3000},
		{16 * MIB - 0x1001, 16 * MIB - 0x3000},
		{5 * MIB - 1, 5 * MIB - 0x2000},
		/* Not between the kernel's start and its init_size. */
		{3 * MIB - 1, 2 * MIB - 0x2000},
		{2 * MIB + 0x2fff, 2 * MIB - 0x2000},
		{MIB + 0x1fff, MIB},
		{MIB + 0x1ffe, 0},
		{0, 0},
	};
	uint8_t initrd[0x1001];

	memset(initrd, 0x5a, sizeof(initrd));
	load_case_initrd(&c, initrd, sizeof(initrd));
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		bzimage_set(&b, 0x22c, limits[i].addr_max, 4);
		if (!limits[i].gpa) {
			ck_assert_int_eq(run(), -EINVAL);
			LOAD_CASE_SAYS(&c, "finds no room");
			continue;
		}
		ASSERT_LOADS();
		ck_assert_uint_eq(c.state.initrd_gpa, limits[i].gpa);
		ck_assert_uint_eq(get(c.state.rsi + 0x218, 4), limits[i].gpa);
		ck_assert_uint_eq(get(c.state.rsi + 0x21c, 4), 0x1001);
		ck_assert(load_case_all(&c, limits[i].gpa, 0x1001, 0x5a));
	}
}
END_TEST

START_TEST(test_boot_linux_command_line)
{
	static const uint64_t takes[] = {0,    1,    255,  2047,
					 4094, 4095, 4096, UINT32_MAX};
	char args[4200];

	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		size_t max = takes[i] < 4095 ? (size_t)takes[i] : 4095;
		char says[64];

		bzimage_set(&b, 0x238, takes[i], 4);
		memset(args, 'a', sizeof(args));
		args[max + 1] = '\0';
		c.req.boot_args = args;
		ck_assert_int_eq(run(), -EINVAL);
		snprintf(says, sizeof(says), "has %zu bytes; at most %zu fit",
			 max + 1, max);
		LOAD_CASE_SAYS(&c, says);
		args[max] = '\0';
		ASSERT_LOADS();
		ck_assert_str_eq(ram_ptr(&c.ram, c.state.cmdline_gpa, 1), args);
	}
}
END_TEST

/* Where it goes if it says so: pref_address, alignment, relocatable. */
START_TEST(test_boot_linux_places)
{
	static const struct {
		uint64_t pref, alignment, relocatable, gpa;
	} places[] = {
		{0x300000, 0x200000, 1, 0x400000},
		{0x300000, 0x100000, 1, 0x300000},
		{0x300000, 0x200000, 0, 0x300000},
		/* Below 1 MiB is not for a kernel that can be elsewhere. */
		{0, 0x200000, 1, 0x200000},
		{0x90000, 0x1000, 1, 0x100000},
		{0, 1, 1, 0x100000},
		/* Nobody asks how it is aligned if it cannot move. */
		{0x234000, 0, 0, 0x234000},
		{0x234001, 3, 0, 0x234001},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		bzimage_set(&b, 0x258, places[i].pref, 8);
		bzimage_set(&b, 0x230, places[i].alignment, 4);
		bzimage_set(&b, 0x234, places[i].relocatable, 1);
		ASSERT_LOADS();
		check_kernel_at(places[i].gpa, MIB);
	}
}
END_TEST

static const struct {
	unsigned int offset, size;
	uint64_t value;
	const char *says;
} spoilt[] = {
	{0x206, 2, 0x020b, "boot protocol 2.11; 2.12 (Linux 3.8) or later"},
	{0x206, 2, 0x0000, "boot protocol 0.00"},
	{0x201, 1, 0x65, "setup header ends at 0x267, not between 0x268 and"},
	{0x201, 1, 0x8f, "setup header ends at 0x291, not between 0x268 and"},
	{0x201, 1, 0xff, "setup header ends at 0x301"},
	{0x211, 1, 0x80, "a zImage"},
	{0x236, 2, 0xfffe, "without a 64-bit entry point"},
	{0x258, 8, 0x100000000, "at 0x100000000 (pref_address), above 4 GiB"},
	{0x258, 8, UINT64_MAX, "above 4 GiB"},
	/* Each fits, their sum does not. */
	{0x258, 8, 0xffffffff, "is not all in RAM (none is at 0xc0000000"},
	{0x258, 8, 0xf00000 + 0x100000, "set mem_size_mib to at least 17"},
	{0x260, 4, 0xe00001, "set mem_size_mib to at least 17"},
	{0x260, 4, 0xffffffff, "is not all in RAM"},
	{0x260, 4, 0, "0x1230 bytes in the file but 0x0 in memory"},
	{0x260, 4, 0x122f, "0x1230 bytes in the file but 0x122f in memory"},
	{0x230, 4, 0, "kernel_alignment of 0x0, which is no power of two"},
	{0x230, 4, 0x300000, "kernel_alignment of 0x300000, which is no power"},
	{0x230, 4, 0x80000000, "is not all in RAM; set mem_size_mib to"},
	{0x1f4, 4, 0, "with 0x0 bytes of kernel (syssize), too few"},
	{0x1f4, 4, 0x20, "with 0x200 bytes of kernel (syssize), too few"},
	{0x1f4, 4, 0x124, "are not in the file of 0x1830 bytes; is it cut"},
	{0x1f4, 4, 0xffffffff, "0xffffffff0 bytes"},
	{0x1f1, 1, 3, "are not in the file of 0x1830 bytes; is it cut short?"},
	/* 4 sectors, that is. */
	{0x1f1, 1, 0, "0x1230 bytes at offset 0xa00 are not in the file"},
	{0x1f1, 1, 0xff, "at offset 0x20000 are not in the file"},
};

START_TEST(test_boot_linux_hostile_header)
{
	bzimage_set(&b, spoilt[_i].offset, spoilt[_i].value, spoilt[_i].size);
	refused(spoilt[_i].says);
	/* Before anything was written. */
	ck_assert(load_case_all(&c, 0x8f000, 0x12000, LOAD_CASE_PATTERN));
	ck_assert(load_case_all(&c, MIB, 4 * MIB, LOAD_CASE_PATTERN));
	/* If it is asked for by name, too. */
	c.req.protocol = BOOT_LINUX;
	refused(spoilt[_i].says);
}
END_TEST

/* The edges that are still right. */
START_TEST(test_boot_linux_edges)
{
	static const struct {
		unsigned int offset, size;
		uint64_t value;
	} edges[] = {
		{0x206, 2, 0x020c}, {0x206, 2, 0xffff},	  {0x201, 1, 0x66},
		{0x201, 1, 0x8e},   {0x260, 4, 0x1230},	  {0x260, 4, 0xe00000},
		{0x1f4, 4, 0x21},   {0x211, 1, 0xff},	  {0x230, 4, 1},
		{0x236, 2, 0x00ff}, {0x258, 8, 0xf00000},
	};

	bzimage_set(&b, 0x234, 0, 1);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		uint64_t kept = 0;

		memcpy(&kept, b.bytes + edges[i].offset, edges[i].size);
		bzimage_set(&b, edges[i].offset, edges[i].value, edges[i].size);
		ASSERT_LOADS();
		bzimage_set(&b, edges[i].offset, kept, edges[i].size);
	}
}
END_TEST

START_TEST(test_boot_linux_in_the_way_of_the_tables)
{
	bzimage_set(&b, 0x234, 0, 1);
	bzimage_set(&b, 0x258, 0x10000, 8);
	refused("the kernel at 0x10000-0x10ffff needs the place of the boot "
		"GDT");
	bzimage_set(&b, 0x260, 0x80000, 4);
	ASSERT_LOADS();
	bzimage_set(&b, 0x258, 0xf1000, 8);
	refused("firmware tables at 0xf0000-0xf1fff");
}
END_TEST

/* Cut at every size, it is refused; some sizes leave no bzImage. */
START_TEST(test_boot_linux_cut_short)
{
	while (b.size > 1) {
		bzimage_cut(&b, b.size - (b.size > 0x300 ? 61 : 1));
		ck_assert_int_eq(run(), -EINVAL);
		/* Nothing behind the end was looked at. */
		if (b.size >= 0x208 && b.size < 0x26c)
			LOAD_CASE_SAYS(&c, "shorter than its setup header");
	}
	ck_assert(load_case_all(&c, 0x8f000, 0x12000, LOAD_CASE_PATTERN));
}
END_TEST

START_TEST(test_boot_linux_is_told_by_its_magic)
{
	ck_assert_int_eq(run(), 0);
	for (int asked = BOOT_ELF64; asked <= BOOT_MULTIBOOT; asked++) {
		c.req.protocol = (enum boot_protocol)asked;
		refused("set boot-source.protocol to what the image offers");
	}
	c.req.protocol = BOOT_LINUX;
	ck_assert_int_eq(run(), 0);
	/* Before all others. */
	c.req.protocol = BOOT_AUTO;
	elf_build_multiboot(b.bytes + BZIMAGE_KERNEL_AT, 0, NULL);
	ck_assert_int_eq(run(), 0);
	ck_assert_int_eq(c.state.used, BOOT_LINUX);
	bzimage_set(&b, 0x1fe, 0xaa54, 2);
	refused("without load addresses");
	c.req.protocol = BOOT_LINUX;
	refused("no bzImage (HdrS at offset 0x202)");
	bzimage_set(&b, 0x1fe, 0xaa55, 2);
	bzimage_set(&b, 0x205, 's', 1);
	refused("no bzImage");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boot_linux");
	TCase *tc = tcase_create("boot_linux");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_boot_linux_kernel_is_where_it_wants_to_be);
	tcase_add_test(tc, test_boot_linux_registers);
	tcase_add_test(tc, test_boot_linux_params);
	tcase_add_test(tc, test_boot_linux_initrd);
	tcase_add_test(tc, test_boot_linux_command_line);
	tcase_add_test(tc, test_boot_linux_places);
	tcase_add_loop_test(tc, test_boot_linux_hostile_header, 0,
			    sizeof(spoilt) / sizeof(spoilt[0]));
	tcase_add_test(tc, test_boot_linux_edges);
	tcase_add_test(tc, test_boot_linux_in_the_way_of_the_tables);
	tcase_add_test(tc, test_boot_linux_cut_short);
	tcase_add_test(tc, test_boot_linux_is_told_by_its_magic);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
