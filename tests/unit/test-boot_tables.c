/* SPDX-License-Identifier: MIT */
/*
 * What every protocol leaves in memory, whatever its own tables are: firmware
 * tables where guests look for them, in memory they do not take for theirs.
 */
#define _GNU_SOURCE
#include "boot_tables.h"

#include <check.h>
#include <errno.h>

#include "load_case.h"
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

int main(void)
{
	Suite *suite = suite_create("boot_tables");
	TCase *tc = tcase_create("boot_tables");

	tcase_add_test(tc, test_boot_tables_firmware_is_found_by_searching);
	tcase_add_test(tc, test_boot_tables_firmware_place_is_taken);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
