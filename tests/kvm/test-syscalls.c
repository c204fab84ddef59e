/* SPDX-License-Identifier: MIT */
/*
 * Proves that arming a deadline costs two system calls, KVM_RUN and
 * timerfd_settime(2) or timer_settime(2), and no other: the vCPU's thread of a
 * guest that arms 10 000 far deadlines more than another makes 20 000 calls
 * more, but for a few that come with time, like the look at a guest twice a
 * second. By the difference, what a start costs and the guest's console cancel
 * out. In mode "kernel" the same difference is next to nothing: there no write
 * exits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/kvm.h>

#include "env.h"
#include "syscalls.h"

enum {
	FEW = 100,
	MORE = 10000,
	/* Calls that come with time: counting makes a run slow, and while it
	 * lasts the console is flushed and KVM's own timer looked at. */
	BY_TIME = 200,
};

static struct env env;

struct cost {
	uint64_t all, kvm_run, settime;
};

static const struct {
	const char *set;
	long settime;
} sources[] = {
	{"timer.source=timerfd", SYS_timerfd_settime},
	{"timer.source=posix", SYS_timer_settime},
};

#define SOURCES ((int)(sizeof(sources) / sizeof(sources[0])))

static struct cost cost_of(const char *mode_set, int source, unsigned int arms)
{
	char config[PATH_MAX], image[PATH_MAX + 64], words[128];
	const char *argv[] = {env.punctual,
			      "run",
			      config,
			      "--set",
			      image,
			      "--set",
			      words,
			      "--set",
			      mode_set,
			      "--set",
			      sources[source].set,
			      "--set",
			      "run.timeout_ms=0",
			      env.allow_unstable ? "--set" : NULL,
			      "timer.unstable_tsc=allow",
			      NULL};
	struct syscalls *counts = calloc(1, sizeof(*counts));
	const struct syscalls_thread *vcpu;
	struct cost cost;
	int ret;

	ck_assert_ptr_nonnull(counts);
	snprintf(config, sizeof(config), "%s/hello.json", env.configs);
	snprintf(image, sizeof(image),
		 "boot-source.kernel_image_path=%s/lateness.elf", env.guest_fw);
	snprintf(words, sizeof(words),
		 "boot-source.boot_args=arms_only fires=%u", arms);
	ret = syscalls_count(argv, SYS_ioctl, KVM_RUN, counts);
	ck_assert_msg(!ret, "ptrace: %s", strerror(-ret));
	ck_assert_int_eq(counts->wait_status, 0);
	vcpu = syscalls_busiest(counts);
	cost.all = vcpu->all;
	cost.kvm_run = vcpu->watched;
	cost.settime = vcpu->by_number[sources[source].settime];
	printf("# %s, %s, %u arms: %" PRIu64 " calls, %" PRIu64
	       " KVM_RUN, %" PRIu64 " settime\n",
	       mode_set, sources[source].set, arms, cost.all, cost.kvm_run,
	       cost.settime);
	fflush(stdout);
	free(counts);
	return cost;
}

static void expect_between(uint64_t value, uint64_t least, uint64_t most)
{
	ck_assert_uint_ge(value, least);
	ck_assert_uint_le(value, most);
}

START_TEST(test_syscalls_two_for_each_arm)
{
	struct cost few, more;

	few = cost_of("timer.mode=userspace", _i, FEW);
	more = cost_of("timer.mode=userspace", _i, FEW + MORE);
	ck_assert_uint_eq(more.settime - few.settime, MORE);
	/* The baseline has its share of BY_TIME, too. */
	expect_between(more.kvm_run - few.kvm_run, MORE - BY_TIME,
		       MORE + BY_TIME);
	expect_between(more.all - few.all, 2 * MORE - BY_TIME,
		       2 * MORE + BY_TIME);
}
END_TEST

START_TEST(test_syscalls_none_in_mode_kernel)
{
	struct cost few = cost_of("timer.mode=kernel", 0, FEW);
	struct cost more = cost_of("timer.mode=kernel", 0, FEW + MORE);

	ck_assert_uint_eq(more.settime, 0);
	expect_between(more.all + BY_TIME - few.all, 0, 2 * BY_TIME);
}
END_TEST

static Suite *syscalls_suite(void)
{
	Suite *suite = suite_create("syscalls");
	TCase *tcase = env_case(suite, "arm");

	if (env.userspace)
		tcase_add_loop_test(tcase, test_syscalls_two_for_each_arm, 0,
				    SOURCES);
	tcase_add_test(tcase, test_syscalls_none_in_mode_kernel);
	return suite;
}

int main(void)
{
	return env_run(&env, syscalls_suite);
}
