/* SPDX-License-Identifier: MIT */
/* registers - the bootstrap vCPU's registers as a boot protocol wants them. */
#ifndef VMM_REGISTERS_H
#define VMM_REGISTERS_H

struct boot_state;

/* 0 or -errno of KVM_GET_SREGS, KVM_SET_SREGS or KVM_SET_REGS. Main thread,
 * before the vCPU runs. */
int registers_set(int vcpu_fd, const struct boot_state *boot);

#endif
