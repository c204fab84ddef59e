/* SPDX-License-Identifier: MIT */
/*
 * kvm - ioctl wrappers. Reference: Linux Documentation/virt/kvm/api.rst and
 * devices/vcpu.rst. No policy here: what to do about an error is the
 * caller's.
 */
#include "kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int kvm_do_ioctl_value(int fd, unsigned long request, unsigned long arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int kvm_open(const char *path, char *err, size_t err_size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int version, saved;

	if (fd < 0) {
		saved = errno;
		snprintf(err, err_size, "%s: %s (%s)", path, strerror(saved),
			 saved == EACCES || saved == EPERM
				 ? "join the group that owns it: "
				   "usermod -aG kvm USER, then log in again"
				 : "load kvm_intel or kvm_amd, or enable "
				   "virtualization for this machine");
		return -saved;
	}
	version = kvm_do_ioctl_value(fd, KVM_GET_API_VERSION, 0);
	if (version == KVM_API_VERSION)
		return fd;
	if (version < 0)
		snprintf(err, err_size,
			 "%s: KVM_GET_API_VERSION: %s (not the KVM device?)",
			 path, strerror(-version));
	else
		snprintf(err, err_size, "%s: KVM API version %d, need %d", path,
			 version, KVM_API_VERSION);
	close(fd);
	return version < 0 ? version : -EPROTO;
}

int kvm_check_extension(int fd, unsigned int capability)
{
	int ret = kvm_do_ioctl_value(fd, KVM_CHECK_EXTENSION, capability);

	return ret < 0 ? 0 : ret;
}

int kvm_enable_cap(int fd, uint32_t capability, uint64_t arg0)
{
	struct kvm_enable_cap cap = {.cap = capability, .args = {arg0}};

	return kvm_do_ioctl(fd, KVM_ENABLE_CAP, &cap);
}

int kvm_run(int vcpu_fd)
{
	return kvm_do_ioctl_value(vcpu_fd, KVM_RUN, 0);
}

/* struct kvm_msrs ends in a flexible array; this is it with one entry. */
union one_msr {
	struct kvm_msrs msrs;
	char room[sizeof(struct kvm_msrs) + sizeof(struct kvm_msr_entry)];
};

int kvm_get_msr(int vcpu_fd, uint32_t index, uint64_t *value)
{
	union one_msr one = {.msrs = {.nmsrs = 1}};
	int ret;

	one.msrs.entries[0] = (struct kvm_msr_entry){.index = index};
	ret = kvm_vcpu_ioctl(vcpu_fd, KVM_GET_MSRS, &one.msrs);
	if (ret != 1)
		return ret < 0 ? ret : -EINVAL;
	*value = one.msrs.entries[0].data;
	return 0;
}

int kvm_set_msr(int vcpu_fd, uint32_t index, uint64_t value)
{
	union one_msr one = {.msrs = {.nmsrs = 1}};
	int ret;

	one.msrs.entries[0] =
		(struct kvm_msr_entry){.index = index, .data = value};
	ret = kvm_vcpu_ioctl(vcpu_fd, KVM_SET_MSRS, &one.msrs);
	return ret == 1 ? 0 : ret < 0 ? ret : -EINVAL;
}

int kvm_is_halted(int vcpu_fd, bool *halted)
{
	struct kvm_mp_state state;
	int ret = kvm_vcpu_ioctl(vcpu_fd, KVM_GET_MP_STATE, &state);

	*halted = ret >= 0 && state.mp_state == KVM_MP_STATE_HALTED;
	return ret < 0 ? ret : 0;
}

int kvm_get_tsc_offset(int vcpu_fd, uint64_t *offset_tsc)
{
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)offset_tsc,
	};

	return kvm_vcpu_ioctl(vcpu_fd, KVM_GET_DEVICE_ATTR, &attr);
}

int kvm_set_tsc_offset(int vcpu_fd, uint64_t offset_tsc)
{
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)&offset_tsc,
	};

	return kvm_vcpu_ioctl(vcpu_fd, KVM_SET_DEVICE_ATTR, &attr);
}
