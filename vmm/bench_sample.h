/* SPDX-License-Identifier: MIT */
/*
 * bench_sample - what a benchmark takes from the result of one run.
 */
#ifndef VMM_BENCH_SAMPLE_H
#define VMM_BENCH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_hist;

/* Frames and units as in the result: see results.h. */
struct bench_sample {
	int status;	       /* the exit status it foretells */
	bool is_userspace;     /* timer mode in force */
	bool is_unstable;      /* the TSC was allowed to be */
	bool is_early_allowed; /* allow_early: compensated unmeasured */
	char rung[32];	       /* of the ladder; "kernel" in mode kernel */
	bool is_prefaulted, is_locked; /* the guest's memory */
	uint64_t tsc_khz;	       /* of the guest's TSC */
	uint64_t samples;	 /* behind the percentiles; may be 0, which
				  * leaves them 0 */
	int64_t p50_tsc, p50_ns; /* lateness of the fires */
	int64_t p99_tsc, p99_ns;
	uint64_t fires;	     /* warm-up included */
	uint64_t warmup;     /* fires that no percentile counts */
	uint64_t below_zero; /* samples that no histogram can hold */
	uint64_t early, lost, doubled;
	uint64_t loop_turns; /* while waiting wait_tsc in all; 0: hlt */
	uint64_t wait_tsc;
	uint64_t arms; /* deadlines that userspace was given */
	uint64_t user_cpu_ns, system_cpu_ns;
	uint64_t steal_ticks; /* of all CPUs of the host, 1/100 s */
};

enum {
	BENCH_SAMPLE_JSON_MAX = 16 << 20, /* 64 vCPUs take about 2 MiB */
};

/*
 * Reads a "punctual-result-1" document, and its lateness histogram into *hist,
 * to be freed by the caller, unless hist is NULL. 0; -EINVAL (not one, or a
 * member is missing or out of range) or -ENOMEM, with one line in err. Pure.
 */
int bench_sample_read(const char *json, size_t len, struct bench_sample *sample,
		      struct bench_hist *hist, char *err, size_t err_size);

/* CPU time of the whole process over the fires, ns; false without fires. */
bool bench_sample_cpu_per_fire(const struct bench_sample *sample, int64_t *ns);

/* Did userspace get every deadline that fired? True in mode kernel. */
bool bench_sample_is_intercepted(const struct bench_sample *sample);

#endif
