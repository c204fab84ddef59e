/* SPDX-License-Identifier: MIT */
/*
 * canary - knows whether the guest's LVTT has let go of a deadline.
 *
 * Writes of LVTT do not exit, but KVM's own IA32_TSC_DEADLINE tells of them:
 * KVM ignores a write of it unless LVTT is in TSC-deadline mode, and clears
 * it when the timer's mode changes (by a write of LVTT, or by INIT). A
 * deadline that is far away, written by the host at the arm, is a canary: as
 * long as it is there, the guest's deadline stands.
 * All calls on the vCPU's thread, outside KVM_RUN; one vCPU ioctl each.
 */
#ifndef VMM_CANARY_H
#define VMM_CANARY_H

#include <stdbool.h>
#include <stdint.h>

/* A canary must never expire itself; it is to be set anew within so many
 * cycles. (It is four times as far ahead.) */
#define CANARY_CARE_TSC (UINT64_C(1) << 41)

struct canary {
	uint64_t deadline_guest_tsc; /* as written to KVM; 0: none */
};

/* Sets it. Drops what KVM may hold back, as any write does. 0 or -errno. */
int canary_set(struct canary *canary, int vcpu_fd, uint64_t now_guest_tsc);

/* Takes note that KVM's MSR was or will be written otherwise. */
void canary_forget(struct canary *canary);

/* *alive: is it still there? 0 or -errno. */
int canary_check(const struct canary *canary, int vcpu_fd, bool *alive);

/* *deadline_mode: is LVTT in TSC-deadline mode right now? For those who have
 * no canary to ask. 0 or -errno. */
int canary_look_at_lvtt(int vcpu_fd, bool *deadline_mode);

#endif
