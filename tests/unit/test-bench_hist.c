/* SPDX-License-Identifier: MIT */
/* A histogram survives the way through JSON; what is none is refused. */
#include "bench_hist.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "hist.h"
#include "hist_json.h"
#include "json.h"
#include "jsonw.h"
#include "prng.h"
#include "tap.h"

static struct json_doc doc;

static int read_text(const char *text, size_t len, struct bench_hist *hist)
{
	char err[200];
	int ret;

	ck_assert_msg(
		!json_parse(&doc, NULL, text, len, 1 << 24, err, sizeof(err)),
		"%s", err);
	ret = bench_hist_read(&doc, json_root(&doc), hist);
	json_free(&doc);
	return ret;
}

static void round_trip(const struct hist *h)
{
	struct bench_hist hist;
	struct hist back;
	struct jsonw w;
	const char *text;
	size_t len;

	jsonw_init(&w, 2, 1 << 24);
	hist_json_write(&w, NULL, h);
	text = jsonw_text(&w, &len);
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(read_text(text, len, &hist), 0);
	jsonw_free(&w);
	hist_init(&back);
	bench_hist_add(&hist, &back);
	ck_assert_mem_eq(h, &back, sizeof(back));
	/* Twice the same: counts add up, extremes stay. */
	bench_hist_add(&hist, &back);
	ck_assert_uint_eq(back.count, 2 * h->count);
	ck_assert_uint_eq(back.max, h->max);
	bench_hist_free(&hist);
}

START_TEST(test_bench_hist_round_trip)
{
	uint64_t state = 77;
	struct hist h;

	hist_init(&h);
	round_trip(&h);
	hist_add(&h, 0);
	round_trip(&h);
	hist_add(&h, UINT64_MAX);
	round_trip(&h);
	for (int i = 0; i < 3000; i++)
		hist_add(&h, prng_any_size(&state));
	round_trip(&h);
}
END_TEST

static const char *const wrong[] = {
	"[]",
	"7",
	"{}",
	"{\"count\":0}",
	"{\"count\":0,\"buckets\":7}",
	"{\"count\":-1,\"buckets\":[]}",
	"{\"count\":1,\"min\":5,\"max\":5,\"buckets\":[]}",
	"{\"count\":1,\"min\":5,\"max\":5,\"buckets\":[7]}",
	"{\"count\":1,\"min\":5,\"max\":5,\"buckets\":[[5,5]]}",
	"{\"count\":1,\"min\":5,\"max\":5,\"buckets\":[[5,5,1,1]]}",
	"{\"count\":1,\"min\":5,\"max\":5,\"buckets\":[[5,6,1]]}",
	"{\"count\":1,\"min\":5,\"max\":5,\"buckets\":[[5,5,1.5]]}",
	"{\"count\":0,\"min\":5,\"max\":5,\"buckets\":[[5,5,0]]}",
	"{\"count\":1,\"min\":897,\"max\":897,\"buckets\":[[897,911,1]]}",
	"{\"count\":2,\"min\":5,\"max\":5,\"buckets\":[[5,5,1],[5,5,1]]}",
	"{\"count\":2,\"min\":4,\"max\":5,\"buckets\":[[5,5,1],[4,4,1]]}",
	"{\"count\":3,\"min\":4,\"max\":5,\"buckets\":[[4,4,1],[5,5,1]]}",
	"{\"count\":2,\"min\":3,\"max\":5,\"buckets\":[[4,4,1],[5,5,1]]}",
	"{\"count\":2,\"min\":4,\"max\":6,\"buckets\":[[4,4,1],[5,5,1]]}",
	"{\"count\":2,\"max\":5,\"buckets\":[[4,4,1],[5,5,1]]}",
	"{\"count\":2,\"min\":4,\"buckets\":[[4,4,1],[5,5,1]]}",
	/* 2^64 - 1 and 2 wrap to 1. */
	("{\"count\":1,\"min\":4,\"max\":5,\"buckets\":"
	 "[[4,4,18446744073709551615],[5,5,2]]}"),
};

START_TEST(test_bench_hist_refuses)
{
	static const char good[] = "{\"count\":2,\"min\":4,\"max\":5,"
				   "\"buckets\":[[4,4,1],[5,5,1]]}";
	struct bench_hist hist;

	ck_assert_int_eq(read_text(wrong[_i], strlen(wrong[_i]), &hist),
			 -EINVAL);
	ck_assert_ptr_null(hist.buckets);
	ck_assert_int_eq(read_text(good, strlen(good), &hist), 0);
	bench_hist_free(&hist);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_hist");
	TCase *tc = tcase_create("bench_hist");

	tcase_add_test(tc, test_bench_hist_round_trip);
	tcase_add_loop_test(tc, test_bench_hist_refuses, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
