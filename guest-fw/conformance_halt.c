/* SPDX-License-Identifier: MIT */
/*
 * conformance_halt - expiry while the CPU is halted, or has interrupts off.
 *
 * Reference: SDM 2A "HLT", "STI"; SDM 3A "TSC-Deadline Mode". What is lost
 * here leaves the CPU halted for ever: the run ends by the time limit.
 */
#include "conformance.h"
#include "conformance_ask.h"

#include "arch.h"

/* n halts, one after the other. */
static void halt_series(struct ask *a, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		ask_arm(a, tsc_read() + a->unit_tsc / 8, false);
		if (!ask_fire_hlt(a, V))
			return;
		apic_eoi();
	}
	ask_silent(a);
}

static const struct question questions[] = {
	{"expiry with interrupts off, then on: once", PLAIN,
	 STEPS(ARM(1), PASS, FIRE(V), READ(0), SILENT)},
	{"expiry with interrupts off: requested, not in service", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), NOT_IN_SERVICE(V), TAKE(V),
	       NOT_REQUESTED(V))},
	{"expiry while halted: once", PLAIN,
	 STEPS(ARM(2), FIRE_HLT(V), READ(0), SILENT)},
	{"near expiry while halted: once", PLAIN,
	 STEPS(ARM_AHEAD(1000), FIRE_HLT(V), READ(0), SILENT)},
	{"past before the halt: once", PLAIN,
	 STEPS(ARM_AT(1), FIRE_HLT(V), READ(0), SILENT)},
	{"expiry with interrupts off, then halted: once", PLAIN,
	 STEPS(ARM(1), PASS, FIRE_HLT(V), SILENT)},
	{"re-armed, then halted: once, at the later", PLAIN,
	 STEPS(ARM(2), ARM(6), FIRE_HLT(V), READ(0), SILENT)},
	{"masked, expired, unmasked, halted: once", PLAIN,
	 STEPS(LVTT(DEADLINE | MASKED | V), ARM(1), SILENT, LVTT(DEADLINE | V),
	       FIRE_HLT(V), SILENT)},
	{"held back by task priority, lowered, halted: once", PLAIN,
	 STEPS(TPR(0xf0), ARM(1), AWAIT_REQUEST(V), TPR(0), FIRE_HLT(V),
	       SILENT)},
	{"100 halts", PLAIN, STEPS(CALL(halt_series, 100))},
};

const struct topic topic_halt = {
	.name = "halt",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
