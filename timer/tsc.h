/* SPDX-License-Identifier: MIT */
/*
 * tsc - cycles to nanoseconds and back, and the guest's and host's TSC frame.
 *
 * The only place where units are converted. The rate is fixed for the life of
 * a VM, so the one division happens in tsc_scale_init(); every conversion is
 * a 128-bit multiplication and a shift.
 *
 * Error bound: with x the exact quotient, floor is never above x and ceil
 * never below it, and both are within 1 + x / 2^62 of x: at most 1 unit apart
 * from the exact rounding up to 2^62, where 2^62 ns are 146 years.
 */
#ifndef TIMER_TSC_H
#define TIMER_TSC_H

#include <stdint.h>

/* Rates accepted by tsc_scale_init(), kHz: 1 MHz to 16 GHz. */
#define TSC_KHZ_MIN 1000u
#define TSC_KHZ_MAX 16000000u

/* A ratio r as a fixed-point pair around it: floor / 2^shift <= r <= ceil /
 * 2^shift. The two differ by one, or not at all where r is exact. */
struct tsc_ratio {
	uint64_t mult_floor;
	uint64_t mult_ceil;
	unsigned int shift;
};

/* Set once by tsc_scale_init(), read-only afterwards, shared by all threads. */
struct tsc_scale {
	uint32_t tsc_khz;
	struct tsc_ratio ns_per_tsc;
	struct tsc_ratio tsc_per_ns;
};

/* Prepare conversions for a TSC of tsc_khz kHz (KVM api.rst, KVM_GET_TSC_KHZ).
 * 0, or -EINVAL outside TSC_KHZ_MIN..TSC_KHZ_MAX (*s is then untouched). */
int tsc_scale_init(struct tsc_scale *s, uint32_t tsc_khz);

/* A length in cycles as ns, rounded down or up. Saturates at UINT64_MAX.
 * Pure, any thread. */
uint64_t tsc_to_ns_floor(const struct tsc_scale *s, uint64_t length_tsc);
uint64_t tsc_to_ns_ceil(const struct tsc_scale *s, uint64_t length_tsc);

/* A length in ns as cycles, rounded down or up. Saturates at UINT64_MAX.
 * Pure, any thread. */
uint64_t ns_to_tsc_floor(const struct tsc_scale *s, uint64_t length_ns);
uint64_t ns_to_tsc_ceil(const struct tsc_scale *s, uint64_t length_ns);

/* Guest TSC at a host instant, modulo 2^64. tsc_offset is what KVM adds (KVM
 * vcpu.rst, KVM_VCPU_TSC_OFFSET); the TSC of a guest is never scaled here. */
static inline uint64_t guest_from_host(uint64_t host_tsc, uint64_t tsc_offset)
{
	return host_tsc + tsc_offset;
}

/* The inverse of guest_from_host(), modulo 2^64. */
static inline uint64_t host_from_guest(uint64_t guest_tsc, uint64_t tsc_offset)
{
	return guest_tsc - tsc_offset;
}

/* Cycles from b to a, two instants of one frame less than 2^63 apart; negative
 * when a comes first. Right across the wrap at 2^64. */
static inline int64_t tsc_diff(uint64_t a_tsc, uint64_t b_tsc)
{
	return (int64_t)(a_tsc - b_tsc);
}

#endif
