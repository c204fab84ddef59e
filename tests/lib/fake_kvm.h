/* SPDX-License-Identifier: MIT */
/*
 * fake_kvm - one vCPU of KVM as vmm/user_timer.c sees it: a TSC offset, the
 * LAPIC timer in TSC-deadline mode and one bit of IRR, against a fake clock.
 *
 * Defines the kvm_* functions that stand in vmm/kvm.c, so it is included once
 * in a program, which must not link that file. What a host write of
 * IA32_TSC_DEADLINE does follows KVM's in-kernel timer: ignored outside
 * deadline mode; drops an expiry that waits; expires at once if past; an
 * expiry waits while LVTT is masked, and the register reads 0 once it is an
 * interrupt. Time goes by in fake_clock reads and where the test adds to it.
 */
#ifndef TESTS_FAKE_KVM_H
#define TESTS_FAKE_KVM_H

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fake_clock.h"
#include "inject.h"
#include "kvm.h"

#define FAKE_KVM_FD	    77 /* the vCPU */
#define FAKE_KVM_VM_FD	    78
#define FAKE_KVM_APIC_ID    3
#define FAKE_KVM_VECTOR	    0x40
#define FAKE_KVM_WRITES_MAX 16

struct fake_kvm_write {
	uint64_t host_tsc; /* when */
	uint64_t value;
};

struct fake_kvm {
	struct fake_clock clock; /* host TSC */
	uint64_t tsc_offset;
	bool keeps_offset; /* takes a new offset without an error, and no more
			    */
	uint64_t tsc_adjust;
	bool has_no_tsc_adjust;

	/* LVTT, and what hangs on it. */
	bool deadline_mode, masked;
	uint64_t deadline_guest_tsc; /* IA32_TSC_DEADLINE */
	bool pending;		     /* expired, not yet an interrupt */
	bool is_disabled;	     /* by the guest, in SPIV */
	bool msi_blocked;	     /* KVM_SIGNAL_MSI returns 0 */
	bool in_irr;		     /* an MSI came */
	uint64_t interrupts;
	uint64_t own_expiries; /* of a deadline that was written as future */

	/* Host writes of IA32_TSC_DEADLINE: the last ones, and how many. */
	struct fake_kvm_write writes[FAKE_KVM_WRITES_MAX];
	unsigned int write_count;
	/* Expiries handed over, as an MSI or by a write of a past deadline. */
	uint64_t delivered_host_tsc; /* the last one */
	unsigned int delivery_count, msi_count;
	unsigned int reads, lapic_reads;

	/* What KVM_GET_MP_STATE says, and how often it was asked. */
	bool halted;
	unsigned int state_reads;

	/* The next call of that kind returns this, once. */
	int is_halted_error, get_msr_error, set_msr_error, get_offset_error,
		set_offset_error, get_lapic_error;

	struct kvm_run run;
};

static struct fake_kvm fake_kvm;

/* A new vCPU: deadline mode, unmasked, all quiet. */
static inline void fake_kvm_init(uint64_t host_tsc, uint64_t tsc_offset)
{
	fake_kvm = (struct fake_kvm){
		.clock = {.now_tsc = host_tsc, .step_tsc = 10},
		.tsc_offset = tsc_offset,
		.deadline_mode = true,
		.run = {.apic_base = 0xfee00900},
	};
}

/* That vCPU's. */
static inline const struct injector *fake_kvm_injector(void)
{
	static struct injector injector;

	injector = (struct injector){
		.vm_fd = FAKE_KVM_VM_FD,
		.vcpu_fd = FAKE_KVM_FD,
		.apic_id = FAKE_KVM_APIC_ID,
		.is_alone = true,
		.run = &fake_kvm.run,
	};
	return &injector;
}

static inline void fake_kvm_delivered(void)
{
	fake_kvm.delivered_host_tsc = fake_kvm.clock.now_tsc;
	fake_kvm.delivery_count++;
}

static inline uint64_t fake_kvm_guest_tsc(void)
{
	return fake_kvm.clock.now_tsc + fake_kvm.tsc_offset;
}

static inline int fake_kvm_take(int *error)
{
	int ret = *error;

	*error = 0;
	return ret;
}

static inline void fake_kvm_write_deadline(uint64_t value)
{
	if (!fake_kvm.deadline_mode)
		return;
	fake_kvm.deadline_guest_tsc = value;
	fake_kvm.pending = value && value <= fake_kvm_guest_tsc();
}

/* Guest writes LVTT. Leaving or entering deadline mode disarms. */
static inline void fake_kvm_write_lvtt(bool deadline_mode, bool masked)
{
	if (deadline_mode != fake_kvm.deadline_mode) {
		fake_kvm.deadline_guest_tsc = 0;
		fake_kvm.pending = false;
	}
	fake_kvm.deadline_mode = deadline_mode;
	fake_kvm.masked = masked;
}

/* Time has gone by: does KVM's own timer expire? */
static inline void fake_kvm_tick(void)
{
	if (!fake_kvm.deadline_guest_tsc || fake_kvm.pending ||
	    fake_kvm.deadline_guest_tsc > fake_kvm_guest_tsc())
		return;
	fake_kvm.own_expiries++;
	fake_kvm.pending = true;
}

/* The guest is entered and runs for a moment. True if that interrupts it. */
static inline bool fake_kvm_enter(void)
{
	fake_kvm_tick();
	if (fake_kvm.in_irr) {
		fake_kvm.in_irr = false;
		fake_kvm.interrupts++;
		return true;
	}
	if (!fake_kvm.pending || fake_kvm.masked)
		return false;
	fake_kvm.pending = false;
	fake_kvm.deadline_guest_tsc = 0;
	fake_kvm.interrupts++;
	return true;
}

/* The n-th write of IA32_TSC_DEADLINE from the end, 0 is the last. */
static inline struct fake_kvm_write fake_kvm_last_write(unsigned int n)
{
	ck_assert_uint_lt(n, FAKE_KVM_WRITES_MAX);
	ck_assert_uint_lt(n, fake_kvm.write_count);
	return fake_kvm
		.writes[(fake_kvm.write_count - 1 - n) % FAKE_KVM_WRITES_MAX];
}

int kvm_get_msr(int vcpu_fd, uint32_t index, uint64_t *value)
{
	int ret = fake_kvm_take(&fake_kvm.get_msr_error);

	if (ret || vcpu_fd != FAKE_KVM_FD || index != 0x6e0)
		return ret ? ret : -EINVAL;
	fake_kvm.reads++;
	*value = fake_kvm.deadline_guest_tsc;
	return 0;
}

int kvm_set_msr(int vcpu_fd, uint32_t index, uint64_t value)
{
	int ret = fake_kvm_take(&fake_kvm.set_msr_error);
	unsigned int at = fake_kvm.write_count % FAKE_KVM_WRITES_MAX;

	if (ret || vcpu_fd != FAKE_KVM_FD)
		return ret ? ret : -EBADF;
	if (index == 0x3b && !fake_kvm.has_no_tsc_adjust) {
		fake_kvm.tsc_adjust = value;
		return 0;
	}
	if (index != 0x6e0)
		return -EINVAL;
	fake_kvm.writes[at].host_tsc = fake_kvm.clock.now_tsc;
	fake_kvm.writes[at].value = value;
	fake_kvm.write_count++;
	if (value == INJECT_DEADLINE_TSC)
		fake_kvm_delivered();
	fake_kvm_write_deadline(value);
	return 0;
}

int kvm_is_halted(int vcpu_fd, bool *halted)
{
	int ret = fake_kvm_take(&fake_kvm.is_halted_error);

	if (ret || vcpu_fd != FAKE_KVM_FD)
		return ret ? ret : -EBADF;
	fake_kvm.state_reads++;
	*halted = fake_kvm.halted;
	return 0;
}

int kvm_get_tsc_offset(int vcpu_fd, uint64_t *offset_tsc)
{
	int ret = fake_kvm_take(&fake_kvm.get_offset_error);

	if (ret || vcpu_fd != FAKE_KVM_FD)
		return ret ? ret : -EBADF;
	*offset_tsc = fake_kvm.tsc_offset;
	return 0;
}

int kvm_set_tsc_offset(int vcpu_fd, uint64_t offset_tsc)
{
	int ret = fake_kvm_take(&fake_kvm.set_offset_error);

	if (ret || vcpu_fd != FAKE_KVM_FD)
		return ret ? ret : -EBADF;
	if (!fake_kvm.keeps_offset)
		fake_kvm.tsc_offset = offset_tsc;
	return 0;
}

static int fake_kvm_get_lapic(struct kvm_lapic_state *apic)
{
	uint32_t id = FAKE_KVM_APIC_ID << 24;
	uint32_t spiv = fake_kvm.is_disabled ? 0xff : 0x1ff;
	uint32_t lvtt = (fake_kvm.deadline_mode ? 2u << 17 : 0) |
			(fake_kvm.masked ? 1u << 16 : 0) | FAKE_KVM_VECTOR;
	int ret = fake_kvm_take(&fake_kvm.get_lapic_error);

	if (ret)
		return ret;
	fake_kvm.lapic_reads++;
	memset(apic, 0, sizeof(*apic));
	memcpy(&apic->regs[0x20], &id, sizeof(id));
	memcpy(&apic->regs[0xf0], &spiv, sizeof(spiv));
	memcpy(&apic->regs[0x320], &lvtt, sizeof(lvtt));
	return 0;
}

static int fake_kvm_signal_msi(const struct kvm_msi *msi)
{
	ck_assert_uint_eq(msi->address_lo, 0xfee00000 | FAKE_KVM_APIC_ID << 12);
	ck_assert_uint_eq(msi->address_hi, 0);
	ck_assert_uint_eq(msi->data, FAKE_KVM_VECTOR);
	ck_assert_uint_eq(msi->flags, 0);
	if (fake_kvm.msi_blocked)
		return 0;
	fake_kvm.msi_count++;
	fake_kvm_delivered();
	fake_kvm.in_irr = true;
	return 1;
}

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	if (fd == FAKE_KVM_FD && request == KVM_GET_LAPIC)
		return fake_kvm_get_lapic(arg);
	if (fd == FAKE_KVM_VM_FD && request == KVM_SIGNAL_MSI)
		return fake_kvm_signal_msi(arg);
	return -EINVAL;
}

#endif
