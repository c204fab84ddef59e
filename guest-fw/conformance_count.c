/* SPDX-License-Identifier: MIT */
/*
 * conformance_count - one-shot and periodic mode, beside the deadlines.
 *
 * Reference: SDM 3A "APIC Timer"; the bus clock is taken to be 1 GHz, which
 * matters for the length of the waits alone. A change between one-shot and
 * periodic mode keeps the count running: so does KVM.
 */
#include "conformance.h"
#include "conformance_ask.h"

#include "arch.h"

#define MS	  BUS_PER_MS
#define LONG	  (4000 * MS)
#define ONE_COUNT LVTT(ONE_SHOT | V), COUNT(2 * MS)

/* The mode changes while the count runs; a host too slow to show that is asked
 * again. */
static void one_shot_to_periodic(struct ask *a, uint64_t initial)
{
	apic_lvtt_write(ONE_SHOT | V);
	apic_count_write((uint32_t)initial);
	apic_lvtt_write(PERIODIC | V);
	if (apic_count_current() == 0) {
		a->verdict = ASK_AGAIN;
		return;
	}
	ask_expect(a, "TMICT", apic_count_initial(), initial);
	ask_fire(a, V);
	ask_fire(a, V);
}

/* TMCCT goes down from TMICT, and not below 0. */
static void count_goes_down(struct ask *a, uint64_t initial)
{
	uint32_t first, second;

	apic_count_write((uint32_t)initial);
	first = apic_count_current();
	a->wait->limit_tsc = tsc_read() + a->unit_tsc;
	while (tsc_read() < a->wait->limit_tsc)
		cpu_relax();
	second = apic_count_current();
	ask_expect(a, "TMCCT <= TMICT", first <= initial, 1);
	ask_expect(a, "TMCCT > 0", second > 0, 1);
	ask_expect(a, "TMCCT goes down", second < first, 1);
}

static const struct question questions[] = {
	{"one-shot: once, TMCCT 0 and TMICT kept afterwards", PLAIN,
	 STEPS(ONE_COUNT, COUNT_READ(2 * MS), FIRE(V), CURRENT_READ(0),
	       COUNT_READ(2 * MS), SILENT)},
	{"one-shot: TMCCT goes down", PLAIN,
	 STEPS(LVTT(ONE_SHOT | V), CALL(count_goes_down, LONG))},
	{"one-shot, then TMICT 0: nothing", PLAIN,
	 STEPS(LVTT(ONE_SHOT | V), COUNT(LONG), COUNT(0), CURRENT_READ(0),
	       SILENT)},
	{"one-shot, masked, expired, unmasked: once", PLAIN,
	 STEPS(LVTT(ONE_SHOT | MASKED | V), COUNT(MS), SILENT,
	       LVTT(ONE_SHOT | V), FIRE(V), SILENT)},
	{"periodic: three, TMICT kept", PLAIN,
	 STEPS(LVTT(PERIODIC | V), COUNT(2 * MS), FIRE(V), FIRE(V), FIRE(V),
	       COUNT_READ(2 * MS))},
	{"periodic, then TMICT 0: nothing", PLAIN,
	 STEPS(LVTT(PERIODIC | V), COUNT(LONG), COUNT(0), SILENT)},
	{"TMICT in deadline mode: ignored", PLAIN,
	 STEPS(COUNT(MS), COUNT_READ(0), CURRENT_READ(0), SILENT)},
	{"TMICT in deadline mode leaves an armed deadline", PLAIN,
	 STEPS(ARM(4), COUNT(MS), READ_ARMED, FIRE(V), SILENT)},
	{"one-shot running, then deadline mode: nothing, TMICT 0", PLAIN,
	 STEPS(LVTT(ONE_SHOT | V), COUNT(LONG), LVTT(DEADLINE | V),
	       COUNT_READ(0), CURRENT_READ(0), READ(0), SILENT)},
	{"periodic running, then deadline mode, armed: once", PLAIN,
	 STEPS(LVTT(PERIODIC | V), COUNT(LONG), LVTT(DEADLINE | V), ARM(2),
	       FIRE(V), SILENT)},
	{"0 written as deadline leaves a running one-shot", PLAIN,
	 STEPS(ONE_COUNT, DISARM, COUNT_READ(2 * MS), FIRE(V), SILENT)},
	{"past written as deadline leaves a running one-shot", PLAIN,
	 STEPS(ONE_COUNT, ARM_AT(1), FIRE(V), CURRENT_READ(0), SILENT)},
	{"deadline armed, then one-shot used: once, from that", PLAIN,
	 STEPS(ARM(8), ONE_COUNT, TAKE(V), SILENT)},
	{"one-shot fired, then deadline mode, armed: once", PLAIN,
	 STEPS(ONE_COUNT, FIRE(V), LVTT(DEADLINE | V), ARM(1), FIRE(V), READ(0),
	       SILENT)},
	{"one-shot running, then periodic: TMICT kept, two", PLAIN,
	 STEPS(CALL(one_shot_to_periodic, 5 * MS))},
	{"mode 11b, TMICT written: nothing", PLAIN,
	 STEPS(LVTT(MODE_3 | V), COUNT(MS), SILENT)},
};

const struct topic topic_count = {
	.name = "count",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
