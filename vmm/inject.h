/* SPDX-License-Identifier: MIT */
/*
 * inject - hands an expired deadline to KVM, whose vCPU is stopped.
 *
 * Reference: Linux Documentation/virt/kvm/api.rst "KVM_SIGNAL_MSI",
 * "KVM_GET_LAPIC", "KVM_SET_MSRS". The interrupt is in the vCPU's IRR, or on
 * its way there, when the call returns; the guest sees it once it is entered.
 * All calls on the vCPU's thread, outside KVM_RUN.
 */
#ifndef VMM_INJECT_H
#define VMM_INJECT_H

#include <stdbool.h>
#include <stdint.h>

struct kvm_run;

/* What inject_by_expiry() writes: any deadline that lies in the past makes
 * KVM's timer expire at once. */
#define INJECT_DEADLINE_TSC 1u

struct injector {
	int vm_fd, vcpu_fd;
	uint32_t apic_id;	   /* as the vCPU was created */
	bool is_alone;		   /* the VM has no other vCPU */
	const struct kvm_run *run; /* its apic_base */
};

/* How an expiry went to KVM. */
struct injection {
	bool may_be_held; /* until LVTT is unmasked, say */
	uint8_t vector;	  /* of the interrupt; 0: KVM looks for itself */
};

/*
 * As an MSI with the vector of LVTT, where the registers say that the expiry
 * becomes an interrupt and no more: then the entry that follows finds it in the
 * IRR, and costs a halted vCPU little more than a running one. Not in xAPIC
 * mode beside other vCPUs: one of them may have taken this one's id, and with
 * it the MSI; in x2APIC mode ids cannot be changed. Else through KVM's own
 * expiry path, see inject_by_expiry(), which KVM may hold back. 0 or -errno.
 */
int inject_deadline(const struct injector *injector, struct injection *how);

/*
 * A host write of a deadline that has long passed: KVM's own timer expires,
 * with all that LVTT and the mode make of it. 0 or -errno.
 */
int inject_by_expiry(const struct injector *injector);

#endif
