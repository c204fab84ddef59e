/* SPDX-License-Identifier: MIT */
/*
 * conformance_mode - the timer mode changed under a deadline, and deadlines
 * written in another mode.
 *
 * Reference: SDM 3A "TSC-Deadline Mode": a write is ignored in any other
 * mode; a change into or out of the mode disarms. Mode 11b is reserved: KVM
 * stores it, and no timer runs in it.
 */
#include "conformance.h"

#define ONCE	 FIRE(V), READ(0), SILENT

#define TO(mode) LVTT((mode) | V)

static const struct question questions[] = {
	{"armed, then one-shot mode: nothing", PLAIN,
	 STEPS(ARM(4), TO(ONE_SHOT), SILENT, AWAIT_ZERO)},
	{"armed, then periodic mode: nothing", PLAIN,
	 STEPS(ARM(4), TO(PERIODIC), SILENT, AWAIT_ZERO)},
	{"armed, then mode 11b: nothing", PLAIN,
	 STEPS(ARM(4), TO(MODE_3), LVTT_READ(MODE_3 | V), SILENT, AWAIT_ZERO)},
	{"armed, one-shot mode, expired, deadline mode: nothing", PLAIN,
	 STEPS(ARM(4), TO(ONE_SHOT), SILENT, AWAIT_ZERO, TO(DEADLINE), SILENT)},
	{"armed, one-shot mode and back: nothing", CORNER,
	 STEPS(ARM(6), TO(ONE_SHOT), TO(DEADLINE), SILENT, READ(0))},
	{"armed, periodic mode and back: nothing", CORNER,
	 STEPS(ARM(6), TO(PERIODIC), TO(DEADLINE), SILENT, READ(0))},
	{"armed, mode 11b and back: nothing", CORNER,
	 STEPS(ARM(6), TO(MODE_3), TO(DEADLINE), SILENT, READ(0))},
	{"armed, one-shot mode and back, masked all along: nothing", CORNER,
	 STEPS(ARM(6), LVTT(ONE_SHOT | MASKED | V), LVTT(DEADLINE | MASKED | V),
	       SILENT, TO(DEADLINE), SILENT)},
	{"armed, one-shot mode and back, armed: once, at the new", PLAIN,
	 STEPS(ARM(6), TO(ONE_SHOT), TO(DEADLINE), ARM(10), ONCE)},
	{"fired, one-shot mode and back, armed: once more", PLAIN,
	 STEPS(ARM(1), FIRE(V), TO(ONE_SHOT), TO(DEADLINE), READ(0), ARM(1),
	       ONCE)},
	{"requested, then one-shot mode: comes all the same", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), TO(ONE_SHOT), TAKE(V), READ(0),
	       SILENT)},
	{"written in one-shot mode: nothing", PLAIN,
	 STEPS(TO(ONE_SHOT), ARM(4), SILENT, AWAIT_ZERO)},
	{"written in periodic mode: nothing", PLAIN,
	 STEPS(TO(PERIODIC), ARM(4), SILENT, AWAIT_ZERO)},
	{"written in mode 11b: nothing", PLAIN,
	 STEPS(TO(MODE_3), ARM(4), SILENT, AWAIT_ZERO)},
	{"past written in one-shot mode: nothing", PLAIN,
	 STEPS(TO(ONE_SHOT), ARM_AT(1), READ(0), SILENT)},
	{"past written in one-shot mode, then deadline mode: nothing", PLAIN,
	 STEPS(TO(ONE_SHOT), ARM_AT(1), TO(DEADLINE), READ(0), SILENT)},
	{"written in one-shot mode, then deadline mode: nothing", CORNER,
	 STEPS(TO(ONE_SHOT), ARM(6), TO(DEADLINE), SILENT, READ(0))},
	{"far written in one-shot mode, then deadline mode: 0", CORNER,
	 STEPS(TO(ONE_SHOT), ARM_AHEAD(1ull << 40), TO(DEADLINE), SILENT,
	       READ(0))},
	{"written in mode 11b, then deadline mode: nothing", CORNER,
	 STEPS(TO(MODE_3), ARM(6), TO(DEADLINE), SILENT, READ(0))},
	{"written in one-shot mode, then in deadline mode: once", PLAIN,
	 STEPS(TO(ONE_SHOT), ARM(6), TO(DEADLINE), ARM(10), ONCE)},
	{"0 written in one-shot mode, deadline mode, armed: once", PLAIN,
	 STEPS(TO(ONE_SHOT), DISARM, TO(DEADLINE), ARM(2), ONCE)},
};

const struct topic topic_mode = {
	.name = "mode",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
