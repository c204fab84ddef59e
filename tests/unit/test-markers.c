/* SPDX-License-Identifier: MIT */
/*
 * What the guest may write as often as it likes: the first ones are kept, the
 * others are counted.
 */
#include "markers.h"

#include <string.h>

#include "jsonw.h"
#include "tap.h"

static struct markers markers;

static void check_text(const char *expected)
{
	struct jsonw w;
	size_t len;

	jsonw_init(&w, 0, 65536);
	jsonw_object_begin(&w, NULL);
	markers_write(&markers, &w);
	jsonw_object_end(&w);
	ck_assert_int_eq(jsonw_error(&w), 0);
	ck_assert_str_eq(jsonw_text(&w, &len), expected);
	jsonw_free(&w);
}

START_TEST(test_markers_none)
{
	check_text("{\"markers\":[],\"markers_dropped\":0}");
}
END_TEST

START_TEST(test_markers_since_start)
{
	markers.start_ns = UINT64_C(1) << 40;
	markers_add(&markers, markers.start_ns + 12345, 1, 0);
	markers_add(&markers, markers.start_ns + 5000000000, UINT32_MAX, 63);
	check_text("{\"markers\":[{\"since_start_ns\":12345,\"value\":1,"
		   "\"vcpu\":0},{\"since_start_ns\":5000000000,"
		   "\"value\":4294967295,\"vcpu\":63}],"
		   "\"markers_dropped\":0}");
}
END_TEST

START_TEST(test_markers_bounded)
{
	for (uint32_t i = 0; i < MARKERS_MAX + 5; i++) {
		ck_assert_uint_eq(markers_kept(&markers),
				  i < MARKERS_MAX ? i : MARKERS_MAX);
		markers_add(&markers, i, i, 0);
	}
	ck_assert_uint_eq(markers.kept[MARKERS_MAX - 1].value, MARKERS_MAX - 1);
	ck_assert_uint_eq(markers_kept(&markers), MARKERS_MAX);
	ck_assert_uint_eq(atomic_load(&markers.count), MARKERS_MAX + 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("markers");
	TCase *tc = tcase_create("markers");

	tcase_add_test(tc, test_markers_none);
	tcase_add_test(tc, test_markers_since_start);
	tcase_add_test(tc, test_markers_bounded);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
