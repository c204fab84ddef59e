/* SPDX-License-Identifier: MIT */
/*
 * guest_tsc - the guest's time-stamp counter: its offset and IA32_TSC_ADJUST.
 *
 * Pure: no clock, no locks. The vCPU's thread diverts guest writes of IA32_TSC
 * and IA32_TSC_ADJUST, asks here for the offset that carries them out, sets it
 * on the host, reads it back and reports what it found: a host may refuse.
 * An armed deadline must be planned again after that.
 * Reference: SDM 3B "Time-Stamp Counter Adjustment" (ed. 2023-06).
 * Not modelled: TSC scaling (never used), reads (KVM answers them).
 */
#ifndef APIC_GUEST_TSC_H
#define APIC_GUEST_TSC_H

#include <stdint.h>

struct guest_tsc {
	uint64_t tsc_offset; /* in force: guest = host + offset, mod 2^64 */
	uint64_t tsc_adjust; /* IA32_TSC_ADJUST as the guest reads it */
};

/* State of a new vCPU: TSC_ADJUST is 0, the offset as the host has it. */
void guest_tsc_init(struct guest_tsc *g, uint64_t tsc_offset);

/* Guest wrote IA32_TSC at host instant now_host_tsc. Moves TSC_ADJUST by the
 * same amount; returns the offset to set. The offset in force stays. */
uint64_t guest_tsc_write(struct guest_tsc *g, uint64_t value_guest_tsc,
			 uint64_t now_host_tsc);

/* Guest wrote IA32_TSC_ADJUST, which moves its TSC by the same amount. Returns
 * the offset to set. The offset in force stays. */
uint64_t guest_tsc_write_adjust(struct guest_tsc *g, uint64_t value);

/* The host was seen to use this offset (KVM vcpu.rst, KVM_VCPU_TSC_OFFSET). */
void guest_tsc_set_offset(struct guest_tsc *g, uint64_t tsc_offset);

#endif
