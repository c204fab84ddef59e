/* SPDX-License-Identifier: MIT */
/*
 * conformance_apic - deadlines and the rest of the local APIC: software
 * disable, task priority, interrupts in service.
 *
 * Reference: SDM 3A "Local APIC State After It Has Been Software Disabled"
 * (LVT entries are masked and stay so), "Task and Processor Priorities",
 * "Interrupt Acceptance for Fixed Interrupts". An expiry while the APIC is
 * off is held back as one while masked: so does KVM.
 */
#include "conformance.h"

#define ONCE   FIRE(V), READ(0), SILENT
#define UNMASK LVTT(DEADLINE | V)

static const struct question questions[] = {
	{"switched off while armed: LVTT masked, the deadline kept", PLAIN,
	 STEPS(ARM(8), APIC_OFF, LVTT_READ(DEADLINE | MASKED | V), READ_ARMED)},
	{"switched off: LVTT cannot be unmasked", PLAIN,
	 STEPS(APIC_OFF, UNMASK, LVTT_READ(DEADLINE | MASKED | V), APIC_ON,
	       LVTT_READ(DEADLINE | MASKED | V))},
	{"switched off while armed, expired: nothing, nor when on again", PLAIN,
	 STEPS(ARM(4), APIC_OFF, SILENT, APIC_ON, SILENT)},
	{"then unmasked: once", PLAIN,
	 STEPS(ARM(4), APIC_OFF, SILENT, APIC_ON, UNMASK, ONCE)},
	{"then 0, unmasked: nothing", PLAIN,
	 STEPS(ARM(4), APIC_OFF, SILENT, APIC_ON, DISARM, UNMASK, SILENT)},
	{"off, on, unmasked before the deadline: once, at it", PLAIN,
	 STEPS(ARM(8), APIC_OFF, APIC_ON, UNMASK, READ_ARMED, ONCE)},
	{"armed while off, on, unmasked: once", PLAIN,
	 STEPS(APIC_OFF, ARM(8), READ_ARMED, APIC_ON, UNMASK, ONCE)},
	{"disarmed while off: nothing", PLAIN,
	 STEPS(ARM(8), APIC_OFF, DISARM, APIC_ON, UNMASK, READ(0), SILENT)},
	{"task priority of the class: requested, held back, 0 read", PLAIN,
	 STEPS(TPR(V & 0xf0), ARM(1), AWAIT_REQUEST(V), READ(0), SILENT,
	       REQUESTED(V))},
	{"then lowered: once", PLAIN,
	 STEPS(TPR(V & 0xf0), ARM(1), SILENT, TPR(0), ONCE)},
	{"task priority of the class below: held back is nothing", PLAIN,
	 STEPS(TPR((V & 0xf0) - 1), ARM(1), ONCE)},
	{"task priority at its highest, then armed far, lowered: one", PLAIN,
	 STEPS(TPR(0xf0), ARM(1), AWAIT_REQUEST(V), ARM_AHEAD(1ull << 40),
	       TPR(0), TAKE(V), READ_ARMED, SILENT)},
	{"in service, the same vector expires: after end of interrupt", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), IN_SERVICE(V), ARM_AT(1), SILENT,
	       REQUESTED(V), EOI, ONCE)},
	{"in service, its class expires: after end of interrupt", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), LVTT(DEADLINE | V_SAME), ARM_AT(1), SILENT,
	       REQUESTED(V_SAME), EOI, FIRE(V_SAME), SILENT)},
	{"high in service, low expires: after end of interrupt", PLAIN,
	 STEPS(LVTT(DEADLINE | V_HIGH), ARM(1), FIRE_HELD(V_HIGH), UNMASK,
	       ARM(1), AWAIT_REQUEST(V), READ(0), SILENT, IN_SERVICE(V_HIGH),
	       EOI, FIRE(V), SILENT)},
	{"low in service, high expires: at once, ended first", PLAIN,
	 STEPS(ARM(1), FIRE_HELD(V), LVTT(DEADLINE | V_HIGH), ARM(1),
	       FIRE_HELD(V_HIGH), IN_SERVICE(V), IN_SERVICE(V_HIGH), EOI,
	       IN_SERVICE(V), NOT_IN_SERVICE(V_HIGH), EOI, NOT_IN_SERVICE(V),
	       SILENT)},
	{"two vectors requested: the higher comes first", PLAIN,
	 STEPS(ARM_AT(1), AWAIT_REQUEST(V), LVTT(DEADLINE | V_HIGH), ARM_AT(1),
	       AWAIT_REQUEST(V_HIGH), FIRE(V_HIGH), FIRE(V), SILENT)},
};

const struct topic topic_apic = {
	.name = "apic",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
