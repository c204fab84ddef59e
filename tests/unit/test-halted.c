/* SPDX-License-Identifier: MIT */
/*
 * When a guest counts as halted for ever. KVM's answers are the test's; the
 * CPU time is that of the thread of the test, which is next to none, and a
 * busy vCPU is made by moving what was remembered of it.
 */
#include "halted.h"

#include <errno.h>
#include <string.h>

#include "kvm.h"
#include "tap.h"
#include "vcpu.h"
#include "vm.h"

enum {
	VCPUS = 2,
	FIRST_FD = 40,
};

#define RFLAGS_IF (1u << 9)

static struct {
	uint32_t mp_state;
	uint64_t rflags;
	struct kvm_vcpu_events events;
	unsigned long failing; /* a request that fails */
} answers[VCPUS];

static struct vcpu vcpus[VCPUS];
static volatile uint8_t immediate_exit[VCPUS];
static struct vm vm;
static struct halted_watch watch;

/* In the place of vmm/kvm.c. */
int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	int i = fd - FIRST_FD;

	ck_assert(i >= 0 && i < VCPUS);
	if (request == answers[i].failing)
		return -EIO;
	switch (request) {
	case KVM_GET_MP_STATE:
		((struct kvm_mp_state *)arg)->mp_state = answers[i].mp_state;
		return 0;
	case KVM_GET_REGS:
		((struct kvm_regs *)arg)->rflags = answers[i].rflags;
		return 0;
	case KVM_GET_VCPU_EVENTS:
		memcpy(arg, &answers[i].events, sizeof(answers[i].events));
		return 0;
	default:
		return -EINVAL;
	}
}

/* A turn of a vCPU's loop; true if it was asked to look. */
static bool answer(int i)
{
	uint32_t requests = kick_enter(&vcpus[i].kick);

	if (!requests)
		kick_leave(&vcpus[i].kick);
	if (!(requests & KICK_LOOK))
		return false;
	halted_look(&vcpus[i]);
	atomic_fetch_add(&vcpus[i].looks, 1);
	return true;
}

static void setup(void)
{
	memset(vcpus, 0, sizeof(vcpus));
	memset(answers, 0, sizeof(answers));
	vm.vcpus = vcpus;
	vm.vcpu_count = VCPUS;
	vm.user_timer = true;
	watch.ticks = 0;
	bus_init(&vm.bus, -1, NULL);
	for (int i = 0; i < VCPUS; i++) {
		vcpus[i].fd = FIRST_FD + i;
		vcpus[i].vm = &vm;
		vcpus[i].thread = pthread_self();
		kick_bind(&vcpus[i].kick, &immediate_exit[i]);
		atomic_store(&vcpus[i].timer_seen, true);
		answers[i].mp_state = KVM_MP_STATE_HALTED;
		answers[i].rflags = 2;
	}
	/* From here on the CPU time of this thread counts. */
	ck_assert(!halted_tick(&watch, &vm));
	for (int i = 0; i < VCPUS; i++) {
		answer(i);
		vcpus[i].tick_looks = atomic_load(&vcpus[i].looks);
	}
}

static void teardown(void)
{
	bus_destroy(&vm.bus);
}

static enum vcpu_idle look(void)
{
	halted_look(&vcpus[0]);
	return (enum vcpu_idle)atomic_load(&vcpus[0].idle);
}

static bool tick_and_answer(void)
{
	bool over = halted_tick(&watch, &vm);

	for (int i = 0; i < VCPUS; i++)
		answer(i);
	return over;
}

static void be_busy(int i)
{
	vcpus[i].tick_cpu_ns -= 30000000;
}

START_TEST(test_halted_look)
{
	ck_assert_int_eq(look(), VCPU_HALTED);
	answers[0].rflags |= RFLAGS_IF;
	ck_assert_int_eq(look(), VCPU_MAY_RUN);
	answers[0].rflags = 2;
	answers[0].events.nmi.masked = 1;
	ck_assert_int_eq(look(), VCPU_HALTED);
	answers[0].events.nmi.pending = 1;
	ck_assert_int_eq(look(), VCPU_MAY_RUN);
	answers[0].events.nmi.pending = 0;
	answers[0].events.nmi.injected = 1;
	ck_assert_int_eq(look(), VCPU_MAY_RUN);
	answers[0].events.nmi.injected = 0;
	answers[0].events.smi.pending = 1;
	ck_assert_int_eq(look(), VCPU_MAY_RUN);
}
END_TEST

START_TEST(test_halted_look_at_states)
{
	static const struct {
		uint32_t mp_state;
		enum vcpu_idle idle;
	} states[] = {
		{KVM_MP_STATE_RUNNABLE, VCPU_MAY_RUN},
		{KVM_MP_STATE_UNINITIALIZED, VCPU_WAITS_FOR_INIT},
		{KVM_MP_STATE_INIT_RECEIVED, VCPU_WAITS_FOR_INIT},
		{KVM_MP_STATE_HALTED, VCPU_HALTED},
		{KVM_MP_STATE_SIPI_RECEIVED, VCPU_MAY_RUN},
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		answers[0].mp_state = states[i].mp_state;
		ck_assert_int_eq(look(), states[i].idle);
	}
}
END_TEST

/* Who cannot tell does not end a run. */
START_TEST(test_halted_look_fails)
{
	static const unsigned long requests[] = {KVM_GET_MP_STATE, KVM_GET_REGS,
						 KVM_GET_VCPU_EVENTS};

	for (size_t i = 0; i < 3; i++) {
		answers[0].failing = requests[i];
		ck_assert_int_eq(look(), VCPU_MAY_RUN);
	}
}
END_TEST

START_TEST(test_halted_two_looks_in_a_row)
{
	ck_assert(!tick_and_answer());
	ck_assert(!tick_and_answer());
	ck_assert(tick_and_answer());
}
END_TEST

/* Others that wait for an INIT wait for ever then. */
START_TEST(test_halted_and_waiting_for_init)
{
	answers[1].mp_state = KVM_MP_STATE_UNINITIALIZED;
	tick_and_answer();
	ck_assert(!tick_and_answer());
	ck_assert(tick_and_answer());
}
END_TEST

START_TEST(test_halted_one_may_run)
{
	answers[1].rflags |= RFLAGS_IF;
	for (int i = 0; i < 10; i++)
		ck_assert(!tick_and_answer());
	/* Until it halts as well. */
	answers[1].rflags = 2;
	ck_assert(!tick_and_answer());
	ck_assert(!tick_and_answer());
	ck_assert(tick_and_answer());
}
END_TEST

START_TEST(test_halted_woken_between_two_looks)
{
	tick_and_answer();
	ck_assert(!tick_and_answer());
	be_busy(0);
	ck_assert(!tick_and_answer());
	ck_assert_uint_eq(watch.ticks, 0);
	/* It was not even looked at: it is at work. */
	ck_assert(!tick_and_answer());
	ck_assert(!tick_and_answer());
	ck_assert(tick_and_answer());
}
END_TEST

static void set_entry(unsigned int pin, uint32_t low)
{
	uint32_t index = 0x10 + 2 * pin;

	bus_mmio(&vm.bus, 0xfec00000, true, (uint8_t *)&index, 4);
	bus_mmio(&vm.bus, 0xfec00010, true, (uint8_t *)&low, 4);
}

/* A device may yet be heard: SMI, NMI, INIT, of which the first is masked. The
 * other modes take no processor out of a halt with interrupts off. */
START_TEST(test_halted_woken_by_a_device)
{
	static const uint32_t wakes[] = {0x200, 0x400, 0x500};
	static const uint32_t does_not[] = {0x10400, 0x040, 0x8140, 0x740};

	for (unsigned int i = 0; i < 3; i++) {
		set_entry(23, wakes[i]);
		for (int tick = 0; tick < 5; tick++)
			ck_assert(!tick_and_answer());
		set_entry(23, 0x10000);
	}
	for (unsigned int i = 0; i < 4; i++)
		set_entry(i, does_not[i]);
	ck_assert(!tick_and_answer());
	ck_assert(tick_and_answer());
}
END_TEST

/* An old answer is none: the vCPU may be about to run. */
START_TEST(test_halted_no_answer)
{
	tick_and_answer();
	for (int i = 0; i < 10; i++) {
		bool over = halted_tick(&watch, &vm);

		answer(1);
		/* The first tick finds an answer to the one before. */
		ck_assert(!over);
		ck_assert_uint_eq(watch.ticks, i == 0);
	}
}
END_TEST

START_TEST(test_halted_who_is_asked)
{
	halted_tick(&watch, &vm);
	ck_assert(answer(0) && answer(1));
	be_busy(0);
	halted_tick(&watch, &vm);
	ck_assert(!answer(0) && answer(1));
	/* One whose timer was never heard of is watched all the same. */
	be_busy(0);
	atomic_store(&vcpus[0].timer_seen, false);
	halted_tick(&watch, &vm);
	ck_assert(answer(0) && answer(1));
	be_busy(0);
	vm.user_timer = false;
	halted_tick(&watch, &vm);
	ck_assert(!answer(0) && answer(1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("halted");
	TCase *tc = tcase_create("halted");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_halted_look);
	tcase_add_test(tc, test_halted_look_at_states);
	tcase_add_test(tc, test_halted_look_fails);
	tcase_add_test(tc, test_halted_two_looks_in_a_row);
	tcase_add_test(tc, test_halted_and_waiting_for_init);
	tcase_add_test(tc, test_halted_one_may_run);
	tcase_add_test(tc, test_halted_woken_between_two_looks);
	tcase_add_test(tc, test_halted_woken_by_a_device);
	tcase_add_test(tc, test_halted_no_answer);
	tcase_add_test(tc, test_halted_who_is_asked);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
