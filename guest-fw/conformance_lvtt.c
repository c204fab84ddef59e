/* SPDX-License-Identifier: MIT */
/*
 * conformance_lvtt - LVTT itself, and its vector changed under a deadline.
 *
 * Reference: SDM 3A "Local Vector Table": the vector in force at expiry is
 * delivered, none below 16 ever.
 * Not asked: what the error status register says of a vector below 16, where
 * KVM stays silent.
 */
#include "conformance.h"

#define VECTOR_ILLEGAL 5

static const struct question questions[] = {
	{"deadline mode reads back", PLAIN,
	 STEPS(LVTT(DEADLINE | V), LVTT_READ(DEADLINE | V))},
	{"deadline mode, masked, reads back", PLAIN,
	 STEPS(LVTT(DEADLINE | MASKED | V_HIGH),
	       LVTT_READ(DEADLINE | MASKED | V_HIGH))},
	{"one-shot mode reads back", PLAIN,
	 STEPS(LVTT(ONE_SHOT | V), LVTT_READ(ONE_SHOT | V))},
	{"periodic mode reads back", PLAIN,
	 STEPS(LVTT(PERIODIC | MASKED | V), LVTT_READ(PERIODIC | MASKED | V))},
	{"unchanged by arm and fire", PLAIN,
	 STEPS(ARM(1), LVTT_READ(DEADLINE | V), FIRE(V),
	       LVTT_READ(DEADLINE | V))},
	{"unchanged by an expiry while masked", PLAIN,
	 STEPS(LVTT(DEADLINE | MASKED | V), ARM(1), SILENT,
	       LVTT_READ(DEADLINE | MASKED | V))},
	{"another vector: fires on that", PLAIN,
	 STEPS(LVTT(DEADLINE | V_HIGH), ARM(1), FIRE(V_HIGH), READ(0), SILENT)},
	{"armed, then another vector: once, on the new", PLAIN,
	 STEPS(ARM(4), LVTT(DEADLINE | V_SAME), FIRE(V_SAME), READ(0), SILENT)},
	{"armed, then another vector and back: once, on the old", PLAIN,
	 STEPS(ARM(6), LVTT(DEADLINE | V_SAME), LVTT(DEADLINE | V), FIRE(V),
	       SILENT)},
	{"requested, then another vector: once, on the old", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), LVTT(DEADLINE | V_SAME),
	       NOT_REQUESTED(V_SAME), TAKE(V), SILENT)},
	{"fired, then another vector, armed: once, on the new", PLAIN,
	 STEPS(ARM(1), FIRE(V), LVTT(DEADLINE | V_HIGH), ARM(1), FIRE(V_HIGH),
	       SILENT)},
	{"the same LVTT written three times while armed: once", PLAIN,
	 STEPS(ARM(6), LVTT(DEADLINE | V), LVTT(DEADLINE | V),
	       LVTT(DEADLINE | V), READ_ARMED, FIRE(V), SILENT)},
	{"vector below 16: nothing, and the next deadline works", PLAIN,
	 STEPS(LVTT(DEADLINE | VECTOR_ILLEGAL), ARM(1), SILENT, AWAIT_ZERO,
	       LVTT(DEADLINE | V), SILENT, ARM(1), FIRE(V), SILENT)},
	{"vector below 16 while armed, put right before: once", PLAIN,
	 STEPS(ARM(6), LVTT(DEADLINE | VECTOR_ILLEGAL), LVTT(DEADLINE | V),
	       FIRE(V), SILENT)},
};

const struct topic topic_lvtt = {
	.name = "lvtt",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
