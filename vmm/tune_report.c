/* SPDX-License-Identifier: MIT */
/*
 * tune_report - see tune_report.h. The arithmetic is timer/tune_sim; here are
 * the policies that are tried, and the printing. All times in cycles.
 */
#include "tune_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace_file.h"

const char *const tune_policy_names[TUNE_POLICIES] = {
	"as recorded",	"step",		 "quantile 0.5",  "quantile 0.8",
	"quantile 0.9", "quantile 0.95", "quantile 0.99", "quantile 0.999",
};

/* In 65536ths, as the config's are. */
static const uint64_t quantiles_q16[TUNE_QUANTILES] = {32768, 52429, 58982,
						       62259, 64881, 65470};

enum {
	POLICY_RECORDED,
	POLICY_STEP,
	POLICY_QUANTILES,
};

int tune_samples_take(struct tune_samples *samples,
		      const struct trace_file *file, uint32_t vcpu)
{
	memset(samples, 0, sizeof(*samples));
	samples->vcpu = vcpu;
	samples->fires = calloc(file->count + 1, sizeof(*samples->fires));
	samples->room = calloc(file->count + 1, sizeof(*samples->room));
	if (!samples->fires || !samples->room) {
		tune_samples_free(samples);
		return -ENOMEM;
	}
	for (size_t i = 0; i < file->count; i++) {
		const struct trace_record *record = &file->records[i];
		unsigned int state = record->flags & TRACE_FLAG_STATE;

		if (record->event != TRACE_ARRIVE || record->vcpu != vcpu)
			continue;
		if (!(record->flags & TRACE_FLAG_EXPIRY) ||
		    record->flags & TRACE_FLAG_PAST) {
			samples->left_out++;
			continue;
		}
		samples->by_state[state]++;
		samples->fires[samples->count++] = (struct tune_fire){
			(int64_t)record->args[0], record->args[2],
			record->args[1], state};
	}
	return 0;
}

void tune_samples_free(struct tune_samples *samples)
{
	free(samples->fires);
	free(samples->room);
	samples->fires = NULL;
	samples->room = NULL;
}

static void set_policy(struct tune_sim *sim, unsigned int policy)
{
	sim->way = policy == POLICY_RECORDED ? TUNE_WAY_RECORDED
		   : policy == POLICY_STEP   ? TUNE_WAY_STEP
					     : TUNE_WAY_QUANTILE;
	sim->q16 = policy < POLICY_QUANTILES
			   ? TUNER_Q16_MIN
			   : quantiles_q16[policy - POLICY_QUANTILES];
}

static void print_share(FILE *out, size_t part, size_t whole)
{
	if (whole)
		fprintf(out, " %8.4f", (double)part / (double)whole);
	else
		fprintf(out, " %8s", "-");
}

static uint64_t spin_a_fire(const struct tune_result *result)
{
	return result->fires ? result->spin_tsc / result->fires : 0;
}

static void print_times(FILE *out, const struct tune_result *result)
{
	if (result->fires)
		fprintf(out,
			" %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
			" %8" PRIu64,
			result->late_p50_tsc, result->late_p90_tsc,
			result->late_p99_tsc, result->late_max_tsc,
			spin_a_fire(result));
	else
		fprintf(out, " %8s %8s %8s %8s %8s", "-", "-", "-", "-", "-");
	fprintf(out, " %8" PRIu64, result->advance_tsc);
}

static struct tune_point point_of(const struct tune_result *result,
				  uint32_t tsc_khz)
{
	double us_a_cycle = 1000.0 / tsc_khz;

	if (!result->fires)
		return (struct tune_point){NAN, NAN};
	return (struct tune_point){
		.spin_us = (double)spin_a_fire(result) * us_a_cycle,
		.late_p99_us = (double)result->late_p99_tsc * us_a_cycle,
	};
}

static void print_heading(FILE *out, const char *what)
{
	char first[16];

	snprintf(first, sizeof(first), "first%d", TUNE_WARMUP);
	fprintf(out, "\n%-28s %8s %8s %8s %8s %8s %8s %8s %8s %8s %6s\n", what,
		first, "after", "late p50", "p90", "p99", "max", "spin",
		"advance", "best", "ratio");
}

/* The best fixed advance for a quantile, and what it would have given. */
static bool print_best(FILE *out, struct tune_sim *sim,
		       const struct tune_fire *fires, size_t count,
		       int64_t *room, const struct tune_result *result,
		       struct tune_result *best)
{
	uint64_t best_tsc;

	if (!tune_sim_optimum(sim, fires, count, room, &best_tsc)) {
		fprintf(out, " %8s %6s\n", "none", "-");
		return false;
	}
	fprintf(out, " %8" PRIu64, best_tsc);
	if (best_tsc)
		fprintf(out, " %6.2f\n",
			(double)result->advance_tsc / (double)best_tsc);
	else
		fprintf(out, " %6s\n", "-");
	sim->way = TUNE_WAY_FIXED;
	sim->fixed_tsc = best_tsc;
	tune_sim_run(sim, fires, count, room, best);
	return true;
}

static void print_block(FILE *out, const char *what, struct tune_sim *sim,
			const struct tune_fire *fires, size_t count,
			int64_t *room, uint32_t tsc_khz,
			struct tune_points *points)
{
	print_heading(out, what);
	for (unsigned int policy = 0; policy < TUNE_POLICIES; policy++) {
		struct tune_result result, best;
		struct tune_point none = {NAN, NAN};
		bool has_best;

		set_policy(sim, policy);
		tune_sim_run(sim, fires, count, room, &result);
		fprintf(out, "%-28s", tune_policy_names[policy]);
		print_share(out, result.warmup_in_time, result.warmup_fires);
		print_share(out, result.in_time, result.fires);
		print_times(out, &result);
		if (points)
			points->policy[policy] = point_of(&result, tsc_khz);
		if (policy < POLICY_QUANTILES) {
			fprintf(out, " %8s %6s\n", "-", "-");
			continue;
		}
		has_best = print_best(out, sim, fires, count, room, &result,
				      &best);
		if (points)
			points->optimum[policy - POLICY_QUANTILES] =
				has_best ? point_of(&best, tsc_khz) : none;
	}
}

/* Each state by itself: within what one tuner made of all, and with a tuner
 * that sees nothing else. */
static void print_states(FILE *out, struct tune_sim *sim,
			 struct tune_samples *samples, uint32_t tsc_khz)
{
	static const struct {
		unsigned int state;
		const char *of_all, *alone;
	} states[] = {
		{TRACE_STATE_RUNNING, "running, one tuner for all",
		 "running, a tuner of its own"},
		{TRACE_STATE_HALTED, "halted, one tuner for all",
		 "halted, a tuner of its own"},
	};

	for (size_t s = 0; s < 2; s++) {
		struct tune_fire *alone =
			calloc(samples->count, sizeof(*alone));
		size_t count = 0;

		sim->group = states[s].state;
		print_block(out, states[s].of_all, sim, samples->fires,
			    samples->count, samples->room, tsc_khz, NULL);
		sim->group = TUNE_ALL_GROUPS;
		for (size_t i = 0; alone && i < samples->count; i++)
			if (samples->fires[i].group == states[s].state)
				alone[count++] = samples->fires[i];
		if (alone)
			print_block(out, states[s].alone, sim, alone, count,
				    samples->room, tsc_khz, NULL);
		free(alone);
	}
}

void tune_report_print(FILE *out, const char *name,
		       const struct trace_header *header,
		       struct tune_samples *samples, struct tune_points *points)
{
	struct tune_sim sim = {
		.policy = {.max_advance_tsc = header->max_advance_tsc,
			   .spin_share_q16 = header->spin_share_q16},
		.start_advance_tsc = header->start_advance_tsc,
		.warmup = TUNE_WARMUP,
		.group = TUNE_ALL_GROUPS,
	};

	fprintf(out,
		"%s, vCPU %" PRIu32 ": %zu samples (%zu running, %zu halted, "
		"%zu unknown); %zu other deliveries left out\n"
		"cycles of a TSC of %" PRIu32 " kHz; advance at most %" PRIu64
		", and %.4f of the distance\n",
		name, samples->vcpu, samples->count,
		samples->by_state[TRACE_STATE_RUNNING],
		samples->by_state[TRACE_STATE_HALTED],
		samples->by_state[TRACE_STATE_UNKNOWN], samples->left_out,
		header->tsc_khz, header->max_advance_tsc,
		header->spin_share_q16 / 65536.0);
	fprintf(out,
		"first%d, after: share in time of the first samples, and of "
		"those after them, which all the rest is about\n"
		"spin: mean a fire; advance: the last; best: the smallest "
		"fixed one with that share in time; ratio: of the two\n",
		TUNE_WARMUP);
	print_block(out, "all", &sim, samples->fires, samples->count,
		    samples->room, header->tsc_khz, points);
	if (samples->by_state[TRACE_STATE_RUNNING] &&
	    samples->by_state[TRACE_STATE_HALTED])
		print_states(out, &sim, samples, header->tsc_khz);
	fputc('\n', out);
}
