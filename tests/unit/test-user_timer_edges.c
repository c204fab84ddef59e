/* SPDX-License-Identifier: MIT */
/*
 * user_timer at the edges: expiries that KVM holds back, reads in every
 * state, LVTT in another mode, a TSC that the guest moves, a timer that was
 * never ours, and hosts that fail. strict_lvtt is in test-canary.c.
 */
#include "user_timer.h"

#include "fake_hosttimer.h"
#include "fake_kvm.h"
#include "kick.h"
#include "tap.h"

#define TSC_KHZ	   2000000u
#define HOST_START UINT64_C(1000000000000)
#define OFFSET	   (0 - UINT64_C(900000000000))

static struct user_timer_setup plan;
static struct user_timer timer;

static void start(void)
{
	ck_assert_int_eq(user_timer_setup_init(&plan, TSC_KHZ,
					       USER_TIMER_ADVANCE_FIXED, 10000,
					       400000, 0.25, 0),
			 0);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 0);
}

static void setup(void)
{
	fake_kvm_init(HOST_START, OFFSET);
	start();
}

static void write_deadline(uint64_t guest_tsc)
{
	ck_assert_int_eq(user_timer_write_deadline(&timer, guest_tsc), 0);
}

static uint64_t arm_in(int64_t ahead_tsc)
{
	uint64_t deadline = fake_kvm_guest_tsc() + (uint64_t)ahead_tsc;

	write_deadline(deadline);
	return deadline;
}

static void kick_at(uint64_t host_tsc)
{
	fake_kvm.clock.now_tsc = host_tsc;
	ck_assert_int_eq(user_timer_expired(&timer), 0);
}

/* Arms a deadline and has it delivered; KVM may hold it back. */
static uint64_t fire(void)
{
	uint64_t deadline = arm_in(1000000);
	unsigned int before = fake_kvm.delivery_count;

	kick_at(fake_kvm.clock.now_tsc + 985000);
	ck_assert_uint_eq(fake_kvm.delivery_count, before + 1);
	return deadline;
}

static void check_read(uint64_t expected)
{
	uint64_t value = ~expected;

	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), 0);
	ck_assert_uint_eq(value, expected);
}

START_TEST(test_user_timer_read)
{
	uint64_t deadline;

	check_read(0);
	deadline = arm_in(1000000);
	check_read(deadline);
	/* Due, and not yet delivered: as KVM's before its timer expired. */
	fake_kvm.clock.now_tsc += 1100000;
	check_read(deadline);
	kick_at(fake_kvm.clock.now_tsc);
	/* Delivered: an interrupt already. */
	check_read(0);
	ck_assert(fake_kvm_enter());
	check_read(0);
	write_deadline(0);
	check_read(0);
	ck_assert_uint_eq(timer.stats.reads, 6);
}
END_TEST

START_TEST(test_user_timer_masked_expiry_is_held_back)
{
	uint64_t deadline;

	fake_kvm_write_lvtt(true, true);
	deadline = fire();
	ck_assert(!fake_kvm_enter());
	check_read(deadline);
	fake_kvm_write_lvtt(true, false);
	ck_assert(fake_kvm_enter());
	check_read(0);
	ck_assert_uint_eq(fake_kvm.interrupts, 1);
}
END_TEST

/* What is out of the ordinary is left to KVM, and so is an MSI that did not
 * reach its APIC: never lost. */
START_TEST(test_user_timer_odd_deliveries)
{
	fake_kvm_write_lvtt(_i != 1, _i == 0);
	fake_kvm.is_disabled = _i == 2;
	fake_kvm.msi_blocked = _i == 3;
	if (_i == 4)
		fake_kvm.run.apic_base = 0xfee00000;
	fire();
	ck_assert_uint_eq(fake_kvm.msi_count, 0);
	ck_assert_uint_eq(fake_kvm_last_write(0).value, 1);
	ck_assert_uint_eq(timer.stats.odd_deliveries, 1);
	/* KVM may hold it back: the next write clears that. */
	write_deadline(0);
	ck_assert_uint_eq(fake_kvm_last_write(0).value, 0);
	ck_assert_uint_eq(timer.stats.latches_cleared, 1);
}
END_TEST

/* Beside other vCPUs only an x2APIC is sure to be the only one of its id. */
START_TEST(test_user_timer_msi_beside_others)
{
	fake_kvm.run.apic_base = _i ? 0xfee00c00 : 0xfee00800;
	timer.injector.is_alone = false;
	fire();
	ck_assert_uint_eq(fake_kvm.msi_count, _i);
	ck_assert_uint_eq(timer.stats.odd_deliveries, !_i);
	ck_assert(fake_kvm_enter());
}
END_TEST

/* As any write of KVM's own register would. */
START_TEST(test_user_timer_rearm_drops_what_is_held_back)
{
	uint64_t deadline;

	fake_kvm_write_lvtt(true, true);
	fire();
	deadline = arm_in(5000000);
	ck_assert_uint_eq(fake_kvm_last_write(0).value, 0);
	ck_assert_uint_eq(timer.stats.latches_cleared, 1);
	check_read(deadline);
	fake_kvm_write_lvtt(true, false);
	ck_assert(!fake_kvm_enter());
	/* Once is enough. */
	arm_in(6000000);
	ck_assert_uint_eq(fake_kvm.write_count, 2);
	ck_assert_uint_eq(timer.stats.latches_cleared, 1);
	kick_at(fake_kvm.clock.now_tsc + 5990000);
	ck_assert(fake_kvm_enter());
	ck_assert_uint_eq(fake_kvm.interrupts, 1);
}
END_TEST

START_TEST(test_user_timer_disarm_drops_what_is_held_back)
{
	fake_kvm_write_lvtt(true, true);
	fire();
	write_deadline(0);
	ck_assert_uint_eq(timer.stats.latches_cleared, 1);
	fake_kvm_write_lvtt(true, false);
	ck_assert(!fake_kvm_enter());
	check_read(0);
	write_deadline(0);
	ck_assert_uint_eq(fake_kvm.write_count, 2);
}
END_TEST

/* A past deadline on top of one that is held back: one interrupt. */
START_TEST(test_user_timer_past_after_held_back)
{
	fake_kvm_write_lvtt(true, true);
	fire();
	arm_in(-5);
	ck_assert_uint_eq(fake_kvm_last_write(1).value, 0);
	ck_assert_uint_eq(fake_kvm_last_write(0).value, 1);
	fake_kvm_write_lvtt(true, false);
	ck_assert(fake_kvm_enter());
	ck_assert(!fake_kvm_enter());
}
END_TEST

/* Without strict_lvtt the mode at expiry decides. */
START_TEST(test_user_timer_other_mode_at_expiry)
{
	uint64_t deadline = arm_in(1000000);

	check_read(deadline);
	fake_kvm_write_lvtt(false, false);
	check_read(0);
	kick_at(fake_kvm.clock.now_tsc + 985000);
	ck_assert(!fake_kvm_enter());
	check_read(0);
	fake_kvm_write_lvtt(true, false);
	ck_assert(!fake_kvm_enter());
	fire();
	ck_assert(fake_kvm_enter());
}
END_TEST

START_TEST(test_user_timer_tsc_write_moves_an_armed_deadline)
{
	uint64_t deadline = arm_in(100000000);

	/* 60 % of the way at once. */
	ck_assert_int_eq(user_timer_write_tsc(&timer, deadline - 40000000), 0);
	ck_assert_uint_ge(fake_kvm_guest_tsc(), deadline - 40000000);
	ck_assert_uint_le(fake_kvm_guest_tsc(), deadline - 40000000 + 30);
	ck_assert_uint_eq(timer.tsc.tsc_offset, fake_kvm.tsc_offset);
	ck_assert_uint_eq(fake_hosttimer.arms, 2);
	ck_assert_uint_eq((40000000 - 20000) / 2 - fake_hosttimer.ns, 5);
	check_read(deadline);
	/* Back again: later, by the TSC of the guest. */
	ck_assert_int_eq(user_timer_write_tsc(&timer, deadline - 90000000), 0);
	ck_assert_uint_eq((90000000 - 20000) / 2 - fake_hosttimer.ns, 5);
	ck_assert_uint_eq(fake_kvm.delivery_count, 0);
	kick_at(fake_kvm.clock.now_tsc + 89985000);
	ck_assert_uint_eq(fake_kvm.delivery_count, 1);
	ck_assert_uint_ge(fake_kvm_guest_tsc(), deadline);
	ck_assert(fake_kvm_enter());
}
END_TEST

START_TEST(test_user_timer_tsc_write_beyond_the_deadline)
{
	uint64_t deadline = arm_in(100000000);

	ck_assert_int_eq(user_timer_write_tsc(&timer, deadline + _i), 0);
	ck_assert(!fake_hosttimer.running);
	ck_assert(fake_kvm_enter());
	ck_assert_uint_eq(timer.stats.fires, 1);
	ck_assert_uint_eq(timer.stats.past_at_arm, 1);
}
END_TEST

START_TEST(test_user_timer_tsc_write_while_idle)
{
	ck_assert_int_eq(user_timer_write_tsc(&timer, 5), 0);
	ck_assert_uint_le(fake_kvm_guest_tsc(), 30);
	ck_assert_uint_eq(fake_kvm.write_count, 0);
	ck_assert(!fake_hosttimer.running);
	/* Both registers move together. */
	ck_assert_uint_eq(fake_kvm.tsc_adjust, fake_kvm.tsc_offset - OFFSET);
	arm_in(1000000);
	ck_assert_uint_eq(fake_hosttimer.ns, 490000);
}
END_TEST

START_TEST(test_user_timer_tsc_adjust_write)
{
	uint64_t deadline = arm_in(100000000);

	ck_assert_int_eq(user_timer_write_tsc_adjust(&timer, 30000000), 0);
	ck_assert_uint_eq(fake_kvm.tsc_offset, OFFSET + 30000000);
	ck_assert_uint_eq(fake_kvm.tsc_adjust, 30000000);
	ck_assert_uint_eq((70000000 - 20000) / 2 - fake_hosttimer.ns, 5);
	/* By the difference, not by the value. */
	ck_assert_int_eq(user_timer_write_tsc_adjust(&timer, 10000000), 0);
	ck_assert_uint_eq(fake_kvm.tsc_offset, OFFSET + 10000000);
	check_read(deadline);
	ck_assert_int_eq(user_timer_write_tsc_adjust(&timer, 100000000), 0);
	ck_assert(fake_kvm_enter());
}
END_TEST

/* The caller answers such a guest with #GP; nothing may have moved. */
START_TEST(test_user_timer_no_tsc_adjust)
{
	fake_kvm.has_no_tsc_adjust = true;
	ck_assert_int_eq(user_timer_write_tsc_adjust(&timer, 1000), -EINVAL);
	ck_assert_uint_eq(fake_kvm.tsc_offset, OFFSET);
	/* IA32_TSC is there all the same. */
	ck_assert_int_eq(user_timer_write_tsc(&timer, 1000), 0);
	ck_assert_uint_le(fake_kvm_guest_tsc(), 1030);
}
END_TEST

/* What counts is what the host really uses. */
START_TEST(test_user_timer_host_keeps_its_offset)
{
	arm_in(100000000);
	fake_kvm.keeps_offset = true;
	ck_assert_int_eq(user_timer_write_tsc(&timer, 0), 0);
	ck_assert_uint_eq(timer.tsc.tsc_offset, OFFSET);
	ck_assert_uint_eq((100000000 - 20000) / 2 - fake_hosttimer.ns, 10);
}
END_TEST

static int backstop(uint64_t *value)
{
	return user_timer_backstop(&timer, value);
}

/* KVM's own register holds what only a write past the filter, or our own
 * delivery, puts there. */
START_TEST(test_user_timer_backstop)
{
	uint64_t value;

	ck_assert_int_eq(backstop(&value), 0);
	arm_in(1000000);
	ck_assert_int_eq(backstop(&value), 0);
	fake_kvm.deadline_guest_tsc = 12345;
	ck_assert_int_eq(backstop(&value), 1);
	ck_assert_uint_eq(value, 12345);
	fake_kvm.deadline_guest_tsc = 1;
	ck_assert_int_eq(backstop(&value), 1);
	fake_kvm.deadline_guest_tsc = 0;
	write_deadline(0);
	fake_kvm_write_lvtt(true, true);
	fire();
	/* Ours, held back. */
	ck_assert_int_eq(backstop(&value), 0);
	ck_assert_uint_eq(value, 1);
	fake_kvm.deadline_guest_tsc = 2;
	ck_assert_int_eq(backstop(&value), 1);
	fake_kvm.get_msr_error = -EIO;
	ck_assert_int_eq(backstop(&value), -EIO);
}
END_TEST

START_TEST(test_user_timer_tsc_stands_still)
{
	arm_in(1000000);
	fake_kvm.clock.now_tsc = HOST_START + 985000;
	fake_kvm.clock.freeze_at_read = fake_kvm.clock.reads + 20;
	ck_assert_int_eq(user_timer_expired(&timer), -ETIME);
	user_timer_settle(&timer);
	ck_assert_uint_eq(timer.arrivals.spins, 0);
}
END_TEST

/* A POSIX timer is opened by the thread that it is to signal. */
START_TEST(test_user_timer_bind)
{
	struct kick kick = {.tid = 4711};

	ck_assert_int_eq(user_timer_bind(&timer, &kick), 0);
	ck_assert_int_eq(fake_hosttimer.tid, 0);
	user_timer_free(&timer);
	plan.source = USER_TIMER_POSIX;
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 0);
	ck_assert_int_eq(timer.host.fd, -1);
	fake_hosttimer.open_error = -EAGAIN;
	ck_assert_int_eq(user_timer_bind(&timer, &kick), -EAGAIN);
	ck_assert_int_eq(user_timer_bind(&timer, &kick), 0);
	ck_assert_int_eq(fake_hosttimer.tid, 4711);
	ck_assert_int_eq(fake_hosttimer.signal_number, kick_signal_number());
	ck_assert_ptr_eq(fake_hosttimer.value, &kick);
	arm_in(9999999);
	ck_assert(fake_hosttimer.running);
}
END_TEST

START_TEST(test_user_timer_tsc_steps_back)
{
	arm_in(1000000);
	fake_kvm.clock.now_tsc = HOST_START + 985000;
	fake_kvm.clock.back_at_read = fake_kvm.clock.reads + 20;
	fake_kvm.clock.back_tsc = 1000;
	ck_assert_int_eq(user_timer_expired(&timer), -ETIME);
	user_timer_settle(&timer);
	ck_assert_uint_eq(timer.arrivals.spins, 0);
}
END_TEST

/* Whatever of the host fails, the caller is told which. */
START_TEST(test_user_timer_host_errors)
{
	uint64_t value;

	fake_kvm.get_offset_error = -ENXIO;
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 -ENXIO);
	fake_hosttimer.open_error = -EMFILE;
	ck_assert_int_eq(user_timer_init(&timer, &plan, fake_kvm_injector()),
			 -EMFILE);
	start();
	fake_hosttimer.arm_error = -ENOMEM;
	ck_assert_int_eq(user_timer_write_deadline(
				 &timer, fake_kvm_guest_tsc() + 9999999),
			 -ENOMEM);
	start();
	arm_in(9999999);
	fake_hosttimer.disarm_error = -EBADF;
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), -EBADF);
	start();
	fake_kvm.get_lapic_error = -EIO;
	ck_assert_int_eq(user_timer_write_deadline(&timer, 1), -EIO);
	start();
	fake_kvm_write_lvtt(true, true);
	fake_kvm.set_msr_error = -EIO;
	ck_assert_int_eq(user_timer_write_deadline(&timer, 1), -EIO);
	start();
	fake_kvm_write_lvtt(true, true);
	fire();
	fake_kvm.get_msr_error = -EFAULT;
	ck_assert_int_eq(user_timer_read_deadline(&timer, &value), -EFAULT);
	fake_kvm.set_msr_error = -EIO;
	ck_assert_int_eq(user_timer_write_deadline(&timer, 0), -EIO);
	fake_kvm.set_offset_error = -EPERM;
	ck_assert_int_eq(user_timer_write_tsc(&timer, 0), -EPERM);
	fake_kvm.get_offset_error = -EPERM;
	ck_assert_int_eq(user_timer_write_tsc(&timer, 0), -EPERM);
}
END_TEST

/* A thread that is moved to a CPU whose TSC is a second behind. */
START_TEST(test_user_timer_tsc_is_far_behind)
{
	arm_in(1000000);
	fake_kvm.clock.now_tsc = HOST_START + 985000;
	fake_kvm.clock.back_at_read = fake_kvm.clock.reads + 1;
	fake_kvm.clock.back_tsc = TSC_KHZ * UINT64_C(1000);
	ck_assert_int_eq(user_timer_expired(&timer), -ETIME);
	user_timer_settle(&timer);
	ck_assert_uint_eq(timer.arrivals.spins, 0);
}
END_TEST

/* A suspend: the host's TSC starts anew, KVM moves its offset along. */
START_TEST(test_user_timer_resync)
{
	uint64_t deadline = arm_in(1000000);

	fake_kvm.tsc_offset += HOST_START - 5000;
	fake_kvm.clock.now_tsc = 5000;
	ck_assert_int_eq(user_timer_resync(&timer), 0);
	ck_assert_uint_eq(timer.tsc.tsc_offset, fake_kvm.tsc_offset);
	ck_assert_uint_eq(timer.plan.deadline_host_tsc,
			  deadline - fake_kvm.tsc_offset);
	kick_at(timer.plan.wake_host_tsc);
	ck_assert_uint_eq(fake_kvm.delivery_count, 1);
	ck_assert_uint_ge(fake_kvm_guest_tsc(), deadline);

	/* Nothing armed: the offset alone. */
	fake_kvm.tsc_offset += 77;
	ck_assert_int_eq(user_timer_resync(&timer), 0);
	ck_assert_uint_eq(timer.tsc.tsc_offset, fake_kvm.tsc_offset);
	fake_kvm.get_offset_error = -ENXIO;
	ck_assert_int_eq(user_timer_resync(&timer), -ENXIO);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("user_timer_edges");
	TCase *tc = tcase_create("edges");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_user_timer_read);
	tcase_add_test(tc, test_user_timer_masked_expiry_is_held_back);
	tcase_add_loop_test(tc, test_user_timer_odd_deliveries, 0, 5);
	tcase_add_loop_test(tc, test_user_timer_msi_beside_others, 0, 2);
	tcase_add_test(tc, test_user_timer_rearm_drops_what_is_held_back);
	tcase_add_test(tc, test_user_timer_disarm_drops_what_is_held_back);
	tcase_add_test(tc, test_user_timer_past_after_held_back);
	tcase_add_test(tc, test_user_timer_other_mode_at_expiry);
	tcase_add_test(tc, test_user_timer_tsc_write_moves_an_armed_deadline);
	tcase_add_loop_test(tc, test_user_timer_tsc_write_beyond_the_deadline,
			    0, 2);
	tcase_add_test(tc, test_user_timer_tsc_write_while_idle);
	tcase_add_test(tc, test_user_timer_tsc_adjust_write);
	tcase_add_test(tc, test_user_timer_no_tsc_adjust);
	tcase_add_test(tc, test_user_timer_host_keeps_its_offset);
	tcase_add_test(tc, test_user_timer_backstop);
	tcase_add_test(tc, test_user_timer_tsc_stands_still);
	tcase_add_test(tc, test_user_timer_bind);
	tcase_add_test(tc, test_user_timer_tsc_steps_back);
	tcase_add_test(tc, test_user_timer_tsc_is_far_behind);
	tcase_add_test(tc, test_user_timer_resync);
	tcase_add_test(tc, test_user_timer_host_errors);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
