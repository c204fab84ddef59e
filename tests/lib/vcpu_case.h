/* SPDX-License-Identifier: MIT */
/*
 * vcpu_case - the run loop of a vCPU, on the thread of the test: KVM_RUN is a
 * script of what it returns and of what arrives meanwhile, and everything that
 * the loop calls leaves a letter in a trace. The hand-off itself (kick.c) is
 * the real one, but for its signal; so are the bus and its devices.
 *
 *   p poll  e expired  r run  x exit handled  d dump  l look  b backstop
 *   T timer failed  R run failed  t told after a run  u told without one
 *   i KVM_INTERRUPT
 *
 * Defines what stands in other files of vmm/, so it is included once in a
 * program.
 */
#ifndef TESTS_VCPU_CASE_H
#define TESTS_VCPU_CASE_H

#include "vcpu.h"

#include <errno.h>
#include <string.h>
#include <linux/kvm.h>

#include "affinity.h"
#include "config.h"
#include "dump.h"
#include "exit.h"
#include "halted.h"
#include "kvm.h"
#include "tap.h"
#include "vm.h"

#define VCPU_FD 33

struct step {
	int ret;		/* of KVM_RUN */
	uint32_t kicks;		/* sent while it runs */
	bool ends;		/* the exit ends the loop */
	uint32_t kicks_at_exit; /* sent while the exit is handled */
	bool ready;		/* KVM could take an interrupt */
	unsigned int irq;	/* rises while it runs; 0: none */
};

static struct kvm_run run_page;
static struct config config;
static struct vm vm;
static struct vcpu vcpu;
static const struct step *script;
static size_t next_step;
static char trace[64];
static int bind_error, poll_error, expired_error, resync_error, failed_error,
	settled;
static int poll_deliveries; /* the first polls so many deliver */
static bool wants_dump, running_at_exit;
static bool deliveries_untold; /* by poll and expired: to be told */
static int told_result;
static uint32_t told_exit_reason;
static uint32_t injected; /* the last vector */
static int interrupt_error;
static bool windows[8]; /* asked for at the n-th KVM_RUN */

static void note(char letter)
{
	size_t length = strlen(trace);

	tap_require(length + 1 < sizeof(trace));
	trace[length] = letter;
}

static void raise_irq(unsigned int irq)
{
	struct irqs_work work = {.msg_count = 0};

	irqs_set_isa_locked(&vm.bus.irqs, irq, true, &work);
	irqs_deliver(&vm.bus.irqs, &work);
}

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	ck_assert_int_eq(fd, VCPU_FD);
	ck_assert_uint_eq(request, KVM_INTERRUPT);
	injected = ((struct kvm_interrupt *)arg)->irq;
	note('i');
	return interrupt_error;
}

int kvm_run(int vcpu_fd)
{
	const struct step *step = &script[next_step++];

	ck_assert_int_eq(vcpu_fd, VCPU_FD);
	/* Else a kick would send no signal. */
	ck_assert(atomic_load(&vcpu.kick.word) & KICK_RUNNING);
	note('r');
	if (step->kicks)
		kick_send(&vcpu.kick, step->kicks);
	if (step->irq)
		raise_irq(step->irq);
	windows[next_step - 1] = run_page.request_interrupt_window;
	run_page.ready_for_interrupt_injection = step->ready;
	return step->ret;
}

bool exit_handle(struct vcpu *v)
{
	const struct step *step = &script[next_step - 1];

	running_at_exit |= atomic_load(&v->kick.word) & KICK_RUNNING;
	note('x');
	if (step->kicks_at_exit)
		kick_send(&v->kick, step->kicks_at_exit);
	return !step->ends;
}

int user_timer_bind(struct user_timer *timer, struct kick *kick)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	ck_assert_ptr_eq(kick, &vcpu.kick);
	/* The timer's signal is for this thread. */
	ck_assert_int_ne(atomic_load(&kick->tid), 0);
	return bind_error;
}

int user_timer_poll(struct user_timer *timer)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	note('p');
	if (!poll_deliveries)
		return poll_error;
	poll_deliveries--;
	timer->untold = deliveries_untold;
	return 1;
}

int user_timer_expired(struct user_timer *timer)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	note('e');
	timer->untold = deliveries_untold;
	return expired_error;
}

int user_timer_resync(struct user_timer *timer)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	note('s');
	return resync_error;
}

void user_timer_settle(struct user_timer *timer)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	ck_assert(!atomic_load(&vcpu.ended));
	settled++;
}

void user_timer_tell(struct user_timer *timer, bool was_entered, int result,
		     uint32_t exit_reason)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	ck_assert(!(atomic_load(&vcpu.kick.word) & KICK_RUNNING));
	timer->untold = false;
	told_result = result;
	told_exit_reason = exit_reason;
	note(was_entered ? 't' : 'u');
}

void user_timer_free(struct user_timer *timer)
{
	(void)timer;
}

void exit_timer_failed(struct vcpu *v, int error)
{
	(void)v;
	failed_error = error;
	note('T');
}

void exit_run_failed(struct vcpu *v, int error)
{
	(void)v;
	failed_error = error;
	note('R');
}

bool exit_backstop(struct vcpu *v, bool now)
{
	(void)v;
	ck_assert(now);
	note('b');
	return false;
}

bool exit_wants_dump(const struct vm *v)
{
	(void)v;
	return wants_dump;
}

void dump_vcpu(struct vcpu *v)
{
	(void)v;
	note('d');
}

void halted_look(struct vcpu *v)
{
	(void)v;
	note('l');
}

void kick_interrupt(struct kick *kick)
{
	*kick->immediate_exit = 1;
}

int kvm_do_ioctl_value(int fd, unsigned long request, unsigned long arg)
{
	(void)fd;
	(void)request;
	(void)arg;
	return -ENOTTY;
}

int affinity_thread_create(pthread_t *thread, const cpu_set_t *cpus,
			   void *(*thread_main)(void *), void *arg)
{
	(void)thread;
	ck_assert_ptr_null(cpus);
	ck_assert_ptr_null(thread_main(arg));
	return 0;
}

static inline void setup(void)
{
	vm.config = &config;
	vm.user_timer = true;
	vcpu.vm = &vm;
	vcpu.fd = VCPU_FD;
	vcpu.run = &run_page;
}

/* Runs the loop to its end. The trace must be this, and no step be left. */
static inline void run_script(const struct step *steps, size_t n,
			      const char *expected)
{
	script = steps;
	ck_assert_int_eq(vcpu_start(&vcpu), 0);
	ck_assert_str_eq(trace, expected);
	ck_assert_uint_eq(next_step, n);
	ck_assert(atomic_load(&vcpu.ended));
	ck_assert_int_eq(settled, vm.user_timer);
}

#endif
