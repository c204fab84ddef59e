/* SPDX-License-Identifier: MIT */
/* A ring: what goes in comes out in order, or is counted. The threads are in
 * tests/threads. */
#include "trace_ring.h"

#include "tap.h"

static struct trace_ring ring;
static struct trace_record out[TRACE_RING_ROOM];

static void put(uint64_t number)
{
	trace_ring_put(&ring, &(struct trace_record){.event = TRACE_ARRIVE,
						     .args = {number}});
}

START_TEST(test_trace_ring_order)
{
	uint64_t in = 0, next = 0;

	ck_assert_int_eq(trace_ring_init(&ring, TRACE_ALL_EVENTS), 0);
	/* Round the end several times. */
	for (int round = 0; round < 9; round++) {
		for (int i = 0; i < 5000; i++)
			put(in++);
		for (size_t count; (count = trace_ring_take(&ring, out, 999));)
			for (size_t i = 0; i < count; i++)
				tap_require(out[i].args[0] == next++);
	}
	ck_assert_uint_eq(next, in);
	ck_assert_uint_eq(atomic_load(&ring.lost), 0);
	trace_ring_free(&ring);
	ck_assert_ptr_null(ring.records);
}
END_TEST

START_TEST(test_trace_ring_full)
{
	ck_assert_int_eq(trace_ring_init(&ring, TRACE_ALL_EVENTS), 0);
	for (uint64_t i = 0; i < TRACE_RING_ROOM + 3; i++)
		put(i);
	ck_assert_uint_eq(atomic_load(&ring.lost), 3);
	ck_assert_uint_eq(trace_ring_take(&ring, out, 2), 2);
	ck_assert_uint_eq(out[1].args[0], 1);
	/* Room for two, and no more. */
	for (uint64_t i = 0; i < 3; i++)
		put(100000 + i);
	ck_assert_uint_eq(atomic_load(&ring.lost), 4);
	ck_assert_uint_eq(trace_ring_take(&ring, out, TRACE_RING_ROOM),
			  TRACE_RING_ROOM);
	ck_assert_uint_eq(out[0].args[0], 2);
	ck_assert_uint_eq(out[TRACE_RING_ROOM - 3].args[0],
			  TRACE_RING_ROOM - 1);
	ck_assert_uint_eq(out[TRACE_RING_ROOM - 1].args[0], 100001);
	ck_assert_uint_eq(trace_ring_take(&ring, out, 1), 0);
	trace_ring_free(&ring);
}
END_TEST

START_TEST(test_trace_ring_events)
{
	ck_assert_int_eq(trace_ring_init(&ring, 1u << TRACE_DROP), 0);
	put(1);
	trace_ring_put(&ring, &(struct trace_record){.event = TRACE_DROP});
	ck_assert_uint_eq(trace_ring_take(&ring, out, 9), 1);
	ck_assert_uint_eq(out[0].event, TRACE_DROP);
	ck_assert_uint_eq(atomic_load(&ring.lost), 0);
	trace_ring_free(&ring);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_ring");
	TCase *tc = tcase_create("ring");

	tcase_add_test(tc, test_trace_ring_order);
	tcase_add_test(tc, test_trace_ring_full);
	tcase_add_test(tc, test_trace_ring_events);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
