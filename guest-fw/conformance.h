/* SPDX-License-Identifier: MIT */
/*
 * conformance - the questions, and the words they are written in.
 *
 * A question is a list of steps. Some act (write LVTT, arm a deadline), some
 * wait, some compare with a literal expected value. Every question starts
 * from the same state: timer in deadline mode on V, unmasked, disarmed; APIC
 * on, task priority 0; nothing requested or in service; interrupts off but
 * while a step waits.
 */
#ifndef GUEST_CONFORMANCE_H
#define GUEST_CONFORMANCE_H

#include "apic.h"
#include "layout.h"

#include <stdbool.h>
#include <stdint.h>

/* The timer's usual vector, one more of its priority class, a higher one. */
#define V	   VECTOR_TIMER
#define V_SAME	   (VECTOR_TIMER + 1)
#define V_HIGH	   0x81

/* LVTT's fields, short, for the tables. */
#define MASKED	   APIC_LVTT_MASKED
#define ONE_SHOT   APIC_LVTT_ONE_SHOT
#define PERIODIC   APIC_LVTT_PERIODIC
#define DEADLINE   APIC_LVTT_DEADLINE
#define MODE_3	   APIC_LVTT_RESERVED

/* The bus clock of a KVM guest, by default: one cycle is 1 ns. */
#define BUS_PER_MS 1000000ull

struct ask;

/* One step: a function and what it is told. The list ends with run == 0. */
struct step {
	void (*run)(struct ask *a, uint64_t value);
	uint64_t value;
};

/* clang-format off */

/*
 * Writes of IA32_TSC_DEADLINE. A unit is some milliseconds (conformance_ask.h);
 * all steps between ARM and the wait for it must be done before the deadline,
 * or the question is asked again with a larger unit. ARM_AHEAD and ARM_BEHIND:
 * now plus or minus n cycles; ARM_AT: n itself, not 0; ARM_ROUND: ahead, and
 * the low 32 bits are 0; ARM_SAME: what was written last.
 */
#define ARM(units)	  {step_arm, (units)}
#define ARM_AHEAD(tsc)	  {step_arm_ahead, (tsc)}
#define ARM_BEHIND(tsc)	  {step_arm_behind, (tsc)}
#define ARM_AT(tsc)	  {step_arm_at, (tsc)}
#define ARM_ROUND	  {step_arm_round, 0}
#define ARM_SAME	  {step_arm_same, 0}
#define DISARM		  {step_disarm, 0}

/* Reads of it: must be n; must be what was written last. */
#define READ(n)		  {step_read, (n)}
#define READ_ARMED	  {step_read_armed, 0}

#define LVTT(n)		  {step_lvtt, (n)}
#define LVTT_READ(n)	  {step_lvtt_read, (n)}

/*
 * Waits with interrupts on. FIRE: the vector must come, not before the
 * deadline; HELD leaves it in service; HLT waits halted, not busy. TAKE: the
 * vector must come, and nobody asks when; MOVED makes it a FIRE with
 * tsc=exact. SILENT: nothing may come until some
 * units after the latest deadline of the question.
 */
#define FIRE(v)		  {step_fire, (v)}
#define FIRE_HELD(v)	  {step_fire_held, (v)}
#define FIRE_HLT(v)	  {step_fire_hlt, (v)}
#define TAKE(v)		  {step_take, (v)}
#define TAKE_MOVED(v)	  {step_take_moved, (v)}
#define SILENT		  {step_silent, 0}

/* Waits with interrupts off: until a unit after the deadline; until the
 * vector's IRR bit is set; until IA32_TSC_DEADLINE reads 0. */
#define PASS		  {step_pass, 0}
#define AWAIT_REQUEST(v)  {step_await_request, (v)}
#define AWAIT_ZERO	  {step_await_zero, 0}

#define REQUESTED(v)	  {step_requested, (v)}
#define NOT_REQUESTED(v)  {step_not_requested, (v)}
#define IN_SERVICE(v)	  {step_in_service, (v)}
#define NOT_IN_SERVICE(v) {step_not_in_service, (v)}
#define EOI		  {step_eoi, 0}
#define TPR(n)		  {step_tpr, (n)}
#define APIC_ON		  {step_apic, true}
#define APIC_OFF	  {step_apic, false}

/* TMICT and TMCCT, in bus cycles. */
#define COUNT(n)	  {step_count, (n)}
#define COUNT_READ(n)	  {step_count_read, (n)}
#define CURRENT_READ(n)	  {step_current_read, (n)}

/* From here on the deadline may pass, that is what is asked. */
#define LET_PASS	  {step_let_pass, 0}

/* Adds n units (signed) to the TSC, by IA32_TSC or by IA32_TSC_ADJUST. */
#define MOVE_TSC(n)	  {step_move_tsc, (uint64_t)(int64_t)(n)}
#define MOVE_ADJUST(n)	  {step_move_adjust, (uint64_t)(int64_t)(n)}

/* A function of its own, for what no list of steps can say. */
#define CALL(fn, n)	  {fn, (n)}

#define STEPS(...)	  (const struct step[]) {__VA_ARGS__, {0, 0}}

/* clang-format on */

/* What the words above stand for. Callers: ask_question. */
void step_arm(struct ask *a, uint64_t value);
void step_arm_ahead(struct ask *a, uint64_t value);
void step_arm_behind(struct ask *a, uint64_t value);
void step_arm_at(struct ask *a, uint64_t value);
void step_arm_round(struct ask *a, uint64_t value);
void step_arm_same(struct ask *a, uint64_t value);
void step_disarm(struct ask *a, uint64_t value);
void step_read(struct ask *a, uint64_t value);
void step_read_armed(struct ask *a, uint64_t value);
void step_lvtt(struct ask *a, uint64_t value);
void step_lvtt_read(struct ask *a, uint64_t value);
void step_fire(struct ask *a, uint64_t value);
void step_fire_held(struct ask *a, uint64_t value);
void step_fire_hlt(struct ask *a, uint64_t value);
void step_take(struct ask *a, uint64_t value);
void step_take_moved(struct ask *a, uint64_t value);
void step_let_pass(struct ask *a, uint64_t value);
void step_silent(struct ask *a, uint64_t value);
void step_pass(struct ask *a, uint64_t value);
void step_await_request(struct ask *a, uint64_t value);
void step_await_zero(struct ask *a, uint64_t value);
void step_requested(struct ask *a, uint64_t value);
void step_not_requested(struct ask *a, uint64_t value);
void step_in_service(struct ask *a, uint64_t value);
void step_not_in_service(struct ask *a, uint64_t value);
void step_eoi(struct ask *a, uint64_t value);
void step_tpr(struct ask *a, uint64_t value);
void step_apic(struct ask *a, uint64_t value);
void step_count(struct ask *a, uint64_t value);
void step_count_read(struct ask *a, uint64_t value);
void step_current_read(struct ask *a, uint64_t value);
void step_move_tsc(struct ask *a, uint64_t value);
void step_move_adjust(struct ask *a, uint64_t value);

enum question_kind {
	PLAIN,
	/* LVTT writes and INIT do not exit to a VMM, so one that keeps the
	 * deadline in userspace may learn of them only when it fires. The
	 * question has the hardware's answer; with strict=no another number
	 * of interrupts, or another value read, is noted and let pass. */
	CORNER,
	NEEDS_ADJUST, /* CPUID offers IA32_TSC_ADJUST */
};

struct question {
	const char *name;
	enum question_kind kind;
	const struct step *steps;
};

struct topic {
	const char *name;
	const struct question *questions;
	unsigned count;
	bool several_cpus; /* not asked with cpus=1 */
};

extern const struct topic topic_read, topic_deadline, topic_rearm, topic_latch,
	topic_lvtt, topic_mode, topic_count, topic_apic, topic_halt, topic_tsc,
	topic_smp;

/* For the topic smp: how many CPUs there are to ask. Before the first
 * question; the boot CPU starts the others when the topic comes up. */
void conformance_smp_cpus(unsigned cpus);

#endif
