/* SPDX-License-Identifier: MIT */
/*
 * kvm - the only door to the KVM ioctls (Linux Documentation/virt/kvm/api.rst).
 *
 * One wrapper per kind of file descriptor; the argument's size is checked at
 * compile time against the size that is encoded in the request. All return
 * the ioctl's non-negative result or -errno, and retry nothing: EINTR from
 * KVM_RUN carries meaning. vCPU wrappers belong on the thread that runs that
 * vCPU, since KVM takes the vCPU's mutex and would block behind KVM_RUN.
 */
#ifndef VMM_KVM_H
#define VMM_KVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <linux/kvm.h>

int kvm_do_ioctl(int fd, unsigned long request, void *arg);
int kvm_do_ioctl_value(int fd, unsigned long request, unsigned long arg);

/* Adds 0, or does not compile when *arg is not what the request carries. */
#define KVM_ARG_FITS(request, arg) \
	(0 * sizeof(char[_IOC_SIZE(request) == sizeof(*(arg)) ? 1 : -1]))

#define kvm_sys_ioctl(fd, request, arg) \
	kvm_do_ioctl(fd, (request) + KVM_ARG_FITS(request, arg), arg)
#define kvm_vm_ioctl(fd, request, arg) \
	kvm_do_ioctl(fd, (request) + KVM_ARG_FITS(request, arg), arg)
#define kvm_vcpu_ioctl(fd, request, arg) \
	kvm_do_ioctl(fd, (request) + KVM_ARG_FITS(request, arg), arg)

/*
 * Opens `path` and checks KVM_GET_API_VERSION. Returns the descriptor, or
 * -errno with one line in err that names the path, what failed and a remedy.
 */
int kvm_open(const char *path, char *err, size_t err_size);

/* KVM_CHECK_EXTENSION on the system or a VM descriptor; 0 when absent. */
int kvm_check_extension(int fd, unsigned int capability);

/* KVM_ENABLE_CAP with one or no argument. 0 or -errno. */
int kvm_enable_cap(int fd, uint32_t capability, uint64_t arg0);

/* KVM_RUN. 0 on an exit, else -errno; -EINTR after a kick. vCPU thread. */
int kvm_run(int vcpu_fd);

#define MSR_IA32_TSC	      0x10u
#define MSR_IA32_TSC_ADJUST   0x3bu
#define MSR_IA32_TSC_DEADLINE 0x6e0u

/*
 * One MSR as the host sees it: host accesses bypass the MSR filter.
 * 0, -EINVAL when KVM refuses the index or value, or -errno. vCPU thread.
 */
int kvm_get_msr(int vcpu_fd, uint32_t index, uint64_t *value);
int kvm_set_msr(int vcpu_fd, uint32_t index, uint64_t value);

/* *halted: is the vCPU in HLT? KVM_GET_MP_STATE. 0 or -errno. vCPU thread. */
int kvm_is_halted(int vcpu_fd, bool *halted);

/*
 * KVM_VCPU_TSC_OFFSET (Linux 5.16): guest TSC = host TSC + offset, mod 2^64.
 * -ENXIO where the attribute does not exist. vCPU thread.
 */
int kvm_get_tsc_offset(int vcpu_fd, uint64_t *offset_tsc);
int kvm_set_tsc_offset(int vcpu_fd, uint64_t offset_tsc);

#endif
