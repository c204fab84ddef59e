/* SPDX-License-Identifier: MIT */
/* One thread fills a ring, another empties it: every record comes out whole,
 * in order, or is counted as lost. */
#include "trace_ring.h"

#include <pthread.h>
#include <sched.h>

#include "tap.h"

enum {
	RECORDS = 400000,
	TIMEOUT_S = 60,
};

static struct trace_ring ring;
static atomic_bool done;

static void *produce(void *arg)
{
	(void)arg;
	for (uint64_t i = 1; i <= RECORDS; i++)
		trace_ring_put(&ring,
			       &(struct trace_record){.host_tsc = i,
						      .event = TRACE_ARRIVE,
						      .args = {i, ~i, i * 3}});
	atomic_store(&done, true);
	return NULL;
}

START_TEST(test_trace_threads)
{
	static struct trace_record out[700];
	uint64_t last = 0, seen = 0;
	pthread_t thread;
	bool ended;

	ck_assert_int_eq(trace_ring_init(&ring, TRACE_ALL_EVENTS), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, produce, NULL), 0);
	do {
		size_t count;

		ended = atomic_load(&done);
		while ((count = trace_ring_take(&ring, out, 700)))
			for (size_t i = 0; i < count; i++, seen++) {
				uint64_t n = out[i].args[0];

				tap_require(n > last && out[i].args[1] == ~n &&
					    out[i].args[2] == n * 3 &&
					    out[i].host_tsc == n);
				last = n;
			}
		sched_yield();
	} while (!ended);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(seen + atomic_load(&ring.lost), RECORDS);
	ck_assert_uint_gt(seen, 0);
	trace_ring_free(&ring);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_threads");
	TCase *tc = tcase_create("ring");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_test(tc, test_trace_threads);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
