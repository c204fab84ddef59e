/* SPDX-License-Identifier: MIT */
/*
 * smp_crew - waits, calls, counts; see smp_crew.h.
 *
 * All code but the waits runs with interrupts off, so that nothing here can be
 * interrupted by what it counts (NMIs are counted elsewhere). What is lost
 * would leave CPUs halted for ever: CPU 0 looks at the sum of all counts at
 * each end of its patience, by the deadline timer where there is one, else by
 * not halting. Not modelled: a host so slow that nothing at all happens in that
 * time.
 */
#include "smp_crew.h"

#include "apic.h"
#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "power.h"
#include "smp.h"

#include <stddef.h>

/* Where the others look whether they have waited for long: for nothing. */
#define SLICE_TSC 1000000000ull

static struct crew_setup crew;
static struct crew_seen seen[CPUS_MAX];

/* Of each CPU: CPU 0 writes it, then calls; the CPU takes it out, and counts
 * itself among those that are done. */
static void (*jobs[CPUS_MAX])(unsigned index);
static unsigned done;

static bool has_timer;
static uint64_t watch_tsc, watched_sum;

static void count(uint32_t *n)
{
	__atomic_store_n(n, *n + 1, __ATOMIC_RELEASE);
}

unsigned crew_cpus(void)
{
	return crew.cpus;
}

unsigned crew_count(unsigned index, uint8_t vector)
{
	return __atomic_load_n(&seen[index].vectors[vector], __ATOMIC_ACQUIRE);
}

unsigned crew_starts(unsigned index)
{
	return __atomic_load_n(&seen[index].starts, __ATOMIC_ACQUIRE);
}

/* Of all CPUs, all vectors but the timer's. */
static uint64_t sum_of_counts(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < crew.cpus; i++)
		for (unsigned v = VECTOR_IRQ_FIRST; v <= VECTORS_LAST; v++)
			sum += v == VECTOR_TIMER ? 0
						 : crew_count(i, (uint8_t)v);
	return sum;
}

static void watch_arm(void)
{
	watch_tsc = tsc_read() + crew.patience_tsc;
	if (has_timer)
		apic_timer_arm(watch_tsc);
}

static void watch_look(void)
{
	uint64_t sum = sum_of_counts();

	if (sum == watched_sum) {
		console_puts("smp: FAILED: nothing comes any more\n");
		crew.stuck();
		power_exit(1);
	}
	watched_sum = sum;
	watch_arm();
}

void crew_call_boot_cpu(void)
{
	apic_send_ipi(smp_apic_id(0), VECTOR_CALL);
}

static void take_call(unsigned index)
{
	void (*job)(unsigned index) =
		__atomic_exchange_n(&jobs[index], NULL, __ATOMIC_ACQUIRE);

	if (!job)
		return;
	job(index);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	crew_call_boot_cpu();
}

static void take(unsigned index, uint8_t vector, uint64_t handler_tsc)
{
	apic_eoi();
	count(&seen[index].vectors[vector]);
	if (vector == VECTOR_CALL)
		take_call(index);
	else if (vector != VECTOR_TIMER)
		crew.take(index, vector, handler_tsc);
}

void crew_wait(unsigned index)
{
	struct irqwait *w = cpu_irqwait(index);
	bool halts = !crew.spins && (index || has_timer);
	bool came;

	w->limit_tsc = index ? tsc_read() + SLICE_TSC : watch_tsc;
	came = halts ? irqwait_hlt(w) : irqwait_spin_user(w);
	if (came)
		take(index, (uint8_t)w->vector, w->handler_tsc);
	if (!index && tsc_read() >= watch_tsc)
		watch_look();
}

static void crew_main(unsigned index)
{
	count(&seen[index].starts);
	for (;;)
		crew_wait(index);
}

static void call(unsigned index, void (*job)(unsigned index))
{
	__atomic_store_n(&jobs[index], job, __ATOMIC_RELEASE);
	apic_send_ipi(smp_apic_id(index), VECTOR_CALL);
}

static void await_done(unsigned n)
{
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != n)
		crew_wait(0);
}

void crew_do(unsigned index, void (*job)(unsigned index))
{
	if (!index) {
		job(0);
		return;
	}
	__atomic_store_n(&done, 0, __ATOMIC_RELAXED);
	call(index, job);
	await_done(1);
}

void crew_do_all(void (*job)(unsigned index))
{
	__atomic_store_n(&done, 0, __ATOMIC_RELAXED);
	for (unsigned i = 1; i < crew.cpus; i++)
		call(i, job);
	job(0);
	await_done(crew.cpus - 1);
}

static void do_nothing(unsigned index)
{
	(void)index;
}

/* CPU 0 is its own caller, and must have taken that call. */
void crew_fence(void)
{
	unsigned before = crew_count(0, VECTOR_CALL);

	crew_do_all(do_nothing);
	crew_call_boot_cpu();
	while (crew_count(0, VECTOR_CALL) == before)
		crew_wait(0);
}

static void after_init(unsigned index)
{
	apic_init();
	crew_main(index);
}

void crew_restart(unsigned index)
{
	unsigned before = crew_starts(index);

	smp_stop(index);
	smp_resume(index, after_init);
	while (crew_starts(index) == before)
		cpu_relax();
}

/* Between enter and use a CPU cannot send: done is all that it tells. */
static unsigned entered;

static void enter_x2apic(unsigned index)
{
	apic_x2apic_enter();
	__atomic_fetch_add(&entered, 1, __ATOMIC_RELEASE);
	if (!index) {
		while (__atomic_load_n(&entered, __ATOMIC_ACQUIRE) != crew.cpus)
			cpu_relax();
		apic_x2apic_use();
	}
	while (!apic_in_x2apic_mode())
		cpu_relax();
}

void crew_to_x2apic(void)
{
	crew_do_all(enter_x2apic);
}

void crew_start(const struct crew_setup *setup)
{
	crew = *setup;
	for (unsigned v = VECTOR_CALL; v <= VECTORS_LAST; v++)
		if (v != VECTOR_TIMER)
			cpu_take_vector((uint8_t)v);
	cpu_take_nmis();
	smp_start(crew.cpus, crew_main);
	has_timer = apic_has_deadline_timer();
	if (has_timer)
		apic_timer_deadline_mode();
	watch_arm();
}
