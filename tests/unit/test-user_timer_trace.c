/* SPDX-License-Identifier: MIT */
/*
 * What a timer tells of itself: which records, with what in them, and nothing
 * of a delivery before the guest has run. Clock, KVM and host timer are fakes,
 * the ring is real; 2 GHz.
 */
#include "user_timer.h"

#include <errno.h>

#include "fake_hosttimer.h"
#include "fake_kvm.h"
#include "tap.h"
#include "trace_ring.h"

#define TSC_KHZ	   2000000u
#define HOST_START UINT64_C(1000000000000)
#define OFFSET	   (0 - UINT64_C(900000000000))

static struct user_timer_setup plan;
static struct user_timer_costs costs;
static struct user_timer timer;
static struct trace_ring ring;
static struct trace_record got[64];
static size_t count;

static void start(enum user_timer_advance advance, uint64_t advance_ns)
{
	fake_kvm_init(HOST_START, OFFSET);
	memset(&fake_hosttimer, 0, sizeof(fake_hosttimer));
	memset(&timer, 0, sizeof(timer));
	ck_assert_int_eq(user_timer_setup_init(&plan, TSC_KHZ, advance,
					       advance_ns, 400000, 0.25, 0),
			 0);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 0);
	ck_assert_int_eq(trace_ring_init(&ring, TRACE_ALL_EVENTS), 0);
	user_timer_setup_trace(&plan);
	timer.trace = &ring;
}

static void teardown(void)
{
	trace_ring_free(&ring);
}

static void take(void)
{
	count = trace_ring_take(&ring, got, 64);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(got[i].vcpu, FAKE_KVM_APIC_ID);
}

static void arm_in(int64_t ahead_tsc)
{
	ck_assert_int_eq(
		user_timer_write_deadline(&timer, fake_kvm_guest_tsc() +
							  (uint64_t)ahead_tsc),
		0);
}

static void kick_at(uint64_t host_tsc)
{
	fake_kvm.clock.now_tsc = host_tsc;
	ck_assert_int_eq(user_timer_expired(&timer), 0);
}

/* KVM_RUN has returned, with exit reason 30. */
static void guest_runs(void)
{
	fake_kvm_enter();
	fake_kvm.clock.now_tsc += 5000;
	ck_assert(timer.untold);
	user_timer_tell(&timer, true, 0, 30);
	ck_assert(!timer.untold);
}

/* Exactly these; the list ends with TRACE_END, which no timer puts down. */
static void check_events(const enum trace_event *events)
{
	size_t n = 0;

	take();
	for (; events[n] != TRACE_END; n++)
		ck_assert_uint_eq(got[n].event, events[n]);
	ck_assert_uint_eq(count, n);
}

#define EVENTS(...)	  ((const enum trace_event[]){__VA_ARGS__, TRACE_END})
#define CHECK_EVENTS(...) check_events(EVENTS(__VA_ARGS__))

START_TEST(test_user_timer_trace_delivery)
{
	start(USER_TIMER_ADVANCE_AUTO, 0);
	arm_in(1000000);
	CHECK_EVENTS(TRACE_TIMER_ARM);
	ck_assert_uint_eq(got[0].args[0], HOST_START + 1000000);
	ck_assert_uint_eq(got[0].args[1], HOST_START + 1000000 - 2000);
	ck_assert_uint_eq(got[0].args[2], 499000);
	ck_assert_uint_eq(got[0].flags, 0);
	kick_at(HOST_START + 1000500);
	/* Not a word before the guest has run. */
	take();
	ck_assert_uint_eq(count, 0);
	guest_runs();
	CHECK_EVENTS(TRACE_INJECT, TRACE_ARRIVE, TRACE_TUNER, TRACE_SPIN_END,
		     TRACE_ENTRY);
	ck_assert_uint_eq(got[0].aux, FAKE_KVM_VECTOR);
	ck_assert_uint_eq(got[0].flags, 0);
	ck_assert_uint_eq(got[1].flags,
			  TRACE_STATE_UNKNOWN | TRACE_FLAG_EXPIRY);
	ck_assert_uint_ge(got[1].args[0], 2500);
	ck_assert_uint_le(got[1].args[0], 2550);
	ck_assert_uint_eq(got[1].host_tsc,
			  HOST_START + 1000000 - 2000 + got[1].args[0]);
	ck_assert_uint_eq(got[1].args[1], 2000);
	ck_assert_uint_eq(got[1].args[2], 1000000);
	ck_assert_uint_eq(got[2].args[0], got[1].args[0]);
	ck_assert_uint_eq(got[2].args[1], 2000);
	ck_assert_uint_eq(got[2].args[2], timer.tuner.advance_tsc);
	ck_assert_uint_ne(got[2].args[2], 2000);
	ck_assert_uint_eq(got[3].args[0], HOST_START + 1000000);
	ck_assert_uint_eq(got[3].args[1], timer.arrivals.wait.start_host_tsc);
	ck_assert_uint_eq(got[3].args[2], 1);
	ck_assert_uint_eq(got[3].host_tsc, timer.arrivals.wait.end_host_tsc);
	ck_assert_uint_eq(got[4].host_tsc, got[3].host_tsc);
	ck_assert_uint_ge(got[4].args[0], got[4].host_tsc + 5000);
	ck_assert_uint_eq(got[4].aux, 30);
}
END_TEST

START_TEST(test_user_timer_trace_states)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000);
	atomic_init(&costs.tsc[USER_TIMER_RUNNING], 1000);
	atomic_init(&costs.tsc[USER_TIMER_HALTED], 3000);
	plan.costs = &costs;
	for (int halted = 0; halted < 2; halted++) {
		uint64_t armed = fake_kvm.clock.now_tsc;

		fake_kvm.halted = halted;
		arm_in(1000000);
		kick_at(armed + 985000);
		guest_runs();
		/* A fixed advance does not change. */
		CHECK_EVENTS(TRACE_TIMER_ARM, TRACE_INJECT, TRACE_ARRIVE,
			     TRACE_SPIN_END, TRACE_ENTRY);
		ck_assert_uint_eq(got[2].flags,
				  TRACE_FLAG_EXPIRY |
					  (halted ? TRACE_STATE_HALTED
						  : TRACE_STATE_RUNNING));
	}
	/* Nobody looks any more: what was seen last is not told again. */
	plan.costs = NULL;
	arm_in(1000000);
	kick_at(fake_kvm.clock.now_tsc + 985000);
	guest_runs();
	take();
	ck_assert_uint_eq(got[2].flags,
			  TRACE_FLAG_EXPIRY | TRACE_STATE_UNKNOWN);
}
END_TEST

START_TEST(test_user_timer_trace_kinds_of_arrivals)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000);
	/* Past; cut by the share; nearer than the advance; found by a poll. */
	arm_in(-5);
	guest_runs();
	CHECK_EVENTS(TRACE_INJECT, TRACE_ARRIVE, TRACE_SPIN_END, TRACE_ENTRY);
	ck_assert_uint_eq(got[1].flags, TRACE_FLAG_PAST);
	ck_assert_uint_eq(got[1].args[2], 0);
	arm_in(40000);
	take();
	ck_assert_uint_eq(got[0].flags, TRACE_FLAG_CUT);
	kick_at(fake_kvm.clock.now_tsc + 32000);
	guest_runs();
	take();
	ck_assert_uint_eq(got[1].flags, TRACE_FLAG_CUT | TRACE_FLAG_EXPIRY);
	ck_assert_uint_eq(got[1].args[1], 10000);
	ck_assert_uint_eq(got[1].args[2], 40000);
	arm_in(100000);
	fake_kvm.clock.now_tsc += 80000;
	ck_assert_int_eq(user_timer_poll(&timer), 1);
	guest_runs();
	take();
	ck_assert_uint_eq(got[2].event, TRACE_ARRIVE);
	ck_assert_uint_eq(got[2].flags, 0);
}
END_TEST

/* A wait that failed has no entry, and a masked timer no vector. */
START_TEST(test_user_timer_trace_by_kvm)
{
	start(USER_TIMER_ADVANCE_OFF, 0);
	fake_kvm.masked = true;
	arm_in(1000000);
	kick_at(HOST_START + 1000100);
	user_timer_tell(&timer, false, 0, 0);
	CHECK_EVENTS(TRACE_TIMER_ARM, TRACE_INJECT, TRACE_ARRIVE,
		     TRACE_SPIN_END);
	ck_assert_uint_eq(got[1].flags, TRACE_FLAG_BY_KVM);
	ck_assert_uint_eq(got[1].aux, 0);
}
END_TEST

START_TEST(test_user_timer_trace_entry_error)
{
	start(USER_TIMER_ADVANCE_OFF, 0);
	arm_in(-1);
	user_timer_tell(&timer, true, -EINTR, 30);
	take();
	ck_assert_uint_eq(got[3].event, TRACE_ENTRY);
	ck_assert_uint_eq(got[3].flags, TRACE_FLAG_BY_KVM);
	ck_assert_uint_eq(got[3].aux, EINTR);
}
END_TEST

START_TEST(test_user_timer_trace_drops)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000);
	kick_at(HOST_START + 100);
	arm_in(1000000);
	kick_at(HOST_START + 200000);
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), 0);
	CHECK_EVENTS(TRACE_DROP, TRACE_TIMER_ARM, TRACE_DROP, TRACE_TIMER_ARM,
		     TRACE_DROP);
	ck_assert_uint_eq(got[0].aux, TRACE_DROP_STALE);
	ck_assert_uint_eq(got[0].args[0], 0);
	ck_assert_uint_eq(got[2].aux, TRACE_DROP_EARLY);
	ck_assert_uint_eq(got[2].args[0], got[1].args[1] - got[2].host_tsc);
	ck_assert_uint_eq(got[4].aux, TRACE_DROP_DISARMED);
}
END_TEST

/* Without a ring the timer does the same, and marks what is to be told. */
START_TEST(test_user_timer_trace_unused)
{
	start(USER_TIMER_ADVANCE_AUTO, 0);
	timer.trace = NULL;
	arm_in(1000000);
	kick_at(HOST_START + 1000500);
	guest_runs();
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), 0);
	kick_at(HOST_START + 1000600);
	take();
	ck_assert_uint_eq(count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("user_timer_trace");
	TCase *tc = tcase_create("trace");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, test_user_timer_trace_delivery);
	tcase_add_test(tc, test_user_timer_trace_states);
	tcase_add_test(tc, test_user_timer_trace_kinds_of_arrivals);
	tcase_add_test(tc, test_user_timer_trace_by_kvm);
	tcase_add_test(tc, test_user_timer_trace_entry_error);
	tcase_add_test(tc, test_user_timer_trace_drops);
	tcase_add_test(tc, test_user_timer_trace_unused);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
