/* SPDX-License-Identifier: MIT */
/*
 * exit - what to do when KVM_RUN returned. vCPU threads.
 *
 * The guest is hostile: whatever it does is answered as the hardware would
 * or counted; nothing here logs, asserts or loops on its behalf.
 */
#ifndef VMM_EXIT_H
#define VMM_EXIT_H

#include <stdbool.h>

struct vcpu;
struct vm;

/* KVM_RUN returned 0. False: the vCPU thread is to end; vm->end says why. */
bool exit_handle(struct vcpu *vcpu);

/* KVM_RUN failed with `error` (-errno). Ends the VM. */
void exit_run_failed(struct vcpu *vcpu, int error);

/* A call of user_timer.h failed with `error` (-errno). Ends the VM. */
void exit_timer_failed(struct vcpu *vcpu, int error);

/*
 * Does KVM own the timer although punctual should? Ends the VM then and
 * returns true. Looks at most every 10 ms unless `now` is set.
 */
bool exit_backstop(struct vcpu *vcpu, bool now);

/* Does the way this VM ended call for a dump of the registers? */
bool exit_wants_dump(const struct vm *vm);

#endif
