/* SPDX-License-Identifier: MIT */
/*
 * canary - see canary.h. Reference: SDM 3A "TSC-Deadline Mode" (a change of
 * mode disarms), "Local APIC Register Address Map"; KVM api.rst
 * "KVM_SET_MSRS", "KVM_GET_LAPIC".
 */
#include "canary.h"

#include "kvm.h"
#include "lvtt.h"

/* KVM converts the distance to ns in 64 bits, which wraps from 1.8e13 cycles
 * on and would then expire early: this is half of that. */
#define CANARY_DISTANCE_TSC (4 * CANARY_CARE_TSC)

int canary_set(struct canary *canary, int vcpu_fd, uint64_t now_guest_tsc)
{
	uint64_t deadline_guest_tsc = now_guest_tsc + CANARY_DISTANCE_TSC;

	/* Close below the wrap the far side is past, and 0 disarms. */
	if (deadline_guest_tsc < now_guest_tsc)
		deadline_guest_tsc = UINT64_MAX;
	canary->deadline_guest_tsc = deadline_guest_tsc;
	return kvm_set_msr(vcpu_fd, MSR_IA32_TSC_DEADLINE, deadline_guest_tsc);
}

void canary_forget(struct canary *canary)
{
	canary->deadline_guest_tsc = 0;
}

int canary_check(const struct canary *canary, int vcpu_fd, bool *alive)
{
	uint64_t held;
	int ret = kvm_get_msr(vcpu_fd, MSR_IA32_TSC_DEADLINE, &held);

	*alive = !ret && held != 0 && held == canary->deadline_guest_tsc;
	return ret;
}

int canary_look_at_lvtt(int vcpu_fd, bool *deadline_mode)
{
	struct kvm_lapic_state apic;
	int ret = kvm_vcpu_ioctl(vcpu_fd, KVM_GET_LAPIC, &apic);

	if (ret < 0)
		return ret;
	*deadline_mode = lvtt_is_deadline_mode((const uint8_t *)apic.regs);
	return 0;
}
