/* SPDX-License-Identifier: MIT */
/*
 * options - getopt_long over "punctual COMMAND [OPTION...] [CONFIG...]".
 * Options and operands may be mixed; `--` ends the options. An option that a
 * command has no use for is refused, not ignored.
 */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_format.h"

enum {
	OPT_SET = 0x100,
	OPT_JSON,
	OPT_SAMPLES,
	OPT_ENTRY_COST,
	OPT_PREFAULT,
	OPT_ROUNDS,
	OPT_VARY,
	OPT_BASELINE,
	OPT_HGRM,
	OPT_PLOT,
	OPT_TRACE,
	OPT_TRACE_EVENTS,
	OPT_VERSION,
	ROUNDS_MAX = 10000,
	ENTRY_COST_MAX_TSC = 100000000, /* 10 ms at 10 GHz */
};

static const char short_options[] = "hqv";

static const struct option long_options[] = {
	{"set", required_argument, NULL, OPT_SET},
	{"json", optional_argument, NULL, OPT_JSON},
	{"samples", no_argument, NULL, OPT_SAMPLES},
	{"prefault", no_argument, NULL, OPT_PREFAULT},
	{"entry-cost", required_argument, NULL, OPT_ENTRY_COST},
	{"rounds", required_argument, NULL, OPT_ROUNDS},
	{"vary", required_argument, NULL, OPT_VARY},
	{"baseline", required_argument, NULL, OPT_BASELINE},
	{"hgrm", required_argument, NULL, OPT_HGRM},
	{"plot", required_argument, NULL, OPT_PLOT},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"trace-events", required_argument, NULL, OPT_TRACE_EVENTS},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"version", no_argument, NULL, OPT_VERSION},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int fail(char *err, size_t err_size, const char *what, const char *arg)
{
	snprintf(err, err_size, "%s%s%s", what, arg ? ": " : "",
		 arg ? arg : "");
	return -EINVAL;
}

static const struct {
	const char *name;
	size_t min_operands, max_operands;
	const char *missing; /* said of fewer */
} commands[] = {
	[COMMAND_RUN] = {"run", 1, 1, "a CONFIG file is missing"},
	[COMMAND_BENCH] = {"bench", 1, SIZE_MAX, "a CONFIG file is missing"},
	[COMMAND_COMPARE] = {"compare", 2, 2,
			     "compare takes two results of bench"},
	[COMMAND_CHECK] = {"check", 1, 1, "a CONFIG file is missing"},
	[COMMAND_PROBE] = {"probe", 0, 0, NULL},
	[COMMAND_TRACE] = {"trace", 1, 1, "a trace FILE is missing"},
	[COMMAND_TUNE_SIM] = {"tune-sim", 1, SIZE_MAX,
			      "a trace FILE is missing"},
	[COMMAND_HELP] = {"help", 0, SIZE_MAX, NULL},
	[COMMAND_VERSION] = {"version", 0, SIZE_MAX, NULL},
};

#define COMMANDS     (sizeof(commands) / sizeof(commands[0]))
#define FOR(command) (1u << COMMAND_##command)

/* Which options are for some commands only, in the order of complaints. */
static const struct {
	int opt;
	const char *name;
	unsigned int commands; /* 1 << enum command */
} uses[] = {
	{OPT_SET, "--set", FOR(RUN) | FOR(BENCH) | FOR(CHECK)},
	{OPT_ROUNDS, "--rounds", FOR(BENCH)},
	{OPT_VARY, "--vary", FOR(BENCH)},
	{OPT_BASELINE, "--baseline", FOR(BENCH)},
	{OPT_HGRM, "--hgrm", FOR(BENCH)},
	{OPT_PLOT, "--plot", FOR(BENCH) | FOR(TUNE_SIM)},
	{OPT_SAMPLES, "--samples", FOR(RUN)},
	{OPT_PREFAULT, "--prefault", FOR(RUN)},
	{OPT_ENTRY_COST, "--entry-cost", FOR(RUN)},
	{OPT_TRACE, "--trace", FOR(RUN)},
	{OPT_TRACE_EVENTS, "--trace-events", FOR(RUN)},
	{OPT_JSON, "--json",
	 FOR(RUN) | FOR(BENCH) | FOR(COMPARE) | FOR(CHECK) | FOR(PROBE)},
	{'q', "-q",
	 FOR(RUN) | FOR(BENCH) | FOR(COMPARE) | FOR(CHECK) | FOR(PROBE)},
	{'v', "-v", FOR(RUN) | FOR(BENCH)},
};

#define USES (sizeof(uses) / sizeof(uses[0]))

static int parse_command(const char *word, enum command *command)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(word, commands[i].name)) {
			*command = (enum command)i;
			return 0;
		}
	return -EINVAL;
}

static int parse_rounds(const char *text, unsigned int *rounds)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 1 || value > ROUNDS_MAX)
		return -EINVAL;
	*rounds = (unsigned int)value;
	return 0;
}

/* Digits only: strtoull would take blanks and signs. */
static int parse_cycles(const char **at, uint64_t *cycles)
{
	size_t len = strspn(*at, "0123456789");

	errno = 0;
	*cycles = strtoull(*at, NULL, 10);
	if (!len || errno || *cycles > ENTRY_COST_MAX_TSC)
		return -EINVAL;
	*at += len;
	return 0;
}

static int parse_entry_cost(const char *at, struct options *o)
{
	o->has_entry_cost = true;
	if (parse_cycles(&at, &o->entry_cost_tsc[0]) || *at++ != ',' ||
	    parse_cycles(&at, &o->entry_cost_tsc[1]) || *at)
		return -EINVAL;
	return 0;
}

/* The option that getopt_long stumbled over. A letter may stand in the middle
 * of a word; `room` is for it. */
static const char *bad_option(char **argv, char room[3])
{
	if (!optopt || optopt > UCHAR_MAX || strchr(short_options, optopt))
		return argv[optind - 1];
	room[0] = '-';
	room[1] = (char)optopt;
	room[2] = '\0';
	return room;
}

static unsigned int use_of(int opt)
{
	for (size_t i = 0; i < USES; i++)
		if (uses[i].opt == opt)
			return 1u << i;
	return 0;
}

/* "--set is for run, bench and check" */
static int fail_use(size_t use, char *err, size_t err_size)
{
	unsigned int left = uses[use].commands;
	size_t len = 0;

	len += (size_t)snprintf(err, err_size, "%s is for", uses[use].name);
	for (size_t i = 0; left && len < err_size; i++) {
		if (!(left & 1u << i))
			continue;
		left &= ~(1u << i);
		len += (size_t)snprintf(err + len, err_size - len, " %s%s",
					commands[i].name,
					!left		    ? ""
					: left & (left - 1) ? ","
							    : " and");
	}
	return -EINVAL;
}

/* What belongs to some commands only; given: a bit for each of uses[]. */
static int check_use(const struct options *o, unsigned int given, char *err,
		     size_t err_size)
{
	if (o->command == COMMAND_HELP || o->command == COMMAND_VERSION)
		return 0;
	for (size_t i = 0; i < USES; i++)
		if (given & 1u << i && !(uses[i].commands & 1u << o->command))
			return fail_use(i, err, err_size);
	if (o->trace_events && !o->trace_path)
		return fail(err, err_size,
			    "--trace-events: there is no --trace", NULL);
	if (o->quiet && o->verbose)
		return fail(err, err_size, "-q and -v exclude each other",
			    NULL);
	if (o->config_count < commands[o->command].min_operands)
		return fail(err, err_size, commands[o->command].missing, NULL);
	if (o->config_count > commands[o->command].max_operands)
		return fail(err, err_size, "one operand too many",
			    o->configs[commands[o->command].max_operands]);
	return 0;
}

static int take_trace_events(struct options *o, char *err, size_t err_size)
{
	const char *bad;
	size_t bad_len;
	int ret = trace_events_parse(optarg, &o->trace_events, &bad, &bad_len);

	if (ret)
		snprintf(err, err_size,
			 "--trace-events: \"%.*s\" is not timer_arm, "
			 "timer_expire, kick, inject, arrive, spin_end, entry, "
			 "tuner or drop",
			 (int)(bad_len < 20 ? bad_len : 20), bad);
	return ret;
}

static int take_option(int opt, struct options *o, char *err, size_t err_size)
{
	switch (opt) {
	case OPT_SET:
		o->sets[o->set_count++] = optarg;
		return 0;
	case OPT_VARY:
		o->vary[o->vary_count++] = optarg;
		return 0;
	case OPT_BASELINE:
		if (strcmp(optarg, "qemu"))
			return fail(err, err_size,
				    "--baseline: not qemu, the only one",
				    optarg);
		o->has_qemu = true;
		return 0;
	case OPT_HGRM:
		o->hgrm_prefix = optarg;
		return 0;
	case OPT_PLOT:
		if (!*optarg || !strcmp(optarg, "-"))
			return fail(err, err_size,
				    "--plot: not the name of a file", optarg);
		o->plot_path = optarg;
		return 0;
	case OPT_JSON:
		o->json_path = optarg ? optarg : "-";
		return 0;
	case OPT_SAMPLES:
		o->samples = true;
		return 0;
	case OPT_PREFAULT:
		o->prefault = true;
		return 0;
	case OPT_ENTRY_COST:
		if (parse_entry_cost(optarg, o))
			return fail(err, err_size,
				    "--entry-cost: not two numbers of cycles "
				    "up to 100000000, as 900,1200",
				    optarg);
		return 0;
	case OPT_TRACE:
		if (!*optarg || !strcmp(optarg, "-"))
			return fail(err, err_size,
				    "--trace: not the name of a file", optarg);
		o->trace_path = optarg;
		return 0;
	case OPT_TRACE_EVENTS:
		return take_trace_events(o, err, err_size);
	case OPT_ROUNDS:
		if (parse_rounds(optarg, &o->rounds))
			return fail(err, err_size,
				    "--rounds: not a number from 1 to 10000",
				    optarg);
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case 'h':
		o->command = COMMAND_HELP;
		return 0;
	case OPT_VERSION:
		o->command = COMMAND_VERSION;
		return 0;
	default:
		return -EINVAL;
	}
}

int options_parse(int argc, char **argv, struct options *o, char *err,
		  size_t err_size)
{
	size_t room = (size_t)argc + 1;
	unsigned int given = 0;
	char letter[3];
	int opt, ret = 0;
	bool have_command = false;

	memset(o, 0, sizeof(*o));
	o->configs = calloc(room, sizeof(*o->configs));
	o->sets = calloc(room, sizeof(*o->sets));
	o->vary = calloc(room, sizeof(*o->vary));
	if (!o->configs || !o->sets || !o->vary)
		return fail(err, err_size, "out of memory", NULL);
	o->command = COMMAND_RUN;
	opterr = 0;
	optind = 0;
	while (!ret && (opt = getopt_long(argc, argv, short_options,
					  long_options, NULL)) != -1) {
		if (opt == '?')
			return fail(err, err_size,
				    "unknown option, or a value missing or "
				    "too many",
				    bad_option(argv, letter));
		given |= use_of(opt);
		ret = take_option(opt, o, err, err_size);
	}
	if (ret)
		return ret;
	for (; optind < argc; optind++) {
		if (have_command || o->command == COMMAND_HELP ||
		    o->command == COMMAND_VERSION) {
			o->configs[o->config_count++] = argv[optind];
			continue;
		}
		if (parse_command(argv[optind], &o->command))
			return fail(err, err_size, "unknown command",
				    argv[optind]);
		have_command = true;
	}
	if (!have_command && o->command == COMMAND_RUN)
		return fail(err, err_size, "a command is missing", NULL);
	ret = check_use(o, given, err, err_size);
	if (!o->trace_events)
		o->trace_events = TRACE_ALL_EVENTS;
	return ret;
}

void options_free(struct options *o)
{
	free(o->configs);
	free(o->sets);
	free(o->vary);
}
