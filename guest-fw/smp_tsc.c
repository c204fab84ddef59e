/* SPDX-License-Identifier: MIT */
/*
 * smp_tsc - is time, as each CPU reads it, never behind what another has read?
 *
 * One word of memory holds the newest value and whose it is. Each CPU takes it,
 * reads its TSC, compares, and puts its own there. LFENCE keeps the read behind
 * the load (SDM 2 "RDTSC"); nothing need keep the store behind the read, which
 * it depends on. In ring 3, where every back end runs code at native speed. The
 * storms hand over values, too: seldom, but always between two CPUs, also where
 * all of them share one of the host's. Not looked at: how far CPUs are apart,
 * below what a hand-over takes.
 */
#include "apic.h"
#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "smp_checks.h"
#include "smp_crew.h"

#define OWNER_BITS 6

_Static_assert(CPUS_MAX == 1 << OWNER_BITS, "an owner fits");

static struct result {
	uint64_t of_others, backwards, largest_tsc;
	unsigned index;
} __attribute__((aligned(64))) results[CPUS_MAX];

/* TSC shifted up, and the owner. */
static uint64_t newest __attribute__((aligned(64)));

static uint64_t tsc_read_ordered(void)
{
	__asm__ volatile("lfence" : : : "memory");
	return tsc_read();
}

static void hand_over_in_user(void *arg, uint64_t reads)
{
	struct result *r = arg;

	for (uint64_t n = 0; n < reads; n++) {
		uint64_t old = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
		uint64_t own_tsc = tsc_read_ordered();
		uint64_t old_tsc = old >> OWNER_BITS;

		r->of_others += (old & (CPUS_MAX - 1)) != r->index;
		if (old_tsc > own_tsc) {
			r->backwards++;
			if (old_tsc - own_tsc > r->largest_tsc)
				r->largest_tsc = old_tsc - own_tsc;
		}
		__atomic_store_n(&newest, own_tsc << OWNER_BITS | r->index,
				 __ATOMIC_RELEASE);
	}
}

static void job_hand_over(unsigned index)
{
	results[index] = (struct result){.index = index};
	apic_hold_interrupts();
	irqwait_call_user(cpu_irqwait(index), hand_over_in_user,
			  &results[index], smp_plan.tsc_reads);
	apic_task_priority(0);
}

void smp_check_tsc(void)
{
	struct result sum = {0};

	crew_do_all(job_hand_over);
	for (unsigned i = 0; i < smp_plan.cpus; i++) {
		sum.of_others += results[i].of_others;
		sum.backwards += results[i].backwards;
		if (results[i].largest_tsc > sum.largest_tsc)
			sum.largest_tsc = results[i].largest_tsc;
	}
	console_printf(
		"smp: TSC compared %llu times, %llu of them with another "
		"CPU's: backwards %llu, at most by %llu cycles",
		(unsigned long long)(smp_plan.tsc_reads * smp_plan.cpus),
		(unsigned long long)sum.of_others,
		(unsigned long long)sum.backwards,
		(unsigned long long)sum.largest_tsc);
	smp_verdict(!sum.backwards);
}

static uint64_t skew_tsc;

static void job_skew(unsigned index)
{
	(void)index;
	if (cpuid(0, 0).eax >= 7 && cpuid(7, 0).ebx & CPUID_7_EBX_TSC_ADJUST)
		msr_write(MSR_IA32_TSC_ADJUST,
			  msr_read(MSR_IA32_TSC_ADJUST) + skew_tsc);
	else
		msr_write(MSR_IA32_TSC, tsc_read() + skew_tsc);
}

void smp_skew_tsc(uint64_t ahead_tsc)
{
	skew_tsc = ahead_tsc;
	crew_do(1, job_skew);
}
