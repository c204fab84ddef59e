/* SPDX-License-Identifier: MIT */
/*
 * inject - see inject.h.
 */
#include "inject.h"

#include "kvm.h"
#include "lvtt.h"

/* SDM 3A "Message Signalled Interrupts": fixed, edge, one physical APIC id. */
#define MSI_ADDRESS	     0xfee00000u
#define MSI_ADDRESS_ID_SHIFT 12

#define APIC_BASE_ENABLE     (1u << 11)
#define APIC_BASE_EXTD	     (1u << 10) /* x2APIC mode */

/* Did it reach the APIC? */
static bool inject_msi(const struct injector *injector, uint8_t vector)
{
	uint32_t destination = injector->apic_id << MSI_ADDRESS_ID_SHIFT;
	struct kvm_msi msi = {
		.address_lo = MSI_ADDRESS | destination,
		.data = vector,
	};

	return kvm_vm_ioctl(injector->vm_fd, KVM_SIGNAL_MSI, &msi) > 0;
}

/* Can nobody else have this APIC's id? */
static bool owns_id(const struct injector *injector)
{
	uint64_t base = injector->run->apic_base;

	return base & APIC_BASE_ENABLE &&
	       (injector->is_alone || base & APIC_BASE_EXTD);
}

int inject_deadline(const struct injector *injector, struct injection *how)
{
	struct kvm_lapic_state apic;
	int ret = kvm_vcpu_ioctl(injector->vcpu_fd, KVM_GET_LAPIC, &apic);

	if (ret < 0)
		return ret;
	how->may_be_held = false;
	if (owns_id(injector) &&
	    lvtt_delivers((const uint8_t *)apic.regs, injector->apic_id,
			  &how->vector) &&
	    inject_msi(injector, how->vector))
		return 0;
	*how = (struct injection){.may_be_held = true};
	return inject_by_expiry(injector);
}

int inject_by_expiry(const struct injector *injector)
{
	return kvm_set_msr(injector->vcpu_fd, MSR_IA32_TSC_DEADLINE,
			   INJECT_DEADLINE_TSC);
}
