/* SPDX-License-Identifier: MIT */
/*
 * lateness_edge - what a TSC-deadline timer must do with odd deadlines.
 *
 * Each check arms one or two values, listens, and compares: how many
 * interrupts, none before the deadline, what IA32_TSC_DEADLINE reads.
 * Reference: SDM 3A "TSC-Deadline Mode". Not asked here: masking and mode
 * switches, where hosts differ.
 */
#include "lateness_edge.h"

#include "apic.h"
#include "arch.h"
#include "console.h"
#include "cpu.h"

#include <stdbool.h>
#include <stddef.h>

/* Silence is believed after this many periods. */
#define SILENCE_PERIODS 5

#define REARM_TRIES	20

struct edge {
	const struct lateness_plan *plan;
	struct irqwait *wait;
	unsigned failed;
};

static void edge_verdict(struct edge *e, const char *name, const char *what)
{
	if (!what) {
		console_printf("edge: ok   %s\n", name);
		return;
	}
	console_printf("edge: FAIL %s: %s\n", name, what);
	e->failed++;
}

/* True if the timer vector came within limit_tsc cycles from now. */
static bool edge_fires_within(struct edge *e, uint64_t limit_tsc)
{
	e->wait->limit_tsc = tsc_read() + limit_tsc;
	if (!irqwait_spin_user(e->wait))
		return false;
	apic_eoi();
	return true;
}

static bool edge_silent(struct edge *e)
{
	return !edge_fires_within(e, SILENCE_PERIODS * e->plan->period_tsc);
}

/* The verdict on one armed deadline: one fire, not early, register 0. */
static const char *edge_one_fire(struct edge *e, uint64_t deadline_guest_tsc)
{
	uint64_t left_tsc = deadline_guest_tsc - tsc_read();

	if ((int64_t)left_tsc < 0)
		left_tsc = 0;
	if (!edge_fires_within(
		    e, left_tsc + lateness_patience_tsc(e->plan->period_tsc,
							e->plan->tsc_khz)))
		return "lost";
	if (e->wait->handler_tsc < deadline_guest_tsc)
		return "early";
	if (apic_timer_read() != 0)
		return "the deadline register is not 0 after the fire";
	if (!edge_silent(e))
		return "fired twice";
	return NULL;
}

/* The verdict when nothing may come: silence, and the register holds value
 * (0 once it has been disarmed). Leaves the timer disarmed. */
static const char *edge_no_fire(struct edge *e, uint64_t value)
{
	const char *what = NULL;

	if (apic_timer_read() != value)
		what = "the deadline register holds another value";
	if (!edge_silent(e))
		what = "fired";
	apic_timer_arm(0);
	if (!what && apic_timer_read() != 0)
		what = "the deadline register is not 0 after a write of 0";
	return what;
}

static void edge_silent_values(struct edge *e)
{
	static const struct {
		const char *name;
		uint64_t value;
	} silent[] = {
		{"0", 0},
		{"2^63", 1ull << 63},
		{"2^63 - 1", (1ull << 63) - 1},
		{"2^64 - 1", UINT64_MAX},
	};

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		apic_timer_arm(silent[i].value);
		edge_verdict(e, silent[i].name,
			     edge_no_fire(e, silent[i].value));
	}
}

static void edge_past(struct edge *e)
{
	apic_timer_arm(1);
	edge_verdict(e, "1", edge_one_fire(e, 1));
	apic_timer_arm(tsc_read() - 1);
	edge_verdict(e, "now - 1", edge_one_fire(e, 1));
}

static void edge_near(struct edge *e)
{
	static const struct {
		const char *name;
		uint64_t distance_tsc;
	} near[] = {
		{"now", 0},
		{"now + 1", 1},
		{"now + 50", 50},
		{"now + 100", 100},
		{"now + 999", 999},
		{"now + 5000", 5000},
		{"now + 100000", 100000},
	};

	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		uint64_t deadline_guest_tsc = tsc_read() + near[i].distance_tsc;

		apic_timer_arm(deadline_guest_tsc);
		edge_verdict(e, near[i].name,
			     edge_one_fire(e, deadline_guest_tsc));
	}
}

/*
 * Arms now + first, then now + second (second 0: writes 0). Only the second
 * may fire. If the host stopped the CPU in between for so long that the first
 * was due by right, nothing is proven: clears up and says so by false.
 */
static bool edge_rearm_once(struct edge *e, const char *name,
			    uint64_t first_tsc, uint64_t second_tsc)
{
	uint64_t now_tsc = tsc_read();
	uint64_t second = second_tsc ? now_tsc + second_tsc : 0;

	apic_timer_arm(now_tsc + first_tsc);
	apic_timer_arm(second);
	if (tsc_read() - now_tsc >= first_tsc) {
		apic_timer_arm(0);
		edge_silent(e);
		return false;
	}
	edge_verdict(e, name,
		     second ? edge_one_fire(e, second) : edge_no_fire(e, 0));
	return true;
}

static void edge_rearm(struct edge *e, const char *name, uint64_t first_tsc,
		       uint64_t second_tsc)
{
	for (unsigned i = 0; i < REARM_TRIES; i++) {
		if (edge_rearm_once(e, name, first_tsc, second_tsc))
			return;
	}
	edge_verdict(e, name, "the host is too slow for this period");
}

static void edge_rearms(struct edge *e)
{
	const uint64_t period_tsc = e->plan->period_tsc;

	edge_rearm(e, "later, then sooner", 4 * period_tsc, period_tsc);
	edge_rearm(e, "sooner, then later", period_tsc, 4 * period_tsc);
	edge_rearm(e, "now + 2^40, then soon", 1ull << 40, period_tsc);
	edge_rearm(e, "now + 2^63, then soon", 1ull << 63, period_tsc);
	edge_rearm(e, "armed, then 0", period_tsc, 0);
}

static void edge_register(struct edge *e)
{
	uint64_t deadline_guest_tsc = tsc_read() + (1ull << 40);

	apic_timer_arm(deadline_guest_tsc);
	edge_verdict(e, "now + 2^40, read back",
		     edge_no_fire(e, deadline_guest_tsc));
}

uint32_t lateness_edge(const struct lateness_plan *plan)
{
	struct edge e = {.plan = plan, .wait = cpu_irqwait(0)};

	apic_timer_deadline_mode();
	edge_silent_values(&e);
	edge_past(&e);
	edge_near(&e);
	edge_rearms(&e);
	edge_register(&e);
	apic_timer_mask();
	console_printf("edge: %u failed\n", e.failed);
	return e.failed ? STATUS_EDGE_FAILED : 0;
}
