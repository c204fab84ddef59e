/* SPDX-License-Identifier: MIT */
/*
 * bench_table - aligned columns, units in the heads, "-" for what is not
 * known. A number that is too wide for its column pushes the rest of its row
 * to the right rather than being cut.
 * Not printed: the raw numbers of each round; they are in the JSON.
 */
#include "bench_table.h"

#include <inttypes.h>
#include <string.h>

#include "bench_calibrate.h"
#include "bench_plan.h"
#include "bench_stats.h"
#include "config.h"
#include "host.h"
#include "noise_floor.h"

enum {
	NAME_WIDTH_MIN = 14, /* "userspace auto" */
	LINE_WIDTH = 99,
	CELL_WIDTH = 8, /* of a ratio in the list of rounds */
};

/* The cells first to first + count - 1 share a block. */
struct block {
	const struct bench_report *report;
	size_t first, count;
	size_t reference;
	int name_width;
	FILE *out;
};

static const struct bench_cell *cell_at(const struct block *b, size_t i)
{
	return &b->report->plan->cells[i];
}

static void print_count(FILE *out, int width, struct bench_median m)
{
	if (m.is_known)
		fprintf(out, " %*" PRId64, width, m.value);
	else
		fprintf(out, " %*s", width, "-");
}

/* value / scale with that many decimals */
static void print_scaled(FILE *out, int width, int decimals, double scale,
			 struct bench_median m)
{
	if (m.is_known)
		fprintf(out, " %*.*f", width, decimals,
			(double)m.value / scale);
	else
		fprintf(out, " %*s", width, "-");
}

static void print_heads(const struct block *b)
{
	const char *reference =
		cell_at(b, b->reference)->is_kernel ? "kernel" : "row 1";

	fprintf(b->out, "%-*s %8s %7s %9s %8s %7s %5s %4s %7s %5s %8s %6s\n",
		b->name_width, "", "p50", "p50", "p99", "p99", "p50 to", "", "",
		"", "guest", "CPU", "rounds");
	fprintf(b->out, "%-*s %8s %7s %9s %8s %7s %5s %4s %7s %5s %8s %6s\n",
		b->name_width, "mode", "cycles", "ns", "cycles", "ns",
		reference, "early", "lost", "doubled", "share", "us/fire",
		"ok/bad");
}

static struct bench_median median_of(const struct bench_ratio *ratio)
{
	return (struct bench_median){ratio->is_known, ratio->median_ppm};
}

static void print_row(const struct block *b, size_t cell)
{
	const struct bench_summary *s = &b->report->summaries[cell];
	FILE *out = b->out;
	char rounds[32];

	fprintf(out, "%-*s", b->name_width, cell_at(b, cell)->mode);
	print_count(out, 8, s->p50_tsc);
	print_count(out, 7, s->p50_ns);
	print_count(out, 9, s->p99_tsc);
	print_count(out, 8, s->p99_ns);
	print_scaled(out, 7, 3, 1e6, median_of(&s->ratios[BENCH_P50]));
	fprintf(out, " %5" PRIu64 " %4" PRIu64 " %7" PRIu64, s->early, s->lost,
		s->doubled);
	print_scaled(out, 5, 3, 1e6, median_of(&s->ratios[BENCH_SHARE]));
	print_scaled(out, 8, 1, 1e3, s->cpu_ns);
	snprintf(rounds, sizeof(rounds), "%u/%u", s->ok, s->failed);
	fprintf(out, " %6s\n", rounds);
}

/* Every round's ratio: whoever doubts the median sees what it stands for. */
static void print_rounds(const struct block *b, size_t cell)
{
	const struct bench_run *runs = bench_runs(b->report, cell);
	const struct bench_run *reference = bench_runs(b->report, b->reference);
	int a_line = (LINE_WIDTH - b->name_width) / CELL_WIDTH;

	fprintf(b->out, "%-*s", b->name_width, cell_at(b, cell)->mode);
	for (unsigned int i = 0; i < b->report->plan->rounds; i++) {
		struct bench_median ratio = {0};

		if (i && (int)i % a_line == 0)
			fprintf(b->out, "\n%-*s", b->name_width, "");
		ratio.is_known = bench_ratio_ppm(BENCH_P50, &runs[i],
						 &reference[i], &ratio.value);
		print_scaled(b->out, CELL_WIDTH - 1, 3, 1e6, ratio);
	}
	fputc('\n', b->out);
}

/* Does the row have a ratio to another one? */
static bool has_ratio(const struct block *b, size_t cell)
{
	return cell != b->reference &&
	       b->report->summaries[cell].ratios[BENCH_P50].is_known;
}

static void print_ratios(const struct block *b)
{
	bool has_head = false;

	for (size_t i = b->first; i < b->first + b->count; i++) {
		if (!has_ratio(b, i))
			continue;
		if (!has_head)
			fprintf(b->out, "p50 to that of \"%s\", each round:\n",
				cell_at(b, b->reference)->mode);
		has_head = true;
		print_rounds(b, i);
	}
}

static void print_verdict(const struct block *b, const char *name,
			  const char *measure, const struct bench_ratio *ratio)
{
	struct bench_median low = {ratio->has_interval, ratio->low_ppm};
	struct bench_median high = {ratio->has_interval, ratio->high_ppm};
	struct bench_median level = {ratio->has_interval, ratio->level_ppm};

	fprintf(b->out, "%-*s %-11s", b->name_width, name, measure);
	print_scaled(b->out, 8, 3, 1e6, median_of(ratio));
	print_scaled(b->out, 8, 3, 1e6, low);
	print_scaled(b->out, 8, 3, 1e6, high);
	print_scaled(b->out, 7, 1, 1e4, level);
	fprintf(b->out, " %6zu  %s%s\n", ratio->pairs,
		bench_verdict_name(ratio->verdict),
		ratio->verdict == BENCH_CANNOT_TELL && !ratio->has_interval
			? ": too few rounds"
			: "");
}

/* What the ratios say, with the interval that it rests on. */
static void print_verdicts(const struct block *b)
{
	bool has_head = false;

	for (size_t i = b->first; i < b->first + b->count; i++) {
		const struct bench_summary *s = &b->report->summaries[i];
		const char *name = cell_at(b, i)->mode;

		if (!has_ratio(b, i))
			continue;
		if (!has_head)
			fprintf(b->out,
				"%-*s %-11s %8s %8s %8s %7s %6s  verdict\n",
				b->name_width, "mode", "ratio of", "median",
				"from", "to", "level %", "rounds");
		has_head = true;
		for (unsigned int m = 0; m < BENCH_MEASURES; m++)
			if (s->ratios[m].is_known) {
				print_verdict(b, name, bench_measure_name(m),
					      &s->ratios[m]);
				name = "";
			}
	}
}

static void print_notes(const struct block *b)
{
	bool has_steal = false;
	char why[160];

	for (size_t i = b->first; i < b->first + b->count; i++) {
		const struct bench_summary *s = &b->report->summaries[i];

		if (!bench_is_comparable(s, why, sizeof(why)) ||
		    bench_is_undecided(s, b->report->plan->rounds, why,
				       sizeof(why)))
			fprintf(b->out, "! %s: %s\n", cell_at(b, i)->mode, why);
		has_steal |= s->steal_ticks > 0;
	}
	if (!has_steal)
		return;
	fputs("CPU time stolen from this host meanwhile, in 1/100 s:", b->out);
	for (size_t i = b->first; i < b->first + b->count; i++)
		fprintf(b->out, "%s %s %" PRIu64, i > b->first ? "," : "",
			cell_at(b, i)->mode,
			b->report->summaries[i].steal_ticks);
	fputc('\n', b->out);
}

static void print_cost(FILE *out, const char *state,
		       const struct entry_cost *cost)
{
	fprintf(out,
		"  %-7s %5" PRIu64 " cycles taken off the wait: min %" PRIu64
		" of %" PRIu64 " samples, margin %" PRIu64 "\n",
		state, cost->result_tsc, cost->min_tsc, cost->samples,
		cost->margin_tsc);
}

/* The rows differ in mode and advance alone, and a calibration depends on
 * neither: one speaks for the block. */
static void print_calibration(const struct block *b)
{
	const struct bench_calibration *item = NULL;
	bool is_whole;

	for (size_t i = b->first; !item && i < b->first + b->count; i++)
		item = cell_at(b, i)->calibration;
	if (!item || !item->measured.done)
		return;
	is_whole = item->measured.answered == CALIBRATE_VMS;
	fprintf(b->out,
		"vmentry_advance auto, measured before the rounds; %u of %d "
		"VMs answered%s\n",
		item->measured.answered, CALIBRATE_VMS,
		is_whole ? ":" : ", so nothing is taken off the wait");
	if (!is_whole)
		return;
	print_cost(b->out, "running", &item->measured.cost[CALIBRATE_RUNNING]);
	print_cost(b->out, "halted", &item->measured.cost[CALIBRATE_HALTED]);
}

/* Runs of a block fire alike; the first that counts speaks for them. */
static void print_dropped(const struct block *b)
{
	for (size_t i = b->first; i < b->first + b->count; i++) {
		const struct bench_run *runs = bench_runs(b->report, i);

		for (unsigned int j = 0; j < b->report->plan->rounds; j++)
			if (runs[j].is_ok) {
				fprintf(b->out,
					"warm-up, in no percentile: the first "
					"%" PRIu64 " of %" PRIu64
					" fires of each run\n",
					runs[j].sample.warmup,
					runs[j].sample.fires);
				return;
			}
	}
}

/* Where the config sets what the head of the table says of the host. */
static void print_halt_poll(const struct block *b)
{
	const struct optional_value *halt_poll =
		&b->report->configs[b->first].halt_poll_ns;

	if (halt_poll->is_given)
		fprintf(b->out,
			"halt_poll_ns %" PRIu64
			" in all VMs (timer.halt_poll_ns)\n",
			halt_poll->value);
}

static void print_block(const struct block *b)
{
	const struct bench_cell *cell = cell_at(b, b->first);

	fprintf(b->out, "\n%s%s%s\n", cell->config, *cell->group ? ", " : "",
		cell->group);
	print_heads(b);
	for (size_t i = b->first; i < b->first + b->count; i++)
		print_row(b, i);
	print_ratios(b);
	print_verdicts(b);
	print_dropped(b);
	print_halt_poll(b);
	print_calibration(b);
	print_notes(b);
}

static void print_noise(FILE *out, const char *when,
			const struct noise_floor *floor)
{
	if (floor->is_done)
		fprintf(out, " %s %" PRIu64 " and %" PRIu64, when,
			floor->p99_9_tsc, floor->max_tsc);
	else
		fprintf(out, " %s -", when);
}

/* What else the numbers depend on. */
static void print_context(const struct bench_report *report, FILE *out)
{
	const struct host_info *host = report->host;

	fprintf(out,
		"governor %s, halt_poll_ns %" PRId64
		", may run on CPUs %s, scheduler %s, priority %d, nice %d\n",
		*host->governor ? host->governor : "-", host->halt_poll_ns,
		*host->allowed_cpus ? host->allowed_cpus : "-",
		*host->scheduler ? host->scheduler : "-", host->priority,
		host->nice_value);
	fprintf(out, "noise floor, cycles (p99.9 and longest gap of a loop of "
		     "TSC reads):");
	print_noise(out, "before", &report->noise[0]);
	fputc(',', out);
	print_noise(out, "after", &report->noise[1]);
	fputc('\n', out);
}

/* The first sample there is speaks for the host: the TSC is the same for
 * all, and so is the way in which deadlines reach userspace. */
static void print_host(const struct bench_report *report, FILE *out)
{
	const struct bench_plan *plan = report->plan;
	const struct host_info *host = report->host;
	const struct bench_sample *any = NULL, *user = NULL;
	bool is_unstable = false;

	for (size_t i = 0; i < plan->cell_count * plan->rounds; i++) {
		const struct bench_run *run = &report->runs[i];

		if (!run->is_ok)
			continue;
		any = any ? any : &run->sample;
		if (!user && run->sample.is_userspace)
			user = &run->sample;
		is_unstable |= run->sample.is_unstable;
	}
	fprintf(out, "Linux %s, %s%s, %s, %" PRIu32 " CPU%s, clocksource %s\n",
		host->kernel, host->backend, host->nested ? " (nested)" : "",
		host->machine, host->cpus, host->cpus == 1 ? "" : "s",
		host->clocksource);
	if (any)
		fprintf(out,
			"TSC %.3f MHz%s%s%s; medians over the ok of %u "
			"rounds\nguest memory %s and %s\n",
			(double)any->tsc_khz / 1e3,
			is_unstable ? ", allowed to be unstable" : "",
			user ? ", userspace through rung " : "",
			user ? user->rung : "", plan->rounds,
			any->is_prefaulted ? "prefaulted" : "not prefaulted",
			any->is_locked ? "locked" : "not locked");
	print_context(report, out);
}

void bench_table_print(const struct bench_report *report, FILE *out)
{
	const struct bench_plan *plan = report->plan;
	struct block b = {
		.report = report, .name_width = NAME_WIDTH_MIN, .out = out};
	size_t i = 0;

	for (size_t j = 0; j < plan->cell_count; j++)
		if ((int)strlen(plan->cells[j].mode) > b.name_width)
			b.name_width = (int)strlen(plan->cells[j].mode);
	print_host(report, out);
	while (i < plan->cell_count) {
		b.first = i;
		b.reference = bench_reference(plan, i);
		while (i < plan->cell_count &&
		       plan->cells[i].block == plan->cells[b.first].block)
			i++;
		b.count = i - b.first;
		print_block(&b);
	}
}
