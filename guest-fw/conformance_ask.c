/* SPDX-License-Identifier: MIT */
/*
 * conformance_ask - carries out the steps of a question, see conformance.h.
 *
 * Reference: SDM 3A "TSC-Deadline Mode", "Local APIC State After It Has Been
 * Software Disabled", "Interrupt Acceptance for Fixed Interrupts"; SDM 3B
 * "Time-Stamp Counter Adjustment".
 * Not modelled: a watch over a halted wait. Nobody is awake to keep it, so a
 * fire that is lost there ends the run by the VMM's time limit.
 */
#include "conformance_ask.h"

#include "arch.h"

/* Silence is believed this long after the latest deadline. */
#define SILENT_UNITS	  3

/* A fire is lost after so many units and seconds: stalled hosts are slow. */
#define PATIENCE_UNITS	  100
#define PATIENCE_SECONDS  5

/* Whatever was still on its way when a question ended arrives in this. */
#define DRAIN_UNITS_SHIFT 4

/* How many interrupts may be in service, and pending, at once. */
#define DRAIN_INTERRUPTS  8

static bool going_on(const struct ask *a)
{
	return a->verdict == ASK_GOOD;
}

static bool fail(struct ask *a, enum ask_verdict verdict, const char *what,
		 uint64_t got, uint64_t expected)
{
	if (!going_on(a))
		return false;
	a->verdict = verdict;
	a->what = what;
	a->got = got;
	a->expected = expected;
	return false;
}

bool ask_expect(struct ask *a, const char *what, uint64_t got,
		uint64_t expected)
{
	if (got == expected)
		return going_on(a);
	return fail(a, ASK_DIFFERS, what, got, expected);
}

/* A step took so long that the deadline it had to beat is over: whatever was
 * seen proves nothing. */
static void check_race(struct ask *a)
{
	if (a->racing && tsc_read() >= a->race_guest_tsc)
		a->verdict = ASK_AGAIN;
}

bool ask_arm(struct ask *a, uint64_t deadline_guest_tsc, bool racing)
{
	if (!going_on(a))
		return false;
	apic_timer_arm(deadline_guest_tsc);
	check_race(a);
	a->racing = racing;
	a->deadline_guest_tsc = deadline_guest_tsc;
	a->race_guest_tsc = deadline_guest_tsc;
	if (racing && deadline_guest_tsc > a->horizon_guest_tsc)
		a->horizon_guest_tsc = deadline_guest_tsc;
	return going_on(a);
}

bool ask_disarm(struct ask *a)
{
	if (!going_on(a))
		return false;
	apic_timer_arm(0);
	check_race(a);
	a->racing = false;
	return going_on(a);
}

static uint64_t fire_limit_tsc(const struct ask *a)
{
	uint64_t now_tsc = tsc_read();
	int64_t left_tsc = (int64_t)(a->deadline_guest_tsc - now_tsc);

	if (left_tsc < 0)
		left_tsc = 0;
	return now_tsc + (uint64_t)left_tsc + PATIENCE_UNITS * a->unit_tsc +
	       PATIENCE_SECONDS * a->second_tsc;
}

/* An interrupt, by the given way to wait, early or not. */
static bool take(struct ask *a, int (*wait)(struct irqwait *w), uint8_t vector)
{
	if (!going_on(a))
		return false;
	a->wait->limit_tsc = fire_limit_tsc(a);
	if (!wait(a->wait))
		return fail(a, ASK_WRONG, "no interrupt: vector", 0, vector);
	a->fired = true;
	a->late_tsc = (int64_t)(a->wait->handler_tsc - a->deadline_guest_tsc);
	return ask_expect(a, "interrupt vector", a->wait->vector, vector);
}

static bool fire(struct ask *a, int (*wait)(struct irqwait *w), uint8_t vector)
{
	a->racing = false;
	if (!take(a, wait, vector))
		return false;
	if (a->wait->handler_tsc < a->deadline_guest_tsc)
		return fail(a, ASK_WRONG, "early: TSC in the handler",
			    a->wait->handler_tsc, a->deadline_guest_tsc);
	return true;
}

bool ask_fire_held(struct ask *a, uint8_t vector)
{
	return fire(a, irqwait_spin_user, vector);
}

bool ask_fire(struct ask *a, uint8_t vector)
{
	if (!ask_fire_held(a, vector))
		return false;
	apic_eoi();
	return true;
}

bool ask_silent(struct ask *a)
{
	uint64_t from_tsc = tsc_read();

	if (!going_on(a))
		return false;
	a->racing = false;
	if (a->horizon_guest_tsc > from_tsc)
		from_tsc = a->horizon_guest_tsc;
	a->wait->limit_tsc = from_tsc + SILENT_UNITS * a->unit_tsc;
	if (!irqwait_spin_user(a->wait))
		return true;
	return fail(a, ASK_DIFFERS, "an interrupt came: vector",
		    a->wait->vector, 0);
}

bool ask_take(struct ask *a, uint8_t vector)
{
	return take(a, irqwait_spin_user, vector);
}

bool ask_fire_hlt(struct ask *a, uint8_t vector)
{
	return fire(a, irqwait_hlt, vector);
}

bool ask_request(struct ask *a, uint8_t vector)
{
	uint64_t limit_tsc = fire_limit_tsc(a);

	if (!going_on(a))
		return false;
	a->racing = false;
	while (!apic_requested(vector)) {
		if (tsc_read() > limit_tsc)
			return fail(a, ASK_WRONG, "IRR bit never set: vector",
				    0, vector);
		cpu_relax();
	}
	return true;
}

bool ask_zero(struct ask *a)
{
	uint64_t limit_tsc = fire_limit_tsc(a);
	uint64_t read_tsc = 0;

	if (!going_on(a))
		return false;
	a->racing = false;
	while (tsc_read() < limit_tsc) {
		read_tsc = apic_timer_read();
		if (!read_tsc)
			return true;
		cpu_relax();
	}
	return fail(a, ASK_WRONG, "RDMSR", read_tsc, 0);
}

/* Serves all that is in service, then takes all that is pending. */
static void drain(struct ask *a)
{
	static const uint8_t vectors[] = {V, V_SAME, V_HIGH};

	for (unsigned i = 0; i < sizeof(vectors); i++) {
		if (apic_in_service(vectors[i]))
			apic_eoi();
	}
	for (unsigned i = 0; i < DRAIN_INTERRUPTS; i++) {
		a->wait->limit_tsc =
			tsc_read() + (a->unit_tsc >> DRAIN_UNITS_SHIFT);
		if (!irqwait_spin_user(a->wait))
			return;
		apic_eoi();
	}
}

static void move_back(struct ask *a)
{
	if (a->has_adjust)
		msr_write(MSR_IA32_TSC_ADJUST, a->adjust_at_start);
	else
		msr_write(MSR_IA32_TSC, tsc_read() - (uint64_t)a->moved_tsc);
	a->moved_tsc = 0;
}

void ask_reset(struct ask *a)
{
	apic_software_enable(true);
	apic_task_priority(0);
	/* In deadline mode, where the write of 0 is heard, then through
	 * another mode, where the count can be stopped. */
	apic_lvtt_write(DEADLINE | MASKED | V);
	apic_timer_arm(0);
	apic_lvtt_write(ONE_SHOT | MASKED | V);
	apic_count_write(0);
	if (a->moved_tsc)
		move_back(a);
	apic_timer_deadline_mode();
	drain(a);
}

void ask_question(struct ask *a, const struct step *steps)
{
	a->deadline_guest_tsc = 0;
	a->horizon_guest_tsc = 0;
	a->racing = false;
	a->moved_tsc = 0;
	a->last_move_tsc = 0;
	a->fired = false;
	if (a->has_adjust)
		a->adjust_at_start = msr_read(MSR_IA32_TSC_ADJUST);
	a->verdict = ASK_GOOD;
	for (a->step = 0; going_on(a) && steps[a->step].run; a->step++) {
		steps[a->step].run(a, steps[a->step].value);
		check_race(a);
	}
	ask_reset(a);
}
