// SPDX-License-Identifier: MIT
/*
 * The table of CPUID flags: in order, each bit once, names as they are
 * spelled in /proc/cpuinfo, and some bits anyone can look up.
 */
#include <check.h>
#include <string.h>

#include "cpuid_flags.h"
#include "tap.h"

/* Leaf, subleaf, register and bit as one number that sorts as they do. */
static uint64_t rank(const struct cpuid_flag *flag)
{
	return (uint64_t)flag->leaf << 32 | flag->subleaf << 16 |
	       (uint32_t)flag->reg << 8 | flag->bit;
}

START_TEST(test_cpuid_flags_stand_in_order)
{
	size_t count;
	const struct cpuid_flag *table = cpuid_flag_table(&count);

	ck_assert_uint_gt(count, 150);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_lt(table[i].bit, 32);
		ck_assert_uint_lt(table[i].subleaf, 2);
		if (i)
			ck_assert_msg(rank(&table[i - 1]) < rank(&table[i]),
				      "%s", table[i].name);
	}
}
END_TEST

START_TEST(test_cpuid_flags_names_are_as_in_cpuinfo)
{
	size_t count;
	const struct cpuid_flag *table = cpuid_flag_table(&count);

	for (size_t i = 0; i < count; i++) {
		const char *name = table[i].name;

		ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz"
					       "0123456789_"),
				  strlen(name));
		ck_assert_uint_gt(strlen(name), 0);
	}
}
END_TEST

/* Only what AMD repeats from leaf 1 EDX has two bits, at the same place. */
START_TEST(test_cpuid_flags_second_bit_is_amds_copy)
{
	size_t count, copies = 0;
	const struct cpuid_flag *table = cpuid_flag_table(&count);

	for (size_t i = 0; i < count; i++) {
		const struct cpuid_flag *first =
			cpuid_flag_find(table[i].name, NULL);
		const struct cpuid_flag *second =
			cpuid_flag_find(table[i].name, first);

		ck_assert_ptr_nonnull(first);
		if (!second)
			continue;
		copies++;
		ck_assert_uint_eq(first->leaf, 1);
		ck_assert_uint_eq(second->leaf, 0x80000001);
		ck_assert_int_eq(first->reg, CPUID_EDX);
		ck_assert_int_eq(second->reg, CPUID_EDX);
		ck_assert_uint_eq(first->bit, second->bit);
		ck_assert_ptr_null(cpuid_flag_find(table[i].name, second));
	}
	ck_assert_uint_eq(copies, 2 * 18);
}
END_TEST

static const struct cpuid_flag known[] = {
	{"tsc", 1, 0, CPUID_EDX, 4},
	{"tsc_deadline_timer", 1, 0, CPUID_ECX, 24},
	{"x2apic", 1, 0, CPUID_ECX, 21},
	{"cx16", 1, 0, CPUID_ECX, 13},
	{"hypervisor", 1, 0, CPUID_ECX, 31},
	{"arat", 6, 0, CPUID_EAX, 2},
	{"tsc_adjust", 7, 0, CPUID_EBX, 1},
	{"avx512f", 7, 0, CPUID_EBX, 16},
	{"rdpid", 7, 0, CPUID_ECX, 22},
	{"fsrm", 7, 0, CPUID_EDX, 4},
	{"avx_vnni", 7, 1, CPUID_EAX, 4},
	{"xsaves", 0xd, 1, CPUID_EAX, 3},
	{"svm", 0x80000001, 0, CPUID_ECX, 2},
	{"lm", 0x80000001, 0, CPUID_EDX, 29},
	{"nonstop_tsc", 0x80000007, 0, CPUID_EDX, 8},
	{"clzero", 0x80000008, 0, CPUID_EBX, 0},
};

START_TEST(test_cpuid_flags_known_bit)
{
	const struct cpuid_flag *flag = cpuid_flag_find(known[_i].name, NULL);

	ck_assert_ptr_nonnull(flag);
	ck_assert_uint_eq(rank(flag), rank(&known[_i]));
}
END_TEST

START_TEST(test_cpuid_flags_unknown_name)
{
	ck_assert_ptr_null(cpuid_flag_find("", NULL));
	ck_assert_ptr_null(cpuid_flag_find("CX16", NULL));
	ck_assert_ptr_null(cpuid_flag_find("cx16 ", NULL));
	ck_assert_ptr_null(cpuid_flag_find("constant_tsc", NULL));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpuid_flags");
	TCase *tc = tcase_create("cpuid_flags");

	tcase_add_test(tc, test_cpuid_flags_stand_in_order);
	tcase_add_test(tc, test_cpuid_flags_names_are_as_in_cpuinfo);
	tcase_add_test(tc, test_cpuid_flags_second_bit_is_amds_copy);
	tcase_add_loop_test(tc, test_cpuid_flags_known_bit, 0,
			    sizeof(known) / sizeof(known[0]));
	tcase_add_test(tc, test_cpuid_flags_unknown_name);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
