/* SPDX-License-Identifier: MIT */
/*
 * What KVM is asked for when a VM is created: who has the timer is decided
 * here, register by register. A fake KVM notes it; no VM comes of it.
 */
#include "vm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kvm.h"
#include "tap.h"

/* The steps of a creation, as the fake tells them apart. */
enum step {
	STEP_CREATE,
	STEP_IDENTITY_MAP,
	STEP_TSS,
	STEP_IRQCHIP,
	STEP_DISABLE_EXITS,
	STEP_USER_SPACE_MSR,
	STEP_FILTER,
	STEP_OTHER,
	STEPS,
};

static unsigned int seen[STEPS]; /* in which order; 0: not at all */
static unsigned int calls;
static uint64_t cap_arg[STEPS];
static enum step failing = STEPS;
static struct kvm_msr_filter filter;
static int vm_fd;
static char err[256];

static int step(enum step s)
{
	seen[s] = ++calls;
	return s == failing ? -EPERM : 0;
}

int kvm_do_ioctl_value(int fd, unsigned long request, unsigned long arg)
{
	(void)fd;
	(void)arg;
	if (request == KVM_SET_TSS_ADDR)
		return step(STEP_TSS);
	ck_assert_uint_eq(request, KVM_CREATE_VM);
	if (step(STEP_CREATE))
		return -EPERM;
	vm_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(vm_fd, 0);
	return vm_fd;
}

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	ck_assert_int_eq(fd, vm_fd);
	if (request == KVM_SET_IDENTITY_MAP_ADDR)
		return step(STEP_IDENTITY_MAP);
	ck_assert_uint_eq(request, KVM_X86_SET_MSR_FILTER);
	memcpy(&filter, arg, sizeof(filter));
	for (int i = 0; i < KVM_MSR_FILTER_MAX_RANGES; i++) {
		/* Its bits must be right, too, while they can be looked at. */
		if (filter.ranges[i].nmsrs)
			ck_assert_uint_eq(filter.ranges[i].bitmap[0] & 1, 0);
		ck_assert_uint_le(filter.ranges[i].nmsrs, 1);
	}
	return step(STEP_FILTER);
}

int kvm_enable_cap(int fd, uint32_t capability, uint64_t arg0)
{
	enum step s =
		capability == KVM_CAP_SPLIT_IRQCHIP	   ? STEP_IRQCHIP
		: capability == KVM_CAP_X86_DISABLE_EXITS  ? STEP_DISABLE_EXITS
		: capability == KVM_CAP_X86_USER_SPACE_MSR ? STEP_USER_SPACE_MSR
							   : STEP_OTHER;

	ck_assert_int_eq(fd, vm_fd);
	cap_arg[s] = arg0;
	return step(s);
}

/* The rest of vmm/kvm.c, which nothing here may reach. */
int kvm_open(const char *path, char *message, size_t size)
{
	(void)path;
	(void)message;
	(void)size;
	ck_abort();
	return -1;
}

static bool can_set_halt_poll;

int kvm_check_extension(int fd, unsigned int capability)
{
	ck_assert_int_eq(fd, vm_fd);
	ck_assert_uint_eq(capability, KVM_CAP_HALT_POLL);
	return can_set_halt_poll;
}

int kvm_run(int vcpu_fd)
{
	(void)vcpu_fd;
	ck_abort();
	return -1;
}

int kvm_get_msr(int vcpu_fd, uint32_t index, uint64_t *value)
{
	(void)vcpu_fd;
	(void)index;
	(void)value;
	ck_abort();
	return -1;
}

int kvm_set_msr(int vcpu_fd, uint32_t index, uint64_t value)
{
	(void)vcpu_fd;
	(void)index;
	(void)value;
	ck_abort();
	return -1;
}

int kvm_is_halted(int vcpu_fd, bool *halted)
{
	(void)vcpu_fd;
	(void)halted;
	ck_abort();
	return -1;
}

int kvm_get_tsc_offset(int vcpu_fd, uint64_t *offset_tsc)
{
	(void)vcpu_fd;
	(void)offset_tsc;
	ck_abort();
	return -1;
}

int kvm_set_tsc_offset(int vcpu_fd, uint64_t offset_tsc)
{
	(void)vcpu_fd;
	(void)offset_tsc;
	ck_abort();
	return -1;
}

static int create(enum timer_rung rung)
{
	return vm_create_fd(3, rung, err, sizeof(err));
}

static bool diverted(uint32_t index, uint32_t access)
{
	for (int i = 0; i < KVM_MSR_FILTER_MAX_RANGES; i++)
		if (filter.ranges[i].nmsrs && filter.ranges[i].base == index &&
		    (filter.ranges[i].flags & access))
			return true;
	return filter.flags != KVM_MSR_FILTER_DEFAULT_ALLOW;
}

static void check_diverted(uint32_t index, bool read, bool write)
{
	ck_assert_int_eq(diverted(index, KVM_MSR_FILTER_READ), read);
	ck_assert_int_eq(diverted(index, KVM_MSR_FILTER_WRITE), write);
}

/* The deadline both ways; of what moves the TSC, the writes. */
START_TEST(test_vm_diverts_the_timer)
{
	ck_assert_int_eq(create(_i ? RUNG_SPLIT_MWAIT : RUNG_SPLIT), vm_fd);
	check_diverted(0x6e0, true, true);
	check_diverted(0x10, false, true);
	check_diverted(0x3b, false, true);
	check_diverted(0x1b, false, false);
	check_diverted(0x6df, false, false);
	check_diverted(0x6e1, false, false);
	check_diverted(0xc0000080, false, false);
	ck_assert_uint_gt(seen[STEP_USER_SPACE_MSR], 0);
	ck_assert_uint_eq(cap_arg[STEP_USER_SPACE_MSR],
			  KVM_MSR_EXIT_REASON_FILTER);
	ck_assert_uint_gt(seen[STEP_IRQCHIP], 0);
	ck_assert_int_eq(seen[STEP_DISABLE_EXITS] != 0, _i);
	if (_i)
		ck_assert_uint_eq(cap_arg[STEP_DISABLE_EXITS],
				  KVM_X86_DISABLE_EXITS_MWAIT);
}
END_TEST

/* The same VM but for the timer, which is KVM's in full. */
START_TEST(test_vm_leaves_the_timer_to_kvm)
{
	ck_assert_int_eq(create(RUNG_KERNEL), vm_fd);
	ck_assert_uint_gt(seen[STEP_IRQCHIP], 0);
	ck_assert_uint_eq(seen[STEP_FILTER], 0);
	ck_assert_uint_eq(seen[STEP_USER_SPACE_MSR], 0);
	ck_assert_uint_eq(seen[STEP_DISABLE_EXITS], 0);
}
END_TEST

START_TEST(test_vm_is_refused)
{
	static const char *const named[] = {
		"KVM_CREATE_VM",
		"KVM_SET_IDENTITY_MAP_ADDR",
		"KVM_SET_TSS_ADDR",
		"KVM_CAP_SPLIT_IRQCHIP",
		"KVM_CAP_X86_DISABLE_EXITS",
		"MSR filter",
		"MSR filter",
	};

	failing = (enum step)_i;
	ck_assert_int_eq(create(RUNG_SPLIT_MWAIT), -EPERM);
	ck_assert_ptr_eq(strstr(err, named[_i]), err);
	ck_assert_uint_eq(calls, seen[_i]);
	/* Nothing is left open. */
	ck_assert(_i == STEP_CREATE || fcntl(vm_fd, F_GETFD) < 0);
}
END_TEST

START_TEST(test_vm_sets_halt_poll)
{
	vm_fd = 3;
	can_set_halt_poll = true;
	ck_assert_int_eq(vm_set_halt_poll(3, 50000, err, sizeof(err)), 0);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(cap_arg[STEP_OTHER], 50000);
	failing = STEP_OTHER;
	ck_assert_int_eq(vm_set_halt_poll(3, 0, err, sizeof(err)), -EPERM);
	ck_assert_uint_eq(cap_arg[STEP_OTHER], 0);
	/* Without the capability KVM_ENABLE_CAP is not even tried. */
	can_set_halt_poll = false;
	ck_assert_int_eq(vm_set_halt_poll(3, 7, err, sizeof(err)), -EOPNOTSUPP);
	ck_assert_uint_eq(calls, 2);
	ck_assert_ptr_nonnull(strstr(err, "timer.halt_poll_ns: "
					  "KVM_CAP_HALT_POLL: "));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vm");
	TCase *tc = tcase_create("create");

	tcase_add_loop_test(tc, test_vm_diverts_the_timer, 0, 2);
	tcase_add_test(tc, test_vm_leaves_the_timer_to_kvm);
	tcase_add_test(tc, test_vm_sets_halt_poll);
	tcase_add_loop_test(tc, test_vm_is_refused, 0, STEP_OTHER);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
