/* SPDX-License-Identifier: MIT */
/*
 * The life of a deadline: armed, due, delivered, waited out, learnt from; on
 * a fake clock of 2 GHz, with a fake KVM and a fake host timer that record
 * what they are told and when. Edges are in test-user_timer_edges.c.
 */
#include "user_timer.h"

#include "fake_hosttimer.h"
#include "fake_kvm.h"
#include "tap.h"

#define TSC_KHZ	   2000000u
#define HOST_START UINT64_C(1000000000000)
#define OFFSET	   (0 - UINT64_C(900000000000))

static struct user_timer_setup plan;
static struct user_timer timer;

/* 400 us of ceiling are 800 000 cycles. */
static void start(enum user_timer_advance advance, uint64_t advance_ns,
		  double max_spin_share, uint64_t entry_cost_ns)
{
	fake_kvm_init(HOST_START, OFFSET);
	memset(&fake_hosttimer, 0, sizeof(fake_hosttimer));
	memset(&timer, 0, sizeof(timer));
	ck_assert_int_eq(user_timer_setup_init(&plan, TSC_KHZ, advance,
					       advance_ns, 400000,
					       max_spin_share, entry_cost_ns),
			 0);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 0);
}

/* The guest arms a deadline so many cycles ahead of now; returns it. */
static uint64_t arm_in(int64_t ahead_tsc)
{
	uint64_t deadline = fake_kvm_guest_tsc() + (uint64_t)ahead_tsc;

	ck_assert_int_eq(user_timer_write_deadline(&timer, deadline), 0);
	return deadline;
}

/* The kick arrives at that host instant. */
static void kick_at(uint64_t host_tsc)
{
	fake_kvm.clock.now_tsc = host_tsc;
	ck_assert_int_eq(user_timer_expired(&timer), 0);
}

static void check_armed_ns(uint64_t ns, unsigned int arms)
{
	ck_assert(fake_hosttimer.running);
	ck_assert_uint_eq(fake_hosttimer.ns, ns);
	ck_assert_uint_eq(fake_hosttimer.arms, arms);
}

/* One delivery so far, at that instant or within a read of it. */
static void check_delivered_at(uint64_t host_tsc)
{
	ck_assert_uint_eq(fake_kvm.delivery_count, 1);
	ck_assert_uint_ge(fake_kvm.delivered_host_tsc, host_tsc);
	ck_assert_uint_le(fake_kvm.delivered_host_tsc, host_tsc + 20);
	/* As an interrupt that KVM cannot hold back: nothing to clear. */
	ck_assert_uint_eq(fake_kvm.write_count, 0);
	ck_assert_uint_eq(timer.stats.odd_deliveries, 0);
	ck_assert(fake_kvm_enter());
	ck_assert_uint_eq(fake_kvm.interrupts, 1);
}

START_TEST(test_user_timer_starts_quiet)
{
	uint64_t value = 1;

	start(USER_TIMER_ADVANCE_AUTO, 0, 0.25, 0);
	ck_assert_uint_eq(timer.tsc.tsc_offset, OFFSET);
	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(user_timer_poll(&timer), 0);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
	ck_assert_uint_eq(fake_hosttimer.arms + fake_hosttimer.disarms, 0);
	user_timer_free(&timer);
	ck_assert_int_eq(timer.host.fd, -1);
}
END_TEST

START_TEST(test_user_timer_setup_refuses_odd_rates)
{
	ck_assert_int_eq(user_timer_setup_init(&plan, 0, USER_TIMER_ADVANCE_OFF,
					       0, 1000, 0.25, 0),
			 -EINVAL);
	ck_assert_int_eq(user_timer_setup_init(&plan, 999,
					       USER_TIMER_ADVANCE_OFF, 0, 1000,
					       0.25, 0),
			 -EINVAL);
}
END_TEST

/* Rounded up: without an advance nothing else keeps the expiry from being
 * early. An odd number of cycles is half a nanosecond more. */
START_TEST(test_user_timer_off)
{
	uint64_t value, deadline;

	start(USER_TIMER_ADVANCE_OFF, 0, 0.25, 0);
	deadline = arm_in(1000001);
	check_armed_ns(500001, 1);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), 0);
	ck_assert_uint_eq(value, deadline);
	kick_at(HOST_START + 1000001 + 300);
	check_delivered_at(HOST_START + 1000001 + 300);
	user_timer_settle(&timer);
	ck_assert_uint_eq(timer.stats.fires, 1);
	ck_assert_uint_eq(timer.stats.remainders, 0);
	/* None of the tuner's work. */
	ck_assert_uint_eq(timer.arrivals.late, 0);
	ck_assert_uint_eq(timer.arrivals.spins, 0);
	ck_assert_uint_eq(timer.tuner.samples, 0);
	ck_assert_uint_eq(timer.arrivals.late_tsc.count, 0);
}
END_TEST

/* The host's clock may be slewed: what is left is waited out. */
START_TEST(test_user_timer_off_remainder)
{
	start(USER_TIMER_ADVANCE_OFF, 0, 0.25, 0);
	arm_in(1000000);
	kick_at(HOST_START + 1000000 - 400);
	ck_assert_uint_ge(fake_kvm.clock.now_tsc, HOST_START + 1000000);
	user_timer_settle(&timer);
	ck_assert_uint_eq(timer.stats.remainders, 1);
	check_delivered_at(HOST_START + 1000000 - 400);
}
END_TEST

START_TEST(test_user_timer_nothing_before_its_time)
{
	start(USER_TIMER_ADVANCE_OFF, 0, 0.25, 0);
	arm_in(1000000);
	/* 1/1024 of the distance may be slew; this is more. */
	kick_at(HOST_START + 1000000 - 2000);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
	ck_assert_uint_eq(timer.stats.early_expiries, 1);
	check_armed_ns(1000, 2);
	kick_at(HOST_START + 1000000);
	check_delivered_at(HOST_START + 1000000);
}
END_TEST

/* Injected at the wake-up, released at the target and not before. */
START_TEST(test_user_timer_fixed_advance)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(1000000);
	check_armed_ns(490000, 1);
	kick_at(HOST_START + 985000);
	check_delivered_at(HOST_START + 985000);
	ck_assert_uint_ge(fake_kvm.clock.now_tsc, HOST_START + 1000000);
	ck_assert_uint_le(fake_kvm.clock.now_tsc, HOST_START + 1000020);
	ck_assert_uint_eq(timer.arrivals.in_time, 1);
	ck_assert_uint_eq(timer.arrivals.late, 0);
	/* Nothing is counted between the end of the spin and the guest. */
	ck_assert_uint_eq(timer.arrivals.spins, 0);
	ck_assert_uint_eq(timer.arrivals.spin_end_tsc.count, 0);
	user_timer_settle(&timer);
	user_timer_settle(&timer);
	ck_assert_uint_eq(timer.arrivals.spins, 1);
	ck_assert_uint_ge(timer.arrivals.spin_tsc, 14900);
	ck_assert_uint_le(timer.arrivals.spin_tsc, 15010);
	ck_assert_uint_eq(timer.arrivals.max_spin_tsc, timer.arrivals.spin_tsc);
	ck_assert_uint_eq(timer.arrivals.spin_end_tsc.count, 1);
	ck_assert_uint_le(timer.arrivals.spin_end_tsc.max, 10);
	ck_assert_uint_eq(timer.stats.advance_cut, 0);
	/* A fixed advance learns nothing. */
	ck_assert_uint_eq(timer.tuner.samples, 0);
}
END_TEST

START_TEST(test_user_timer_arrives_late)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(1000000);
	kick_at(HOST_START + 1000000 + 5000);
	check_delivered_at(HOST_START + 1005000);
	ck_assert_uint_le(fake_kvm.clock.now_tsc, HOST_START + 1005030);
	ck_assert_uint_eq(timer.arrivals.late, 1);
	ck_assert_uint_eq(timer.arrivals.spins, 0);
	ck_assert_uint_ge(timer.arrivals.max_late_tsc, 5000);
	ck_assert_uint_le(timer.arrivals.max_late_tsc, 5020);
	ck_assert_uint_eq(timer.arrivals.late_tsc.count, 1);
	ck_assert_uint_eq(timer.arrivals.spin_end_tsc.count, 0);
}
END_TEST

/* The entry cost moves arming and target alike. */
START_TEST(test_user_timer_entry_cost)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 2000);
	arm_in(1000000);
	check_armed_ns(488000, 1);
	kick_at(HOST_START + 976010);
	ck_assert_uint_ge(fake_kvm.clock.now_tsc, HOST_START + 996000);
	ck_assert_uint_le(fake_kvm.clock.now_tsc, HOST_START + 996020);
	check_delivered_at(HOST_START + 976010);
}
END_TEST

/* Nearer than the advance: no host timer, delivered in the guest's write. */
START_TEST(test_user_timer_near)
{
	uint64_t value;

	start(USER_TIMER_ADVANCE_FIXED, 10000, 1.0, 500);
	arm_in(20900);
	ck_assert_uint_ge(fake_kvm.clock.now_tsc, HOST_START + 19900);
	ck_assert_uint_le(fake_kvm.clock.now_tsc, HOST_START + 19920);
	check_delivered_at(HOST_START);
	ck_assert(!fake_hosttimer.running);
	ck_assert_uint_eq(fake_hosttimer.arms, 0);
	ck_assert_uint_eq(timer.stats.due_at_arm, 1);
	ck_assert_uint_eq(timer.stats.past_at_arm, 0);
	ck_assert_uint_eq(timer.stats.fires, 1);
	ck_assert_uint_eq(timer.arrivals.in_time, 1);
	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), 0);
	ck_assert_uint_eq(value, 0);
	/* A kick for it cannot come; one for an older deadline may. */
	kick_at(HOST_START + 30000);
	ck_assert_uint_eq(timer.stats.stale, 1);
	ck_assert_uint_eq(timer.stats.fires, 1);
}
END_TEST

/* One cycle more than advance and entry cost, and the host timer is used. */
START_TEST(test_user_timer_not_quite_near)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000, 1.0, 500);
	arm_in(21001);
	check_armed_ns(1, 1);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
}
END_TEST

/* Fires at once, waits for nothing, and says nothing about arrivals: how far
 * it lies in the past is the guest's affair. */
START_TEST(test_user_timer_past)
{
	static const int64_t behind[] = {0, -1, -50000, -99999999999};

	start(USER_TIMER_ADVANCE_AUTO, 0, 0.25, 500);
	arm_in(behind[_i]);
	check_delivered_at(HOST_START);
	ck_assert_uint_le(fake_kvm.clock.now_tsc, HOST_START + 30);
	ck_assert_uint_eq(fake_hosttimer.arms, 0);
	ck_assert_uint_eq(timer.stats.due_at_arm, 1);
	ck_assert_uint_eq(timer.stats.past_at_arm, 1);
	ck_assert_uint_eq(timer.stats.fires, 1);
	ck_assert_uint_eq(timer.arrivals.max_late_tsc, 0);
	ck_assert_uint_eq(timer.arrivals.late_tsc.count, 0);
	ck_assert_uint_eq(timer.arrivals.late, 0);
	ck_assert_uint_eq(timer.arrivals.in_time, 0);
	ck_assert_uint_eq(timer.tuner.samples, 0);
}
END_TEST

/* A guest that arms near deadlines must be left some time between two. */
START_TEST(test_user_timer_share_of_the_distance)
{
	start(USER_TIMER_ADVANCE_FIXED, 400000, 0.25, 0);
	arm_in(400000);
	check_armed_ns(150000, 1);
	ck_assert_uint_eq(timer.stats.advance_cut, 1);
	kick_at(HOST_START + 300000);
	check_delivered_at(HOST_START + 300000);
}
END_TEST

/* At a rate where neither is a whole number of cycles, the largest advance
 * that the config allows is no cut one. */
START_TEST(test_user_timer_whole_ceiling_is_not_cut)
{
	fake_kvm_init(HOST_START, OFFSET);
	ck_assert_int_eq(user_timer_setup_init(&plan, 2445123,
					       USER_TIMER_ADVANCE_FIXED, 400000,
					       400000, 0.25, 0),
			 0);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 0);
	arm_in(100000000);
	ck_assert_uint_eq(timer.stats.advance_cut, 0);
}
END_TEST

START_TEST(test_user_timer_rearm_replaces)
{
	uint64_t value, deadline;

	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(1000000);
	deadline = arm_in(5000000);
	ck_assert_uint_eq(fake_hosttimer.arms, 2);
	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), 0);
	ck_assert_uint_eq(value, deadline);
	/* The first one's kick was on its way: no spin to a far deadline. */
	kick_at(HOST_START + 980000);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
	ck_assert_uint_le(fake_kvm.clock.now_tsc, HOST_START + 980030);
	ck_assert(fake_hosttimer.running);
	kick_at(HOST_START + 4985000);
	check_delivered_at(HOST_START + 4985000);
	ck_assert_uint_eq(timer.stats.arms, 2);
	ck_assert_uint_eq(timer.stats.fires, 1);
}
END_TEST

START_TEST(test_user_timer_rearm_nearer)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(5000000);
	fake_kvm.clock.now_tsc = HOST_START + 1000000;
	arm_in(1000000);
	check_armed_ns(490000, 2);
	kick_at(HOST_START + 1980000);
	check_delivered_at(HOST_START + 1980000);
}
END_TEST

START_TEST(test_user_timer_rearm_in_the_past)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(5000000);
	arm_in(-1);
	/* The old expiry must not come on top. */
	ck_assert(!fake_hosttimer.running);
	ck_assert_uint_eq(fake_hosttimer.disarms, 1);
	check_delivered_at(HOST_START);
	kick_at(HOST_START + 5000000);
	ck_assert_uint_eq(timer.stats.stale, 1);
	ck_assert_uint_eq(timer.stats.fires, 1);
}
END_TEST

START_TEST(test_user_timer_disarm)
{
	uint64_t value = 1;

	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(1000000);
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), 0);
	ck_assert(!fake_hosttimer.running);
	ck_assert_uint_eq(timer.stats.disarms, 1);
	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), 0);
	ck_assert_uint_eq(value, 0);
	kick_at(HOST_START + 990000);
	kick_at(HOST_START + 1000000);
	fake_kvm.clock.now_tsc = HOST_START + 2000000;
	ck_assert_int_eq(user_timer_poll(&timer), 0);
	ck_assert_uint_eq(timer.stats.stale, 2);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
	ck_assert(!fake_kvm_enter());
	/* And again: nothing to stop. */
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), 0);
	ck_assert_uint_eq(fake_hosttimer.disarms, 1);
	ck_assert_uint_eq(timer.stats.disarms, 2);
}
END_TEST

START_TEST(test_user_timer_two_kicks_one_fire)
{
	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(1000000);
	kick_at(HOST_START + 980000);
	kick_at(HOST_START + 1000500);
	ck_assert_uint_eq(timer.stats.fires, 1);
	ck_assert_uint_eq(timer.stats.stale, 1);
	check_delivered_at(HOST_START + 980000);
}
END_TEST

/* An exit for another reason that happens to end close to the deadline. */
START_TEST(test_user_timer_poll)
{
	start(USER_TIMER_ADVANCE_AUTO, 0, 0.25, 0);
	arm_in(1000000);
	fake_kvm.clock.now_tsc = HOST_START + 990000;
	ck_assert_int_eq(user_timer_poll(&timer), 0);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
	ck_assert(fake_hosttimer.running);
	fake_kvm.clock.now_tsc = HOST_START + 999000;
	ck_assert_int_eq(user_timer_poll(&timer), 1);
	ck_assert(!fake_hosttimer.running);
	ck_assert_uint_ge(fake_kvm.clock.now_tsc, HOST_START + 1000000);
	check_delivered_at(HOST_START + 999000);
	ck_assert_uint_eq(timer.stats.due_at_poll, 1);
	/* Nothing was delivered late or early by the host timer. */
	ck_assert_uint_eq(timer.tuner.samples, 0);
	kick_at(HOST_START + 1000100);
	ck_assert_uint_eq(timer.stats.stale, 1);
	ck_assert_uint_eq(timer.stats.fires, 1);
}
END_TEST

/* What the host timer cost goes to the tuner, and its answer into the arms. */
START_TEST(test_user_timer_learns)
{
	uint64_t before_tsc, cost_tsc = 30000;

	start(USER_TIMER_ADVANCE_AUTO, 0, 0.25, 0);
	ck_assert_uint_eq(timer.tuner.advance_tsc, 2000);
	for (unsigned int i = 1; i <= 100; i++) {
		before_tsc = timer.tuner.advance_tsc;
		arm_in(10000000);
		tap_require(fake_hosttimer.ns == (10000000 - before_tsc) / 2);
		kick_at(timer.plan.wake_host_tsc + cost_tsc);
		tap_require(timer.tuner.samples == i);
		tap_require(fake_kvm_enter());
	}
	/* Within the tuner's dead band. */
	ck_assert_uint_ge(timer.tuner.advance_tsc, cost_tsc - cost_tsc / 8);
	ck_assert_uint_le(timer.tuner.advance_tsc, cost_tsc + cost_tsc / 8);
}
END_TEST

/* Far deadlines are woken for early on purpose and set again. */
START_TEST(test_user_timer_far)
{
	uint64_t left_tsc;
	unsigned int arms;

	start(USER_TIMER_ADVANCE_FIXED, 10000, 0.25, 0);
	arm_in(INT64_C(200000000000));
	for (arms = 1; !fake_kvm.delivery_count; arms++) {
		ck_assert_uint_le(arms, 8);
		ck_assert(fake_hosttimer.running);
		kick_at(fake_kvm.clock.now_tsc + fake_hosttimer.ns * 2);
	}
	left_tsc = HOST_START + UINT64_C(200000000000) -
		   fake_kvm.delivered_host_tsc;
	ck_assert_uint_le(left_tsc, 20200);
	ck_assert_uint_eq(timer.stats.fires, 1);
	ck_assert_uint_ge(fake_kvm.clock.now_tsc,
			  HOST_START + UINT64_C(200000000000));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("user_timer");
	TCase *tc = tcase_create("user_timer");

	tcase_add_test(tc, test_user_timer_starts_quiet);
	tcase_add_test(tc, test_user_timer_setup_refuses_odd_rates);
	tcase_add_test(tc, test_user_timer_off);
	tcase_add_test(tc, test_user_timer_off_remainder);
	tcase_add_test(tc, test_user_timer_nothing_before_its_time);
	tcase_add_test(tc, test_user_timer_fixed_advance);
	tcase_add_test(tc, test_user_timer_arrives_late);
	tcase_add_test(tc, test_user_timer_entry_cost);
	tcase_add_test(tc, test_user_timer_near);
	tcase_add_test(tc, test_user_timer_not_quite_near);
	tcase_add_loop_test(tc, test_user_timer_past, 0, 4);
	tcase_add_test(tc, test_user_timer_share_of_the_distance);
	tcase_add_test(tc, test_user_timer_whole_ceiling_is_not_cut);
	tcase_add_test(tc, test_user_timer_rearm_replaces);
	tcase_add_test(tc, test_user_timer_rearm_nearer);
	tcase_add_test(tc, test_user_timer_rearm_in_the_past);
	tcase_add_test(tc, test_user_timer_disarm);
	tcase_add_test(tc, test_user_timer_two_kicks_one_fire);
	tcase_add_test(tc, test_user_timer_poll);
	tcase_add_test(tc, test_user_timer_learns);
	tcase_add_test(tc, test_user_timer_far);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
