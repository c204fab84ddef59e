/* SPDX-License-Identifier: MIT */
/*
 * Which cells share a calibration, what a run is told of it, and what its
 * result then says. Measuring takes a KVM and is not tested here.
 */
#include "bench_calibrate.h"

#include <string.h>

#include "config_case.h"
#include "json.h"
#include "jsonw.h"
#include "tap.h"

enum {
	ROOM = 8,
};

static struct bench_calibrations all;

static void set_up(void)
{
	ck_assert_int_eq(bench_calibrations_init(&all, ROOM), 0);
}

static void tear_down(void)
{
	bench_calibrations_free(&all);
}

/* The calibration for a cell with these overrides. */
static const struct bench_calibration *add(size_t cell, const char *set0,
					   const char *set1)
{
	const struct bench_calibration *found;
	struct config config;

	ck_assert_msg(!load(IMAGE "}", set0, set1, &config), "%s", err);
	ck_assert_int_eq(bench_calibrations_add(&all, cell, &config, &found),
			 0);
	config_free(&config);
	return found;
}

START_TEST(test_bench_calibrate_default_needs_one)
{
	const struct bench_calibration *item = add(3, NULL, NULL);

	ck_assert_ptr_nonnull(item);
	ck_assert_uint_eq(item->cell, 3);
	ck_assert(!item->measured.done);
	ck_assert_uint_eq(all.count, 1);
}
END_TEST

START_TEST(test_bench_calibrate_others_need_none)
{
	ck_assert_ptr_null(add(0, "timer.mode=kernel", NULL));
	ck_assert_ptr_null(add(1, "timer.vmentry_advance=off", NULL));
	/* Nothing to check it by is wanted, either. */
	ck_assert_ptr_null(
		add(2, "timer.vmentry_advance=500", "timer.allow_early=true"));
	ck_assert_uint_eq(all.count, 0);
}
END_TEST

/* What a calibration sets itself, or has no use for. */
static const char *const shared[] = {
	"timer.advance=off",
	"timer.advance=5000",
	"timer.max_spin_share=0.5",
	"boot_args.wait=hlt",
	"boot-source.kernel_image_path=/other.elf",
	"boot-source.protocol=elf64",
	"machine-config.vcpu_count=4",
	"machine-config.mem_size_mib=128",
	"console.serial=off",
	"run.timeout_ms=1",
	"run.exit_port=500",
	"run.stats_path=-",
};

START_TEST(test_bench_calibrate_is_shared)
{
	const struct bench_calibration *first = add(0, NULL, NULL);

	ck_assert_ptr_eq(add(1, shared[_i], NULL), first);
	ck_assert_uint_eq(all.count, 1);
	ck_assert_uint_eq(first->cell, 0);
}
END_TEST

/* What shapes the way into the guest. */
static const char *const apart[] = {
	"timer.strict_lvtt=true",
	"timer.timer_affinity=[0]",
	"timer.max_advance_ns=200000",
	"machine-config.cpu_affinity=[[1]]",
	"machine-config.hide_cpuid=[\"erms\"]",
};

START_TEST(test_bench_calibrate_is_not_shared)
{
	const struct bench_calibration *first = add(0, NULL, NULL);
	const struct bench_calibration *other = add(1, apart[_i], NULL);

	ck_assert_ptr_ne(other, first);
	ck_assert_uint_eq(other->cell, 1);
	ck_assert_uint_eq(all.count, 2);
	ck_assert_ptr_eq(add(2, NULL, NULL), first);
	ck_assert_ptr_eq(add(3, apart[_i], shared[0]), other);
}
END_TEST

START_TEST(test_bench_calibrate_option)
{
	struct bench_calibration item = {
		.measured = {.cost = {{.result_tsc = 900},
				      {.result_tsc = 18446744073709551615u}}},
	};
	char buf[BENCH_ENTRY_COST_SIZE];

	ck_assert_ptr_null(bench_calibration_option(NULL, buf));
	ck_assert_ptr_null(bench_calibration_option(&item, buf));
	item.measured.done = true;
	ck_assert_str_eq(bench_calibration_option(&item, buf),
			 "--entry-cost=900,18446744073709551615");
}
END_TEST

/* A calibration that is given runs nothing, and says no more than it knows. */
START_TEST(test_bench_calibrate_given)
{
	static const uint64_t result_tsc[] = {900, 0};
	struct calibrate calibrate;
	struct jsonw w;
	size_t len;

	calibrate_give(&calibrate, result_tsc);
	ck_assert(calibrate.done);
	ck_assert_int_lt(calibrate.fd, 0);
	calibrate_go(&calibrate);
	calibrate_stop(&calibrate);
	jsonw_init(&w, 0, 1000);
	calibrate_write(&calibrate, NULL, &w);
	ck_assert_str_eq(jsonw_text(&w, &len),
			 "{\"given\":true,\"done\":true,"
			 "\"running\":{\"result_tsc\":900},"
			 "\"halted\":{\"result_tsc\":0}}");
	jsonw_free(&w);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bench_calibrate");
	TCase *tc = tcase_create("bench_calibrate");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, test_bench_calibrate_default_needs_one);
	tcase_add_test(tc, test_bench_calibrate_others_need_none);
	tcase_add_loop_test(tc, test_bench_calibrate_is_shared, 0,
			    sizeof(shared) / sizeof(shared[0]));
	tcase_add_loop_test(tc, test_bench_calibrate_is_not_shared, 0,
			    sizeof(apart) / sizeof(apart[0]));
	tcase_add_test(tc, test_bench_calibrate_option);
	tcase_add_test(tc, test_bench_calibrate_given);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
