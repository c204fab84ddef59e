/* SPDX-License-Identifier: MIT */
/*
 * conformance_latch - expiry while LVTT is masked.
 *
 * The SDM lets a masked LVT entry deliver nothing and says no more. KVM keeps
 * the expiry: it comes when the guest unmasks, IA32_TSC_DEADLINE still reads
 * the deadline until then, and a write of it, or leaving the mode, drops it.
 * Reference: SDM 3A "Local Vector Table"; the rest is KVM, as seen.
 * Not asked: hosts that deliver timer interrupts by APIC virtualization may
 * drop the expiry instead.
 */
#include "conformance.h"

#define ONCE	FIRE(V), READ(0), SILENT

/* Expired while masked, and known to have. */
#define LATCHED LVTT(DEADLINE | MASKED | V), ARM(1), SILENT

#define UNMASK	LVTT(DEADLINE | V)

static const struct question questions[] = {
	{"masked, armed, expired: nothing", PLAIN, STEPS(LATCHED)},
	{"then it reads its deadline still", PLAIN, STEPS(LATCHED, READ_ARMED)},
	{"then unmasked: once", PLAIN, STEPS(LATCHED, UNMASK, ONCE)},
	{"masked, past written, unmasked: once", PLAIN,
	 STEPS(LVTT(DEADLINE | MASKED | V), ARM_AT(1), SILENT, UNMASK, ONCE)},
	{"then armed again, unmasked: once, at the new deadline", PLAIN,
	 STEPS(LATCHED, ARM(4), READ_ARMED, UNMASK, ONCE)},
	{"then armed far, unmasked: nothing", PLAIN,
	 STEPS(LATCHED, ARM_AHEAD(1ull << 40), UNMASK, SILENT, READ_ARMED)},
	{"then past again, unmasked: once", PLAIN,
	 STEPS(LATCHED, ARM_AT(1), UNMASK, ONCE)},
	{"then 0, unmasked: nothing", PLAIN,
	 STEPS(LATCHED, DISARM, READ(0), UNMASK, READ(0), SILENT)},
	{"then 0, near, unmasked: once, at the new deadline", PLAIN,
	 STEPS(LATCHED, DISARM, ARM(4), UNMASK, ONCE)},
	{"then expired again, unmasked: once", PLAIN,
	 STEPS(LATCHED, ARM(1), SILENT, UNMASK, ONCE)},
	{"then unmasked with another vector: once, on that", PLAIN,
	 STEPS(LATCHED, LVTT(DEADLINE | V_HIGH), FIRE(V_HIGH), READ(0),
	       SILENT)},
	{"then one-shot mode and back, unmasked: nothing", CORNER,
	 STEPS(LATCHED, LVTT(ONE_SHOT | MASKED | V), UNMASK, READ(0), SILENT)},
	{"then one-shot mode, unmasked: nothing", PLAIN,
	 STEPS(LATCHED, LVTT(ONE_SHOT | V), SILENT, AWAIT_ZERO)},
	{"then the APIC off and on, unmasked: nothing", PLAIN,
	 STEPS(LATCHED, APIC_OFF, APIC_ON, UNMASK, SILENT)},
	{"then unmasked, fired, armed: once more", PLAIN,
	 STEPS(LATCHED, UNMASK, FIRE(V), ARM(1), ONCE)},
	{"then unmasked, fired, masked, expired, unmasked: once more", PLAIN,
	 STEPS(LATCHED, UNMASK, FIRE(V), LATCHED, UNMASK, ONCE)},
	{"masked, unmasked before the deadline: once, at the deadline", PLAIN,
	 STEPS(LVTT(DEADLINE | MASKED | V), ARM(4), UNMASK, ONCE)},
	{"armed, masked, unmasked before the deadline: once", PLAIN,
	 STEPS(ARM(4), LVTT(DEADLINE | MASKED | V), UNMASK, ONCE)},
	{"armed, masked, 0, unmasked: nothing", PLAIN,
	 STEPS(ARM(4), LVTT(DEADLINE | MASKED | V), DISARM, UNMASK, SILENT)},
	{"requested, then masked: comes all the same", PLAIN,
	 STEPS(ARM(1), AWAIT_REQUEST(V), LVTT(DEADLINE | MASKED | V), TAKE(V),
	       READ(0), SILENT)},
};

const struct topic topic_latch = {
	.name = "latch",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
