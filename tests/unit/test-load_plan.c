/* SPDX-License-Identifier: MIT */
/*
 * The plan's arithmetic at its edges, and where an initrd finds a place.
 */
#include "load_plan.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "memory.h"
#include "tap.h"

#define MIB UINT64_C(0x100000)
#define GIB UINT64_C(0x40000000)

static int add(struct load_plan *plan, uint64_t gpa, uint64_t mem_size,
	       uint64_t file_offset, uint64_t file_size)
{
	struct load_segment segment = {
		.name = "segment",
		.gpa = gpa,
		.vaddr = gpa,
		.mem_size = mem_size,
		.file_offset = file_offset,
		.file_size = file_size,
	};
	struct load_error err;

	return load_plan_add(plan, &segment, 0x1000, &err);
}

START_TEST(test_load_plan_file_bounds)
{
	struct load_plan plan = {0};

	ck_assert_int_eq(add(&plan, 0, 0x1000, 0, 0x1000), 0);
	ck_assert_int_eq(add(&plan, 0, 0x1001, 0, 0x1001), -EINVAL);
	ck_assert_int_eq(add(&plan, 0, 1, 0xfff, 1), 0);
	ck_assert_int_eq(add(&plan, 0, 1, 0x1000, 1), -EINVAL);
	ck_assert_int_eq(add(&plan, 0, 2, 0xfff, 2), -EINVAL);
	ck_assert_int_eq(add(&plan, 0, UINT64_MAX, 1, UINT64_MAX), -EINVAL);
	ck_assert_int_eq(add(&plan, 0, 2, UINT64_MAX, 2), -EINVAL);
	ck_assert_int_eq(add(&plan, 0, 1, 0, 2), -EINVAL);
	ck_assert_uint_eq(plan.count, 2);
	/* Without bytes in the file the offset means nothing. */
	ck_assert_int_eq(add(&plan, 0, 1, UINT64_MAX, 0), 0);
	ck_assert_uint_eq(plan.count, 3);
	/* Without memory there is nothing to add, wherever it claims to be. */
	ck_assert_int_eq(add(&plan, UINT64_MAX, 0, UINT64_MAX, 0), 0);
	ck_assert_uint_eq(plan.count, 3);
}
END_TEST

START_TEST(test_load_plan_end_may_touch_but_not_pass_the_top)
{
	struct load_plan plan = {0};

	ck_assert_int_eq(add(&plan, UINT64_MAX, 1, 0, 0), 0);
	ck_assert_int_eq(add(&plan, UINT64_MAX, 2, 0, 0), -EINVAL);
	ck_assert_int_eq(add(&plan, 1, UINT64_MAX, 0, 0), 0);
	ck_assert_int_eq(add(&plan, 2, UINT64_MAX, 0, 0), -EINVAL);
	ck_assert_int_eq(add(&plan, 0, UINT64_MAX, 0, 0), 0);
}
END_TEST

static int check_plan(struct load_plan *plan, uint64_t entry_gpa,
		      const struct guest_ram *ram, struct load_error *err)
{
	static const struct load_area areas[] = {
		{"sofa", 0x3000, 0x1000},
		{"table", 0x5000, 0x1000},
	};

	plan->entry_gpa = entry_gpa;
	return load_plan_check(plan, ram, areas, 2, err);
}

START_TEST(test_load_plan_neighbours_do_not_overlap)
{
	struct load_plan plan = {0};
	struct guest_ram ram;
	struct load_error err;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	add(&plan, 0x4000, 0x1000, 0, 0);
	add(&plan, 0x2000, 0x1000, 0, 0);
	add(&plan, 0x1fff, 1, 0, 0);
	add(&plan, 0, 0x1fff, 0, 0);
	add(&plan, 0x6000, MIB - 0x6000, 0, 0);
	ck_assert_int_eq(check_plan(&plan, 0, &ram, &err), 0);
	ck_assert_uint_eq(load_plan_end(&plan), MIB);
	ck_assert_int_eq(check_plan(&plan, 0x3000, &ram, &err), -EINVAL);
	ck_assert_int_eq(check_plan(&plan, MIB - 1, &ram, &err), 0);
	ck_assert_int_eq(check_plan(&plan, MIB, &ram, &err), -EINVAL);
	add(&plan, 0x5fff, 1, 0, 0);
	ck_assert_int_eq(check_plan(&plan, 0, &ram, &err), -EINVAL);
	ck_assert_str_eq(err.text,
			 "segment at 0x5fff-0x5fff needs the place of the boot "
			 "table at 0x5000-0x5fff; link it elsewhere");
	ram_free(&ram);
}
END_TEST

START_TEST(test_load_plan_segments_above_4_gib)
{
	struct load_plan plan = {0};
	struct guest_ram ram;
	struct load_error err;

	ck_assert_int_eq(ram_alloc(&ram, 3 * GIB + MIB), 0);
	add(&plan, 0x6000, 0x1000, 0, 0);
	add(&plan, 4 * GIB, MIB, 0, 0);
	ck_assert_int_eq(check_plan(&plan, 0x6000, &ram, &err), 0);
	ck_assert_uint_eq(load_plan_end(&plan), 4 * GIB + MIB);
	/* Loaded, but no entry state reaches it. */
	ck_assert_int_eq(check_plan(&plan, 4 * GIB, &ram, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "above 4 GiB"));
	add(&plan, 4 * GIB + MIB, 1, 0, 0);
	ck_assert_int_eq(check_plan(&plan, 0x6000, &ram, &err), -EINVAL);
	ram_free(&ram);
}
END_TEST

START_TEST(test_load_plan_names_the_ram_that_all_segments_need)
{
	struct load_plan plan = {0};
	struct guest_ram ram;
	struct load_error err;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	add(&plan, 0x100000, 1, 0, 0);
	add(&plan, 7 * MIB - 1, 2, 0, 0);
	add(&plan, 0x200000, 1, 0, 0);
	/* Out of reach of any RAM size; told when its turn comes. */
	add(&plan, 3 * GIB, 1, 0, 0);
	ck_assert_int_eq(check_plan(&plan, 0x6000, &ram, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "to at least 8"));
	ram_free(&ram);
}
END_TEST

static void check_place(const struct load_plan *plan, uint64_t ram_size,
			uint64_t size, uint64_t expect_gpa)
{
	struct guest_ram ram;
	uint64_t gpa = 0;
	bool found;

	ck_assert_int_eq(ram_alloc(&ram, ram_size), 0);
	found = load_plan_place(plan, &ram, size, &gpa);
	ck_assert_int_eq(found, expect_gpa != 0);
	ck_assert_uint_eq(gpa, expect_gpa);
	ram_free(&ram);
}

START_TEST(test_load_plan_place_is_high_and_page_aligned)
{
	struct load_plan plan = {0};

	add(&plan, 2 * MIB, 0x1234, 0, 0);
	check_place(&plan, 16 * MIB, 1, 16 * MIB - 0x1000);
	check_place(&plan, 16 * MIB, 0x1000, 16 * MIB - 0x1000);
	check_place(&plan, 16 * MIB, 0x1001, 16 * MIB - 0x2000);
	check_place(&plan, 4 * GIB, 0x1000, 3 * GIB - 0x1000);
	/* All of what is above the segment, whose last page is not shared. */
	check_place(&plan, 16 * MIB, 14 * MIB - 0x2000, 2 * MIB + 0x2000);
	/* One byte more fits nowhere. */
	check_place(&plan, 16 * MIB, 14 * MIB - 0x1fff, 0);
	check_place(&plan, 16 * MIB, 16 * MIB, 0);
	check_place(&plan, 16 * MIB, UINT64_MAX, 0);
}
END_TEST

START_TEST(test_load_plan_place_goes_below_segments)
{
	struct load_plan plan = {0};

	/* Out of order; a gap of one page, then one of two pages. */
	add(&plan, 2 * MIB + 0x2000, 0x1000, 0, 0);
	add(&plan, 4 * MIB - 0x800, 0x800, 0, 0);
	add(&plan, 2 * MIB + 0x4000, 2 * MIB - 0x5000, 0, 0);
	check_place(&plan, 4 * MIB, 0x800, 2 * MIB + 0x3000);
	check_place(&plan, 4 * MIB, 0x1001, 2 * MIB);
	check_place(&plan, 4 * MIB, MIB + 0x2000, MIB);
	check_place(&plan, 4 * MIB, MIB + 0x2001, 0);
	/* The last one found in the way starts within a page. */
	plan.count = 0;
	add(&plan, 3 * MIB + 0x123, MIB - 0x123, 0, 0);
	check_place(&plan, 4 * MIB, 0x1000, 3 * MIB - 0x1000);
	/* Or below 1 MiB. */
	add(&plan, 0x80000, 3 * MIB - 0x80000, 0, 0);
	check_place(&plan, 4 * MIB, 0x1000, 0);
	/* No RAM above 1 MiB, no place. */
	check_place(&plan, MIB, 1, 0);
}
END_TEST

START_TEST(test_load_plan_long_message_is_cut_not_spilt)
{
	struct load_error err;
	char word[600];

	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	ck_assert_int_eq(load_fail(&err, -EIO, "%s", word), -EIO);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("load_plan");
	TCase *tc = tcase_create("load_plan");

	tcase_add_test(tc, test_load_plan_file_bounds);
	tcase_add_test(tc, test_load_plan_end_may_touch_but_not_pass_the_top);
	tcase_add_test(tc, test_load_plan_neighbours_do_not_overlap);
	tcase_add_test(tc, test_load_plan_segments_above_4_gib);
	tcase_add_test(tc, test_load_plan_names_the_ram_that_all_segments_need);
	tcase_add_test(tc, test_load_plan_place_is_high_and_page_aligned);
	tcase_add_test(tc, test_load_plan_place_goes_below_segments);
	tcase_add_test(tc, test_load_plan_long_message_is_cut_not_spilt);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
