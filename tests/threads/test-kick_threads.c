/* SPDX-License-Identifier: MIT */
/*
 * The hand-off between real threads: many senders, one vCPU thread. A request
 * that is lost hangs the test; one that is taken twice, or before what its
 * sender wrote is visible, fails it, or is found by a race detector.
 */
#include "kick.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "fake_signal.h"
#include "prng.h"
#include "tap.h"

enum {
	SENDERS = 4,
	ROUNDS = 4000, /* of each sender */
	TIMEOUT_S = 120,
};

/* Senders take the bits from here up. */
#define FIRST_BIT 8u
#define STOP	  KICK_STOP

struct sender {
	pthread_t thread;
	uint32_t bit;
	/* Plain: only the hand-off keeps the two threads apart. */
	uint64_t message;
	/* vCPU thread. */
	uint64_t taken;
	bool is_wrong;
	/* Writer: vCPU thread; reader: the sender. */
	atomic_ulong answered;
};

static struct fake_vcpu vcpu;
static struct sender senders[SENDERS];

static void setup(void)
{
	memset(&vcpu, 0, sizeof(vcpu));
	memset(senders, 0, sizeof(senders));
	for (unsigned int i = 0; i < SENDERS; i++)
		senders[i].bit = 1u << (FIRST_BIT + i);
}

static void take(struct sender *s)
{
	s->taken++;
	if (s->message != s->taken)
		s->is_wrong = true;
	atomic_store_explicit(&s->answered, s->taken, memory_order_release);
}

static void *vcpu_main(void *arg)
{
	uint64_t prng = 1;
	uint32_t requests = 0;

	(void)arg;
	kick_bind(&vcpu.kick, &vcpu.immediate_exit);
	while (!(requests & STOP)) {
		requests = kick_enter(&vcpu.kick);
		for (unsigned int i = 0; i < SENDERS; i++)
			if (requests & senders[i].bit)
				take(&senders[i]);
		if (requests)
			continue;
		/* Half of the time it would sleep for ever. */
		fake_run(&vcpu, prng_next(&prng) % 2 ? 0 : 3);
		kick_leave(&vcpu.kick);
	}
	return NULL;
}

/* Asks, and waits to be answered before it asks again. */
static void *sender_main(void *arg)
{
	struct sender *s = arg;

	for (uint64_t n = 1; n <= ROUNDS; n++) {
		s->message = n;
		kick_send(&vcpu.kick, s->bit);
		while (atomic_load_explicit(&s->answered,
					    memory_order_acquire) != n)
			sched_yield();
	}
	return NULL;
}

START_TEST(test_kick_threads_each_request_once)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, vcpu_main, NULL), 0);
	for (unsigned int i = 0; i < SENDERS; i++)
		ck_assert_int_eq(pthread_create(&senders[i].thread, NULL,
						sender_main, &senders[i]),
				 0);
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_join(senders[i].thread, NULL);
	kick_send(&vcpu.kick, STOP);
	pthread_join(thread, NULL);
	for (unsigned int i = 0; i < SENDERS; i++) {
		ck_assert_uint_eq(senders[i].taken, ROUNDS);
		ck_assert(!senders[i].is_wrong);
	}
	/* Never more signals than requests. */
	ck_assert_uint_le(atomic_load(&vcpu.kick.signals),
			  SENDERS * ROUNDS + 1);
	ck_assert_uint_gt(vcpu.kick.enters, 0);
}
END_TEST

/* Asks again and again without an answer: the last one must arrive. */
static void *hasty_main(void *arg)
{
	struct sender *s = arg;

	for (uint64_t n = 1; n <= ROUNDS; n++)
		kick_send(&vcpu.kick, s->bit);
	return NULL;
}

static atomic_ulong hasty_taken;

static void *hasty_vcpu_main(void *arg)
{
	uint32_t requests = 0, seen = 0, all = 0;

	(void)arg;
	for (unsigned int i = 0; i < SENDERS; i++)
		all |= senders[i].bit;
	kick_bind(&vcpu.kick, &vcpu.immediate_exit);
	while (!(requests & STOP)) {
		requests = kick_enter(&vcpu.kick);
		seen |= requests;
		if (requests & all)
			atomic_fetch_add(&hasty_taken, 1);
		if (requests)
			continue;
		fake_run(&vcpu, 0);
		kick_leave(&vcpu.kick);
	}
	return (void *)(uintptr_t)((seen & all) == all);
}

START_TEST(test_kick_threads_asked_twice_is_once)
{
	pthread_t thread;
	void *all_seen;

	ck_assert_int_eq(pthread_create(&thread, NULL, hasty_vcpu_main, NULL),
			 0);
	for (unsigned int i = 0; i < SENDERS; i++)
		ck_assert_int_eq(pthread_create(&senders[i].thread, NULL,
						hasty_main, &senders[i]),
				 0);
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_join(senders[i].thread, NULL);
	kick_send(&vcpu.kick, STOP);
	pthread_join(thread, &all_seen);
	ck_assert_ptr_nonnull(all_seen);
	ck_assert_uint_ge(atomic_load(&hasty_taken), 1);
	ck_assert_uint_le(atomic_load(&hasty_taken), SENDERS * ROUNDS);
}
END_TEST

/* Asked before the thread was even made. */
START_TEST(test_kick_threads_stop_before_start)
{
	pthread_t thread;

	kick_send(&vcpu.kick, STOP);
	ck_assert_int_eq(pthread_create(&thread, NULL, vcpu_main, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(vcpu.kick.enters, 0);
	ck_assert_uint_eq(atomic_load(&vcpu.kick.signals), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kick_threads");
	TCase *tc = tcase_create("kick");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_kick_threads_each_request_once);
	tcase_add_test(tc, test_kick_threads_asked_twice_is_once);
	tcase_add_test(tc, test_kick_threads_stop_before_start);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
