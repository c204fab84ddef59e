/* SPDX-License-Identifier: MIT */
/*
 * probe - the interception probe and the capability check.
 *
 * Reference: Linux Documentation/virt/kvm/api.rst "KVM_X86_SET_MSR_FILTER".
 * The guest code runs in long mode: real mode may go through KVM's
 * instruction emulator, which does ask the filter, and would pass where the
 * fast path does not. The value written is 0, which arms nothing.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest_cpuid.h"
#include "kvm.h"
#include "loader.h"
#include "registers.h"
#include "user_timer.h"
#include "vm.h"

/* Guest-physical layout of the probe: one page each. */
enum {
	PROBE_PML4 = 0x0000,
	PROBE_PDPT = 0x1000,
	PROBE_PD = 0x2000,
	PROBE_CODE = 0x3000,
	PROBE_SIZE = 0x4000,
	PROBE_TRIES = 4, /* a stray signal may end KVM_RUN */
};

#define PAGE_PRESENT_WRITABLE 0x3ull
#define PAGE_LARGE	      0x80ull

static const uint8_t probe_code[] = {
	0x31, 0xc0,		      /* xor eax, eax */
	0x31, 0xd2,		      /* xor edx, edx */
	0xb9, 0xe0, 0x06, 0x00, 0x00, /* mov ecx, IA32_TSC_DEADLINE */
	0x0f, 0x30,		      /* wrmsr */
	0xe6, 0x80,		      /* out 0x80, al */
	0xf4,			      /* hlt */
};

static void fill_memory(uint8_t *memory)
{
	const uint64_t pml4e = PROBE_PDPT | PAGE_PRESENT_WRITABLE;
	const uint64_t pdpte = PROBE_PD | PAGE_PRESENT_WRITABLE;
	const uint64_t pde = PAGE_LARGE | PAGE_PRESENT_WRITABLE;

	memcpy(memory + PROBE_PML4, &pml4e, sizeof(pml4e));
	memcpy(memory + PROBE_PDPT, &pdpte, sizeof(pdpte));
	memcpy(memory + PROBE_PD, &pde, sizeof(pde));
	memcpy(memory + PROBE_CODE, probe_code, sizeof(probe_code));
}

static int set_up_vcpu(int kvm_fd, int vm_fd, int vcpu_fd, uint8_t *memory)
{
	struct boot_state state = {
		.mode = ENTRY_LONG64,
		.entry_gpa = PROBE_CODE,
		.cr3_gpa = PROBE_PML4,
		.cs_selector = 0x8,
		.ds_selector = 0x10,
		.tr_selector = 0x18,
	};
	struct kvm_userspace_memory_region slot = {
		.memory_size = PROBE_SIZE,
		.userspace_addr = (uintptr_t)memory,
	};
	int ret = kvm_vm_ioctl(vm_fd, KVM_SET_USER_MEMORY_REGION, &slot);
	struct kvm_cpuid2 *cpuid;

	if (ret < 0)
		return ret;
	ret = guest_cpuid_supported(kvm_fd, &cpuid);
	if (ret)
		return ret;
	ret = kvm_vcpu_ioctl(vcpu_fd, KVM_SET_CPUID2, cpuid);
	free(cpuid);
	return ret < 0 ? ret : registers_set(vcpu_fd, &state);
}

static enum probe_result judge(int vcpu_fd, const struct kvm_run *run,
			       char *err, size_t err_size)
{
	int ret = -EINTR;

	for (int i = 0; ret == -EINTR && i < PROBE_TRIES; i++)
		ret = kvm_run(vcpu_fd);
	if (ret) {
		snprintf(err, err_size, "probe: KVM_RUN: %s", strerror(-ret));
		return PROBE_FAILED;
	}
	if (run->exit_reason == KVM_EXIT_X86_WRMSR &&
	    run->msr.index == MSR_IA32_TSC_DEADLINE &&
	    run->msr.reason == KVM_MSR_EXIT_REASON_FILTER)
		return PROBE_INTERCEPTED;
	if (run->exit_reason == KVM_EXIT_IO) {
		snprintf(err, err_size,
			 "this KVM handles writes of IA32_TSC_DEADLINE before "
			 "it asks the MSR filter");
		return PROBE_SWALLOWED;
	}
	snprintf(err, err_size, "probe: unexpected KVM exit reason %u",
		 run->exit_reason);
	return PROBE_FAILED;
}

static enum probe_result probe_in_vm(int kvm_fd, int vm_fd, uint8_t *memory,
				     char *err, size_t err_size)
{
	int size = kvm_do_ioctl_value(kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	int vcpu_fd = kvm_do_ioctl_value(vm_fd, KVM_CREATE_VCPU, 0);
	enum probe_result result = PROBE_FAILED;
	void *run = MAP_FAILED;
	int ret = vcpu_fd < 0 ? vcpu_fd : size;

	if (vcpu_fd >= 0 && size > 0) {
		run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			   MAP_SHARED, vcpu_fd, 0);
		ret = run == MAP_FAILED
			      ? -errno
			      : set_up_vcpu(kvm_fd, vm_fd, vcpu_fd, memory);
	}
	if (ret < 0)
		snprintf(err, err_size, "probe: setting up a vCPU: %s",
			 strerror(-ret));
	else
		result = judge(vcpu_fd, run, err, err_size);
	if (run != MAP_FAILED)
		munmap(run, (size_t)size);
	if (vcpu_fd >= 0)
		close(vcpu_fd);
	return result;
}

enum probe_result probe_interception(int kvm_fd, enum timer_rung rung,
				     char *err, size_t err_size)
{
	enum probe_result result = PROBE_FAILED;
	uint8_t *memory = mmap(NULL, PROBE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int vm_fd;

	if (memory == MAP_FAILED) {
		snprintf(err, err_size, "probe: mmap: %s", strerror(errno));
		return PROBE_FAILED;
	}
	fill_memory(memory);
	vm_fd = vm_create_fd(kvm_fd, rung, err, err_size);
	if (vm_fd >= 0) {
		result = probe_in_vm(kvm_fd, vm_fd, memory, err, err_size);
		close(vm_fd);
	}
	munmap(memory, PROBE_SIZE);
	return result;
}

/* KVM_ENABLE_CAP takes the MWAIT bit without a word where the host cannot do
 * it; what KVM_CHECK_EXTENSION says is to be trusted. */
static bool has_mwait_knob(int kvm_fd)
{
	return kvm_check_extension(kvm_fd, KVM_CAP_X86_DISABLE_EXITS) &
	       KVM_X86_DISABLE_EXITS_MWAIT;
}

enum probe_result probe_ladder(int kvm_fd, enum timer_rung *rung, char *err,
			       size_t err_size)
{
	enum probe_result result;

	*rung = RUNG_SPLIT;
	result = probe_interception(kvm_fd, *rung, err, err_size);
	if (result != PROBE_SWALLOWED || !has_mwait_knob(kvm_fd))
		return result;
	*rung = RUNG_SPLIT_MWAIT;
	return probe_interception(kvm_fd, *rung, err, err_size);
}

const char *probe_rung_name(enum timer_rung rung)
{
	switch (rung) {
	case RUNG_KERNEL:
		return "kernel";
	case RUNG_SPLIT:
		return "split";
	case RUNG_SPLIT_MWAIT:
		break;
	}
	return "split, MWAIT exits disabled";
}

const char *probe_remedy(void)
{
	return access("/sys/module/kvm_intel", F_OK)
		       ? "set timer.mode to \"kernel\", or load kvm_amd with "
			 "nrips=0"
		       : "set timer.mode to \"kernel\", or before Linux 6.18 "
			 "load kvm_intel with preemption_timer=0";
}

const char *probe_missing_capability(int kvm_fd)
{
	static const struct {
		unsigned int capability;
		const char *name;
	} needed[] = {
		{KVM_CAP_SPLIT_IRQCHIP, "KVM_CAP_SPLIT_IRQCHIP"},
		{KVM_CAP_TSC_DEADLINE_TIMER, "KVM_CAP_TSC_DEADLINE_TIMER"},
		{KVM_CAP_X86_USER_SPACE_MSR, "KVM_CAP_X86_USER_SPACE_MSR"},
		{KVM_CAP_X86_MSR_FILTER, "KVM_CAP_X86_MSR_FILTER"},
		{KVM_CAP_IMMEDIATE_EXIT, "KVM_CAP_IMMEDIATE_EXIT"},
		{KVM_CAP_GET_TSC_KHZ, "KVM_CAP_GET_TSC_KHZ"},
		{KVM_CAP_ENFORCE_PV_FEATURE_CPUID,
		 "KVM_CAP_ENFORCE_PV_FEATURE_CPUID"},
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!kvm_check_extension(kvm_fd, needed[i].capability))
			return needed[i].name;
	return NULL;
}
