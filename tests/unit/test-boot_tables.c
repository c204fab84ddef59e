/* SPDX-License-Identifier: MIT */
/*
 * What every protocol leaves in memory, whatever its own tables are: firmware
 * tables where guests look for them, in memory they do not take for theirs.
 */
#define _GNU_SOURCE
#include "boot_tables.h"

#include <check.h>
#include <errno.h>

#include "boot_linux.h"
#include "boot_multiboot.h"
#include "boot_pvh.h"
#include "bzimage_builder.h"
#include "load_case.h"
#include "load_plan.h"
#include "tap.h"

#define MIB LOAD_CASE_MIB

/* The first 16-byte boundary from 0xe0000 on, below 1 MiB, that holds text; 0
 * if there is none. So ACPI and MP guests search. */
static uint64_t find(const struct load_case *c, const char *text)
{
	for (uint64_t gpa = 0xe0000; gpa < MIB; gpa += 16)
		if (!memcmp(ram_ptr(&c->ram, gpa, 16), text, strlen(text)))
			return gpa;
	return 0;
}

START_TEST(test_boot_tables_firmware_is_found_by_searching)
{
	struct ram_map_entry map[RAM_MAP_MAX];
	struct load_case c;
	unsigned int count;
	uint64_t at;

	for (int asked = BOOT_ELF64; asked <= BOOT_MULTIBOOT; asked++) {
		struct elf_build b;

		load_case_begin(&c);
		c.req.cpus = 64;
		load_case_offer(&b, true, true);
		ck_assert_msg(load_case_run_offer(&c, &b, true,
						  (enum boot_protocol)asked) ==
				      0,
			      "%s", c.err);
		ck_assert_uint_eq(find(&c, "RSD PTR "), 0xf0000);
		/* This one is not looked for below 0xf0000. */
		at = find(&c, "_MP_");
		ck_assert_uint_ge(at, 0xf0000);
		/* 64 processors in the table behind it. */
		ck_assert_int_eq(*(uint8_t *)ram_ptr(&c.ram, at + 16 + 34, 1),
				 64 + 19);
		ck_assert(
			load_case_all(&c, 0xef000, 0x1000, LOAD_CASE_PATTERN));
		ck_assert(
			load_case_all(&c, 0xf2000, 0x1000, LOAD_CASE_PATTERN));
		elf_build_free(&b);
		load_case_end(&c);
	}
	load_case_init(&c, MIB);
	count = ram_map_entries(&c.ram, map);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(map[1].type, RAM_MAP_RESERVED);
	ck_assert_uint_le(map[1].gpa, 0xf0000);
	ck_assert_uint_eq(map[1].gpa + map[1].size, MIB);
	load_case_end(&c);
}
END_TEST

/* Their place is needed whatever the protocol. */
START_TEST(test_boot_tables_firmware_place_is_taken)
{
	static const uint64_t tried[] = {0xeffff, 0xf0000, 0xf1fff, 0xf2000};

	for (int asked = BOOT_ELF64; asked <= BOOT_MULTIBOOT; asked++)
		for (unsigned int i = 0; i < 4; i++) {
			struct elf_build b;
			struct load_case c;
			int rc;

			load_case_begin(&c);
			load_case_offer(&b, true, true);
			/* Up to and with the byte before, or from there on. */
			elf_build_load(&b, tried[i], 0x1000, 1, 1);
			elf_build_write(&b);
			rc = load_case_run_offer(&c, &b, true,
						 (enum boot_protocol)asked);
			ck_assert_int_eq(rc, i == 1 || i == 2 ? -EINVAL : 0);
			if (rc)
				LOAD_CASE_SAYS(&c,
					       "the boot firmware tables at "
					       "0xf0000-0xf1fff");
			elf_build_free(&b);
			load_case_end(&c);
		}
}
END_TEST

/* One entry as a guest reads it, whatever the protocol's form. */
struct seen {
	uint64_t gpa, size, type;
};

static uint64_t get(const struct guest_ram *ram, uint64_t gpa,
		    unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value, ram_ptr(ram, gpa, size), size);
	return value;
}

static unsigned int read_map(const struct guest_ram *ram, uint64_t gpa,
			     unsigned int stride, unsigned int count,
			     struct seen *out)
{
	ck_assert_uint_le(count, RAM_MAP_MAX);
	for (unsigned int i = 0; i < count; i++, gpa += stride)
		out[i] = (struct seen){get(ram, gpa, 8), get(ram, gpa + 8, 8),
				       get(ram, gpa + 16, 4)};
	return count;
}

static unsigned int read_pvh(const struct guest_ram *ram,
			     const struct boot_content *content,
			     struct seen *out)
{
	struct boot_state state;

	boot_pvh_write(ram, content, &state);
	return read_map(ram, get(ram, state.rbx + 40, 8), 24,
			(unsigned int)get(ram, state.rbx + 48, 4), out);
}

static unsigned int read_multiboot(const struct guest_ram *ram,
				   const struct boot_content *content,
				   struct seen *out)
{
	struct boot_state state;

	boot_multiboot_write(ram, content, &state);
	/* Each entry has its size in front. */
	return read_map(ram, get(ram, state.rbx + 48, 4) + 4, 24,
			(unsigned int)get(ram, state.rbx + 44, 4) / 24, out);
}

static unsigned int read_linux(const struct guest_ram *ram,
			       const struct boot_content *content,
			       struct seen *out)
{
	struct boot_state state;

	boot_linux_write(ram, content, &state);
	return read_map(ram, state.rsi + 0x2d0, 20,
			(unsigned int)get(ram, state.rsi + 0x1e8, 1), out);
}

/* What a machine with that much RAM has, written down once more. */
static unsigned int expected_map(uint64_t mib, struct seen *out)
{
	unsigned int count = 2;

	out[0] = (struct seen){0, 0x9fc00, 1};
	out[1] = (struct seen){0x9fc00, 0x60400, 2};
	if (mib > 1)
		out[count++] = (struct seen){
			0x100000, ((mib < 3072 ? mib : 3072) - 1) * MIB, 1};
	if (mib > 3072)
		out[count++] =
			(struct seen){0x100000000, (mib - 3072) * MIB, 1};
	return count;
}

static const uint64_t sizes_mib[] = {1,	   2,	 3,    16,    64,   640,  1024,
				     2048, 2560, 3071, 3072,  3073, 4095, 4096,
				     4097, 6144, 8192, 65535, 65536};

/* All protocols tell the same, and it is true, around the hole below 4 GiB. */
START_TEST(test_boot_tables_maps_agree)
{
	static unsigned int (*const readers[])(
		const struct guest_ram *, const struct boot_content *,
		struct seen *) = {read_pvh, read_multiboot, read_linux};
	struct seen expected[RAM_MAP_MAX], seen[RAM_MAP_MAX];
	unsigned int count = expected_map(sizes_mib[_i], expected);
	struct image_bytes image;
	struct bzimage kernel;
	struct guest_ram ram;
	struct boot_content content = {
		.cmdline = "", .initrd_name = "", .cpus = 1, .image = &image};

	bzimage_init(&kernel);
	image = (struct image_bytes){kernel.bytes, kernel.size};
	ck_assert_int_eq(ram_alloc(&ram, sizes_mib[_i] * MIB), 0);
	for (unsigned int r = 0; r < 3; r++) {
		ck_assert_uint_eq(readers[r](&ram, &content, seen), count);
		for (unsigned int i = 0; i < count; i++) {
			ck_assert_uint_eq(seen[i].gpa, expected[i].gpa);
			ck_assert_uint_eq(seen[i].size, expected[i].size);
			ck_assert_uint_eq(seen[i].type, expected[i].type);
			/* There, to the last byte, and no further. */
			ck_assert_ptr_nonnull(
				ram_ptr(&ram, seen[i].gpa, seen[i].size));
		}
		ck_assert_ptr_null(ram_ptr(
			&ram, seen[count - 1].gpa + seen[count - 1].size, 1));
	}
	ram_free(&ram);
	bzimage_free(&kernel);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boot_tables");
	TCase *tc = tcase_create("boot_tables");

	tcase_add_test(tc, test_boot_tables_firmware_is_found_by_searching);
	tcase_add_test(tc, test_boot_tables_firmware_place_is_taken);
	tcase_add_loop_test(tc, test_boot_tables_maps_agree, 0,
			    sizeof(sizes_mib) / sizeof(sizes_mib[0]));
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
