/* SPDX-License-Identifier: MIT */
/*
 * lateness_run - arm, wait, record; see lateness_run.h.
 *
 * Lateness is the first RDTSC of the interrupt handler minus the deadline,
 * signed, in guest TSC cycles. Reference: SDM 3A "TSC-Deadline Mode".
 * Not modelled: a watch over wait=hlt. Nobody is awake to keep it; the VMM's
 * time limit ends a run whose fire is lost there.
 */
#include "lateness_run.h"

#include "apic.h"
#include "arch.h"
#include "cpu.h"

/* One second where nobody told the frequency: enough at up to 4 GHz. */
#define SECOND_UNKNOWN_TSC 4000000000ull

/* lateness_listen takes this long, or one period if that is longer. */
#define LISTEN_MIN_TSC	   1000000ull

/* A timer that fires without end must not keep the guest for ever. */
#define LISTEN_MAX_FIRES   1000

static int (*const wait_functions[])(struct irqwait *w) = {
	[LATENESS_WAIT_SPIN_USER] = irqwait_spin_user,
	[LATENESS_WAIT_SPIN_KERNEL] = irqwait_spin_kernel,
	[LATENESS_WAIT_HLT] = irqwait_hlt,
};

uint64_t lateness_patience_tsc(uint64_t distance_tsc, uint64_t tsc_khz)
{
	return distance_tsc * 100 +
	       (tsc_khz ? tsc_khz * 1000 : SECOND_UNKNOWN_TSC);
}

/* xorshift64*, by Marsaglia and Vigna; state must not be 0. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* Different for each CPU and never 0, whatever the seed. */
static uint64_t random_start(uint64_t seed, unsigned index)
{
	uint64_t state = seed + index * 0x9e3779b97f4a7c15ull;

	return state ? state : 1;
}

static uint64_t distance_next(const struct lateness_plan *plan,
			      uint64_t *random)
{
	if (!plan->random_distance)
		return plan->period_tsc;
	return plan->period_tsc / 2 +
	       random_next(random) % (plan->period_tsc + 1);
}

/*
 * Waits for the fire of an armed deadline, adding up the loop turns.
 * False: lost.
 *
 * An interrupt before the deadline is one of two faults. If the deadline
 * register reads 0, this very deadline was delivered too early. If the
 * register still holds it, the interrupt was a second one for an earlier
 * fire: that is counted, and the wait goes on. (A second interrupt so close
 * to the deadline that it passes before the register is read counts as early:
 * rather a false alarm than a missed one.)
 */
static bool fire_await(const struct lateness_plan *plan, struct irqwait *w,
		       uint64_t deadline_guest_tsc, uint32_t *doubled,
		       uint64_t *loop_turns)
{
	for (;;) {
		int fired = wait_functions[plan->wait](w);

		*loop_turns += w->loop_turns;
		if (!fired)
			return false;
		apic_eoi();
		if (w->handler_tsc >= deadline_guest_tsc ||
		    apic_timer_read() == 0)
			return true;
		++*doubled;
	}
}

static void fire_record(struct lateness_result *result, int64_t lateness_tsc)
{
	result->samples[result->report.count++] = lateness_tsc;
	if (lateness_tsc >= 0)
		return;
	if (!result->report.early || lateness_tsc < result->earliest_tsc)
		result->earliest_tsc = lateness_tsc;
	result->report.early++;
}

static void fire_once(const struct lateness_plan *plan, uint64_t distance_tsc,
		      struct irqwait *w, struct lateness_result *result)
{
	struct lateness_report *report = &result->report;
	uint64_t patience_tsc =
		lateness_patience_tsc(distance_tsc, plan->tsc_khz);
	uint64_t start_tsc = tsc_read();
	uint64_t deadline_guest_tsc = start_tsc + distance_tsc;

	apic_timer_arm(deadline_guest_tsc);
	w->limit_tsc = deadline_guest_tsc + patience_tsc;
	if (!fire_await(plan, w, deadline_guest_tsc, &report->doubled,
			&report->loop_turns)) {
		apic_timer_arm(0);
		report->lost++;
		return;
	}
	report->wait_tsc += w->handler_tsc - start_tsc;
	fire_record(result, (int64_t)(w->handler_tsc - deadline_guest_tsc));
}

void lateness_run(const struct lateness_plan *plan, unsigned index,
		  struct lateness_result *result)
{
	struct lateness_report *report = &result->report;
	struct irqwait *w = cpu_irqwait(index);
	uint64_t random = random_start(plan->seed, index);

	*report = (struct lateness_report){
		.magic = LATENESS_REPORT_MAGIC,
		.version = LATENESS_REPORT_VERSION,
		.cpu = index,
		.sample_size = sizeof(*result->samples),
		.samples_gpa = (uintptr_t)result->samples,
		.period_tsc = plan->period_tsc,
		.wait = plan->wait,
		.tsc_khz = plan->tsc_khz,
	};
	result->earliest_tsc = 0;
	apic_timer_deadline_mode();
	for (uint32_t i = 0; i < plan->warmup; i++)
		fire_once(plan, distance_next(plan, &random), w, result);
	report->warmup = report->count;
	report->loop_turns = 0;
	report->wait_tsc = 0;
	for (uint32_t i = 0; i < plan->fires; i++)
		fire_once(plan, distance_next(plan, &random), w, result);
}

void lateness_rest(const struct lateness_plan *plan, unsigned index,
		   struct lateness_result *result)
{
	uint64_t deadline_guest_tsc, turns_unused = 0;

	if (plan->wait != LATENESS_WAIT_HLT) {
		cpu_relax();
		return;
	}
	deadline_guest_tsc = tsc_read() + plan->period_tsc;
	apic_timer_arm(deadline_guest_tsc);
	fire_await(plan, cpu_irqwait(index), deadline_guest_tsc,
		   &result->report.doubled, &turns_unused);
}

void lateness_listen(const struct lateness_plan *plan, unsigned index,
		     struct lateness_result *result)
{
	struct irqwait *w = cpu_irqwait(index);
	uint64_t listen_tsc = plan->period_tsc;

	if (listen_tsc < LISTEN_MIN_TSC)
		listen_tsc = LISTEN_MIN_TSC;
	w->limit_tsc = tsc_read() + listen_tsc;
	for (unsigned n = 0; n < LISTEN_MAX_FIRES; n++) {
		if (!irqwait_spin_user(w))
			break;
		apic_eoi();
		result->report.doubled++;
	}
	apic_timer_mask();
}
