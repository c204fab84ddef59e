/* SPDX-License-Identifier: MIT */
/*
 * The kick with its real signal, against a stand-in for KVM_RUN that keeps
 * KVM's promise: it looks at immediate_exit and falls asleep as one step, as
 * far as signals can tell.
 */
#define _GNU_SOURCE
#include "kick.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hosttimer.h"
#include "tap.h"

/* Thread sanitizers keep a handler back until a call that they know. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HANDLERS_RUN_LATE true
#endif
#elif defined(__SANITIZE_THREAD__)
#define HANDLERS_RUN_LATE true
#endif
#ifndef HANDLERS_RUN_LATE
#define HANDLERS_RUN_LATE false
#endif

enum {
	ROUNDS = 5000,
	TIMEOUT_S = 120,
	TIMER_TIMEOUT_S = 30, /* some 0.2 s; a lost expiry waits for ever */
};

static struct kick kick;
static volatile uint8_t immediate_exit;
static atomic_bool bound;
static atomic_ulong answered, woken;

static void setup(void)
{
	ck_assert_int_eq(kick_init_process(), 0);
}

static void run(void)
{
	sigset_t blocked, before;

	sigfillset(&blocked);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	if (!immediate_exit && ppoll(NULL, 0, NULL, &before) < 0)
		atomic_fetch_add(&woken, 1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *vcpu_main(void *arg)
{
	uint32_t requests = 0;

	(void)arg;
	kick_bind(&kick, &immediate_exit);
	while (!(requests & KICK_STOP)) {
		requests = kick_enter(&kick);
		if (requests & KICK_DUE)
			atomic_fetch_add(&answered, 1);
		if (requests)
			continue;
		run();
		kick_leave(&kick);
	}
	return NULL;
}

START_TEST(test_kick_signal_none_is_lost)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, vcpu_main, NULL), 0);
	for (unsigned long n = 1; n <= ROUNDS; n++) {
		/* In its sleep, or wherever it is. */
		if (n % 2)
			while (atomic_load(&kick.word) != KICK_RUNNING)
				sched_yield();
		kick_send(&kick, KICK_DUE);
		while (atomic_load(&answered) != n)
			sched_yield();
	}
	kick_send(&kick, KICK_STOP);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(atomic_load(&answered), ROUNDS);
	ck_assert_uint_ge(atomic_load(&kick.signals), ROUNDS / 2);
	ck_assert_uint_le(atomic_load(&kick.signals), ROUNDS + 1);
	ck_assert_uint_ge(atomic_load(&woken), 1);
}
END_TEST

/* Arms a timer of its own after each expiry; 1 to 64 us ahead, so that it
 * expires in the sleep, on the way there, or at once. */
static void *timed_main(void *arg)
{
	unsigned long *expired = arg;
	struct hosttimer timer;
	uint32_t requests;

	kick_bind(&kick, &immediate_exit);
	if (hosttimer_open_signal(&timer, atomic_load(&kick.tid),
				  kick_signal_number(), &kick))
		return NULL;
	hosttimer_arm(&timer, 1000);
	while (*expired < ROUNDS) {
		requests = kick_enter(&kick);
		if (requests & KICK_LOOK)
			atomic_fetch_add(&answered, 1);
		if (requests & KICK_DUE) {
			++*expired;
			hosttimer_arm(&timer, 1000 * (1 + *expired % 64));
		}
		if (requests)
			continue;
		run();
		kick_leave(&kick);
	}
	hosttimer_close(&timer);
	atomic_store(&bound, true);
	return NULL;
}

/* The signal of a timer asks by itself; others ask all the while. Not where
 * its handler runs after the look at immediate_exit that it came before. */
START_TEST(test_kick_signal_of_its_timer)
{
	unsigned long expired = 0, sent = 0;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, timed_main, &expired),
			 0);
	while (!atomic_load(&bound)) {
		if (atomic_load(&answered) < sent || !atomic_load(&kick.tid)) {
			sched_yield();
			continue;
		}
		kick_send(&kick, KICK_LOOK);
		sent++;
	}
	pthread_join(thread, NULL);
	ck_assert_uint_eq(expired, ROUNDS);
	ck_assert_uint_ge(atomic_load(&kick.expiries), ROUNDS);
	ck_assert_uint_le(atomic_load(&kick.expiries), ROUNDS + 1);
	/* The last one may not have been looked at. */
	ck_assert_uint_ge(atomic_load(&answered) + 1, sent);
	ck_assert_uint_gt(sent, 0);
}
END_TEST

/* It may run late. */
static void await_handler(void)
{
	while (!immediate_exit)
		poll(NULL, 0, 0);
}

/* Sent before there is a thread to send it to. */
START_TEST(test_kick_signal_unbound)
{
	kick_interrupt(&kick);
	ck_assert_uint_eq(atomic_load(&kick.signals), 0);
}
END_TEST

/* Anybody may send this process the same signal; its pointer means nothing. */
START_TEST(test_kick_signal_of_others)
{
	kick_bind(&kick, &immediate_exit);
	ck_assert_int_eq(kill(getpid(), SIGRTMIN), 0);
	ck_assert_int_eq(pthread_kill(pthread_self(), SIGRTMIN), 0);
	ck_assert_uint_eq(immediate_exit, 0);
	kick_interrupt(&kick);
	await_handler();
}
END_TEST

static int full_pipe[2];

static void *writer_main(void *arg)
{
	(void)arg;
	kick_bind(&kick, &immediate_exit);
	atomic_store(&bound, true);
	return (void *)(intptr_t)(write(full_pipe[1], "x", 1) < 0 ? errno : 0);
}

/* A thread that hangs in a write comes out of it; the signal may come before
 * the write does, so it is sent until it has worked. */
START_TEST(test_kick_signal_interrupts_a_write)
{
	static char page[4096];
	pthread_t thread;
	void *result;

	ck_assert_int_eq(pipe(full_pipe), 0);
	ck_assert_int_eq(fcntl(full_pipe[1], F_SETPIPE_SZ, 4096), 4096);
	ck_assert_int_eq(write(full_pipe[1], page, sizeof(page)), sizeof(page));
	ck_assert_int_eq(pthread_create(&thread, NULL, writer_main, NULL), 0);
	while (!atomic_load(&bound))
		sched_yield();
	while (pthread_tryjoin_np(thread, &result)) {
		kick_interrupt(&kick);
		sched_yield();
	}
	ck_assert_int_eq((intptr_t)result, EINTR);
}
END_TEST

static void *sender_main(void *arg)
{
	(void)arg;
	kick_interrupt(&kick);
	return NULL;
}

static void set_queue_limit(rlim_t limit)
{
	struct rlimit rlimit;

	ck_assert_int_eq(getrlimit(RLIMIT_SIGPENDING, &rlimit), 0);
	rlimit.rlim_cur = limit > rlimit.rlim_max ? rlimit.rlim_max : limit;
	ck_assert_int_eq(setrlimit(RLIMIT_SIGPENDING, &rlimit), 0);
}

/* No room for another queued signal: it is sent when there is. */
START_TEST(test_kick_signal_queue_full)
{
	pthread_t thread;

	kick_bind(&kick, &immediate_exit);
	set_queue_limit(0);
	ck_assert_int_eq(pthread_create(&thread, NULL, sender_main, NULL), 0);
	while (!atomic_load(&kick.send_retries))
		sched_yield();
	ck_assert_uint_eq(immediate_exit, 0);
	set_queue_limit(RLIM_INFINITY);
	pthread_join(thread, NULL);
	await_handler();
	ck_assert_uint_eq(atomic_load(&kick.signals), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kick_signal");
	TCase *tc = tcase_create("kick_signal");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_kick_signal_none_is_lost);
	tcase_add_test(tc, test_kick_signal_unbound);
	tcase_add_test(tc, test_kick_signal_of_others);
	tcase_add_test(tc, test_kick_signal_interrupts_a_write);
	tcase_add_test(tc, test_kick_signal_queue_full);
	suite_add_tcase(suite, tc);

	tc = tcase_create("timer");
	tcase_set_timeout(tc, TIMER_TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, NULL);
	if (!HANDLERS_RUN_LATE)
		tcase_add_test(tc, test_kick_signal_of_its_timer);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
