/* SPDX-License-Identifier: MIT */
/*
 * halted - see halted.h. Reference: SDM 2A "HLT"; Linux
 * Documentation/virt/kvm/api.rst "KVM_GET_MP_STATE", "KVM_GET_VCPU_EVENTS".
 * Two looks, since one vCPU may wake another by an NMI or INIT just between
 * their looks. (Two that wake each other for ever, with interrupts off and
 * using next to no CPU time, could still be taken for halted.)
 */
#define _GNU_SOURCE
#include "halted.h"

#include <time.h>

#include "kvm.h"
#include "monotonic.h"
#include "vcpu.h"
#include "vm.h"

#define RFLAGS_IF   (1u << 9)

/* Thread CPU time in half a second that is still "next to none", 5 %: a look,
 * the entry after it and KVM's halt polling fit in even on an emulated host,
 * where they were seen to take more than half a millisecond, and so made every
 * look undo the verdict of the one before. */
#define IDLE_CPU_NS 25000000u

static enum vcpu_idle look(const struct vcpu *vcpu)
{
	struct kvm_mp_state state;
	struct kvm_regs regs;
	struct kvm_vcpu_events events;

	if (kvm_vcpu_ioctl(vcpu->fd, KVM_GET_MP_STATE, &state) < 0)
		return VCPU_MAY_RUN;
	if (state.mp_state == KVM_MP_STATE_UNINITIALIZED ||
	    state.mp_state == KVM_MP_STATE_INIT_RECEIVED)
		return VCPU_WAITS_FOR_INIT;
	if (state.mp_state != KVM_MP_STATE_HALTED ||
	    kvm_vcpu_ioctl(vcpu->fd, KVM_GET_REGS, &regs) < 0 ||
	    (regs.rflags & RFLAGS_IF) ||
	    kvm_vcpu_ioctl(vcpu->fd, KVM_GET_VCPU_EVENTS, &events) < 0 ||
	    events.nmi.pending || events.nmi.injected || events.smi.pending)
		return VCPU_MAY_RUN;
	return VCPU_HALTED;
}

void halted_look(struct vcpu *vcpu)
{
	atomic_store(&vcpu->idle, look(vcpu));
}

/* Did the vCPU's thread use next to no CPU time since the last tick? */
static bool used_no_cpu(struct vcpu *vcpu)
{
	clockid_t clock;
	uint64_t now_ns, used_ns;

	if (pthread_getcpuclockid(vcpu->thread, &clock))
		return false;
	now_ns = clock_ns(clock);
	used_ns = now_ns - vcpu->tick_cpu_ns;
	vcpu->tick_cpu_ns = now_ns;
	return used_ns < IDLE_CPU_NS;
}

bool halted_tick(struct halted_watch *watch, struct vm *vm)
{
	bool all_halted = true;

	for (uint32_t i = 0; i < vm->vcpu_count; i++) {
		struct vcpu *vcpu = &vm->vcpus[i];
		bool quiet = used_no_cpu(vcpu);

		/* The look of the last tick counts if it was answered and
		 * the vCPU has been quiet ever since. */
		if (!quiet || atomic_load(&vcpu->looks) == vcpu->tick_looks ||
		    atomic_load(&vcpu->idle) == VCPU_MAY_RUN)
			all_halted = false;
		vcpu->tick_looks = atomic_load(&vcpu->looks);
		/* A guest whose timer writes never arrive is looked at too:
		 * the look holds the check for an unfiltered timer. */
		if (quiet || (vm->user_timer &&
			      !atomic_load_explicit(&vcpu->timer_seen,
						    memory_order_relaxed)))
			kick_send(&vcpu->kick, KICK_LOOK);
	}
	if (all_halted && bus_reaches_all(&vm->bus))
		all_halted = false;
	watch->ticks = all_halted ? watch->ticks + 1 : 0;
	return watch->ticks >= HALTED_TICKS;
}
