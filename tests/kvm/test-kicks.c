/* SPDX-License-Identifier: MIT */
/*
 * Proves that no kick is lost and none does more than it should: one vCPU in
 * a loop that never exits by itself (`jmp $`), kicked at random instants by
 * another thread through kick_send. Each request is taken; KVM_RUN returns
 * EINTR once for each signal sent, no more and no less; and 99 of 100 are
 * taken within 10 ms (times PUNCTUAL_TEST_SLOW), a lost one never. The run
 * loop is that of vmm/vcpu.c, less what a kick can ask for.
 *
 * PUNCTUAL_TEST_KICKS=N sets how many (100 000).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "env.h"
#include "kick.h"
#include "kvm.h"
#include "loader.h"
#include "percentile.h"
#include "prng.h"
#include "probe.h"
#include "registers.h"
#include "tap.h"
#include "vm.h"

enum {
	KICKS_DEFAULT = 100000,
	CODE_GPA = 0x1000,
	RAM_BYTES = 0x4000,
	PAUSE_MAX_US = 200,
	BOUND_MS = 10,
	KINDS = 3,
};

static const uint32_t kinds[KINDS] = {KICK_LOOK, KICK_DUE, KICK_DUMP};

static struct env env;

/* A vCPU and the thread that runs it. */
struct looper {
	int kvm_fd, vm_fd, vcpu_fd;
	uint8_t *ram;
	struct kvm_run *run;
	size_t run_bytes;
	pthread_t thread;
	struct kick kick;
	atomic_bool bound; /* the thread's kick_bind is done */

	/* Written by the thread before it writes taken_fd, or ends. */
	int taken_fd; /* eventfd: one for each request taken */
	int64_t taken_ns;
	uint64_t taken, interrupted;
	unsigned long seen[KINDS]; /* `sent` as it was when it was taken */
	bool strange;		   /* ended by itself: ... */
	int last_ret;		   /* ... KVM_RUN returned this */

	/* Sender: how many of each kind, before it asks. */
	atomic_ulong sent[KINDS];
};

static void looper_open(struct looper *looper)
{
	/* sti, as nothing is there to interrupt it: under an emulator (Bochs
	 * 2.7) the host gets no interrupt either while a guest has them off. */
	static const uint8_t sti_jmp_self[] = {0xfb, 0xeb, 0xfe};
	struct boot_state state = {
		.mode = ENTRY_PROT32,
		.entry_gpa = CODE_GPA,
		.cs_selector = 0x8,
		.ds_selector = 0x10,
		.tr_selector = 0x18,
	};
	struct kvm_userspace_memory_region slot = {.memory_size = RAM_BYTES};
	char err[256];
	int size;

	memset(looper, 0, sizeof(*looper));
	looper->kvm_fd = kvm_open("/dev/kvm", err, sizeof(err));
	ck_assert_msg(looper->kvm_fd >= 0, "%s", err);
	looper->vm_fd =
		vm_create_fd(looper->kvm_fd, RUNG_KERNEL, err, sizeof(err));
	ck_assert_msg(looper->vm_fd >= 0, "%s", err);
	looper->ram = mmap(NULL, RAM_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(looper->ram != MAP_FAILED);
	memcpy(looper->ram + CODE_GPA, sti_jmp_self, sizeof(sti_jmp_self));
	slot.userspace_addr = (uintptr_t)looper->ram;
	ck_assert_int_ge(
		kvm_vm_ioctl(looper->vm_fd, KVM_SET_USER_MEMORY_REGION, &slot),
		0);
	looper->vcpu_fd = kvm_do_ioctl_value(looper->vm_fd, KVM_CREATE_VCPU, 0);
	ck_assert_int_ge(looper->vcpu_fd, 0);
	size = kvm_do_ioctl_value(looper->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	ck_assert_int_gt(size, 0);
	looper->run_bytes = (size_t)size;
	looper->run = mmap(NULL, looper->run_bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED, looper->vcpu_fd, 0);
	ck_assert(looper->run != MAP_FAILED);
	ck_assert_int_ge(registers_set(looper->vcpu_fd, &state), 0);
	looper->taken_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(looper->taken_fd, 0);
}

static void looper_close(struct looper *looper)
{
	munmap(looper->run, looper->run_bytes);
	munmap(looper->ram, RAM_BYTES);
	close(looper->taken_fd);
	close(looper->vcpu_fd);
	close(looper->vm_fd);
	close(looper->kvm_fd);
}

static void note_taken(struct looper *looper, uint32_t requests)
{
	const uint64_t one = 1;

	looper->taken_ns = run_now_ns();
	looper->taken++;
	for (int i = 0; i < KINDS; i++)
		if (requests & kinds[i])
			looper->seen[i] = atomic_load_explicit(
				&looper->sent[i], memory_order_relaxed);
	if (write(looper->taken_fd, &one, sizeof(one)) < 0)
		looper->strange = true;
}

static void *looper_main(void *arg)
{
	struct looper *looper = arg;

	kick_bind(&looper->kick, &looper->run->immediate_exit);
	atomic_store(&looper->bound, true);
	while (!looper->strange) {
		uint32_t requests = kick_enter(&looper->kick);

		if (requests) {
			note_taken(looper, requests);
			if (requests & KICK_STOP)
				return NULL;
			continue;
		}
		looper->last_ret = kvm_run(looper->vcpu_fd);
		kick_leave(&looper->kick);
		if (looper->last_ret == -EINTR)
			looper->interrupted++;
		else
			looper->strange = true;
	}
	note_taken(looper, 0);
	return NULL;
}

static void looper_start(struct looper *looper)
{
	ck_assert_int_eq(kick_init_process(), 0);
	looper_open(looper);
	ck_assert_int_eq(
		pthread_create(&looper->thread, NULL, looper_main, looper), 0);
	while (!atomic_load(&looper->bound))
		sched_yield();
}

/* Ends the thread. What holds however it was kicked: each signal, and nothing
 * else, made KVM_RUN return, once. */
static void looper_stop(struct looper *looper)
{
	unsigned long signals;

	kick_send(&looper->kick, KICK_STOP);
	ck_assert_int_eq(pthread_join(looper->thread, NULL), 0);
	ck_assert_msg(!looper->strange, "KVM_RUN: %d, exit reason %u",
		      looper->last_ret, looper->run->exit_reason);
	signals = atomic_load(&looper->kick.signals);
	printf("# %lu signals, %" PRIu64 " times EINTR, %lu entries\n", signals,
	       looper->interrupted, looper->kick.enters);
	fflush(stdout);
	ck_assert_uint_eq(looper->interrupted, signals);
}

/* Waits until the vCPU's thread has taken a request. */
static void await_taken(struct looper *looper)
{
	uint64_t value;

	ck_assert_int_eq(read(looper->taken_fd, &value, sizeof(value)),
			 sizeof(value));
	tap_require(value == 1);
}

/* Nothing, or a spin, or a sleep: the kick then finds the thread before
 * KVM_RUN, in the guest, or on its way there on a busy CPU. */
static void pause_at_random(uint64_t *seed)
{
	uint64_t random = prng_next(seed);
	int64_t ns = (int64_t)(random >> 8) % (PAUSE_MAX_US * 1000);
	struct timespec ts = {.tv_nsec = ns};
	int64_t until_ns;

	switch (random & 3) {
	case 0:
		break;
	case 1:
		until_ns = run_now_ns() + ns;
		while (run_now_ns() < until_ns)
			continue;
		break;
	default:
		nanosleep(&ts, NULL);
		break;
	}
}

static unsigned long kicks_to_send(void)
{
	const char *text = getenv("PUNCTUAL_TEST_KICKS");
	unsigned long n = text ? strtoul(text, NULL, 10) : KICKS_DEFAULT;

	ck_assert_uint_gt(n, 0);
	return n;
}

static void send_kicks(struct looper *looper, int64_t *latency_ns,
		       unsigned long n)
{
	uint64_t seed = 0x6b69636b;

	for (unsigned long i = 0; i < n; i++) {
		int64_t sent_ns;

		pause_at_random(&seed);
		sent_ns = run_now_ns();
		kick_send(&looper->kick, KICK_LOOK);
		await_taken(looper);
		if (looper->strange)
			return;
		latency_ns[i] = looper->taken_ns - sent_ns;
		tap_require(latency_ns[i] >= 0);
	}
}

static int64_t show_latency(int64_t *latency_ns, unsigned long n)
{
	static const struct {
		const char *name;
		uint32_t num, den;
	} ranks[] = {
		{"min", 0, 1},	  {"p50", 1, 2},	{"p90", 9, 10},
		{"p99", 99, 100}, {"p99.9", 999, 1000}, {"max", 1, 1},
	};
	int64_t p99_ns;

	percentile_sort(latency_ns, n);
	printf("# %lu kicks, ns from the request until it is taken:", n);
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		printf(" %s %" PRId64, ranks[i].name,
		       percentile_nearest_rank(latency_ns, n, ranks[i].num,
					       ranks[i].den));
	p99_ns = percentile_nearest_rank(latency_ns, n, 99, 100);
	printf("\n");
	fflush(stdout);
	return p99_ns;
}

START_TEST(test_kicks_each_taken_once)
{
	unsigned long n = kicks_to_send();
	int64_t *latency_ns = calloc(n, sizeof(*latency_ns));
	struct looper looper;

	ck_assert_ptr_nonnull(latency_ns);
	looper_start(&looper);
	send_kicks(&looper, latency_ns, n);
	looper_stop(&looper);
	/* Every request, and the KICK_STOP of the end. */
	ck_assert_uint_eq(looper.taken, n + 1);
	/* Enough must have met a vCPU that ran, or nothing was tested; on one
	 * CPU a sender that does not pause finds it on its way there. */
	ck_assert_uint_ge(looper.interrupted, n / 10);
	ck_assert_int_lt(show_latency(latency_ns, n),
			 (int64_t)env_ms(&env, BOUND_MS) * 1000000);
	looper_close(&looper);
	free(latency_ns);
}
END_TEST

/* Requests that nobody waits for may fall together; none may be lost: the
 * last of each kind is taken, and so is all that was written before it. */
START_TEST(test_kicks_in_a_burst)
{
	unsigned long n = kicks_to_send();
	struct looper looper;
	uint64_t seed = 0x6275727374;

	looper_start(&looper);
	for (unsigned long i = 0; i < n; i++) {
		atomic_fetch_add_explicit(&looper.sent[i % KINDS], 1,
					  memory_order_relaxed);
		kick_send(&looper.kick, kinds[i % KINDS]);
		if (prng_next(&seed) % 16 == 0)
			pause_at_random(&seed);
	}
	looper_stop(&looper);
	printf("# %lu kicks in bursts, taken in %" PRIu64 " goes\n", n,
	       looper.taken);
	fflush(stdout);
	for (int i = 0; i < KINDS; i++)
		ck_assert_uint_eq(looper.seen[i], atomic_load(&looper.sent[i]));
	looper_close(&looper);
}
END_TEST

static Suite *kicks_suite(void)
{
	Suite *suite = suite_create("kicks");
	TCase *tcase = env_case(suite, "kick");

	tcase_add_test(tcase, test_kicks_each_taken_once);
	tcase_add_test(tcase, test_kicks_in_a_burst);
	return suite;
}

int main(void)
{
	return env_run(&env, kicks_suite);
}
