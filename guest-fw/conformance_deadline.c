/* SPDX-License-Identifier: MIT */
/*
 * conformance_deadline - single deadlines: zero, past, near, far, wrapping.
 *
 * Reference: SDM 3A "TSC-Deadline Mode": 0 disarms, a deadline that is not
 * in the future fires at once, comparison is of unsigned 64-bit numbers.
 * Each that is due fires exactly once, on V, and never before the deadline.
 */
#include "conformance.h"

/* One interrupt, none before its time, none after it. */
#define ONCE	  FIRE(V), READ(0), SILENT

/* Armed, and nothing comes; it stays armed, and a near one still works. */
#define FAR_STAYS READ_ARMED, SILENT, READ_ARMED, ARM(1), ONCE

static const struct question questions[] = {
	{"0: nothing", PLAIN, STEPS(DISARM, READ(0), SILENT)},
	{"0 twice: nothing", PLAIN, STEPS(DISARM, DISARM, READ(0), SILENT)},
	{"1: once", PLAIN, STEPS(ARM_AT(1), ONCE)},
	{"now - 1000000: once", PLAIN, STEPS(ARM_BEHIND(1000000), ONCE)},
	{"now - 1: once", PLAIN, STEPS(ARM_BEHIND(1), ONCE)},
	{"now: once", PLAIN, STEPS(ARM_AHEAD(0), ONCE)},
	{"now + 1: once", PLAIN, STEPS(ARM_AHEAD(1), ONCE)},
	{"now + 50: once", PLAIN, STEPS(ARM_AHEAD(50), ONCE)},
	{"now + 100: once", PLAIN, STEPS(ARM_AHEAD(100), ONCE)},
	{"now + 1000: once", PLAIN, STEPS(ARM_AHEAD(1000), ONCE)},
	{"now + 5000: once", PLAIN, STEPS(ARM_AHEAD(5000), ONCE)},
	{"now + 50000: once", PLAIN, STEPS(ARM_AHEAD(50000), ONCE)},
	{"now + 200000: once", PLAIN, STEPS(ARM_AHEAD(200000), ONCE)},
	{"1 unit ahead: once", PLAIN, STEPS(ARM(1), ONCE)},
	{"10 units ahead: once", PLAIN, STEPS(ARM(10), ONCE)},
	{"now + 2^40: nothing yet", PLAIN,
	 STEPS(ARM_AHEAD(1ull << 40), FAR_STAYS)},
	{"now + 2^62: nothing", PLAIN, STEPS(ARM_AHEAD(1ull << 62), FAR_STAYS)},
	{"2^63 - 1: nothing", PLAIN,
	 STEPS(ARM_AT((1ull << 63) - 1), FAR_STAYS)},
	{"2^63: nothing", PLAIN, STEPS(ARM_AT(1ull << 63), FAR_STAYS)},
	{"now + 2^63: nothing", PLAIN, STEPS(ARM_AHEAD(1ull << 63), FAR_STAYS)},
	{"2^64 - 2: nothing", PLAIN, STEPS(ARM_AT(UINT64_MAX - 1), FAR_STAYS)},
	{"2^64 - 1: nothing", PLAIN, STEPS(ARM_AT(UINT64_MAX), FAR_STAYS)},
	{"now + 2^64 - 1, which wraps into the past: once", PLAIN,
	 STEPS(ARM_AHEAD(UINT64_MAX), ONCE)},
	{"now + 2^64 - 50000, which wraps into the past: once", PLAIN,
	 STEPS(ARM_AHEAD(UINT64_MAX - 49999), ONCE)},
};

const struct topic topic_deadline = {
	.name = "deadline",
	.questions = questions,
	.count = sizeof(questions) / sizeof(questions[0]),
};
