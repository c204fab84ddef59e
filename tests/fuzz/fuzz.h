/* SPDX-License-Identifier: MIT */
/*
 * fuzz - what the fuzz targets share: a way through the bytes of an input, and
 * the end that a broken rule comes to.
 *
 * A target is a function of its input: no clock, no threads, no state that
 * outlives a call. Where the bytes are over, the numbers are zero.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The entry, by libFuzzer's name; the result is always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A rule of the subject. Not assert: that one is the subject's own. */
#define FUZZ_CHECK(rule)                                                      \
	do {                                                                  \
		if (!(rule)) {                                                \
			fprintf(stderr, "%s:%d: broken rule: %s\n", __FILE__, \
				__LINE__, #rule);                             \
			abort();                                              \
		}                                                             \
	} while (0)

struct fuzz_input {
	const uint8_t *at, *end;
};

static inline struct fuzz_input fuzz_open(const uint8_t *data, size_t size)
{
	return (struct fuzz_input){.at = data, .end = data + size};
}

static inline bool fuzz_more(const struct fuzz_input *in)
{
	return in->at < in->end;
}

static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static inline uint16_t fuzz_u16(struct fuzz_input *in)
{
	unsigned int low = fuzz_u8(in);

	return (uint16_t)(low | (unsigned int)fuzz_u8(in) << 8);
}

static inline uint32_t fuzz_u32(struct fuzz_input *in)
{
	uint32_t low = fuzz_u16(in);

	return low | (uint32_t)fuzz_u16(in) << 16;
}

/* A time, or a size: of 0 to bits_max significant bits, short ones as likely
 * as long ones. */
static inline uint64_t fuzz_any_size(struct fuzz_input *in,
				     unsigned int bits_max)
{
	unsigned int bits = fuzz_u8(in) % (bits_max + 1);
	uint64_t value = 0;

	for (unsigned int i = 0; i < bits; i += 8)
		value = value << 8 | fuzz_u8(in);
	return bits ? value & (~UINT64_C(0) >> (64 - bits)) : 0;
}

#endif
