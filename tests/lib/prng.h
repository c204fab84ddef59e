/* SPDX-License-Identifier: MIT */
/*
 * prng - a small seeded generator, so that a property test repeats exactly.
 * Xorshift64 (Marsaglia 2003); the seed must not be 0.
 */
#ifndef TESTS_PRNG_H
#define TESTS_PRNG_H

#include <stdint.h>

static inline uint64_t prng_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A value of 0 to 64 significant bits, each length as likely as the others:
 * uniform values would hardly ever be small. */
static inline uint64_t prng_any_size(uint64_t *state)
{
	unsigned int bits = (unsigned int)(prng_next(state) % 65);
	uint64_t value = prng_next(state);

	return bits ? value >> (64 - bits) : 0;
}

#endif
