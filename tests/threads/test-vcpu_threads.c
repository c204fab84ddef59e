/* SPDX-License-Identifier: MIT */
/*
 * All threads of a run but KVM's: vCPU loops, the timer thread and the main
 * thread with its questions, on real timers and the real TSC. The guest is a
 * few lines in kvm_run(): it arms a deadline, halts, looks at its TSC in the
 * "handler", and arms the next. Not one may be early, none may be lost, and a
 * race detector must find nothing. How late they are does not matter here.
 */
#define _GNU_SOURCE
#include "vcpu.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "calibrate.h"
#include "config.h"
#include "kvm.h"
#include "tap.h"
#include "vm.h"

enum {
	VCPUS = 3,
	FIRES = 100, /* on each */
	FIRST_FD = 100,
	VM_FD = 99,
	TIMEOUT_S = 240,
};

/* A guess; a wrong one costs an expiry that is early or late. */
#define TSC_KHZ 2400000u

/* The guest side of a vCPU; of its thread alone, but for `fires`. */
struct guest {
	union {
		struct kvm_run run;
		uint8_t bytes[4096];
	};
	uint64_t deadline_tsc;
	bool is_armed, irq_pending;
	unsigned long signals_handled;
	unsigned int early;
	atomic_uint fires;
};

static struct config config;
static struct vm vm;
static struct vcpu vcpus[VCPUS];
static struct guest guests[VCPUS];
static atomic_bool asked_elsewhere;

void kick_interrupt(struct kick *kick)
{
	atomic_fetch_add_explicit(&kick->signals, 1, memory_order_relaxed);
}

int kick_signal_number(void)
{
	ck_abort_msg("the timers are timerfds");
}

void calibrate_go(const struct calibrate *calibrate)
{
	(void)calibrate;
	ck_abort_msg("there is no calibration");
}

static struct guest *guest_of(int vcpu_fd)
{
	return &guests[vcpu_fd - FIRST_FD];
}

/* Signals order nothing, so that only the hand-off does. */
static bool has_signal(struct guest *guest)
{
	struct kick *kick = &vcpus[guest - guests].kick;
	unsigned long sent =
		atomic_load_explicit(&kick->signals, memory_order_relaxed);

	if (sent == guest->signals_handled)
		return false;
	guest->signals_handled = sent;
	return true;
}

static void guest_handler(struct guest *guest)
{
	guest->irq_pending = guest->is_armed = false;
	if (clock_read_tsc() < guest->deadline_tsc)
		guest->early++;
	atomic_fetch_add(&guest->fires, 1);
}

static void guest_arms(struct guest *guest)
{
	/* 1 to 200 us ahead, and now and then in the past. */
	uint64_t ahead_tsc = 2400 + atomic_load(&guest->fires) % 200 * 2400;

	guest->is_armed = true;
	guest->deadline_tsc = clock_read_tsc() + ahead_tsc;
	if (ahead_tsc == 2400)
		guest->deadline_tsc -= 100000;
	guest->run.exit_reason = KVM_EXIT_X86_WRMSR;
	guest->run.msr.index = MSR_IA32_TSC_DEADLINE;
	guest->run.msr.data = guest->deadline_tsc;
}

int kvm_run(int vcpu_fd)
{
	struct guest *guest = guest_of(vcpu_fd);

	if (guest->irq_pending)
		guest_handler(guest);
	if (!guest->is_armed && atomic_load(&guest->fires) < FIRES) {
		guest_arms(guest);
		return 0;
	}
	/* HLT. */
	for (;;) {
		if (has_signal(guest))
			guest->run.immediate_exit = 1;
		if (guest->run.immediate_exit)
			return -EINTR;
		sched_yield();
	}
}

/* In the place of vmm/kvm.c. Deliveries are MSIs: no MSR is written. */
int kvm_set_msr(int vcpu_fd, uint32_t index, uint64_t value)
{
	(void)vcpu_fd;
	(void)index;
	(void)value;
	return -EPERM;
}

int kvm_get_msr(int vcpu_fd, uint32_t index, uint64_t *value)
{
	(void)vcpu_fd;
	(void)index;
	*value = 0;
	return 0;
}

int kvm_is_halted(int vcpu_fd, bool *halted)
{
	(void)vcpu_fd;
	*halted = true;
	return 0;
}

int kvm_get_tsc_offset(int vcpu_fd, uint64_t *offset_tsc)
{
	(void)vcpu_fd;
	*offset_tsc = 0;
	return 0;
}

int kvm_set_tsc_offset(int vcpu_fd, uint64_t offset_tsc)
{
	(void)vcpu_fd;
	(void)offset_tsc;
	return -EPERM;
}

/* An APIC whose timer is in deadline mode, vector 0x40. */
static int get_lapic(uint32_t id, struct kvm_lapic_state *apic)
{
	memset(apic, 0, sizeof(*apic));
	apic->regs[0x20 + 3] = (char)id;
	apic->regs[0xf0 + 1] = 1;
	apic->regs[0x320] = 0x40;
	apic->regs[0x320 + 2] = 4;
	return 0;
}

static int signal_msi(const struct kvm_msi *msi)
{
	guests[msi->address_lo >> 12 & 0xff].irq_pending = true;
	return 1;
}

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	if (request == KVM_GET_LAPIC)
		return get_lapic((uint32_t)(fd - FIRST_FD), arg);
	if (request == KVM_SIGNAL_MSI && fd == VM_FD)
		return signal_msi(arg);
	if (request != KVM_GET_MP_STATE)
		return -ENOTTY;
	/* On the vCPU's own thread, or it would wait for KVM_RUN to return. */
	if (atomic_load(&vcpus[fd - FIRST_FD].kick.tid) != gettid())
		atomic_store(&asked_elsewhere, true);
	((struct kvm_mp_state *)arg)->mp_state = KVM_MP_STATE_HALTED;
	return 0;
}

int kvm_do_ioctl_value(int fd, unsigned long request, unsigned long arg)
{
	(void)fd;
	(void)request;
	(void)arg;
	return -ENOTTY;
}

static void start_all(void)
{
	struct injector injector;

	vm.config = &config;
	vm.vcpus = vcpus;
	vm.vcpu_count = VCPUS;
	vm.user_timer = true;
	ck_assert_int_eq(end_init(&vm.end), 0);
	ck_assert_int_eq(timer_thread_init(&vm.timer_thread), 0);
	ck_assert_int_eq(user_timer_setup_init(&vm.timer_setup, TSC_KHZ,
					       USER_TIMER_ADVANCE_AUTO, 0,
					       400000, 0.25, 0),
			 0);
	vm.timer_setup.costs = &vm.costs;
	for (int i = 0; i < VCPUS; i++) {
		vcpus[i].vm = &vm;
		vcpus[i].index = (uint32_t)i;
		vcpus[i].fd = FIRST_FD + i;
		vcpus[i].run = &guests[i].run;
		guests[i].run.apic_base = 0xfee00c00;
		injector = (struct injector){.vm_fd = VM_FD,
					     .vcpu_fd = vcpus[i].fd,
					     .apic_id = (uint32_t)i,
					     .run = &guests[i].run};
		ck_assert_int_eq(user_timer_init(&vcpus[i].timer,
						 &vm.timer_setup, &injector),
				 0);
		ck_assert_int_eq(timer_thread_add(&vm.timer_thread,
						  vcpus[i].timer.host.fd,
						  &vcpus[i].kick),
				 0);
	}
	ck_assert_int_eq(timer_thread_start(&vm.timer_thread, NULL), 0);
	for (int i = 0; i < VCPUS; i++)
		ck_assert_int_eq(vcpu_start(&vcpus[i]), 0);
}

static bool all_fired(void)
{
	for (int i = 0; i < VCPUS; i++)
		if (atomic_load(&guests[i].fires) < FIRES)
			return false;
	return true;
}

static void stop_all(void)
{
	for (int i = 0; i < VCPUS; i++)
		kick_send(&vcpus[i].kick, KICK_STOP);
	for (int i = 0; i < VCPUS; i++)
		pthread_join(vcpus[i].thread, NULL);
	timer_thread_destroy(&vm.timer_thread);
	for (int i = 0; i < VCPUS; i++)
		user_timer_free(&vcpus[i].timer);
	end_free(&vm.end);
}

/* What the main thread does beside: a state dump is read once it is there. */
static void ask_for_dump(struct vcpu *vcpu)
{
	unsigned long before = atomic_load(&vcpu->dumps);

	kick_send(&vcpu->kick, KICK_DUMP | KICK_LOOK);
	while (atomic_load(&vcpu->dumps) == before)
		sched_yield();
	ck_assert_ptr_nonnull(strstr(vcpu->dump, "timer: "));
}

START_TEST(test_vcpu_threads)
{
	start_all();
	for (unsigned int n = 0; !all_fired(); n++) {
		ask_for_dump(&vcpus[n % VCPUS]);
	}
	stop_all();
	ck_assert(!atomic_load(&vm.end.published));
	ck_assert(!atomic_load(&asked_elsewhere));
	for (int i = 0; i < VCPUS; i++) {
		ck_assert_uint_eq(guests[i].early, 0);
		ck_assert_uint_eq(vcpus[i].timer.stats.arms, FIRES);
		ck_assert_uint_eq(vcpus[i].timer.stats.fires, FIRES);
		ck_assert(atomic_load(&vcpus[i].ended));
		ck_assert_int_eq(atomic_load(&vcpus[i].idle), VCPU_MAY_RUN);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vcpu_threads");
	TCase *tc = tcase_create("vcpu");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_test(tc, test_vcpu_threads);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
