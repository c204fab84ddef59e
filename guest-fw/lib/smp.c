/* SPDX-License-Identifier: MIT */
/*
 * smp - starts application processors through a real-mode trampoline.
 * Reference: SDM 3A "Multiple-Processor (MP) Initialization"; the waits it
 * asks for between INIT and SIPI are for real chips, a VM needs none.
 * Not modelled: sparse APIC ids, ids above 254 without x2APIC.
 */
#include "smp.h"

#include "apic.h"
#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "layout.h"
#include "power.h"
#include "string.h"

#include <stdbool.h>
#include <stdint.h>

/* A guess for every TSC between 0.4 and 5 GHz: tenths of a second, and some
 * seconds. The second SIPI helps only if the first came too soon. */
#define STARTUP_RETRY_TSC 200000000ull
#define STARTUP_LIMIT_TSC 10000000000ull

extern const char trampoline_start[], trampoline_end[];

/* Called from entry.S, as is the stack pointer; no header for that. */
__attribute__((noreturn)) void smp_ap_main(void);
extern void *smp_ap_stack_top;

void *smp_ap_stack_top;
static void (*ap_function)(unsigned index);
static unsigned ap_index;
static bool ap_leaves_apic;
static uint32_t apic_ids[CPUS_MAX]; /* by index */
static unsigned aps_arrived; /* written by each AP in turn, read by CPU 0 */

unsigned smp_count_by_cpuid(void)
{
	struct cpuid_regs r;
	unsigned count = 1;

	if (cpuid(0, 0).eax >= 0xb) {
		r = cpuid(0xb, 1);
		if (r.ebx & 0xffff)
			return r.ebx & 0xffff;
	}
	r = cpuid(1, 0);
	if (r.edx & CPUID_1_EDX_HTT)
		count = r.ebx >> 16 & 0xff;
	return count ? count : 1;
}

void smp_ap_main(void)
{
	unsigned index = ap_index;

	cpu_init(index);
	if (!ap_leaves_apic)
		apic_init();
	__atomic_store_n(&aps_arrived, index, __ATOMIC_RELEASE);
	ap_function(index);
	cpu_halt_forever();
}

static bool smp_wait_for(unsigned index, uint64_t limit_tsc)
{
	while (__atomic_load_n(&aps_arrived, __ATOMIC_ACQUIRE) != index) {
		if (tsc_read() > limit_tsc)
			return false;
		cpu_relax();
	}
	return true;
}

/* SIPI to a CPU that has had its INIT. */
static void smp_startup(unsigned index)
{
	const uint8_t page = TRAMPOLINE_GPA / 4096;
	const uint32_t id = apic_ids[index];
	uint64_t start_tsc = tsc_read();

	ap_index = index;
	smp_ap_stack_top = cpu_stack_top(index);
	__atomic_store_n(&aps_arrived, 0, __ATOMIC_RELAXED);
	apic_send_startup(id, page);
	if (smp_wait_for(index, start_tsc + STARTUP_RETRY_TSC))
		return;
	apic_send_startup(id, page);
	if (smp_wait_for(index, start_tsc + STARTUP_LIMIT_TSC))
		return;
	console_printf("smp: CPU %u (APIC id %u) did not start\n", index,
		       (unsigned)id);
	power_exit(STATUS_AP_LOST);
}

void smp_start(unsigned count, void (*fn)(unsigned index))
{
	uint32_t own_id = apic_id(), id = 0;

	ap_function = fn;
	apic_ids[0] = own_id;
	memcpy((void *)TRAMPOLINE_GPA, trampoline_start,
	       (size_t)(trampoline_end - trampoline_start));
	for (unsigned index = 1; index < count; index++, id++) {
		if (id == own_id)
			id++;
		apic_ids[index] = id;
		apic_send_init(id);
		smp_startup(index);
	}
}

unsigned smp_apic_id(unsigned index)
{
	return apic_ids[index];
}

void smp_stop(unsigned index)
{
	apic_send_init(apic_ids[index]);
}

void smp_resume(unsigned index, void (*fn)(unsigned index))
{
	ap_function = fn;
	ap_leaves_apic = true;
	smp_startup(index);
}
