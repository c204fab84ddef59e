/* SPDX-License-Identifier: MIT */
/* options - the command line, parsed; punctual(1) SYNOPSIS. */
#ifndef VMM_OPTIONS_H
#define VMM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command {
	COMMAND_RUN,
	COMMAND_BENCH,
	COMMAND_COMPARE,
	COMMAND_CHECK,
	COMMAND_PROBE,
	COMMAND_TRACE,
	COMMAND_TUNE_SIM,
	COMMAND_HELP,
	COMMAND_VERSION,
};

struct options {
	enum command command;
	const char **configs; /* operands */
	size_t config_count;
	const char **sets; /* --set, in order */
	size_t set_count;
	const char **vary; /* --vary, bench only, in order */
	size_t vary_count;
	unsigned int rounds;	    /* --rounds, bench only; 0: not given */
	bool has_qemu;		    /* --baseline qemu, bench only */
	const char *hgrm_prefix;    /* --hgrm, bench only; NULL: none */
	const char *plot_path;	    /* --plot, bench and tune-sim; NULL: none */
	const char *json_path;	    /* --json[=FILE]; "-": stdout; NULL: none */
	bool samples;		    /* --samples: raw samples in the JSON */
	bool prefault;		    /* --prefault, run only */
	bool has_entry_cost;	    /* --entry-cost, run only */
	uint64_t entry_cost_tsc[2]; /* of a running and a halted vCPU */
	const char *trace_path;	    /* --trace, run only; NULL: none */
	uint32_t trace_events;	    /* --trace-events, or all of them */
	bool quiet, verbose;
	uint64_t start_ns; /* monotonic; main's, when it was entered */
};

/*
 * Parses argv. 0; or -EINVAL with one line in err, which the caller follows
 * by the usage. The strings belong to argv. Main thread.
 */
int options_parse(int argc, char **argv, struct options *options, char *err,
		  size_t err_size);
void options_free(struct options *options);

/* The usage, for -h and after a mistake. */
extern const char options_usage[];

#endif
