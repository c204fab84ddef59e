/* SPDX-License-Identifier: MIT */
/* The samples of the first CPU, and results that have none. */
#include "bench_series.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "tap.h"

static struct bench_series series;

static int read_text(const char *json)
{
	return bench_series_read(json, strlen(json), &series);
}

START_TEST(test_bench_series_of_the_first_cpu)
{
	ck_assert_int_eq(
		read_text("{\"lateness\":[{\"warmup\":2,\"samples_tsc\":"
			  "[7,-8,9]},{\"warmup\":0,\"samples_tsc\":[1]}]}"),
		0);
	ck_assert_uint_eq(series.count, 3);
	ck_assert_uint_eq(series.warmup, 2);
	ck_assert_int_eq(series.lateness_tsc[0], 7);
	ck_assert_int_eq(series.lateness_tsc[1], -8);
	ck_assert_int_eq(series.lateness_tsc[2], 9);
	bench_series_free(&series);
	ck_assert_ptr_null(series.lateness_tsc);
	ck_assert_int_eq(read_text("{\"lateness\":[{\"warmup\":9,"
				   "\"samples_tsc\":[7]}]}"),
			 0);
	ck_assert_uint_eq(series.warmup, 1);
	bench_series_free(&series);
}
END_TEST

static const char *const wrong[] = {
	"",
	"[]",
	"{\"lateness\":[]}",
	"{\"lateness\":[{\"warmup\":0}]}",
	"{\"lateness\":[{\"samples_tsc\":[1]}]}",
	"{\"lateness\":[{\"warmup\":0,\"samples_tsc\":[]}]}",
	"{\"lateness\":[{\"warmup\":0,\"samples_tsc\":7}]}",
	"{\"lateness\":[{\"warmup\":0,\"samples_tsc\":[1,\"x\"]}]}",
	"{\"lateness\":[{\"warmup\":0,\"samples_tsc\":[1.5]}]}",
};

START_TEST(test_bench_series_refuses)
{
	ck_assert_int_eq(read_text(wrong[_i]), -EINVAL);
	ck_assert_ptr_null(series.lateness_tsc);
	ck_assert_uint_eq(series.count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_series");
	TCase *tc = tcase_create("bench_series");

	tcase_add_test(tc, test_bench_series_of_the_first_cpu);
	tcase_add_loop_test(tc, test_bench_series_refuses, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
