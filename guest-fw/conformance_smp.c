/* SPDX-License-Identifier: MIT */
/*
 * conformance_smp - deadlines on several CPUs, and a CPU that gets INIT.
 *
 * The CPUs are driven by the boot CPU: it gives all of them one job and waits
 * until they are done. Reference: SDM 3A "Local APIC State After an INIT
 * Reset": LVTT 0x10000, nothing requested, IA32_TSC_DEADLINE 0.
 * Not modelled: CPUs of unequal TSC; on a host that has those no deadline is
 * compared with another CPU's clock.
 */
#include "conformance.h"
#include "conformance_ask.h"

#include "arch.h"
#include "cpu.h"
#include "smp.h"

/* The AP that INIT is tried on; there always is one. */
#define INIT_CPU 1

static unsigned cpu_count = 1;
static struct ask asks[CPUS_MAX]; /* of the APs */

/* Written by CPU 0, then `round` counts up and every AP takes the job. */
static void (*job)(struct ask *a, unsigned index);
static unsigned round, done;

/* What the CPU that got INIT found; written by it before it is done. */
static struct {
	uint32_t lvtt;
	bool requested;
	uint64_t read_tsc; /* IA32_TSC_DEADLINE */
} after_init;

void conformance_smp_cpus(unsigned cpus)
{
	cpu_count = cpus;
}

static void ap_serve(unsigned index, unsigned served)
{
	for (;;) {
		while (__atomic_load_n(&round, __ATOMIC_ACQUIRE) == served)
			cpu_relax();
		served++;
		job(&asks[index], index);
		__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	}
}

static void ap_main(unsigned index)
{
	asks[index].wait = cpu_irqwait(index);
	ap_serve(index, 0);
}

static void start_aps(void)
{
	static bool started;

	if (started)
		return;
	smp_start(cpu_count, ap_main);
	started = true;
}

/* All CPUs do the job, CPU 0 with the question's own ask. Its answer becomes
 * the question's where CPU 0 itself has nothing to complain about. */
static void all_do(struct ask *a, void (*what)(struct ask *a, unsigned index))
{
	start_aps();
	for (unsigned i = 1; i < cpu_count; i++) {
		asks[i].unit_tsc = a->unit_tsc;
		asks[i].second_tsc = a->second_tsc;
		asks[i].verdict = ASK_GOOD;
		asks[i].racing = false;
		asks[i].deadline_guest_tsc = 0;
		asks[i].horizon_guest_tsc = 0;
	}
	job = what;
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&round, 1, __ATOMIC_RELEASE);
	what(a, 0);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != cpu_count)
		cpu_relax();
	for (unsigned i = 1; i < cpu_count && a->verdict == ASK_GOOD; i++) {
		a->verdict = asks[i].verdict;
		a->what = asks[i].what;
		a->got = asks[i].got;
		a->expected = asks[i].expected;
	}
}

static void job_reset(struct ask *a, unsigned index)
{
	if (index)
		ask_reset(a);
}

static void job_fire_series(struct ask *a, unsigned index)
{
	for (unsigned i = 0; i < 20; i++) {
		/* Each CPU at a pace of its own. */
		ask_arm(a, tsc_read() + a->unit_tsc / 4 * (index % 4 + 1),
			false);
		if (!ask_fire(a, V) ||
		    !ask_expect(a, "RDMSR", apic_timer_read(), 0))
			return;
	}
	ask_silent(a);
}

static void job_halt_series(struct ask *a, unsigned index)
{
	(void)index;
	for (unsigned i = 0; i < 20; i++) {
		ask_arm(a, tsc_read() + a->unit_tsc / 2, false);
		if (!ask_fire_hlt(a, V))
			return;
		apic_eoi();
	}
	ask_silent(a);
}

static void job_read_own(struct ask *a, unsigned index)
{
	ask_arm(a, (1ull << 62) + index, false);
	ask_expect(a, "RDMSR", apic_timer_read(), (1ull << 62) + index);
	ask_silent(a);
	ask_expect(a, "RDMSR", apic_timer_read(), (1ull << 62) + index);
}

/* CPU 0 disarms, the others fire. */
static void job_disarm_first(struct ask *a, unsigned index)
{
	ask_arm(a, tsc_read() + 8 * a->unit_tsc, true);
	if (index == 0)
		ask_disarm(a);
	else
		ask_fire(a, V);
	ask_silent(a);
}

/* Every CPU on a vector of its own. */
static void job_vectors(struct ask *a, unsigned index)
{
	static const uint8_t vectors[] = {V, V_SAME, V_HIGH};
	const uint8_t vector = vectors[index % sizeof(vectors)];

	apic_lvtt_write(DEADLINE | vector);
	ask_arm(a, tsc_read() + a->unit_tsc, false);
	ask_fire(a, vector);
	ask_silent(a);
}

/* CPU 0 takes the id of another CPU, where it can; `own` is to give it back. */
static uint32_t own_id, other_id;

static void job_take_id(struct ask *a, unsigned index)
{
	(void)a;
	if (index == INIT_CPU)
		__atomic_store_n(&other_id, apic_id(), __ATOMIC_RELEASE);
	if (index != 0)
		return;
	own_id = apic_id();
	while (__atomic_load_n(&other_id, __ATOMIC_ACQUIRE) == own_id)
		cpu_relax();
	apic_id_change(other_id);
}

static void job_give_id_back(struct ask *a, unsigned index)
{
	(void)a;
	if (index == 0)
		apic_id_change(own_id);
}

static void all_ask(struct ask *a, void (*what)(struct ask *a, unsigned index))
{
	all_do(a, job_reset);
	all_do(a, what);
}

static void fire_series(struct ask *a, uint64_t value)
{
	(void)value;
	all_ask(a, job_fire_series);
}

static void halt_series(struct ask *a, uint64_t value)
{
	(void)value;
	all_ask(a, job_halt_series);
}

static void read_own(struct ask *a, uint64_t value)
{
	(void)value;
	all_ask(a, job_read_own);
}

static void disarm_first(struct ask *a, uint64_t value)
{
	(void)value;
	all_ask(a, job_disarm_first);
}

static void own_vectors(struct ask *a, uint64_t value)
{
	(void)value;
	all_ask(a, job_vectors);
}

/* A timer's interrupt has no need of an id. */
static void same_id(struct ask *a, uint64_t value)
{
	(void)value;
	other_id = apic_id();
	all_do(a, job_take_id);
	all_ask(a, job_fire_series);
	all_do(a, job_give_id_back);
}

static void ap_after_init(unsigned index)
{
	/* So far the APIC is as INIT left it. */
	after_init.lvtt = apic_lvtt_read();
	after_init.requested = apic_requested(V);
	after_init.read_tsc = apic_timer_read();
	apic_init();
	/* No write of the deadline: what INIT left armed must show. */
	apic_lvtt_write(DEADLINE | V);
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	ap_serve(index, round);
}

static void job_arm_in_8(struct ask *a, unsigned index)
{
	if (index == INIT_CPU)
		ask_arm(a, tsc_read() + 8 * a->unit_tsc, true);
}

static void job_arm_far(struct ask *a, unsigned index)
{
	if (index == INIT_CPU)
		ask_arm(a, tsc_read() + (1ull << 40), false);
}

static void job_latch(struct ask *a, unsigned index)
{
	if (index != INIT_CPU)
		return;
	apic_lvtt_write(DEADLINE | MASKED | V);
	ask_arm(a, 1, false);
	ask_silent(a);
}

static void job_silent_for_8(struct ask *a, unsigned index)
{
	if (index != INIT_CPU)
		return;
	a->horizon_guest_tsc = tsc_read() + 8 * a->unit_tsc;
	ask_silent(a);
	ask_expect(a, "RDMSR", apic_timer_read(), 0);
}

static void job_fire(struct ask *a, unsigned index)
{
	(void)index;
	ask_arm(a, tsc_read() + a->unit_tsc, false);
	ask_fire(a, V);
	ask_silent(a);
}

static void spin_units(const struct ask *a, unsigned units)
{
	const uint64_t until_tsc = tsc_read() + units * a->unit_tsc;

	while (tsc_read() < until_tsc)
		cpu_relax();
}

/* Prepares the AP by `what`, sends it INIT, waits, starts it again, and
 * compares what it found. */
static void stop_and_resume(struct ask *a,
			    void (*what)(struct ask *a, unsigned index),
			    unsigned wait_units)
{
	const struct ask *ap = &asks[INIT_CPU];

	all_ask(a, what);
	__atomic_store_n(&done, 0, __ATOMIC_RELAXED);
	smp_stop(INIT_CPU);
	if (ap->racing && tsc_read() >= ap->deadline_guest_tsc)
		a->verdict = ASK_AGAIN;
	spin_units(a, wait_units);
	smp_resume(INIT_CPU, ap_after_init);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		cpu_relax();
	ask_expect(a, "LVTT", after_init.lvtt, APIC_LVTT_MASKED);
	ask_expect(a, "IRR bit", after_init.requested, 0);
	ask_expect(a, "RDMSR", after_init.read_tsc, 0);
}

static void init_armed_expired(struct ask *a, uint64_t value)
{
	(void)value;
	stop_and_resume(a, job_arm_in_8, 11);
	all_do(a, job_silent_for_8);
}

static void init_armed(struct ask *a, uint64_t value)
{
	(void)value;
	stop_and_resume(a, job_arm_far, 0);
}

static void init_armed_deadline_mode(struct ask *a, uint64_t value)
{
	(void)value;
	stop_and_resume(a, job_arm_in_8, 0);
	all_do(a, job_silent_for_8);
}

static void init_latched(struct ask *a, uint64_t value)
{
	(void)value;
	stop_and_resume(a, job_latch, 0);
	all_do(a, job_silent_for_8);
}

static void init_then_fire(struct ask *a, uint64_t value)
{
	(void)value;
	stop_and_resume(a, job_arm_in_8, 11);
	all_ask(a, job_fire);
}

static const struct question questions[] = {
	{"20 fires on each CPU, at paces of their own", PLAIN,
	 STEPS(CALL(fire_series, 0))},
	{"20 fires on each CPU, halted", PLAIN, STEPS(CALL(halt_series, 0))},
	{"each CPU reads its own deadline", PLAIN, STEPS(CALL(read_own, 0))},
	{"each CPU on its own vector", PLAIN, STEPS(CALL(own_vectors, 0))},
	{"20 fires on each CPU, CPU 0 with the APIC id of CPU 1", PLAIN,
	 STEPS(CALL(same_id, 0))},
	{"CPU 0 disarmed: the others fire", PLAIN,
	 STEPS(CALL(disarm_first, 0))},
	{"INIT while armed, then expired: LVTT masked, 0 read, nothing", PLAIN,
	 STEPS(CALL(init_armed_expired, 0))},
	{"INIT while armed far: 0 read", CORNER, STEPS(CALL(init_armed, 0))},
	{"INIT while armed, deadline mode before the deadline: nothing", CORNER,
	 STEPS(CALL(init_armed_deadline_mode, 0))},
	{"INIT while masked and expired: 0 read, nothing when unmasked", PLAIN,
	 STEPS(CALL(init_latched, 0))},
	{"INIT while armed, started again, armed: once", PLAIN,
	 STEPS(CALL(init_then_fire, 0))},
};

const struct topic topic_smp = {
	.name = "smp",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
	.several_cpus = true,
};
