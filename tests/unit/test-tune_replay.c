/* SPDX-License-Identifier: MIT */
/*
 * The tuners on deliveries that were recorded, tests/data/traces: is the share
 * in time what was asked for, how far is the advance from the best, what does a
 * lower share save? And the table and the plot that say so.
 */
#define _GNU_SOURCE
#include "tune_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "tap.h"
#include "trace_file.h"
#include "tune_plot.h"

#define TRACES TEST_SOURCE_ROOT "/tests/data/traces/"

enum {
	Q_90 = 58982,
	Q_99 = 64881,
};

/* allows_99: the policy of the run lets 0.99 be reached at all. */
static const struct {
	const char *path;
	bool allows_99;
} traces[] = {
	{TRACES "intel-spin.trace", true},
	{TRACES "intel-hlt.trace", true},
	{TRACES "amd-icount-hlt.trace", true},
	{TRACES "amd-noisy-hlt.trace", false},
};

static struct trace_file file;
static struct tune_samples samples;
static struct tune_sim sim;
static struct tune_result result;

static void load(size_t i)
{
	char err[512];

	ck_assert_msg(!trace_file_load(&file, traces[i].path, err, sizeof(err)),
		      "%s", err);
	ck_assert_int_eq(tune_samples_take(&samples, &file, 0), 0);
	ck_assert_uint_ge(samples.count, 1000);
	sim = (struct tune_sim){
		.policy = {.max_advance_tsc = file.header->max_advance_tsc,
			   .spin_share_q16 = file.header->spin_share_q16},
		.start_advance_tsc = file.header->start_advance_tsc,
		.warmup = TUNE_WARMUP,
		.group = TUNE_ALL_GROUPS,
		.way = TUNE_WAY_QUANTILE,
	};
}

static void teardown(void)
{
	tune_samples_free(&samples);
	trace_file_free(&file);
}

static double share(uint64_t q16)
{
	sim.way = TUNE_WAY_QUANTILE;
	sim.q16 = q16;
	tune_sim_run(&sim, samples.fires, samples.count, samples.room, &result);
	return (double)result.in_time / (double)result.fires;
}

/*
 * The model against the run itself: from the costs alone follows every advance
 * that the run had, wherever the tuner saw all of them.
 */
START_TEST(test_tune_replay_is_what_happened)
{
	struct tuner tuner;

	load((size_t)_i);
	tuner_init(&tuner, file.header->tuner, file.header->target_q16,
		   file.header->start_advance_tsc, 0,
		   file.header->max_advance_tsc);
	for (size_t i = 0; i < samples.count; i++) {
		const struct tune_fire *fire = &samples.fires[i];

		ck_assert_uint_eq(deadline_advance(&sim.policy,
						   fire->distance_tsc,
						   tuner.advance_tsc),
				  fire->advance_tsc);
		tuner_sample(&tuner, fire->cost_tsc);
	}
}
END_TEST

START_TEST(test_tune_replay_share)
{
	double in_time;

	load((size_t)_i);
	in_time = share(Q_99);
	ck_assert_double_ge(in_time, 0.97);
	ck_assert_double_le(in_time, 0.998);
	in_time = share(Q_90);
	ck_assert_double_ge(in_time, 0.88);
	ck_assert_double_le(in_time, 0.908);
	/* Half of them, give or take what the costs are skewed. */
	sim.way = TUNE_WAY_STEP;
	tune_sim_run(&sim, samples.fires, samples.count, samples.room, &result);
	in_time = (double)result.in_time / (double)result.fires;
	ck_assert_double_ge(in_time, 0.5);
	ck_assert_double_le(in_time, 0.8);
}
END_TEST

START_TEST(test_tune_replay_near_the_best)
{
	uint64_t best_tsc;

	load((size_t)_i);
	for (uint64_t q16 = Q_90; q16 <= Q_99; q16 += Q_99 - Q_90) {
		share(q16);
		if (q16 == Q_99 && !traces[_i].allows_99) {
			ck_assert(!tune_sim_optimum(&sim, samples.fires,
						    samples.count, samples.room,
						    &best_tsc));
			continue;
		}
		ck_assert(tune_sim_optimum(&sim, samples.fires, samples.count,
					   samples.room, &best_tsc));
		ck_assert_uint_le(result.advance_tsc, 2 * best_tsc);
		ck_assert_uint_ge(2 * result.advance_tsc, best_tsc);
	}
}
END_TEST

START_TEST(test_tune_replay_less_share_less_spin)
{
	uint64_t spin_99_tsc;

	load((size_t)_i);
	share(Q_99);
	spin_99_tsc = result.spin_tsc;
	share(Q_90);
	ck_assert_uint_le(result.spin_tsc, spin_99_tsc / 2);
}
END_TEST

static char *table(struct tune_points *points)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	tune_report_print(out, "a name", file.header, &samples, points);
	fclose(out);
	return text;
}

START_TEST(test_tune_replay_table)
{
	struct tune_points points;
	char *text;

	load(2);
	text = table(&points);
	ck_assert_ptr_nonnull(strstr(text, "a name, vCPU 0: 1020 samples (0 "
					   "running, 1020 halted, 0 unknown); "
					   "0 other deliveries left out\n"));
	ck_assert_ptr_nonnull(strstr(
		text, "\nquantile 0.99                  0.9800   0.9917 "));
	ck_assert_ptr_nonnull(strstr(
		text, "\nas recorded                    0.9800   0.9917 "));
	/* One state: no tables by state. */
	ck_assert_ptr_null(strstr(text, "one tuner for all"));
	ck_assert_ptr_null(strstr(text, "none"));
	free(text);
	share(Q_99);
	ck_assert_double_eq_tol(
		points.policy[6].spin_us,
		(double)(result.spin_tsc / result.fires) / 1000.0, 0.001);
	/* What is best is late no more often, and spins less. */
	ck_assert_double_lt(points.optimum[4].spin_us,
			    points.policy[6].spin_us);
}
END_TEST

START_TEST(test_tune_replay_table_by_state)
{
	struct tune_points points;
	char *text;

	load(3);
	for (size_t i = 0; i < samples.count; i += 3) {
		samples.fires[i].group = TRACE_STATE_RUNNING;
		samples.by_state[TRACE_STATE_RUNNING]++;
	}
	text = table(&points);
	ck_assert_ptr_nonnull(strstr(text, "\nrunning, one tuner for all"));
	ck_assert_ptr_nonnull(strstr(text, "\nrunning, a tuner of its own"));
	ck_assert_ptr_nonnull(strstr(text, "\nhalted, one tuner for all"));
	ck_assert_ptr_nonnull(strstr(text, "\nhalted, a tuner of its own"));
	ck_assert_ptr_nonnull(strstr(text, "none"));
	free(text);
	/* No fixed advance reaches 0.99 within the limits. */
	ck_assert(isnan(points.optimum[4].spin_us));
	ck_assert(!isnan(points.optimum[2].spin_us));
}
END_TEST

/* Nothing after the warm-up: nothing to say, and nothing to draw. */
START_TEST(test_tune_replay_few_samples)
{
	struct tune_points points;
	char *text;

	load(0);
	samples.count = TUNE_WARMUP;
	text = table(&points);
	ck_assert_ptr_nonnull(strstr(text, "        -        -        -"));
	ck_assert_ptr_nonnull(strstr(text, "none"));
	free(text);
	ck_assert(isnan(points.policy[1].spin_us));
}
END_TEST

/* Only expiries teach; past ones and other vCPUs are not among them. */
START_TEST(test_tune_replay_takes_samples_alone)
{
	const struct trace_record records[] = {
		{.event = TRACE_ARRIVE, .flags = TRACE_FLAG_EXPIRY, .vcpu = 1},
		{.event = TRACE_ARRIVE},
		{.event = TRACE_ARRIVE,
		 .flags = TRACE_FLAG_EXPIRY | TRACE_FLAG_PAST},
		{.event = TRACE_SPIN_END},
		{.event = TRACE_ARRIVE,
		 .flags = TRACE_FLAG_EXPIRY | TRACE_STATE_HALTED,
		 .args = {5, 6, 7}},
	};
	const struct trace_file made = {.records = records, .count = 5};

	ck_assert_int_eq(tune_samples_take(&samples, &made, 0), 0);
	ck_assert_uint_eq(samples.count, 1);
	ck_assert_uint_eq(samples.left_out, 2);
	ck_assert_uint_eq(samples.by_state[TRACE_STATE_HALTED], 1);
	ck_assert_int_eq(samples.fires[0].cost_tsc, 5);
	ck_assert_uint_eq(samples.fires[0].advance_tsc, 6);
	ck_assert_uint_eq(samples.fires[0].distance_tsc, 7);
}
END_TEST

/* A name can end no string and begin no command. */
START_TEST(test_tune_replay_plot_script)
{
	struct tune_curve curves[2] = {{.name = "it's\n!rm"}, {.name = "b"}};
	char *script;

	curves[0].points.policy[6] = (struct tune_point){2.5, 0};
	for (size_t i = 0; i < TUNE_QUANTILES; i++)
		curves[1].points.optimum[i] = (struct tune_point){NAN, NAN};
	script = tune_plot_script(curves, 2);
	ck_assert_ptr_nonnull(script);
	ck_assert_ptr_nonnull(strstr(script, "title 'it''s?!rm: quantile'"));
	ck_assert_ptr_nonnull(strstr(script, "\n2.5000 0.0100 \"0.99\"\n"));
	ck_assert_ptr_nonnull(strstr(script, "$best1 << END\nEND\n"));
	ck_assert_ptr_null(strstr(script, "nan"));
	free(script);
}
END_TEST

START_TEST(test_tune_replay_plot_without_gnuplot)
{
	struct tune_curve curve = {.name = "a"};
	struct output output;
	char err[256] = "", null[PATH_MAX];

	device_path("/dev/null", null);
	setenv("PATH", "/no/such/directory", 1);
	ck_assert_int_eq(output_open(&output, null, err, sizeof(err)), 0);
	ck_assert_int_eq(tune_plot_draw(&curve, 1, &output, err, sizeof(err)),
			 -ENOENT);
	ck_assert_ptr_nonnull(strstr(err, "apt-get install gnuplot-nox"));
	ck_assert_int_eq(output_close(&output, err, sizeof(err)), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tune_replay");
	TCase *tc = tcase_create("replay");
	const int n = sizeof(traces) / sizeof(traces[0]);

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, test_tune_replay_is_what_happened, 0, n);
	tcase_add_loop_test(tc, test_tune_replay_share, 0, n);
	tcase_add_loop_test(tc, test_tune_replay_near_the_best, 0, n);
	tcase_add_loop_test(tc, test_tune_replay_less_share_less_spin, 0, n);
	tcase_add_test(tc, test_tune_replay_table);
	tcase_add_test(tc, test_tune_replay_table_by_state);
	tcase_add_test(tc, test_tune_replay_few_samples);
	tcase_add_test(tc, test_tune_replay_takes_samples_alone);
	tcase_add_test(tc, test_tune_replay_plot_script);
	tcase_add_test(tc, test_tune_replay_plot_without_gnuplot);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
