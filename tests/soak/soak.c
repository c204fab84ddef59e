/* SPDX-License-Identifier: MIT */
/*
 * soak - runs the lateness guest for a long time, each run another way, and
 * adds up what went wrong: fires that came early, twice or not at all, and
 * runs that did not end with status 0.
 *
 * Each run is a process of its own, started as a benchmark starts its runs.
 * CPU hogs are children of this process and end with it.
 * Not judged: how late the fires are. The latest one is named, no more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench_child.h"
#include "bench_sample.h"
#include "end.h"
#include "json.h"
#include "soak_file.h"
#include "soak_plan.h"

enum {
	STATUS_FOUND = 1,
	MINUTES_MAX = 527040, /* a year */
	HOGS_MAX = 64,
	EXTRA_SETS_MAX = 16,
};

static const char usage[] =
	"usage: soak [-p PUNCTUAL] [-c CONFIG] [-o FILE] [-s SEED] [-f FIRES]\n"
	"            MINUTES [KEY=VALUE]...\n"
	"\n"
	"Runs the lateness guest over and over, in timer mode userspace, with\n"
	"random settings. A line a run is added to FILE (build/soak.jsonl); the\n"
	"next soak goes on from there. MINUTES 0 only sums FILE up. FIRES (20\n"
	"to 5000) bounds the fires of a vCPU in a run. KEY=VALUE is set in\n"
	"every run. Status: 0 all is well, 1 it is not, 77 cannot run here.\n";

struct soak {
	const char *program, *config, *path;
	uint64_t seed, seconds;
	struct soak_limits limits;
	const char *sets[SOAK_SETS + EXTRA_SETS_MAX];
	size_t set_count; /* those of a run stand first */
	struct bench_signals signals;
	int fd;
	struct soak_tally tally;
	pid_t hogs[HOGS_MAX];
	uint32_t hog_count;
	struct soak_choice choice;
};

__attribute__((format(printf, 1, 2))) static void complain(const char *format,
							   ...)
{
	va_list args;

	fputs("soak: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static void start_hogs(struct soak *soak)
{
	pid_t self = getpid();

	for (uint32_t i = 0; i < soak->choice.hogs; i++) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != self)
				_exit(0);
			for (;;)
				__asm__ volatile("");
		}
		if (pid > 0)
			soak->hogs[soak->hog_count++] = pid;
	}
}

static void end_hogs(struct soak *soak)
{
	while (soak->hog_count) {
		pid_t pid = soak->hogs[--soak->hog_count];

		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
}

/* The members that a benchmark has no use for. Warm-up alone has no latest
 * fire, and without a calibration there is no cost. */
static void read_more(const struct bench_output *output,
		      struct soak_result *result)
{
	static const char *const costs[] = {"calibration.running.result_tsc",
					    "calibration.halted.result_tsc"};
	struct json_doc doc;
	const struct json_node *node;
	uint64_t cost_tsc;
	char err[8];

	if (json_parse(&doc, NULL, output->text, output->text_len,
		       BENCH_SAMPLE_JSON_MAX, err, sizeof(err)))
		return;
	node = json_get(&doc, json_root(&doc), "lateness_all.max_ns");
	if (node && json_i64(&doc, node, &result->max_ns))
		result->max_ns = 0;
	for (int i = 0; i < 2; i++) {
		node = json_get(&doc, json_root(&doc), costs[i]);
		if (node && !json_u64(&doc, node, &cost_tsc))
			result->compensated |= cost_tsc > 0;
	}
	json_free(&doc);
}

/* What a run came to; message has room for what bench_sample_read says. */
static void judge(const struct bench_output *output, struct soak_result *result,
		  char *message, size_t size)
{
	struct bench_sample sample = {0};
	bool has_sample = output->text_len && !output->is_too_long;

	snprintf(message, size, "%s", output->line);
	if (!has_sample)
		snprintf(message, size, "%s",
			 *output->line ? output->line : "no result");
	else if (bench_sample_read(output->text, output->text_len, &sample,
				   NULL, message, size))
		has_sample = false;
	result->message = message;
	result->status = output->status;
	result->wall_ns = output->wall_ns;
	result->fires = sample.fires;
	result->early = sample.early;
	result->lost = sample.lost;
	result->doubled = sample.doubled;
	if (has_sample)
		read_more(output, result);
	result->ok = has_sample && !output->status && sample.fires &&
		     bench_sample_is_intercepted(&sample) && !sample.early &&
		     !sample.lost && !sample.doubled;
	if (has_sample && !bench_sample_is_intercepted(&sample))
		snprintf(message, size,
			 "%" PRIu64 " deadlines, %" PRIu64 " fires",
			 sample.arms, sample.fires);
}

/* Everything that it takes to do it again. */
static void tell(const struct soak *soak, const struct soak_result *result)
{
	complain("run %" PRIu64 ": status %d, early %" PRIu64 ", lost %" PRIu64
		 ", doubled %" PRIu64 "%s%s; %" PRIu32 " hogs beside:",
		 result->run, result->status, result->early, result->lost,
		 result->doubled, *result->message ? ": " : "", result->message,
		 result->hogs);
	fprintf(stderr, "  %s run %s", soak->program, soak->config);
	for (size_t i = 0; i < soak->set_count; i++)
		fprintf(stderr, " --set '%s'", soak->sets[i]);
	fputc('\n', stderr);
}

static int keep(struct soak *soak, const struct bench_output *output)
{
	char message[256];
	struct soak_result result = {
		.run = soak->tally.runs,
		.seed = soak->seed,
		.sets = soak->sets,
		.set_count = soak->set_count,
		.hogs = soak->choice.hogs,
	};
	int ret;

	judge(output, &result, message, sizeof(message));
	soak_tally_add(&soak->tally, &result);
	if (!result.ok)
		tell(soak, &result);
	ret = soak_file_append(soak->fd, &result);
	if (!ret)
		return 0;
	complain("%s: %s", soak->path, strerror(-ret));
	return EXIT_STATUS_OUTPUT;
}

/* 0, or the status to end with. */
static int run_one(struct soak *soak)
{
	struct bench_output output;
	const char **argv;
	char err[128];
	int ret, status;

	soak_choose(&soak->choice, soak->seed, soak->tally.runs, &soak->limits);
	argv = bench_child_run_argv(soak->config, soak->sets, soak->set_count,
				    NULL);
	if (!argv) {
		complain("%s", strerror(ENOMEM));
		return EXIT_STATUS_INTERNAL;
	}
	start_hogs(soak);
	ret = bench_child_run(soak->program, argv, 0, &soak->signals, &output,
			      err, sizeof(err));
	end_hogs(soak);
	free(argv);
	if (ret) {
		complain("%s", err);
		return EXIT_STATUS_INTERNAL;
	}
	if (soak->signals.stopped_by) {
		status = EXIT_STATUS_SIGNAL + soak->signals.stopped_by;
	} else if (output.status == EXIT_STATUS_CANNOT ||
		   output.status == EXIT_STATUS_CONFIG) {
		complain("%s", output.line);
		status = output.status;
	} else {
		status = keep(soak, &output);
	}
	free(output.text);
	return status;
}

static uint64_t monotonic_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec;
}

/* No run starts after the time is up. 0 or the status to end with. */
static int run_all(struct soak *soak)
{
	uint64_t end_s = monotonic_s() + soak->seconds;
	int ret = bench_signals_open(&soak->signals);
	int status = 0;

	if (ret) {
		complain("signalfd: %s", strerror(-ret));
		return EXIT_STATUS_INTERNAL;
	}
	while (!status && monotonic_s() < end_s)
		status = run_one(soak);
	bench_signals_close(&soak->signals);
	return status;
}

static int soak_run(struct soak *soak)
{
	char line[512];
	int status;

	soak->fd = soak_file_open(soak->path, &soak->tally, line, sizeof(line));
	if (soak->fd < 0) {
		complain("%s", line);
		return EXIT_STATUS_OUTPUT;
	}
	status = run_all(soak);
	close(soak->fd);
	if (status == EXIT_STATUS_CANNOT || status == EXIT_STATUS_CONFIG)
		return status;
	soak_tally_describe(&soak->tally, line, sizeof(line));
	if (printf("soak: %s\n", line) < 0 || fflush(stdout))
		return EXIT_STATUS_OUTPUT;
	if (status)
		return status;
	return soak->tally.not_ok ? STATUS_FOUND : 0;
}

/* Digits only, min to max. */
static bool parse_number(const char *text, uint64_t min, uint64_t max,
			 uint64_t *value)
{
	size_t len = strlen(text);

	errno = 0;
	*value = strtoull(text, NULL, 10);
	return len && strspn(text, "0123456789") == len && !errno &&
	       *value >= min && *value <= max;
}

static bool take_option(struct soak *soak, int opt)
{
	uint64_t value;

	switch (opt) {
	case 'p':
		soak->program = optarg;
		return true;
	case 'c':
		soak->config = optarg;
		return true;
	case 'o':
		soak->path = optarg;
		return true;
	case 's':
		return parse_number(optarg, 0, UINT64_MAX, &soak->seed);
	case 'f':
		if (!parse_number(optarg, SOAK_FIRES_MIN, SOAK_FIRES_MAX,
				  &value))
			return false;
		soak->limits.fires_max = (uint32_t)value;
		return true;
	default:
		return false;
	}
}

static bool parse(struct soak *soak, int argc, char **argv)
{
	uint64_t minutes;
	int opt;

	while ((opt = getopt(argc, argv, "+p:c:o:s:f:")) != -1)
		if (!take_option(soak, opt))
			return false;
	if (optind == argc ||
	    !parse_number(argv[optind++], 0, MINUTES_MAX, &minutes) ||
	    argc - optind > EXTRA_SETS_MAX)
		return false;
	soak->seconds = 60 * minutes;
	for (soak->set_count = 0; soak->set_count < SOAK_SETS;
	     soak->set_count++)
		soak->sets[soak->set_count] =
			soak->choice.sets[soak->set_count];
	while (optind < argc)
		soak->sets[soak->set_count++] = argv[optind++];
	return true;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct soak soak = {
		.program = "build/vmm/punctual",
		.config = "configs/lateness.json",
		.path = "build/soak.jsonl",
		.seed = 1,
		.limits = {.fires_max = SOAK_FIRES_MAX,
			   .hogs_max = cpus < 1		 ? 1
				       : cpus > HOGS_MAX ? HOGS_MAX
							 : (uint32_t)cpus},
	};

	if (argc == 2 && !strcmp(argv[1], "-h")) {
		fputs(usage, stdout);
		return 0;
	}
	if (!parse(&soak, argc, argv)) {
		fputs(usage, stderr);
		return EXIT_STATUS_USAGE;
	}
	return soak_run(&soak);
}
