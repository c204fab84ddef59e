/* SPDX-License-Identifier: MIT */
/* dump - the state of a VM as text, for whoever has to find out why. */
#ifndef VMM_DUMP_H
#define VMM_DUMP_H

#include <stdio.h>

struct vcpu;
struct vm;

/*
 * Writes registers, local APIC, timer state and the bytes at RIP into
 * vcpu->dump; what KVM does not give is left out. vCPU thread.
 */
void dump_vcpu(struct vcpu *vcpu);

/* Prints the dumps of all vCPUs and the last console lines. Main thread,
 * when the vCPU threads have answered KICK_DUMP or are gone. */
void dump_print(struct vm *vm, FILE *out);

#endif
