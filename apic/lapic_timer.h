/* SPDX-License-Identifier: MIT */
/*
 * lapic_timer - IA32_TSC_DEADLINE as the guest sees it, LAPIC in the kernel.
 *
 * Pure: no clock, no locks, no allocation. Guest reads and writes of the MSR
 * are diverted to here; the owner (the vCPU's thread) carries out the returned
 * action. An expiry is handed to KVM, whose own LAPIC applies LVTT and may
 * hold the event back while LVTT is masked: then it is "latched", and KVM's
 * own IA32_TSC_DEADLINE reads non-zero on the host side.
 * Reference: SDM 3A "TSC-Deadline Mode" (ed. 2023-06); at edges, what KVM's
 * in-kernel timer does.
 * Not modelled: LVTT (writes to it do not exit, so a deadline written outside
 * deadline mode counts if the guest is in that mode at expiry), one-shot and
 * periodic counts (KVM keeps both).
 */
#ifndef APIC_LAPIC_TIMER_H
#define APIC_LAPIC_TIMER_H

#include <stdbool.h>
#include <stdint.h>

enum lapic_timer_state {
	LAPIC_TIMER_IDLE,
	LAPIC_TIMER_ARMED,
	LAPIC_TIMER_DELIVERED, /* handed to KVM, not known to be injected */
};

struct lapic_timer {
	uint64_t deadline_guest_tsc; /* last one written; 0 when idle */
	enum lapic_timer_state state;
};

enum lapic_timer_op {
	LAPIC_TIMER_DISARM, /* stop the host timer */
	LAPIC_TIMER_ARM,    /* plan deadline_guest_tsc, set the host timer */
};

struct lapic_timer_action {
	enum lapic_timer_op op;
	/* Before op, write 0 to KVM's IA32_TSC_DEADLINE: a guest's write drops
	 * an expiry that KVM still holds. */
	bool clear_latched;
};

/* State after power-on. Cannot fail. */
void lapic_timer_reset(struct lapic_timer *t);

/* Guest wrote IA32_TSC_DEADLINE: 0 disarms, all else arms, past or not (a past
 * deadline is for the owner's plan to find due). Delivers nothing itself. */
struct lapic_timer_action lapic_timer_write(struct lapic_timer *t,
					    uint64_t deadline_guest_tsc);

/* The armed deadline is due. True: deliver it now; the state has moved on, so
 * it happens once. False: nothing was armed (a stale expiry). */
bool lapic_timer_expired(struct lapic_timer *t);

/* KVM was found to hold nothing back since the last delivery (its MSR read 0
 * after the vCPU was entered, or LVTT was seen unmasked at delivery). From
 * then on the guest reads 0, and the next write need not clear anything.
 * No effect while armed. */
void lapic_timer_injected(struct lapic_timer *t);

/* May KVM hold a delivery back? Only then does lapic_timer_read() need to know,
 * and the owner to ask KVM. */
static inline bool lapic_timer_maybe_latched(const struct lapic_timer *t)
{
	return t->state == LAPIC_TIMER_DELIVERED;
}

/* Guest reads IA32_TSC_DEADLINE: the deadline while armed, or while KVM holds
 * it latched; else 0. kvm_holds_latched (host read of KVM's own MSR non-zero)
 * counts only while lapic_timer_maybe_latched(). Changes nothing. */
uint64_t lapic_timer_read(const struct lapic_timer *t, bool kvm_holds_latched);

#endif
