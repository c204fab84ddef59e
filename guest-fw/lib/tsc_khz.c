/* SPDX-License-Identifier: MIT */
/*
 * tsc_khz - asks the host for the TSC frequency, see tsc_khz.h.
 * Reference: SDM 2 "CPUID" leaf 15H; KVM cpuid.rst and msr.rst.
 * Not modelled: CPUID 0x16 (a nominal figure), Hyper-V's frequency MSR.
 */
#include "tsc_khz.h"

#include "arch.h"

#include <stdbool.h>
#include <stddef.h>

#define CPUID_TSC_CRYSTAL	 0x15
#define CPUID_HYPERVISOR	 0x40000000
#define CPUID_KVM_FEATURES	 0x40000001
#define KVM_FEATURE_CLOCKSOURCE2 (1u << 3)
#define CPUID_TIMING		 0x40000010

#define MSR_KVM_SYSTEM_TIME_NEW	 0x4b564d01

struct pvclock_time_info {
	uint32_t version, reserved0;
	uint64_t tsc_timestamp, system_time;
	uint32_t tsc_to_system_mul;
	int8_t tsc_shift;
	uint8_t flags, reserved1[2];
};

static bool hypervisor_present(void)
{
	return cpuid(1, 0).ecx & CPUID_1_ECX_HYPERVISOR;
}

static uint32_t khz_from_timing_leaf(void)
{
	if (!hypervisor_present() ||
	    cpuid(CPUID_HYPERVISOR, 0).eax < CPUID_TIMING)
		return 0;
	return cpuid(CPUID_TIMING, 0).eax;
}

static uint32_t khz_from_crystal(void)
{
	struct cpuid_regs r;

	if (cpuid(0, 0).eax < CPUID_TSC_CRYSTAL)
		return 0;
	r = cpuid(CPUID_TSC_CRYSTAL, 0);
	if (!r.eax || !r.ebx || !r.ecx)
		return 0;
	return (uint32_t)((uint64_t)r.ecx * r.ebx / r.eax / 1000);
}

static bool hypervisor_is_kvm(void)
{
	struct cpuid_regs r = cpuid(CPUID_HYPERVISOR, 0);

	/* "KVMKVMKVM" and three NULs. */
	return r.ebx == 0x4b4d564b && r.ecx == 0x564b4d56 && r.edx == 0x4d;
}

/* Nanoseconds = (cycles shifted by tsc_shift) * mul / 2^32. */
static uint32_t khz_from_pvclock(void)
{
	static struct pvclock_time_info info __attribute__((aligned(64)));
	const volatile struct pvclock_time_info *shared = &info;
	uint64_t khz;

	if (!hypervisor_present() || !hypervisor_is_kvm() ||
	    !(cpuid(CPUID_KVM_FEATURES, 0).eax & KVM_FEATURE_CLOCKSOURCE2))
		return 0;
	msr_write(MSR_KVM_SYSTEM_TIME_NEW, (uintptr_t)&info | 1);
	/* KVM fills the page on its way back in; CPUID is one more way. */
	cpuid(0, 0);
	msr_write(MSR_KVM_SYSTEM_TIME_NEW, 0);
	if (!shared->tsc_to_system_mul || shared->tsc_shift <= -32 ||
	    shared->tsc_shift >= 32)
		return 0;
	khz = (1000000ull << 32) / shared->tsc_to_system_mul;
	if (shared->tsc_shift < 0)
		khz <<= -shared->tsc_shift;
	else
		khz >>= shared->tsc_shift;
	return (uint32_t)khz;
}

uint32_t tsc_khz_from_host(const char **source)
{
	static const struct {
		const char *name;
		uint32_t (*ask)(void);
	} sources[] = {
		{"CPUID 0x40000010", khz_from_timing_leaf},
		{"CPUID 0x15", khz_from_crystal},
		{"pvclock", khz_from_pvclock},
	};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		uint32_t khz = sources[i].ask();

		if (khz) {
			*source = sources[i].name;
			return khz;
		}
	}
	*source = "nobody";
	return 0;
}
