/* SPDX-License-Identifier: MIT */
/*
 * noise_floor - a loop of TSC reads and a histogram of the gaps.
 *
 * Reference: the method of OSTEP's and cyclictest's relatives (sysjitter,
 * osnoise): what a loop does not see, the host took.
 * Not modelled: who took it. A gap is interrupts, other threads, the
 * hypervisor below, SMIs, a changing clock rate.
 */
#define _GNU_SOURCE
#include "noise_floor.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "hist.h"
#include "jsonw.h"
#include "monotonic.h"

enum {
	CHUNK = 4096, /* reads between two looks at the clock */
};

void noise_floor_count(const struct clock *clock, uint32_t reads,
		       struct hist *gaps)
{
	uint64_t last_tsc = clock->read_tsc(clock->ctx);

	for (uint32_t i = 0; i < reads; i++) {
		uint64_t now_tsc = clock->read_tsc(clock->ctx);

		hist_add(gaps, now_tsc > last_tsc ? now_tsc - last_tsc : 0);
		last_tsc = now_tsc;
	}
}

void noise_floor_sum(const struct hist *gaps, uint64_t span_tsc,
		     struct noise_floor *floor)
{
	/* Nearest rank: the smallest that 999 of 1000 do not exceed. */
	uint64_t rank = gaps->count - gaps->count / 1000;
	uint64_t seen = 0;
	size_t i = hist_next(gaps, 0);

	while ((seen += gaps->bucket[i]) < rank)
		i = hist_next(gaps, i + 1);
	floor->reads = gaps->count;
	floor->span_tsc = span_tsc;
	floor->p99_9_tsc = hist_high(i) < gaps->max ? hist_high(i) : gaps->max;
	floor->max_tsc = gaps->max;
}

static int first_cpu(const cpu_set_t *cpus)
{
	for (int cpu = 0; cpus && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus))
			return cpu;
	return sched_getcpu();
}

static void measure_pinned(struct noise_floor *floor, struct hist *gaps)
{
	uint64_t end_ns = monotonic_ns() + NOISE_FLOOR_MS * 1000000u;
	uint64_t span_tsc = 0;

	hist_init(gaps);
	do {
		uint64_t start_tsc = clock_read_tsc();

		noise_floor_count(&clock_host, CHUNK, gaps);
		span_tsc += clock_read_tsc() - start_tsc;
	} while (monotonic_ns() < end_ns);
	noise_floor_sum(gaps, span_tsc, floor);
	floor->is_done = true;
}

int noise_floor_measure(struct noise_floor *floor, const cpu_set_t *cpus)
{
	struct hist *gaps = malloc(sizeof(*gaps));
	int cpu = first_cpu(cpus), ret = 0;
	cpu_set_t before, one;

	*floor = (struct noise_floor){.cpu = -1};
	if (!gaps)
		return -ENOMEM;
	CPU_ZERO(&one);
	if (cpu >= 0)
		CPU_SET(cpu, &one);
	if (sched_getaffinity(0, sizeof(before), &before) ||
	    sched_setaffinity(0, sizeof(one), &one)) {
		ret = -errno;
	} else {
		floor->cpu = cpu;
		measure_pinned(floor, gaps);
		if (sched_setaffinity(0, sizeof(before), &before))
			ret = -errno;
	}
	free(gaps);
	return ret;
}

void noise_floor_write(const struct noise_floor *floor, const char *name,
		       struct jsonw *w)
{
	if (!floor->is_done) {
		jsonw_null(w, name);
		return;
	}
	jsonw_object_begin(w, name);
	jsonw_i64(w, "cpu", floor->cpu);
	jsonw_u64(w, "reads", floor->reads);
	jsonw_u64(w, "span_tsc", floor->span_tsc);
	jsonw_u64(w, "p99_9_tsc", floor->p99_9_tsc);
	jsonw_u64(w, "max_tsc", floor->max_tsc);
	jsonw_object_end(w);
}
