/* SPDX-License-Identifier: MIT */
/*
 * conformance_steps - the words of the questions, see conformance.h.
 *
 * Reference: SDM 3A "APIC Timer", "Interrupt Acceptance for Fixed
 * Interrupts"; SDM 3B "Time-Stamp Counter Adjustment".
 * Not modelled: deadlines relative to another clock than the guest's TSC.
 */
#include "conformance.h"
#include "conformance_ask.h"

#include "arch.h"

void step_arm(struct ask *a, uint64_t units)
{
	ask_arm(a, tsc_read() + units * a->unit_tsc, true);
}

void step_arm_ahead(struct ask *a, uint64_t tsc)
{
	ask_arm(a, tsc_read() + tsc, false);
}

void step_arm_behind(struct ask *a, uint64_t tsc)
{
	ask_arm(a, tsc_read() - tsc, false);
}

void step_arm_at(struct ask *a, uint64_t tsc)
{
	ask_arm(a, tsc, false);
}

/* The next round value but one: a second away, or more, on any CPU. */
void step_arm_round(struct ask *a, uint64_t value)
{
	(void)value;
	ask_arm(a, ((tsc_read() >> 32) + 2) << 32, false);
}

void step_arm_same(struct ask *a, uint64_t value)
{
	(void)value;
	ask_arm(a, a->deadline_guest_tsc, a->racing);
}

void step_disarm(struct ask *a, uint64_t value)
{
	(void)value;
	ask_disarm(a);
}

void step_read(struct ask *a, uint64_t expected)
{
	ask_expect(a, "RDMSR", apic_timer_read(), expected);
}

void step_read_armed(struct ask *a, uint64_t value)
{
	(void)value;
	ask_expect(a, "RDMSR", apic_timer_read(), a->deadline_guest_tsc);
}

void step_lvtt(struct ask *a, uint64_t lvtt)
{
	(void)a;
	apic_lvtt_write((uint32_t)lvtt);
}

void step_lvtt_read(struct ask *a, uint64_t expected)
{
	ask_expect(a, "LVTT", apic_lvtt_read(), expected);
}

void step_fire(struct ask *a, uint64_t vector)
{
	ask_fire(a, (uint8_t)vector);
}

void step_fire_held(struct ask *a, uint64_t vector)
{
	ask_fire_held(a, (uint8_t)vector);
}

void step_fire_hlt(struct ask *a, uint64_t vector)
{
	if (ask_fire_hlt(a, (uint8_t)vector))
		apic_eoi();
}

void step_take(struct ask *a, uint64_t vector)
{
	if (ask_take(a, (uint8_t)vector))
		apic_eoi();
}

void step_let_pass(struct ask *a, uint64_t value)
{
	(void)value;
	a->racing = false;
}

void step_take_moved(struct ask *a, uint64_t vector)
{
	if (a->exact_tsc) {
		step_fire(a, vector);
		return;
	}
	step_let_pass(a, 0);
	step_take(a, vector);
}

void step_silent(struct ask *a, uint64_t value)
{
	(void)value;
	ask_silent(a);
}

void step_pass(struct ask *a, uint64_t value)
{
	(void)value;
	a->racing = false;
	while (tsc_read() < a->deadline_guest_tsc + a->unit_tsc)
		cpu_relax();
}

void step_await_request(struct ask *a, uint64_t vector)
{
	ask_request(a, (uint8_t)vector);
}

void step_await_zero(struct ask *a, uint64_t value)
{
	(void)value;
	ask_zero(a);
}

void step_requested(struct ask *a, uint64_t vector)
{
	ask_expect(a, "IRR bit", apic_requested((uint8_t)vector), 1);
}

void step_not_requested(struct ask *a, uint64_t vector)
{
	ask_expect(a, "IRR bit", apic_requested((uint8_t)vector), 0);
}

void step_in_service(struct ask *a, uint64_t vector)
{
	ask_expect(a, "ISR bit", apic_in_service((uint8_t)vector), 1);
}

void step_not_in_service(struct ask *a, uint64_t vector)
{
	ask_expect(a, "ISR bit", apic_in_service((uint8_t)vector), 0);
}

void step_eoi(struct ask *a, uint64_t value)
{
	(void)a;
	(void)value;
	apic_eoi();
}

void step_tpr(struct ask *a, uint64_t tpr)
{
	(void)a;
	apic_task_priority((uint8_t)tpr);
}

void step_apic(struct ask *a, uint64_t on)
{
	(void)a;
	apic_software_enable(on);
}

void step_count(struct ask *a, uint64_t bus_cycles)
{
	(void)a;
	apic_count_write((uint32_t)bus_cycles);
}

void step_count_read(struct ask *a, uint64_t expected)
{
	ask_expect(a, "TMICT", apic_count_initial(), expected);
}

void step_current_read(struct ask *a, uint64_t expected)
{
	ask_expect(a, "TMCCT", apic_count_current(), expected);
}

static void note_move(struct ask *a, uint64_t before_tsc)
{
	/* What the write itself took is in it, some thousand cycles. */
	a->last_move_tsc = (int64_t)(tsc_read() - before_tsc);
	a->moved_tsc += a->last_move_tsc;
	/* After a move backwards the host may fire as if nothing had moved. */
	if (a->last_move_tsc < 0)
		a->race_guest_tsc += (uint64_t)a->last_move_tsc;
}

void step_move_tsc(struct ask *a, uint64_t units)
{
	uint64_t before_tsc = tsc_read();

	msr_write(MSR_IA32_TSC, before_tsc + units * a->unit_tsc);
	note_move(a, before_tsc);
}

void step_move_adjust(struct ask *a, uint64_t units)
{
	uint64_t adjust = msr_read(MSR_IA32_TSC_ADJUST) + units * a->unit_tsc;
	uint64_t before_tsc = tsc_read();

	msr_write(MSR_IA32_TSC_ADJUST, adjust);
	note_move(a, before_tsc);
	ask_expect(a, "IA32_TSC_ADJUST", msr_read(MSR_IA32_TSC_ADJUST), adjust);
}
