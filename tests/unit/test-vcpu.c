/* SPDX-License-Identifier: MIT */
/*
 * The run loop of a vCPU, on the thread of the test: KVM_RUN is a script of
 * what it returns and of the kicks that arrive meanwhile, and everything that
 * the loop calls leaves a letter in a trace. The hand-off itself (kick.c) is
 * the real one, but for its signal.
 *
 *   p poll  e expired  r run  x exit handled  d dump  l look  b backstop
 *   T timer failed  R run failed  t told after a run  u told without one
 */
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

static void note(char letter)
{
	size_t length = strlen(trace);

	tap_require(length + 1 < sizeof(trace));
	trace[length] = letter;
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

static void setup(void)
{
	vm.config = &config;
	vm.user_timer = true;
	vcpu.vm = &vm;
	vcpu.fd = VCPU_FD;
	vcpu.run = &run_page;
}

/* Runs the loop to its end. The trace must be this, and no step be left. */
static void run_script(const struct step *steps, size_t n, const char *expected)
{
	script = steps;
	ck_assert_int_eq(vcpu_start(&vcpu), 0);
	ck_assert_str_eq(trace, expected);
	ck_assert_uint_eq(next_step, n);
	ck_assert(atomic_load(&vcpu.ended));
	ck_assert_int_eq(settled, vm.user_timer);
}

START_TEST(test_vcpu_polls_before_every_entry)
{
	static const struct step steps[] = {{0}, {0}, {.ends = true}};

	run_script(steps, 3, "prxprxprx");
	ck_assert(!running_at_exit);
	ck_assert_uint_eq(vcpu.stats.requests, 0);
}
END_TEST

/* The way into the guest is no shorter than after an expiry. */
START_TEST(test_vcpu_delivery_by_poll_takes_a_turn)
{
	static const struct step steps[] = {{.ends = true}};

	poll_deliveries = 1;
	run_script(steps, 1, "pprx");
}
END_TEST

/* Nothing is told on the way into the guest, and all of it once it is back. */
START_TEST(test_vcpu_tells_after_the_run)
{
	static const struct step steps[] = {
		{-EINTR, KICK_DUE, false, 0}, {0}, {.ends = true}};

	deliveries_untold = true;
	run_page.exit_reason = KVM_EXIT_X86_WRMSR;
	run_script(steps, 3, "preprtxprx");
	ck_assert_int_eq(told_result, 0);
	ck_assert_uint_eq(told_exit_reason, KVM_EXIT_X86_WRMSR);
}
END_TEST

START_TEST(test_vcpu_tells_of_a_run_that_failed)
{
	static const struct step steps[] = {{.ret = -EINTR}, {.ends = true}};

	deliveries_untold = true;
	poll_deliveries = 1;
	run_script(steps, 2, "pprtprx");
	ck_assert_int_eq(told_result, -EINTR);
}
END_TEST

/* Stopped between a delivery and the guest. */
START_TEST(test_vcpu_tells_without_a_run)
{
	static const struct step steps[] = {
		{-EINTR, KICK_DUE | KICK_STOP, false, 0}};

	deliveries_untold = true;
	run_script(steps, 1, "preu");
}
END_TEST

/* The timer is the kernel's: there is nothing to poll. */
START_TEST(test_vcpu_without_user_timer)
{
	static const struct step steps[] = {{0}, {.ends = true}};

	vm.user_timer = false;
	run_script(steps, 2, "rxrx");
}
END_TEST

/* exit_reason is stale after EINTR, so no exit is handled; the expiry is
 * served before anything else, without a poll that would take it. */
START_TEST(test_vcpu_kicked_out)
{
	static const struct step steps[] = {{-EINTR, KICK_DUE, false, 0},
					    {.ends = true}};

	run_script(steps, 2, "preprx");
	ck_assert_uint_eq(vcpu.stats.interrupted, 1);
	ck_assert_uint_eq(vcpu.stats.requests, 1);
	ck_assert_uint_eq(run_page.immediate_exit, 0);
}
END_TEST

START_TEST(test_vcpu_kicked_while_out)
{
	static const struct step steps[] = {{.kicks_at_exit = KICK_DUE},
					    {.ends = true}};

	run_script(steps, 2, "prxeprx");
	ck_assert_uint_eq(vcpu.kick.signals, 0);
}
END_TEST

/* Another kick is no reason to put the poll off. */
START_TEST(test_vcpu_polls_with_other_kicks_on_hand)
{
	static const struct step steps[] = {{.kicks_at_exit = KICK_LOOK},
					    {.ends = true}};

	run_script(steps, 2, "prxplbprx");
	ck_assert_uint_eq(atomic_load(&vcpu.looks), 1);
}
END_TEST

START_TEST(test_vcpu_serves_all_that_was_asked)
{
	static const struct step steps[] = {
		{-EINTR, KICK_DUE | KICK_LOOK | KICK_DUMP | KICK_STOP, false,
		 0}};

	run_script(steps, 1, "predlb");
	ck_assert_uint_eq(atomic_load(&vcpu.looks), 1);
	ck_assert_uint_eq(atomic_load(&vcpu.dumps), 1);
}
END_TEST

START_TEST(test_vcpu_stops_before_it_runs)
{
	atomic_store(&vcpu.kick.word, KICK_STOP);
	run_script(NULL, 0, "p");
}
END_TEST

START_TEST(test_vcpu_not_started_yet)
{
	static const struct step steps[] = {{.ret = -EAGAIN}, {.ends = true}};

	run_script(steps, 2, "prprx");
	ck_assert_uint_eq(vcpu.stats.not_started, 1);
	ck_assert_uint_eq(vcpu.stats.interrupted, 0);
}
END_TEST

START_TEST(test_vcpu_run_fails)
{
	static const struct step steps[] = {{.ret = -EFAULT}};

	run_script(steps, 1, "prR");
	ck_assert_int_eq(failed_error, -EFAULT);
}
END_TEST

START_TEST(test_vcpu_poll_fails)
{
	poll_error = -EIO;
	run_script(NULL, 0, "pT");
	ck_assert_int_eq(failed_error, -EIO);
}
END_TEST

START_TEST(test_vcpu_resync_fails)
{
	resync_error = -ENXIO;
	atomic_store(&vcpu.kick.word, KICK_RESYNC | KICK_DUE | KICK_DUMP);
	run_script(NULL, 0, "esT");
	ck_assert_int_eq(failed_error, -ENXIO);
}
END_TEST

START_TEST(test_vcpu_expiry_fails)
{
	expired_error = -EIO;
	atomic_store(&vcpu.kick.word, KICK_DUE | KICK_DUMP);
	run_script(NULL, 0, "eT");
	ck_assert_int_eq(failed_error, -EIO);
}
END_TEST

/* Not a deadline could be kept: the guest does not start. */
START_TEST(test_vcpu_bind_fails)
{
	ck_assert_int_eq(end_init(&vm.end), 0);
	bind_error = -EAGAIN;
	run_script(NULL, 0, "");
	ck_assert_int_eq(end_status(&vm.end), EXIT_STATUS_CANNOT);
	ck_assert_ptr_nonnull(strstr(vm.end.detail, "ulimit -i"));
	end_free(&vm.end);
}
END_TEST

START_TEST(test_vcpu_dumps_at_a_bad_end)
{
	static const struct step steps[] = {{.ends = true}};

	wants_dump = true;
	run_script(steps, 1, "prxd");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vcpu");
	TCase *tc = tcase_create("loop");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_vcpu_polls_before_every_entry);
	tcase_add_test(tc, test_vcpu_delivery_by_poll_takes_a_turn);
	tcase_add_test(tc, test_vcpu_tells_after_the_run);
	tcase_add_test(tc, test_vcpu_tells_of_a_run_that_failed);
	tcase_add_test(tc, test_vcpu_tells_without_a_run);
	tcase_add_test(tc, test_vcpu_without_user_timer);
	tcase_add_test(tc, test_vcpu_kicked_out);
	tcase_add_test(tc, test_vcpu_kicked_while_out);
	tcase_add_test(tc, test_vcpu_polls_with_other_kicks_on_hand);
	tcase_add_test(tc, test_vcpu_serves_all_that_was_asked);
	tcase_add_test(tc, test_vcpu_stops_before_it_runs);
	tcase_add_test(tc, test_vcpu_not_started_yet);
	tcase_add_test(tc, test_vcpu_run_fails);
	tcase_add_test(tc, test_vcpu_bind_fails);
	tcase_add_test(tc, test_vcpu_poll_fails);
	tcase_add_test(tc, test_vcpu_expiry_fails);
	tcase_add_test(tc, test_vcpu_resync_fails);
	tcase_add_test(tc, test_vcpu_dumps_at_a_bad_end);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
