/* SPDX-License-Identifier: MIT */
/*
 * conformance_tsc - the guest moves its time-stamp counter under a deadline.
 *
 * Reference: SDM 3B "Time-Stamp Counter Adjustment": the deadline is a value
 * of the counter, so a move forwards brings it nearer and a move backwards
 * takes it away. Hosts differ in when they fire: KVM leaves its own timer
 * as it was armed, so that it fires late after a move forwards and early after
 * one backwards, and some back ends do not move the counter at all. Asked is
 * what holds everywhere; what else was seen is printed. A userspace timer
 * plans anew after a move: tsc=exact asks it to be never early there, too.
 */
#include "conformance.h"

static const struct question questions[] = {
	{"IA32_TSC forwards, short of the deadline: once", PLAIN,
	 STEPS(ARM(8), MOVE_TSC(2), READ_ARMED, FIRE(V), READ(0), SILENT)},
	{"IA32_TSC forwards past the deadline: once", PLAIN,
	 STEPS(ARM(4), LET_PASS, MOVE_TSC(8), FIRE(V), READ(0), SILENT)},
	{"IA32_TSC backwards: once", PLAIN,
	 STEPS(ARM(4), MOVE_TSC(-4), READ_ARMED, TAKE_MOVED(V), READ(0),
	       SILENT)},
	{"IA32_TSC forwards and back: once", PLAIN,
	 STEPS(ARM(8), MOVE_TSC(4), MOVE_TSC(-4), READ_ARMED, TAKE_MOVED(V),
	       READ(0), SILENT)},
	{"fired, then IA32_TSC backwards: no more", PLAIN,
	 STEPS(ARM(1), FIRE(V), MOVE_TSC(-4), READ(0), SILENT)},
	{"disarmed, then IA32_TSC forwards: nothing", PLAIN,
	 STEPS(ARM(4), DISARM, MOVE_TSC(8), READ(0), SILENT)},
	{"IA32_TSC backwards, then armed: once, at the deadline", PLAIN,
	 STEPS(MOVE_TSC(-8), ARM(2), FIRE(V), READ(0), SILENT)},
	{"IA32_TSC forwards, then armed: once, at the deadline", PLAIN,
	 STEPS(MOVE_TSC(100), ARM(2), FIRE(V), READ(0), SILENT)},
	{"armed far, then IA32_TSC forwards: nothing", PLAIN,
	 STEPS(ARM_AHEAD(1ull << 40), MOVE_TSC(8), READ_ARMED, SILENT)},
	{"IA32_TSC_ADJUST forwards, short of the deadline: once", NEEDS_ADJUST,
	 STEPS(ARM(8), MOVE_ADJUST(2), READ_ARMED, FIRE(V), READ(0), SILENT)},
	{"IA32_TSC_ADJUST forwards past the deadline: once", NEEDS_ADJUST,
	 STEPS(ARM(4), LET_PASS, MOVE_ADJUST(8), FIRE(V), READ(0), SILENT)},
	{"IA32_TSC_ADJUST backwards: once", NEEDS_ADJUST,
	 STEPS(ARM(4), MOVE_ADJUST(-4), READ_ARMED, TAKE_MOVED(V), READ(0),
	       SILENT)},
	{"IA32_TSC_ADJUST backwards, then armed: once", NEEDS_ADJUST,
	 STEPS(MOVE_ADJUST(-8), ARM(2), FIRE(V), READ(0), SILENT)},
	{"masked, expired, IA32_TSC backwards, unmasked: once", PLAIN,
	 STEPS(LVTT(DEADLINE | MASKED | V), ARM(1), SILENT, MOVE_TSC(-8),
	       LVTT(DEADLINE | V), TAKE(V), READ(0), SILENT)},
};

const struct topic topic_tsc = {
	.name = "tsc",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
