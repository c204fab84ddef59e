/* SPDX-License-Identifier: MIT */
/*
 * bzimage_builder - make small bzImages in memory, right ones and wrong ones.
 *
 * Fields of the setup header are set by their offset in the file, as boot.rst
 * has them. The kernel's bytes are elf_build_fill() of their offset. The file
 * is an allocation of its exact size: a sanitizer sees a read past its end.
 */
#ifndef TESTS_BZIMAGE_BUILDER_H
#define TESTS_BZIMAGE_BUILDER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf_builder.h"

#define BZIMAGE_KERNEL_AT   0x600 /* two setup sectors and the boot sector */
#define BZIMAGE_KERNEL_SIZE 0x1230
#define BZIMAGE_SIZE	    (BZIMAGE_KERNEL_AT + BZIMAGE_KERNEL_SIZE)

struct bzimage {
	uint8_t *bytes;
	size_t size;
};

static inline void bzimage_set(struct bzimage *b, unsigned int offset,
			       uint64_t value, unsigned int size)
{
	memcpy(b->bytes + offset, &value, size);
}

/* A relocatable kernel of protocol 2.15 that wants 1 MiB of memory at 2 MiB. */
static inline void bzimage_init(struct bzimage *b)
{
	b->size = BZIMAGE_SIZE;
	b->bytes = malloc(b->size);
	if (!b->bytes)
		abort();
	for (size_t i = 0; i < b->size; i++)
		b->bytes[i] = i < BZIMAGE_KERNEL_AT ? 0 : elf_build_fill(i);
	bzimage_set(b, 0x1f1, 2, 1);
	bzimage_set(b, 0x1f4, BZIMAGE_KERNEL_SIZE / 16, 4);
	bzimage_set(b, 0x1fe, 0xaa55, 2);
	bzimage_set(b, 0x200, 0x6aeb, 2);
	memcpy(b->bytes + 0x202, "HdrS", 4);
	bzimage_set(b, 0x206, 0x020f, 2);
	bzimage_set(b, 0x211, 0x01, 1);
	bzimage_set(b, 0x22c, 0x7fffffff, 4);
	bzimage_set(b, 0x230, 0x200000, 4);
	bzimage_set(b, 0x234, 1, 1);
	bzimage_set(b, 0x236, 0x0001, 2);
	bzimage_set(b, 0x238, 2047, 4);
	bzimage_set(b, 0x258, 0x200000, 8);
	bzimage_set(b, 0x260, 0x100000, 4);
}

/* Cut it, to an allocation of that size. */
static inline void bzimage_cut(struct bzimage *b, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);

	if (!bytes)
		abort();
	memcpy(bytes, b->bytes, size);
	free(b->bytes);
	b->bytes = bytes;
	b->size = size;
}

static inline void bzimage_free(struct bzimage *b)
{
	free(b->bytes);
	b->bytes = NULL;
}

#endif
