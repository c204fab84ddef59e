/* SPDX-License-Identifier: MIT */
/*
 * The guest's IA32_TSC_DEADLINE while the LAPIC itself stays in the kernel.
 * Reference: SDM 3A "TSC-Deadline Mode" (ed. 2023-06); where KVM's in-kernel
 * timer differs (an expiry held back while LVTT is masked stays readable and
 * is dropped by the next write), KVM's way.
 * Not modelled: LVTT and its mode, INIT (neither exits), other timer modes.
 */
#include "lapic_timer.h"

void lapic_timer_reset(struct lapic_timer *t)
{
	*t = (struct lapic_timer){.state = LAPIC_TIMER_IDLE};
}

struct lapic_timer_action lapic_timer_write(struct lapic_timer *t,
					    uint64_t deadline_guest_tsc)
{
	struct lapic_timer_action action = {
		.op = deadline_guest_tsc ? LAPIC_TIMER_ARM : LAPIC_TIMER_DISARM,
		.clear_latched = lapic_timer_maybe_latched(t),
	};

	t->deadline_guest_tsc = deadline_guest_tsc;
	t->state = deadline_guest_tsc ? LAPIC_TIMER_ARMED : LAPIC_TIMER_IDLE;
	return action;
}

bool lapic_timer_expired(struct lapic_timer *t)
{
	if (t->state != LAPIC_TIMER_ARMED)
		return false;
	t->state = LAPIC_TIMER_DELIVERED;
	return true;
}

void lapic_timer_injected(struct lapic_timer *t)
{
	if (t->state == LAPIC_TIMER_DELIVERED)
		lapic_timer_reset(t);
}

uint64_t lapic_timer_read(const struct lapic_timer *t, bool kvm_holds_latched)
{
	if (lapic_timer_maybe_latched(t) && !kvm_holds_latched)
		return 0;
	return t->deadline_guest_tsc;
}
