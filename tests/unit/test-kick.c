/* SPDX-License-Identifier: MIT */
/*
 * The hand-off to a vCPU thread, without a second thread: what a sender and
 * the signal do is put between any two instructions of the vCPU's side, by
 * single-stepping it. The signal itself is a flag here (kick_interrupt).
 */
#define _GNU_SOURCE
#include "kick.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tap.h"

#define EFLAGS_TF 0x100

/* It puts signal handlers off, so that nothing can be put between two
 * instructions. */
#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif
#ifndef HAS_THREAD_SANITIZER
#define HAS_THREAD_SANITIZER 0
#endif

static struct kick kick;
static volatile uint8_t immediate_exit;
static volatile bool signal_pending;

/* In the place of vmm/kick_signal.c. */
void kick_interrupt(struct kick *k)
{
	atomic_fetch_add_explicit(&k->signals, 1, memory_order_relaxed);
	signal_pending = true;
}

static void signal_handled(void)
{
	signal_pending = false;
	immediate_exit = 1;
}

static void setup(void)
{
	memset(&kick, 0, sizeof(kick));
	immediate_exit = 0;
	signal_pending = false;
	kick_bind(&kick, &immediate_exit);
}

START_TEST(test_kick_bind_names_the_thread)
{
	ck_assert_int_eq(kick.tgid, getpid());
	ck_assert_int_eq(atomic_load(&kick.tid), (int)syscall(SYS_gettid));
	ck_assert_ptr_eq((const void *)(uintptr_t)kick.immediate_exit,
			 (const void *)(uintptr_t)&immediate_exit);
}
END_TEST

START_TEST(test_kick_nothing_asked)
{
	ck_assert_uint_eq(kick_enter(&kick), 0);
	ck_assert_uint_eq(kick_pending(&kick), 0);
	kick_leave(&kick);
	ck_assert_uint_eq(kick_enter(&kick), 0);
	ck_assert_uint_eq(kick.enters, 2);
	ck_assert_uint_eq(atomic_load(&kick.signals), 0);
}
END_TEST

START_TEST(test_kick_before_it_runs_needs_no_signal)
{
	kick_send(&kick, KICK_LOOK);
	kick_send(&kick, KICK_DUE);
	kick_send(&kick, KICK_LOOK);
	ck_assert_uint_eq(kick_pending(&kick), KICK_LOOK | KICK_DUE);
	ck_assert_uint_eq(atomic_load(&kick.signals), 0);
	ck_assert_uint_eq(kick_enter(&kick), KICK_LOOK | KICK_DUE);
	ck_assert_uint_eq(kick_pending(&kick), 0);
	ck_assert_uint_eq(kick.enters, 0);
	ck_assert_uint_eq(kick_enter(&kick), 0);
}
END_TEST

START_TEST(test_kick_while_it_runs_sends_one_signal)
{
	ck_assert_uint_eq(kick_enter(&kick), 0);
	kick_send(&kick, KICK_DUE);
	ck_assert_uint_eq(atomic_load(&kick.signals), 1);
	kick_send(&kick, KICK_STOP);
	kick_send(&kick, KICK_DUE);
	ck_assert_uint_eq(atomic_load(&kick.signals), 1);
	ck_assert_uint_eq(kick_pending(&kick), KICK_DUE | KICK_STOP);
	kick_leave(&kick);
	kick_send(&kick, KICK_DUMP);
	ck_assert_uint_eq(atomic_load(&kick.signals), 1);
	ck_assert_uint_eq(kick_enter(&kick), KICK_DUE | KICK_STOP | KICK_DUMP);
}
END_TEST

/* A flag left from an earlier signal must not turn away every entry. */
START_TEST(test_kick_enter_clears_the_exit_flag)
{
	immediate_exit = 1;
	ck_assert_uint_eq(kick_enter(&kick), 0);
	ck_assert_uint_eq(immediate_exit, 0);
	kick_leave(&kick);
	kick_send(&kick, KICK_DUE);
	immediate_exit = 1;
	ck_assert_uint_eq(kick_enter(&kick), KICK_DUE);
	ck_assert_uint_eq(immediate_exit, 0);
}
END_TEST

/* One run of two turns of a vCPU's loop, stepped. */
static struct {
	unsigned int send_at, handle_at; /* instructions from the start */
	unsigned int steps;
	bool sent;
	unsigned int taken, taken_before; /* came out of kick_enter */
	bool slept_on_request;
} volatile run;

static void send_request(void)
{
	run.sent = true;
	kick_send(&kick, KICK_DUE);
}

/* Nothing left to place between instructions. */
static bool all_placed(void)
{
	return run.sent && !signal_pending;
}

static void on_step(int signal_number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal_number;
	(void)info;
	run.steps++;
	if (!run.sent && run.steps >= run.send_at)
		send_request();
	if (signal_pending && run.steps >= run.handle_at)
		signal_handled();
	if (all_placed())
		uc->uc_mcontext.gregs[REG_EFL] &= ~EFLAGS_TF;
}

/* The 128 bytes below the stack pointer are the compiler's to use. */
#define SET_TF(operation)                                                 \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" operation \
			 "\n\tpopfq\n\tlea 128(%%rsp), %%rsp"             \
			 :                                                \
			 :                                                \
			 : "memory", "cc")

static void step_on(void)
{
	if (!all_placed())
		SET_TF("orl $0x100, (%%rsp)");
}

static void step_off(void)
{
	SET_TF("andl $~0x100, (%%rsp)");
}

/* KVM_RUN: returns at once if the flag is set or a signal is pending, else
 * sleeps until a signal. Whoever has not asked yet asks while it sleeps. */
static void kvm_run_blocks(void)
{
	if (!immediate_exit && !signal_pending) {
		if (!run.sent)
			send_request();
		if (!signal_pending && !run.taken)
			run.slept_on_request = true;
	}
	if (signal_pending)
		signal_handled();
}

static void take(uint32_t requests)
{
	tap_require(!(requests & ~(uint32_t)(KICK_DUE | KICK_LOOK)));
	run.taken += !!(requests & KICK_DUE);
	run.taken_before += !!(requests & KICK_LOOK);
}

/* The first KVM_RUN returns by itself, the second waits to be told. */
static void two_turns(void)
{
	uint32_t requests;

	step_on();
	requests = kick_enter(&kick);
	step_off();
	take(requests);
	step_on();
	if (!requests)
		kick_leave(&kick);
	requests = kick_enter(&kick);
	step_off();
	take(requests);
	if (requests)
		return;
	kvm_run_blocks();
	kick_leave(&kick);
}

static unsigned int run_stepped(bool asked_before, unsigned int send_at,
				unsigned int handle_at)
{
	setup();
	if (asked_before)
		kick_send(&kick, KICK_LOOK);
	run.send_at = send_at;
	run.handle_at = handle_at;
	run.steps = run.taken = run.taken_before = 0;
	run.sent = run.slept_on_request = false;
	two_turns();
	tap_require(!run.slept_on_request);
	tap_require(run.sent);
	take(kick_enter(&kick));
	tap_require(run.taken == 1);
	tap_require(run.taken_before == asked_before);
	tap_require(atomic_load(&kick.signals) <= 1);
	return run.steps;
}

/* The request at every instruction; the signal's handler there and 1, 2, 4,
 * 8 ... instructions later. Once with nothing else, once with another request
 * on its way. */
START_TEST(test_kick_is_never_lost_between_two_instructions)
{
	struct sigaction action = {.sa_sigaction = on_step,
				   .sa_flags = SA_SIGINFO};
	unsigned int steps;

	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	steps = run_stepped(_i, ~0u, ~0u);
	ck_assert_uint_gt(steps, 20);
	for (unsigned int at = 1; at < steps; at++) {
		run_stepped(_i, at, at);
		for (unsigned int later = 1; at + later < steps; later *= 2)
			run_stepped(_i, at, at + later);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kick");
	TCase *tc = tcase_create("kick");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_kick_bind_names_the_thread);
	tcase_add_test(tc, test_kick_nothing_asked);
	tcase_add_test(tc, test_kick_before_it_runs_needs_no_signal);
	tcase_add_test(tc, test_kick_while_it_runs_sends_one_signal);
	tcase_add_test(tc, test_kick_enter_clears_the_exit_flag);
	if (!HAS_THREAD_SANITIZER)
		tcase_add_loop_test(
			tc, test_kick_is_never_lost_between_two_instructions, 0,
			2);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
