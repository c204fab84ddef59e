/* SPDX-License-Identifier: MIT */
/*
 * guest_cpuid - what CPUID says on each vCPU.
 *
 * Starts from KVM_GET_SUPPORTED_CPUID and makes it true for this VM: its
 * APIC ids, its number of CPUs, its TSC frequency, the TSC-deadline bit.
 * KVM is given the very table that the guest sees.
 */
#ifndef VMM_GUEST_CPUID_H
#define VMM_GUEST_CPUID_H

#include <stddef.h>
#include <stdint.h>

struct cpuid_flag;
struct kvm_cpuid2;

/* APIC bus frequency of KVM's local APIC: one count a nanosecond. */
#define CPUID_APIC_BUS_KHZ 1000000u

struct guest_cpuid_request {
	uint32_t vcpu_count;
	uint32_t tsc_khz;
	const struct cpuid_flag *const *hide;
	size_t hide_count;
};

/*
 * KVM_GET_SUPPORTED_CPUID, with room for the leaves that guest_cpuid_for_vcpu
 * adds. *out is to be freed by the caller. 0, -ENOMEM or -errno. Main thread.
 */
int guest_cpuid_supported(int kvm_fd, struct kvm_cpuid2 **out);

/*
 * Changes *table, a copy of what guest_cpuid_supported gave, into that of the
 * vCPU with the APIC id `apic_id`. Cannot fail: an absent leaf is left absent,
 * but for 0x40000010, which is added.
 */
void guest_cpuid_for_vcpu(struct kvm_cpuid2 *table, uint32_t apic_id,
			  const struct guest_cpuid_request *request);

/* Bytes of a table with all its room, for copying. */
size_t guest_cpuid_table_size(void);

#endif
