/* SPDX-License-Identifier: MIT */
/*
 * Conversions between TSC cycles and nanoseconds by fixed-point ratios.
 * The rate comes from KVM (api.rst, KVM_GET_TSC_KHZ) and never changes.
 * Not modelled: a guest TSC scaled against the host's, a drifting rate.
 */
#include "tsc.h"

#include <errno.h>

__extension__ typedef unsigned __int128 uint128;

#define NS_PER_MS 1000000u

/* num / den, both below 2^32, as a multiplier with its top bit at bit 62: 63
 * significant bits, and room for mult_ceil and the 128-bit product. Binary
 * long division, one bit of the quotient a turn. */
static void ratio_init(struct tsc_ratio *r, uint32_t num, uint32_t den)
{
	uint64_t quotient = num / den;
	uint64_t rest = num % den;
	unsigned int shift = 0;

	while (!(quotient >> 62)) {
		rest <<= 1;
		quotient <<= 1;
		if (rest >= den) {
			rest -= den;
			quotient |= 1;
		}
		shift++;
	}
	r->mult_floor = quotient;
	r->mult_ceil = quotient + (rest != 0);
	r->shift = shift;
}

static uint64_t saturate(uint128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static uint64_t scale_floor(const struct tsc_ratio *r, uint64_t value)
{
	return saturate((uint128)value * r->mult_floor >> r->shift);
}

static uint64_t scale_ceil(const struct tsc_ratio *r, uint64_t value)
{
	uint128 product = (uint128)value * r->mult_ceil;
	uint128 below_unit = ((uint128)1 << r->shift) - 1;

	/* Added after the shift: before it, the sum could leave 128 bits. */
	return saturate((product >> r->shift) + ((product & below_unit) != 0));
}

int tsc_scale_init(struct tsc_scale *s, uint32_t tsc_khz)
{
	if (tsc_khz < TSC_KHZ_MIN || tsc_khz > TSC_KHZ_MAX)
		return -EINVAL;
	s->tsc_khz = tsc_khz;
	ratio_init(&s->ns_per_tsc, NS_PER_MS, tsc_khz);
	ratio_init(&s->tsc_per_ns, tsc_khz, NS_PER_MS);
	return 0;
}

uint64_t tsc_to_ns_floor(const struct tsc_scale *s, uint64_t length_tsc)
{
	return scale_floor(&s->ns_per_tsc, length_tsc);
}

uint64_t tsc_to_ns_ceil(const struct tsc_scale *s, uint64_t length_tsc)
{
	return scale_ceil(&s->ns_per_tsc, length_tsc);
}

uint64_t ns_to_tsc_floor(const struct tsc_scale *s, uint64_t length_ns)
{
	return scale_floor(&s->tsc_per_ns, length_ns);
}

uint64_t ns_to_tsc_ceil(const struct tsc_scale *s, uint64_t length_ns)
{
	return scale_ceil(&s->tsc_per_ns, length_ns);
}
