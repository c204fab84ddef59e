/* SPDX-License-Identifier: MIT */
/*
 * conformance_ask - asks one question of the calling CPU's timer.
 */
#ifndef GUEST_CONFORMANCE_ASK_H
#define GUEST_CONFORMANCE_ASK_H

#include "conformance.h"
#include "irqwait.h"

#include <stdbool.h>
#include <stdint.h>

enum ask_verdict {
	ASK_GOOD,
	/* A deadline passed before the steps ahead of it were done: nothing is
	 * proven, the question is asked again with twice the unit. */
	ASK_AGAIN,
	ASK_DIFFERS, /* a number is not the expected one */
	ASK_WRONG,   /* early, or lost: excused nowhere */
};

/* One CPU's asking. Unless said otherwise, times are guest TSC cycles. */
struct ask {
	/* set by the caller */
	struct irqwait *wait;
	uint64_t unit_tsc;   /* grows with each ASK_AGAIN */
	uint64_t second_tsc; /* about one, for the patience of waits */
	bool has_adjust;     /* IA32_TSC_ADJUST is there */
	bool exact_tsc;	     /* not early even after a move of the TSC */
	/* the question's state */
	uint64_t deadline_guest_tsc; /* last one written that was not 0 */
	uint64_t horizon_guest_tsc;  /* latest deadline armed in units */
	bool racing;		     /* the race must not be over */
	uint64_t race_guest_tsc;     /* the deadline, or before it: moves */
	uint64_t adjust_at_start;
	int64_t moved_tsc; /* sum of the moves of the TSC, as seen */
	/* the answer */
	enum ask_verdict verdict;
	unsigned step; /* how many were carried out, the last one included */
	const char *what;
	uint64_t got, expected;
	bool fired;	       /* an interrupt came; the last one ... */
	int64_t late_tsc;      /* ... so long after the deadline */
	int64_t last_move_tsc; /* the last move of the TSC, as seen */
};

/* Asks. The answer is in a->verdict and what follows it. */
void ask_question(struct ask *a, const struct step *steps);

/* Brings the calling CPU's timer and APIC to the state a question starts
 * from, whatever they are in. */
void ask_reset(struct ask *a);

/*
 * For the functions of CALL steps. Each returns whether the question may go
 * on; once one has not, the others do nothing. Ring 0, IF clear.
 */

/* Writes the deadline. racing: it must not pass before the next wait. */
bool ask_arm(struct ask *a, uint64_t deadline_guest_tsc, bool racing);

/* Writes 0. */
bool ask_disarm(struct ask *a);

/* Waits busy for an interrupt: it must be this vector's and not early. Leaves
 * it in service. */
bool ask_fire_held(struct ask *a, uint8_t vector);

/* The same, halted. */
bool ask_fire_hlt(struct ask *a, uint8_t vector);

/* The same as the first, but nobody asks when it came. */
bool ask_take(struct ask *a, uint8_t vector);

/* As ask_fire_held, and signals end of interrupt. */
bool ask_fire(struct ask *a, uint8_t vector);

/* Waits, interrupts off, for the vector's IRR bit. */
bool ask_request(struct ask *a, uint8_t vector);

/* Waits, interrupts off, until the deadline register reads 0. */
bool ask_zero(struct ask *a);

/* No interrupt may come until three units after the latest deadline. */
bool ask_silent(struct ask *a);

/* Compares; what names the thing in a diagnostic. */
bool ask_expect(struct ask *a, const char *what, uint64_t got,
		uint64_t expected);

#endif
