/* SPDX-License-Identifier: MIT */
/*
 * user_timer on random walks: a guest that arms, disarms, masks, changes mode
 * and moves its TSC at will; host timers that are slewed, late, and kick for
 * deadlines that are gone. After every step, against a few lines of what the
 * SDM and KVM make of the same:
 *
 *   never early, and nothing injected more than the ceiling ahead;
 *   no interrupt that nobody is waiting for, none lost;
 *   the register reads as it should.
 */
#include "user_timer.h"

#include "fake_hosttimer.h"
#include "fake_kvm.h"
#include "prng.h"
#include "tap.h"

enum {
	WALKS = 150,
	STEPS = 300,
	MAX_ADVANCE_NS = 400000,
	MAX_ADVANCE_TSC = 2 * MAX_ADVANCE_NS, /* at 2 GHz */
};

static struct user_timer_setup plan;
static struct user_timer timer;
static uint64_t prng;
static bool strict;
static uint64_t entry_cost_tsc;

/* What the guest has a right to. */
static bool waiting; /* for an interrupt at: */
static uint64_t deadline_guest_tsc, due_host_tsc;
static bool fired; /* KVM has it, perhaps held back by the mask */

/* The host timer's side. */
static unsigned int arms_seen;
static uint64_t expiry_host_tsc;
static bool kick_pending;

static uint64_t pick(uint64_t below)
{
	return prng_next(&prng) % below;
}

/* The guest's deadline as an instant of the host, from what the guest's TSC
 * was at the arm, or when it moved. Years ahead is as good as for ever. */
static void set_due(uint64_t at_host_tsc)
{
	uint64_t at_guest_tsc = at_host_tsc + fake_kvm.tsc_offset;
	uint64_t ahead_tsc = deadline_guest_tsc > at_guest_tsc
				     ? deadline_guest_tsc - at_guest_tsc
				     : 0;

	if (ahead_tsc > UINT64_C(1) << 62)
		ahead_tsc = UINT64_C(1) << 62;
	due_host_tsc = at_host_tsc + ahead_tsc;
}

/* A call of the timer is over: what did it do? */
static void look(int ret, uint64_t fires_before)
{
	tap_require(ret == 0);
	if (fake_hosttimer.arms != arms_seen) {
		uint64_t ns = fake_hosttimer.ns;

		/* CLOCK_MONOTONIC may run 500 ppm off the TSC. */
		expiry_host_tsc = fake_kvm.clock.now_tsc + ns * 2 - ns / 1000 +
				  pick(ns / 500 + 1);
		arms_seen = fake_hosttimer.arms;
	}
	if (timer.stats.fires == fires_before)
		return;
	tap_require(timer.stats.fires == fires_before + 1);
	tap_require(fake_kvm.delivery_count == timer.stats.fires);
	tap_require(fake_kvm.delivered_host_tsc + MAX_ADVANCE_TSC +
			    entry_cost_tsc >=
		    due_host_tsc);
	tap_require(fake_kvm.clock.now_tsc + entry_cost_tsc >= due_host_tsc);
	/* Outside deadline mode KVM takes no notice. */
	tap_require(waiting || !fake_kvm.deadline_mode);
	tap_require(!fired);
	fired = true;
	if (!fake_kvm.deadline_mode)
		waiting = false;
}

static void guest_writes_deadline(uint64_t guest_tsc)
{
	uint64_t fires_before = timer.stats.fires;

	/* Outside deadline mode KVM ignores it; only strict_lvtt knows. */
	waiting = guest_tsc && (fake_kvm.deadline_mode || !strict);
	deadline_guest_tsc = guest_tsc;
	fired = false;
	set_due(fake_kvm.clock.now_tsc);
	look(user_timer_write_deadline(&timer, guest_tsc), fires_before);
}

static void guest_arms(void)
{
	static const unsigned int bits[] = {4, 12, 18, 24, 30, 40, 44};
	uint64_t ahead_tsc = pick(UINT64_C(1) << bits[pick(7)]);

	switch (pick(12)) {
	case 0:
		guest_writes_deadline(fake_kvm_guest_tsc() - ahead_tsc);
		break;
	case 1:
		guest_writes_deadline(prng_any_size(&prng));
		break;
	default:
		guest_writes_deadline(fake_kvm_guest_tsc() + ahead_tsc);
	}
}

static void guest_writes_lvtt(bool deadline_mode, bool masked)
{
	if (deadline_mode != fake_kvm.deadline_mode && (strict || fired))
		waiting = false;
	fake_kvm_write_lvtt(deadline_mode, masked);
}

static void guest_reads(void)
{
	uint64_t value, expected = waiting ? deadline_guest_tsc : 0;

	if (!fired && !fake_kvm.deadline_mode)
		expected = 0;
	tap_require(!user_timer_read_deadline(&timer, &value));
	tap_require(value == expected);
}

static void guest_moves_tsc(void)
{
	uint64_t fires_before = timer.stats.fires;
	uint64_t value = fake_kvm_guest_tsc() - (UINT64_C(1) << 33) +
			 pick(UINT64_C(1) << 34);

	uint64_t at_host_tsc = fake_kvm.clock.now_tsc;
	int ret;

	if (pick(8) == 0)
		value = prng_any_size(&prng);
	if (pick(2))
		ret = user_timer_write_tsc(&timer, value);
	else
		ret = user_timer_write_tsc_adjust(&timer,
						  fake_kvm.tsc_adjust + value -
							  fake_kvm_guest_tsc());
	set_due(at_host_tsc);
	look(ret, fires_before);
}

static void time_passes(void)
{
	uint64_t *now = &fake_kvm.clock.now_tsc;
	uint64_t until = *now + pick(UINT64_C(1) << pick(36));

	/* Mostly something happens then: the timer expires, or nearly. */
	if (fake_hosttimer.running && pick(4)) {
		until = expiry_host_tsc;
		if (pick(3) == 0)
			until -= pick(UINT64_C(1) << pick(14));
	}
	if ((int64_t)(until - *now) > 0)
		*now = until;
	fake_kvm_tick();
	if (fake_hosttimer.running && (int64_t)(*now - expiry_host_tsc) >= 0) {
		fake_hosttimer.running = false;
		kick_pending = true;
		*now += pick(UINT64_C(1) << pick(20));
	}
}

/* One turn of a vCPU's loop. */
static void turn(void)
{
	uint64_t fires_before = timer.stats.fires;

	if (kick_pending && pick(8)) {
		kick_pending = false;
		look(user_timer_expired(&timer), fires_before);
	} else if (!kick_pending) {
		int delivered = user_timer_poll(&timer);

		tap_require(delivered ==
			    (int)(timer.stats.fires - fires_before));
		look(0, fires_before);
	}
	if (fake_kvm_enter()) {
		tap_require(waiting && fired);
		waiting = false;
	}
	tap_require(fake_kvm.own_expiries == 0);
	/* Whoever waits is sure to be served. */
	if (waiting && !fired)
		tap_require(fake_hosttimer.running || kick_pending);
	if (waiting && fired)
		tap_require(fake_kvm.masked && fake_kvm.pending);
}

static void guest_acts(void)
{
	switch (pick(16)) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		guest_arms();
		break;
	case 5:
		guest_writes_deadline(0);
		break;
	case 6:
		guest_writes_lvtt(pick(4) != 0, fake_kvm.masked);
		break;
	case 7:
		guest_writes_lvtt(fake_kvm.deadline_mode, pick(4) == 0);
		break;
	case 8:
	case 9:
		guest_reads();
		break;
	case 10:
		guest_moves_tsc();
		break;
	case 11:
		/* A kick for a deadline that is long gone. */
		kick_pending = true;
		break;
	default:
		break;
	}
}

/* Until nobody waits any more; the guest keeps still. */
static void drain(void)
{
	unsigned int turns = 0;

	guest_writes_lvtt(true, false);
	for (turn(); waiting; turn()) {
		/* 2^63 cycles take many an hour. */
		if (deadline_guest_tsc - fake_kvm_guest_tsc() > UINT64_C(1)
									<< 46)
			guest_writes_deadline(fake_kvm_guest_tsc() + 5000);
		tap_require(++turns < 2000);
		time_passes();
	}
	guest_reads();
}

static void walk(enum user_timer_advance advance, uint64_t entry_cost_ns)
{
	fake_kvm_init(pick(UINT64_C(1) << 45), prng_any_size(&prng));
	memset(&timer, 0, sizeof(timer));
	memset(&fake_hosttimer, 0, sizeof(fake_hosttimer));
	waiting = fired = kick_pending = false;
	arms_seen = 0;
	entry_cost_tsc = 2 * entry_cost_ns;
	tap_require(!user_timer_setup_init(&plan, 2000000, advance, 30000,
					   MAX_ADVANCE_NS, (double)pick(5) / 4,
					   entry_cost_ns));
	if (strict)
		user_timer_setup_strict(&plan);
	plan.clock = fake_clock_of(&fake_kvm.clock);
	tap_require(!user_timer_init(&timer, &plan, fake_kvm_injector()));
	for (int i = 0; i < STEPS; i++) {
		guest_acts();
		turn();
		time_passes();
	}
	drain();
}

/* Bit 0: strict_lvtt; the rest is the kind of advance. */
START_TEST(test_user_timer_walk)
{
	uint64_t fires = 0;

	strict = _i & 1;
	for (uint64_t seed = 1; seed <= WALKS; seed++) {
		prng = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)_i;
		walk((enum user_timer_advance)(_i >> 1), seed % 2 ? 0 : 700);
		fires += fake_kvm.interrupts;
	}
	/* The walks went where something happens. */
	ck_assert_uint_gt(fires, WALKS * STEPS / 20);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("user_timer_walk");
	TCase *tc = tcase_create("walk");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_user_timer_walk, 0,
			    2 * (USER_TIMER_ADVANCE_AUTO + 1));
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
