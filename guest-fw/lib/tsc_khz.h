/* SPDX-License-Identifier: MIT */
#ifndef GUEST_TSC_KHZ_H
#define GUEST_TSC_KHZ_H

#include <stdint.h>

/*
 * Frequency of the guest TSC in kHz as the host tells it, 0 if it does not.
 * Nothing is measured: a guest has no clock to trust. Asked in this order:
 * CPUID 0x40000010 EAX (the "timing" leaf several hypervisors share), CPUID
 * 0x15 (SDM 2 "CPUID", TSC and nominal core crystal clock), and KVM's
 * pvclock (Linux Documentation/virt/kvm/x86/msr.rst,
 * MSR_KVM_SYSTEM_TIME_NEW). *source names the one that answered.
 * Boot CPU, ring 0.
 */
uint32_t tsc_khz_from_host(const char **source);

#endif
