/* SPDX-License-Identifier: MIT */
/*
 * conformance_read - what IA32_TSC_DEADLINE reads in every state of the timer.
 *
 * Reference: SDM 3A "TSC-Deadline Mode": the armed value, and 0 once the
 * deadline has been delivered, the timer was disarmed, or left the mode.
 * Where KVM still holds an expiry back the topic latch asks.
 */
#include "conformance.h"

static const struct question questions[] = {
	{"nothing written: 0", PLAIN, STEPS(READ(0))},
	{"armed: the deadline, until it fires", PLAIN,
	 STEPS(ARM(4), READ_ARMED, FIRE(V), READ(0))},
	{"armed far: the deadline, read twice", PLAIN,
	 STEPS(ARM_AHEAD(1ull << 40), READ_ARMED, SILENT, READ_ARMED)},
	{"fired: 0, and 0 again later", PLAIN,
	 STEPS(ARM(1), FIRE(V), READ(0), SILENT, READ(0))},
	{"fired, end of interrupt not yet signalled: 0", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), READ(0), EOI, READ(0))},
	{"fired from the past: 0", PLAIN, STEPS(ARM_AT(1), FIRE(V), READ(0))},
	{"disarmed: 0", PLAIN, STEPS(ARM(8), DISARM, READ(0))},
	{"armed again, later: the new deadline", PLAIN,
	 STEPS(ARM(8), ARM(16), READ_ARMED)},
	{"armed again, sooner: the new deadline", PLAIN,
	 STEPS(ARM(16), ARM(8), READ_ARMED)},
	{"disarmed and armed again: the new deadline", PLAIN,
	 STEPS(ARM(8), DISARM, ARM(16), READ_ARMED)},
	{"expired, interrupts off, vector requested: 0", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), READ(0), TAKE(V), READ(0))},
	{"armed and masked: the deadline", PLAIN,
	 STEPS(ARM(8), LVTT(DEADLINE | MASKED | V), READ_ARMED)},
	{"armed, the vector changed: the deadline", PLAIN,
	 STEPS(ARM(8), LVTT(DEADLINE | V_HIGH), READ_ARMED)},
	{"armed, the APIC switched off by software: the deadline", PLAIN,
	 STEPS(ARM(8), APIC_OFF, READ_ARMED)},
	{"2^64 - 1: itself", PLAIN, STEPS(ARM_AT(UINT64_MAX), READ_ARMED)},
	{"2^63: itself", PLAIN, STEPS(ARM_AT(1ull << 63), READ_ARMED)},
	{"low half 0: itself, not disarmed", PLAIN,
	 STEPS(ARM_ROUND, READ_ARMED, SILENT, READ_ARMED)},
	{"one-shot mode, nothing written: 0", PLAIN,
	 STEPS(LVTT(ONE_SHOT | V), READ(0))},
	{"armed, then one-shot mode: 0", CORNER,
	 STEPS(ARM(8), LVTT(ONE_SHOT | V), READ(0))},
	{"armed, then periodic mode: 0", CORNER,
	 STEPS(ARM(8), LVTT(PERIODIC | V), READ(0))},
	{"armed, then one-shot mode and back: 0", CORNER,
	 STEPS(ARM(8), LVTT(ONE_SHOT | V), LVTT(DEADLINE | V), READ(0))},
	{"written in one-shot mode: 0", CORNER,
	 STEPS(LVTT(ONE_SHOT | V), ARM(8), READ(0))},
	{"written in one-shot mode, then deadline mode: 0", CORNER,
	 STEPS(LVTT(ONE_SHOT | V), ARM(8), LVTT(DEADLINE | V), READ(0))},
	{"written in periodic mode: 0", CORNER,
	 STEPS(LVTT(PERIODIC | V), ARM(8), READ(0))},
};

const struct topic topic_read = {
	.name = "read",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
