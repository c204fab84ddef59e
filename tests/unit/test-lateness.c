/* SPDX-License-Identifier: MIT */
/*
 * Reports of lateness out of guest memory, honest and hostile, and what is
 * written about them. Results are read back as JSON.
 */
#include "lateness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "jsonw.h"
#include "memory.h"
#include "tap.h"

#define REPORT_GPA  0x2000u
#define SAMPLES_GPA 0x10000u
#define RAM_SIZE    (4u << 20)
#define TSC_KHZ	    2000000u

static struct guest_ram ram;
static struct lateness_store store;
static struct jsonw writer;
static struct json_doc doc;
static uint32_t accepted_cpu;

static void setup(void)
{
	ck_assert_int_eq(ram_alloc(&ram, RAM_SIZE), 0);
	lateness_init(&store);
}

static void teardown(void)
{
	lateness_free(&store);
	ram_free(&ram);
	json_free(&doc);
}

static struct lateness_report good(uint32_t cpu, uint32_t count)
{
	return (struct lateness_report){
		.magic = LATENESS_REPORT_MAGIC,
		.version = LATENESS_REPORT_VERSION,
		.cpu = cpu,
		.sample_size = 8,
		.samples_gpa = SAMPLES_GPA,
		.count = count,
		.period_tsc = 2000000,
		.tsc_khz = TSC_KHZ,
	};
}

static int64_t *guest_samples(void)
{
	return ram_ptr(&ram, SAMPLES_GPA, 8);
}

/* Hands over from the first CPU of `vcpu_count`. */
static int accept_at(const struct lateness_report *report, uint32_t gpa,
		     uint32_t vcpu_count)
{
	void *at = ram_ptr(&ram, gpa, sizeof(*report));

	if (at)
		memcpy(at, report, sizeof(*report));
	return lateness_accept(&store, &ram, gpa, vcpu_count, &accepted_cpu);
}

static void accept_samples(struct lateness_report report,
			   const int64_t *samples)
{
	memcpy(guest_samples(), samples, report.count * sizeof(*samples));
	ck_assert_int_eq(accept_at(&report, REPORT_GPA, 64), 0);
	ck_assert_uint_eq(accepted_cpu, report.cpu);
	/* The guest may do with its memory what it likes from here on. */
	memset(guest_samples(), 0xa5, report.count * sizeof(*samples));
	memset(ram_ptr(&ram, REPORT_GPA, sizeof(report)), 0x5a, sizeof(report));
}

static void write_out(uint32_t tsc_khz, bool with_samples)
{
	const char *text;
	char err[200];
	size_t len;

	json_free(&doc);
	jsonw_init(&writer, 0, 16 << 20);
	jsonw_object_begin(&writer, NULL);
	ck_assert_int_eq(lateness_write(&store, tsc_khz, with_samples, &writer),
			 0);
	jsonw_object_end(&writer);
	text = jsonw_text(&writer, &len);
	ck_assert_ptr_nonnull(text);
	ck_assert_msg(
		!json_parse(&doc, NULL, text, len, 16 << 20, err, sizeof(err)),
		"%s in %s", err, text);
	jsonw_free(&writer);
}

static int64_t number(const char *path)
{
	const struct json_node *node = json_get(&doc, json_root(&doc), path);
	int64_t value;

	ck_assert_msg(node != NULL, "no %s", path);
	ck_assert_msg(!json_i64(&doc, node, &value), "%s is no integer", path);
	return value;
}

static bool absent(const char *path)
{
	return !json_get(&doc, json_root(&doc), path);
}

START_TEST(test_lateness_nobody_reported)
{
	write_out(TSC_KHZ, true);
	ck_assert(absent("lateness[0]"));
	ck_assert_int_eq(number("lateness_all.samples"), 0);
	ck_assert(absent("lateness_all.p50_tsc"));
	ck_assert_int_eq(number("lateness_refused"), 0);
	ck_assert_uint_eq(lateness_fires(&store), 0);
}
END_TEST

START_TEST(test_lateness_one_cpu)
{
	static const int64_t samples[] = {90000, 80000, 30, -4, 10, 20, 50};
	struct lateness_report report = good(3, 7);

	report.warmup = 2;
	report.early = 1;
	report.lost = 5;
	report.doubled = 6;
	report.loop_turns = 77;
	report.wait_tsc = 88;
	accept_samples(report, samples);
	write_out(TSC_KHZ, true);
	ck_assert_int_eq(number("lateness[0].cpu"), 3);
	ck_assert_int_eq(number("lateness[0].fires"), 7);
	ck_assert_int_eq(number("lateness[0].warmup"), 2);
	ck_assert_int_eq(number("lateness[0].early"), 1);
	ck_assert_int_eq(number("lateness[0].lost"), 5);
	ck_assert_int_eq(number("lateness[0].doubled"), 6);
	ck_assert_int_eq(number("lateness[0].loop_turns"), 77);
	ck_assert_int_eq(number("lateness[0].wait_tsc"), 88);
	ck_assert_int_eq(number("lateness[0].period_tsc"), 2000000);
	ck_assert_int_eq(number("lateness[0].samples"), 5);
	ck_assert_int_eq(number("lateness[0].min_tsc"), -4);
	ck_assert_int_eq(number("lateness[0].p50_tsc"), 20);
	ck_assert_int_eq(number("lateness[0].p90_tsc"), 50);
	ck_assert_int_eq(number("lateness[0].max_tsc"), 50);
	/* 2 GHz, towards zero. */
	ck_assert_int_eq(number("lateness[0].min_ns"), -2);
	ck_assert_int_eq(number("lateness[0].p50_ns"), 10);
	/* As they came, warm-up first. */
	ck_assert_int_eq(number("lateness[0].samples_tsc[0]"), 90000);
	ck_assert_int_eq(number("lateness[0].samples_tsc[3]"), -4);
	ck_assert_int_eq(number("lateness[0].samples_tsc[6]"), 50);
	ck_assert(absent("lateness[0].samples_tsc[7]"));
	ck_assert(absent("lateness[1]"));
}
END_TEST

START_TEST(test_lateness_samples_only_when_asked)
{
	static const int64_t samples[] = {1, 2};

	accept_samples(good(0, 2), samples);
	write_out(TSC_KHZ, false);
	ck_assert(absent("lateness[0].samples_tsc"));
	ck_assert_int_eq(number("lateness[0].max_tsc"), 2);
}
END_TEST

/* A percentile of a pool is not the mean of percentiles. */
START_TEST(test_lateness_pools_all_cpus)
{
	static const int64_t few[] = {1000, 1000, 1000};
	int64_t many[101];
	struct lateness_report report = good(1, 101);

	for (int i = 0; i < 101; i++)
		many[i] = i;
	report.warmup = 1;
	report.early = 2;
	accept_samples(report, many);
	report = good(63, 3);
	report.early = 3;
	accept_samples(report, few);
	write_out(TSC_KHZ, false);
	ck_assert_int_eq(number("lateness[0].cpu"), 1);
	ck_assert_int_eq(number("lateness[1].cpu"), 63);
	ck_assert_int_eq(number("lateness[1].p50_tsc"), 1000);
	ck_assert_int_eq(number("lateness_all.fires"), 104);
	ck_assert_int_eq(number("lateness_all.warmup"), 1);
	ck_assert_int_eq(number("lateness_all.early"), 5);
	ck_assert_int_eq(number("lateness_all.samples"), 103);
	/* The 52nd, 93rd and 102nd of 103. */
	ck_assert_int_eq(number("lateness_all.p50_tsc"), 52);
	ck_assert_int_eq(number("lateness_all.p90_tsc"), 93);
	ck_assert_int_eq(number("lateness_all.p99_tsc"), 1000);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.count") +
				 number("lateness_all.below_zero"),
			 103);
	ck_assert_int_eq(number("lateness_all.min_tsc"), 1);
	ck_assert_uint_eq(lateness_fires(&store), 104);
}
END_TEST

START_TEST(test_lateness_histogram_of_the_pool)
{
	static const int64_t first[] = {900, -3, 0, 5}, second[] = {5, -1};
	struct lateness_report report = good(0, 4);

	report.warmup = 1;
	accept_samples(report, first);
	accept_samples(good(1, 2), second);
	write_out(TSC_KHZ, false);
	ck_assert_int_eq(number("lateness_all.below_zero"), 2);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.count"), 3);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.min"), 0);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.max"), 5);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.buckets[0][0]"), 0);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.buckets[0][2]"), 1);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.buckets[1][0]"), 5);
	ck_assert_int_eq(number("lateness_all.histogram_tsc.buckets[1][2]"), 2);
}
END_TEST

START_TEST(test_lateness_later_report_replaces)
{
	static const int64_t first[] = {1, 2, 3}, second[] = {70};

	accept_samples(good(0, 3), first);
	accept_samples(good(0, 1), second);
	write_out(TSC_KHZ, true);
	ck_assert_int_eq(number("lateness[0].fires"), 1);
	ck_assert_int_eq(number("lateness[0].max_tsc"), 70);
	ck_assert(absent("lateness[1]"));
	ck_assert_int_eq(number("lateness_all.samples"), 1);
}
END_TEST

START_TEST(test_lateness_no_samples)
{
	struct lateness_report report = good(0, 0);

	report.samples_gpa = UINT64_MAX;
	report.lost = 9;
	ck_assert_int_eq(accept_at(&report, REPORT_GPA, 1), 0);
	write_out(TSC_KHZ, true);
	ck_assert_int_eq(number("lateness[0].samples"), 0);
	ck_assert_int_eq(number("lateness[0].lost"), 9);
	ck_assert(absent("lateness[0].samples_tsc[0]"));
}
END_TEST

START_TEST(test_lateness_all_warmup)
{
	static const int64_t samples[] = {1, 2};
	struct lateness_report report = good(0, 2);

	report.warmup = 2;
	accept_samples(report, samples);
	write_out(TSC_KHZ, false);
	ck_assert_int_eq(number("lateness[0].samples"), 0);
	ck_assert_int_eq(number("lateness_all.samples"), 0);
}
END_TEST

START_TEST(test_lateness_most_samples_that_count)
{
	struct lateness_report report = good(0, LATENESS_SAMPLES_MAX);

	for (uint32_t i = 0; i < report.count; i++)
		guest_samples()[i] = (int64_t)report.count - i;
	ck_assert_int_eq(accept_at(&report, REPORT_GPA, 1), 0);
	report.count++;
	ck_assert_int_eq(accept_at(&report, REPORT_GPA, 1), -EINVAL);
	write_out(TSC_KHZ, false);
	ck_assert_int_eq(number("lateness[0].p50_tsc"),
			 LATENESS_SAMPLES_MAX / 2);
	ck_assert_int_eq(number("lateness_refused"), 1);
}
END_TEST

static void check_refused(struct lateness_report report, uint32_t gpa,
			  uint32_t vcpu_count)
{
	uint64_t before = store.refused;

	ck_assert_int_eq(accept_at(&report, gpa, vcpu_count), -EINVAL);
	ck_assert_uint_eq(store.refused, before + 1);
	for (unsigned int i = 0; i < LATENESS_CPUS_MAX; i++)
		tap_require(!store.results[i].present);
}

START_TEST(test_lateness_refuses_a_wrong_header)
{
	struct lateness_report r;

	r = good(0, 1);
	r.magic++;
	check_refused(r, REPORT_GPA, 1);
	r = good(0, 1);
	r.version++;
	check_refused(r, REPORT_GPA, 1);
	r = good(0, 1);
	r.sample_size = 4;
	check_refused(r, REPORT_GPA, 1);
	r = good(0, 1);
	r.sample_size = 0;
	check_refused(r, REPORT_GPA, 1);
	r = good(0, 1);
	r.warmup = 2;
	check_refused(r, REPORT_GPA, 1);
	r = good(0, 0);
	r.warmup = 1;
	check_refused(r, REPORT_GPA, 1);
	check_refused(good(0, UINT32_MAX), REPORT_GPA, 1);
	check_refused(good(0, 1u << 29), REPORT_GPA, 1);
}
END_TEST

START_TEST(test_lateness_refuses_a_cpu_that_is_not_there)
{
	check_refused(good(1, 1), REPORT_GPA, 1);
	check_refused(good(64, 1), REPORT_GPA, 1000);
	check_refused(good(UINT32_MAX, 1), REPORT_GPA, 1000);
}
END_TEST

START_TEST(test_lateness_refuses_addresses_outside_ram)
{
	struct lateness_report r = good(0, 2);

	check_refused(r, RAM_SIZE, 1);
	check_refused(r, RAM_SIZE - sizeof(r) + 1, 1);
	check_refused(r, UINT32_MAX, 1);
	check_refused(r, UINT32_MAX - 40, 1);
	r.samples_gpa = RAM_SIZE - 15;
	check_refused(r, REPORT_GPA, 1);
	r.samples_gpa = RAM_SIZE;
	check_refused(r, REPORT_GPA, 1);
	r.samples_gpa = UINT64_MAX;
	check_refused(r, REPORT_GPA, 1);
	r.samples_gpa = UINT64_MAX - 7;
	check_refused(r, REPORT_GPA, 1);
	r.samples_gpa = UINT64_C(0xc0000000);
	check_refused(r, REPORT_GPA, 1);
}
END_TEST

/* No address is aligned, and both ends may be the last bytes of RAM. */
START_TEST(test_lateness_odd_addresses)
{
	struct lateness_report r = good(0, 2);

	r.samples_gpa = RAM_SIZE - 16;
	ck_assert_int_eq(accept_at(&r, 0x2003, 1), 0);
	r.samples_gpa = 0x4001;
	ck_assert_int_eq(accept_at(&r, RAM_SIZE - sizeof(r), 1), 0);
	ck_assert_int_eq(accept_at(&r, 0, 1), 0);
	ck_assert_uint_eq(store.refused, 0);
}
END_TEST

/* A report may be lost for a bad one, but not a good one for it. */
START_TEST(test_lateness_refused_does_not_replace)
{
	static const int64_t samples[] = {5};
	struct lateness_report r = good(0, 1);

	accept_samples(r, samples);
	r.samples_gpa = RAM_SIZE;
	ck_assert_int_eq(accept_at(&r, REPORT_GPA, 1), -EINVAL);
	write_out(TSC_KHZ, false);
	ck_assert_int_eq(number("lateness[0].max_tsc"), 5);
	ck_assert_int_eq(number("lateness_refused"), 1);
}
END_TEST

/* The guest can say what it likes; sums and conversions stay what they are. */
START_TEST(test_lateness_extreme_values)
{
	static const int64_t samples[] = {INT64_MIN, INT64_MAX};
	struct lateness_report r = good(0, 2);

	r.early = 0x80000000u;
	r.loop_turns = r.wait_tsc = r.period_tsc = UINT64_MAX;
	accept_samples(r, samples);
	r.cpu = 1;
	accept_samples(r, samples);
	write_out(TSC_KHZ, true);
	ck_assert_int_eq(number("lateness[0].min_tsc"), INT64_MIN);
	ck_assert_int_eq(number("lateness[0].max_tsc"), INT64_MAX);
	/* Not 0: early fires are what nobody may hide. */
	ck_assert_int_eq(number("lateness_all.early"), UINT32_MAX);
	/* A rate at which the ns do not fit. */
	write_out(1000, false);
	ck_assert_int_eq(number("lateness[0].min_ns"), INT64_MIN);
	ck_assert_int_eq(number("lateness[0].max_ns"), INT64_MAX);
	write_out(0, false);
	ck_assert_int_eq(number("lateness[0].max_ns"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lateness");
	TCase *tc = tcase_create("lateness");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_lateness_nobody_reported);
	tcase_add_test(tc, test_lateness_one_cpu);
	tcase_add_test(tc, test_lateness_samples_only_when_asked);
	tcase_add_test(tc, test_lateness_pools_all_cpus);
	tcase_add_test(tc, test_lateness_histogram_of_the_pool);
	tcase_add_test(tc, test_lateness_later_report_replaces);
	tcase_add_test(tc, test_lateness_no_samples);
	tcase_add_test(tc, test_lateness_all_warmup);
	tcase_add_test(tc, test_lateness_most_samples_that_count);
	tcase_add_test(tc, test_lateness_refuses_a_wrong_header);
	tcase_add_test(tc, test_lateness_refuses_a_cpu_that_is_not_there);
	tcase_add_test(tc, test_lateness_refuses_addresses_outside_ram);
	tcase_add_test(tc, test_lateness_odd_addresses);
	tcase_add_test(tc, test_lateness_refused_does_not_replace);
	tcase_add_test(tc, test_lateness_extreme_values);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
