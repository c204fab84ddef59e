/* SPDX-License-Identifier: MIT */
/*
 * lateness - samples that the guest measured itself, and their percentiles.
 *
 * A guest hands over raw samples through the protocol in
 * guest-fw/report.h; nothing in a report is trusted: every field is bounded
 * and the samples are copied out of guest memory before they are looked at.
 */
#ifndef VMM_LATENESS_H
#define VMM_LATENESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "report.h"

struct guest_ram;
struct jsonw;

enum {
	LATENESS_CPUS_MAX = 64,
	LATENESS_SAMPLES_MAX = 131072, /* of one CPU: 1 MiB */
};

struct lateness_result {
	bool present;
	struct lateness_report report; /* as the guest gave it, bounded */
	int64_t *samples;	       /* guest TSC; first report.warmup of
					* report.count are warm-up */
};

struct lateness_store {
	/* Guarded by lock. */
	struct lateness_result results[LATENESS_CPUS_MAX];
	uint64_t refused; /* reports that did not hold together */
	pthread_mutex_t lock;
};

void lateness_init(struct lateness_store *store);
void lateness_free(struct lateness_store *store);

/*
 * Takes the report at guest-physical `gpa`; a later one of the same CPU
 * replaces it. *cpu is the one it is about. 0, -EINVAL (counted) or -ENOMEM.
 * vCPU threads.
 */
int lateness_accept(struct lateness_store *store, const struct guest_ram *ram,
		    uint32_t gpa, uint32_t vcpu_count, uint32_t *cpu);

/*
 * Writes the array member "lateness": one object a CPU that reported, with
 * percentiles (nearest rank) in TSC cycles and in ns, and all CPUs pooled in
 * the member "lateness_all", with their histogram. With with_samples the raw
 * samples too. Sorts nothing in place. 0 or -ENOMEM. Main thread, vCPU threads
 * gone.
 */
int lateness_write(struct lateness_store *store, uint32_t tsc_khz,
		   bool with_samples, struct jsonw *w);

/* Fires that the guests reported, warm-up included, over all CPUs. */
uint64_t lateness_fires(const struct lateness_store *store);

#endif
