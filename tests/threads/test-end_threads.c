/* SPDX-License-Identifier: MIT */
/*
 * Many threads find a reason to end the run at once: one of them is kept,
 * whole, and whoever sees it published may read it.
 */
#include "end.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "tap.h"

enum {
	THREADS = 6,
	ROUNDS = 200,
	TIMEOUT_S = 120,
};

static struct end end;
static atomic_uint gate; /* threads that wait at it, then open */

static void *ender_main(void *arg)
{
	int n = (int)(uintptr_t)arg;

	atomic_fetch_add(&gate, 1);
	while (atomic_load(&gate) < THREADS)
		sched_yield();
	end_set(&end, (enum end_kind)(END_GUEST_EXIT + n), (uint64_t)n * 1000,
		n, "reason %d of thread %d", n * 1000, n);
	return NULL;
}

static void check_whole(void)
{
	char detail[64];
	int n = end.vcpu;

	ck_assert_int_ge(n, 0);
	ck_assert_int_lt(n, THREADS);
	ck_assert_int_eq(end.kind, END_GUEST_EXIT + n);
	ck_assert_uint_eq(end.value, (uint64_t)n * 1000);
	snprintf(detail, sizeof(detail), "reason %d of thread %d", n * 1000, n);
	ck_assert_str_eq(end.detail, detail);
}

START_TEST(test_end_threads_one_reason)
{
	pthread_t threads[THREADS];

	for (int round = 0; round < ROUNDS; round++) {
		ck_assert_int_eq(end_init(&end), 0);
		atomic_store(&gate, 0);
		for (uintptr_t i = 0; i < THREADS; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL,
							ender_main, (void *)i),
					 0);
		/* Not by the joins: whoever sees the flag may look. */
		while (!atomic_load_explicit(&end.published,
					     memory_order_acquire))
			sched_yield();
		check_whole();
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		check_whole();
		end_free(&end);
	}
}
END_TEST

/* The main thread sleeps on the descriptor meanwhile. */
START_TEST(test_end_threads_wakes_the_main_thread)
{
	pthread_t threads[THREADS];
	struct pollfd pfd = {.events = POLLIN};

	ck_assert_int_eq(end_init(&end), 0);
	pfd.fd = end.event_fd;
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ender_main,
						(void *)i),
				 0);
	ck_assert_int_eq(poll(&pfd, 1, -1), 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check_whole();
	end_free(&end);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("end_threads");
	TCase *tc = tcase_create("end");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_test(tc, test_end_threads_one_reason);
	tcase_add_test(tc, test_end_threads_wakes_the_main_thread);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
