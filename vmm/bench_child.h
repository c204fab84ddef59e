/* SPDX-License-Identifier: MIT */
/*
 * bench_child - one run of a benchmark, in a process of its own.
 *
 * Its result comes back through a pipe. All functions: main thread of a process
 * without other threads.
 */
#ifndef VMM_BENCH_CHILD_H
#define VMM_BENCH_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * While this is open, SIGINT, SIGTERM and SIGHUP end the child that runs,
 * and with it the benchmark, instead of the process.
 */
struct bench_signals {
	int fd;		   /* signalfd, SIGCHLD too */
	sigset_t old_mask; /* what the children get */
	int stopped_by;	   /* the signal; 0: none yet */
};

/* 0 or -errno. */
int bench_signals_open(struct bench_signals *signals);
/* Puts the signals' old effect back. */
void bench_signals_close(struct bench_signals *signals);

struct bench_output {
	int status; /* exit status; 128 + n: ended by signal n */
	char *text; /* what it wrote on stdout, if anything; to be freed */
	size_t text_len;
	bool is_too_long; /* there was more of it than is kept */
	uint64_t wall_ns, user_cpu_ns, system_cpu_ns;
	/* Of the lines on stderr that the program wrote itself, "punctual:
	 * ...", the last, without that; or else the last that is not empty. */
	char line[256];
};

/* Reads the signals that have come, where there is no child to pass them on
 * to. True if one of them ends the benchmark. */
bool bench_signals_take(struct bench_signals *signals);

/*
 * Runs a program, found as by a shell, with argv, NULL after the last, to its
 * end; limit_ms, if not 0, kills it. A signal of *signals is passed on to the
 * child, a second one as SIGKILL; if this process dies, so does the child.
 * stdin of the child is /dev/null. 0; -errno if there was no child to wait for,
 * with one line in err. The caller frees output->text.
 */
int bench_child_run(const char *program, const char *const *argv,
		    uint64_t limit_ms, struct bench_signals *signals,
		    struct bench_output *output, char *err, size_t err_size);

/*
 * The arguments of `punctual run -q --json EXTRA... --set SET... -- CONFIG`;
 * extra: more options, NULL after the last; or NULL. The array is to be freed,
 * the strings belong to the caller. NULL without memory.
 */
const char **bench_child_run_argv(const char *config, const char *const *sets,
				  size_t set_count, const char *const *extra);

#endif
