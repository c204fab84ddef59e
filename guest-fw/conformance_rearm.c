/* SPDX-License-Identifier: MIT */
/*
 * conformance_rearm - deadlines written while another is armed or has fired.
 *
 * Reference: SDM 3A "TSC-Deadline Mode": a write replaces what was armed, 0
 * disarms it; an interrupt that has been requested stays requested. IRR holds
 * one interrupt of a vector: two expiries before the first is taken are one.
 */
#include "conformance.h"
#include "conformance_ask.h"

#include "arch.h"

#define ONCE FIRE(V), READ(0), SILENT

/* n deadlines, each armed while the last one is armed, then a fire. */
static void rearm_series(struct ask *a, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		if (!ask_arm(a, tsc_read() + 8 * a->unit_tsc, true))
			return;
	}
	if (ask_fire(a, V))
		ask_silent(a);
}

/* The same with every second one far, or gone. */
static void rearm_far_series(struct ask *a, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		ask_arm(a, tsc_read() + (1ull << 40), false);
		if (!ask_arm(a, tsc_read() + 8 * a->unit_tsc, true))
			return;
		if (i % 3 == 2)
			ask_disarm(a);
	}
	ask_arm(a, tsc_read() + a->unit_tsc, true);
	if (ask_fire(a, V))
		ask_silent(a);
}

/* n fires, each armed in the handler of the one before. */
static void back_to_back(struct ask *a, uint64_t n)
{
	const uint64_t distance_tsc = a->unit_tsc / 64;

	ask_arm(a, tsc_read() + distance_tsc, false);
	for (uint64_t i = 0; i < n; i++) {
		if (!ask_fire_held(a, V))
			return;
		if (i + 1 < n)
			ask_arm(a, tsc_read() + distance_tsc, false);
		apic_eoi();
	}
	ask_silent(a);
}

/* n fires whose deadline is past when it is written. */
static void past_series(struct ask *a, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		ask_arm(a, 1 + i, false);
		if (!ask_fire(a, V) ||
		    !ask_expect(a, "RDMSR", apic_timer_read(), 0))
			return;
	}
	ask_silent(a);
}

static const struct question questions[] = {
	{"later, then sooner: once, at the sooner", PLAIN,
	 STEPS(ARM(8), ARM(2), ONCE)},
	{"sooner, then later: once, at the later", PLAIN,
	 STEPS(ARM(4), ARM(8), ONCE)},
	{"the same again: once", PLAIN, STEPS(ARM(4), ARM_SAME, ONCE)},
	{"armed, then past: once, at once", PLAIN,
	 STEPS(ARM(8), ARM_AT(1), ONCE)},
	{"armed, then 0: nothing", PLAIN,
	 STEPS(ARM(4), DISARM, READ(0), SILENT)},
	{"armed, 0, the same again: once", PLAIN,
	 STEPS(ARM(6), DISARM, ARM_SAME, ONCE)},
	{"armed, then now + 50: once", PLAIN,
	 STEPS(ARM(8), ARM_AHEAD(50), ONCE)},
	{"armed, then far: nothing", PLAIN,
	 STEPS(ARM(4), ARM_AHEAD(1ull << 40), READ_ARMED, SILENT)},
	{"now + 2^62, then near: once", PLAIN,
	 STEPS(ARM_AHEAD(1ull << 62), ARM(2), ONCE)},
	{"2^64 - 1, then near: once", PLAIN,
	 STEPS(ARM_AT(UINT64_MAX), ARM(2), ONCE)},
	{"far, then 0, then near: once", PLAIN,
	 STEPS(ARM_AHEAD(1ull << 40), DISARM, ARM(2), ONCE)},
	{"fired, then the same again: past by now, once more", PLAIN,
	 STEPS(ARM(1), FIRE(V), READ(0), ARM_SAME, ONCE)},
	{"fired, then 0: nothing more", PLAIN,
	 STEPS(ARM(1), FIRE(V), DISARM, READ(0), SILENT)},
	{"fired, then armed in the handler: once more", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), ARM(2), READ_ARMED, EOI, ONCE)},
	{"fired, then past in the handler: requested, once more", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), ARM_AT(1), REQUESTED(V), READ(0), EOI,
	       ONCE)},
	{"fired, then 0 in the handler: nothing more", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), DISARM, EOI, READ(0), SILENT)},
	{"past, then near: two", PLAIN,
	 STEPS(ARM_AT(1), ARM(4), TAKE(V), READ_ARMED, ONCE)},
	{"past, then 0: one, that was requested", PLAIN,
	 STEPS(ARM_AT(1), DISARM, READ(0), TAKE(V), SILENT)},
	{"past twice, interrupts off: one", PLAIN,
	 STEPS(ARM_AT(1), ARM_AT(2), ONCE)},
	{"past twice in the handler: one more", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), ARM_AT(1), ARM_AT(2), EOI, ONCE)},
	{"expired, interrupts off, then far: one, far stays armed", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), ARM_AHEAD(1ull << 40), TAKE(V),
	       READ_ARMED, SILENT)},
	{"expired, interrupts off, then 0: one", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), DISARM, TAKE(V), READ(0), SILENT)},
	{"expired twice, interrupts off: one", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), ARM(1), AWAIT_ZERO, TAKE(V), SILENT)},
	{"100 re-arms: once, at the last", PLAIN,
	 STEPS(CALL(rearm_series, 100))},
	{"99 re-arms, far and near and gone: once, at the last", PLAIN,
	 STEPS(CALL(rearm_far_series, 99))},
	{"1000 fires, each armed in the handler", PLAIN,
	 STEPS(CALL(back_to_back, 1000))},
	{"200 fires from the past", PLAIN, STEPS(CALL(past_series, 200))},
};

const struct topic topic_rearm = {
	.name = "rearm",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
