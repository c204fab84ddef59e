/* SPDX-License-Identifier: MIT */
/*
 * conformance - what a TSC-deadline timer must do, asked one by one; TAP.
 *
 * The same image runs on KVM's own timer and on one kept in userspace: each
 * question has one literal answer for both. Words: only=N or only=TOPIC;
 * cpus=N (1: those for several CPUs are not asked); slow=N makes every wait N
 * times as long; strict=yes|no (no: see CORNER in conformance.h); tsc=any|exact
 * (exact: not early even where the guest moved its TSC, as KVM's own timer is).
 * A deadline that passes before its question is ready for it is tried again.
 * Exit status: 0 all as expected, 3 some not, else power.h.
 * Not asked: latency; only too early is wrong here, and never.
 */
#include "conformance.h"

#include "arch.h"
#include "boot.h"
#include "conformance_ask.h"
#include "console.h"
#include "cpu.h"
#include "power.h"
#include "string.h"
#include "tsc_khz.h"
#include "words.h"

#include <stddef.h>

#define STATUS_NOT_OK  3

#define SLOW_MAX       1000

/* A unit is 2 ms, where the frequency is known. */
#define UNITS_A_SECOND 500
#define KHZ_UNKNOWN    2000000

/* Up to 2^7 times the unit, 256 ms, for a host that keeps stopping us. */
#define ASK_TRIES      8

static const struct topic *const topics[] = {
	&topic_read, &topic_deadline, &topic_rearm, &topic_latch,
	&topic_lvtt, &topic_mode,     &topic_count, &topic_apic,
	&topic_halt, &topic_tsc,      &topic_smp,
};

#define TOPICS (sizeof(topics) / sizeof(topics[0]))

static struct plan {
	unsigned cpus;
	bool strict;
	const char *only_topic; /* NULL: all */
	unsigned only_number;	/* 1 = first of all; 0: all */
	uint64_t unit_tsc;
	uint64_t second_tsc;
	bool has_adjust;
	bool exact_tsc;
} plan;

static unsigned printed, failed, differing;

/* Walks over all questions; number is the one `only` means. */
struct cursor {
	unsigned topic, question, number;
};

static const struct question *cursor_question(const struct cursor *c)
{
	return &topics[c->topic]->questions[c->question];
}

static bool cursor_next(struct cursor *c)
{
	c->number++;
	if (++c->question < topics[c->topic]->count)
		return true;
	c->question = 0;
	return ++c->topic < TOPICS;
}

static bool is_number(const char *text)
{
	return *text >= '0' && *text <= '9';
}

static void only_by_word(void)
{
	const char *value = words_get("only");
	unsigned count = 0;

	if (!value)
		return;
	for (size_t i = 0; i < TOPICS; i++) {
		count += topics[i]->count;
		if (!strcmp(topics[i]->name, value))
			plan.only_topic = topics[i]->name;
	}
	if (plan.only_topic)
		return;
	if (!is_number(value))
		words_refuse("only", "neither a number nor a topic");
	plan.only_number = (unsigned)words_u64("only", 1, count, 0);
}

static void plan_by_words(void)
{
	static const char *const answers[] = {"yes", "no", NULL};
	static const char *const moves[] = {"any", "exact", NULL};
	const char *source;
	uint64_t slow = words_u64("slow", 1, SLOW_MAX, 1);
	uint64_t khz = tsc_khz_from_host(&source);

	if (!khz)
		khz = KHZ_UNKNOWN;
	plan.cpus = (unsigned)words_u64("cpus", 1, CPUS_MAX, 1);
	plan.strict = words_choice("strict", answers, 0) == 0;
	plan.exact_tsc = words_choice("tsc", moves, 0) == 1;
	plan.second_tsc = khz * 1000 * slow;
	plan.unit_tsc = plan.second_tsc / UNITS_A_SECOND;
	plan.has_adjust = cpuid(0, 0).eax >= 7 &&
			  cpuid(7, 0).ebx & CPUID_7_EBX_TSC_ADJUST;
	only_by_word();
	words_end();
}

static bool is_asked(const struct cursor *c)
{
	const struct topic *topic = topics[c->topic];

	if (topic->several_cpus && plan.cpus == 1)
		return false;
	if (cursor_question(c)->kind == NEEDS_ADJUST && !plan.has_adjust)
		return false;
	if (plan.only_topic)
		return topic->name == plan.only_topic;
	return !plan.only_number || plan.only_number == c->number;
}

static void print_plan(void)
{
	struct cursor c = {.number = 1};
	unsigned asked = 0, smp = 0, adjust = 0;

	do {
		asked += is_asked(&c);
		smp += topics[c.topic]->several_cpus && plan.cpus == 1;
		adjust += cursor_question(&c)->kind == NEEDS_ADJUST &&
			  !plan.has_adjust;
	} while (cursor_next(&c));
	if (!asked)
		words_refuse("only", "asks nothing: it needs cpus=2 or more, "
				     "or IA32_TSC_ADJUST");
	console_printf("1..%u\n", asked);
	if (smp)
		console_printf("# cpus=1: %u questions not asked\n", smp);
	if (adjust)
		console_printf("# no IA32_TSC_ADJUST: %u questions not asked\n",
			       adjust);
}

static void print_difference(const struct ask *a)
{
	if (a->verdict == ASK_AGAIN) {
		console_printf("# in %u tries the deadline passed before step "
			       "%u was done: slow=N gives more time\n",
			       ASK_TRIES, a->step);
		return;
	}
	console_printf("# step %u: %s 0x%llx, expected 0x%llx\n", a->step,
		       a->what, (unsigned long long)a->got,
		       (unsigned long long)a->expected);
}

/* Where hosts differ, and both may be right. */
static void print_move(const struct ask *a)
{
	console_printf("# TSC moved by %lld", (long long)a->last_move_tsc);
	if (a->fired)
		console_printf(", fired %lld cycles after the deadline",
			       (long long)a->late_tsc);
	console_puts("\n");
}

static void print_answer(const struct cursor *c, const struct ask *a)
{
	const bool excused = cursor_question(c)->kind == CORNER &&
			     !plan.strict && a->verdict == ASK_DIFFERS;
	const bool good = a->verdict == ASK_GOOD || excused;

	console_printf("%sok %u - %u %s: %s\n", good ? "" : "not ", ++printed,
		       c->number, topics[c->topic]->name,
		       cursor_question(c)->name);
	if (excused)
		console_puts("# differs from the hardware; strict=no\n");
	if (a->verdict != ASK_GOOD)
		print_difference(a);
	if (a->last_move_tsc)
		print_move(a);
	failed += !good;
	differing += excused;
}

static void ask_and_print(const struct cursor *c)
{
	struct ask a = {
		.wait = cpu_irqwait(0),
		.unit_tsc = plan.unit_tsc,
		.second_tsc = plan.second_tsc,
		.has_adjust = plan.has_adjust,
		.exact_tsc = plan.exact_tsc,
	};

	for (unsigned i = 0; i < ASK_TRIES; i++) {
		ask_question(&a, cursor_question(c)->steps);
		if (a.verdict != ASK_AGAIN)
			break;
		a.unit_tsc *= 2;
	}
	print_answer(c, &a);
}

void guest_main(void)
{
	struct cursor c = {.number = 1};

	plan_by_words();
	if (!apic_has_deadline_timer()) {
		console_puts("1..0 # SKIP no TSC-deadline timer in CPUID\n");
		power_exit(STATUS_NO_TIMER);
	}
	cpu_take_vector(V_SAME);
	cpu_take_vector(V_HIGH);
	conformance_smp_cpus(plan.cpus);
	apic_init();
	ask_reset(&(struct ask){.wait = cpu_irqwait(0),
				.unit_tsc = plan.unit_tsc});
	print_plan();
	do {
		if (is_asked(&c))
			ask_and_print(&c);
	} while (cursor_next(&c));
	console_printf("# %u not ok, %u excused by strict=no\n", failed,
		       differing);
	power_exit(failed ? STATUS_NOT_OK : 0);
}
