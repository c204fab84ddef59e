/* SPDX-License-Identifier: MIT */
/*
 * calibrate - what does the way into the guest cost? One CPU, no output.
 *
 * A series of deadlines awaited in ring 3 and another one awaited in HLT, in
 * this order, each handed to the VMM as a report of its own (report.h). The
 * VMM knows when its wait for each fire ended; handler minus that is the cost
 * of the entry. Words: fires=N, warmup=N (of each series), period_us=N (the
 * mean of distances from half to one and a half of it), seed=N.
 * Exit status 0; 2 if a fire was lost or doubled, else power.h.
 */
#include "apic.h"
#include "arch.h"
#include "boot.h"
#include "console.h"
#include "lateness_run.h"
#include "power.h"
#include "tsc_khz.h"
#include "words.h"

#include <stddef.h>

#define STATUS_LOST 2
#define SAMPLES_MAX 4096

static int64_t samples[SAMPLES_MAX];

static bool series(struct lateness_plan *plan, enum lateness_wait wait)
{
	struct lateness_result result = {.samples = samples};

	plan->wait = wait;
	lateness_run(plan, 0, &result);
	apic_timer_mask();
	port_out32(LATENESS_REPORT_PORT, (uint32_t)(uintptr_t)&result.report);
	return !result.report.lost && !result.report.doubled;
}

void guest_main(void)
{
	struct lateness_plan plan = {0};
	const char *khz_source;
	bool whole;

	plan.fires = (uint32_t)words_u64("fires", 1, SAMPLES_MAX / 2, 24);
	plan.warmup = (uint32_t)words_u64("warmup", 0, SAMPLES_MAX / 2, 4);
	plan.tsc_khz = tsc_khz_from_host(&khz_source);
	plan.period_tsc =
		words_u64("period_us", 1, 1000000, 400) * plan.tsc_khz / 1000;
	plan.random_distance = true;
	plan.seed = words_u64("seed", 0, UINT64_MAX, 1);
	words_end();
	if (!plan.period_tsc) {
		console_puts("calibrate: no TSC frequency in CPUID\n");
		power_exit(STATUS_NO_TIMER);
	}
	apic_init();
	if (!apic_has_deadline_timer()) {
		console_puts("calibrate: no TSC-deadline timer in CPUID\n");
		power_exit(STATUS_NO_TIMER);
	}
	whole = series(&plan, LATENESS_WAIT_SPIN_USER);
	whole = series(&plan, LATENESS_WAIT_HLT) && whole;
	power_exit(whole ? 0 : STATUS_LOST);
}
