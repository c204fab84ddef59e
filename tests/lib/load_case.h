/* SPDX-License-Identifier: MIT */
/*
 * load_case - give bytes to loader_load as a file, and look at guest RAM.
 *
 * For memfd_create, define _GNU_SOURCE before the first include.
 */
#ifndef TESTS_LOAD_CASE_H
#define TESTS_LOAD_CASE_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf_builder.h"
#include "loader.h"
#include "memory.h"

#define LOAD_CASE_PATTERN 0xa5
#define LOAD_CASE_MIB	  UINT64_C(0x100000)

/* The error must contain text. */
#define LOAD_CASE_SAYS(c, text) \
	ck_assert_msg(strstr((c)->err, text) != NULL, "%s", (c)->err)

struct load_case {
	struct guest_ram ram;
	struct loader_request req;
	struct boot_state state;
	char err[400];
	char image_path[64];
	char initrd_path[64];
	int image_fd;
	int initrd_fd;
};

static inline void load_case_init(struct load_case *c, uint64_t ram_size)
{
	memset(c, 0, sizeof(*c));
	c->image_fd = c->initrd_fd = -1;
	c->req.cpus = 2;
	ck_assert_int_eq(ram_alloc(&c->ram, ram_size), 0);
}

static inline void load_case_end(struct load_case *c)
{
	if (c->image_fd >= 0)
		close(c->image_fd);
	if (c->initrd_fd >= 0)
		close(c->initrd_fd);
	ram_free(&c->ram);
}

/* A file without a name in any directory, reached through /proc. */
static inline int load_case_file(const void *bytes, size_t size, char *path,
				 size_t path_size)
{
	int fd = memfd_create("case", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	if (size)
		ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	snprintf(path, path_size, "/proc/self/fd/%d", fd);
	return fd;
}

static inline void load_case_image(struct load_case *c, const void *bytes,
				   size_t size)
{
	if (c->image_fd >= 0)
		close(c->image_fd);
	c->image_fd = load_case_file(bytes, size, c->image_path,
				     sizeof(c->image_path));
	c->req.image_path = c->image_path;
}

static inline void load_case_initrd(struct load_case *c, const void *bytes,
				    size_t size)
{
	if (c->initrd_fd >= 0)
		close(c->initrd_fd);
	c->initrd_fd = load_case_file(bytes, size, c->initrd_path,
				      sizeof(c->initrd_path));
	c->req.initrd_path = c->initrd_path;
}

static inline int load_case_run(struct load_case *c)
{
	c->err[0] = '\0';
	return loader_load(&c->req, &c->ram, &c->state, c->err, sizeof(c->err));
}

/* Dirty RAM, so that a test sees what was written and what was not. */
static inline void load_case_dirty(struct load_case *c, uint64_t gpa,
				   uint64_t size)
{
	void *host = ram_ptr(&c->ram, gpa, size);

	ck_assert_ptr_nonnull(host);
	memset(host, LOAD_CASE_PATTERN, size);
}

/* Is each byte of guest RAM there equal to value? */
static inline int load_case_all(const struct load_case *c, uint64_t gpa,
				uint64_t size, uint8_t value)
{
	const uint8_t *host = ram_ptr(&c->ram, gpa, size);

	if (!host)
		return 0;
	for (uint64_t i = 0; i < size; i++)
		if (host[i] != value)
			return 0;
	return 1;
}

/* 8 MiB of RAM, dirty where these tests put things and around it. */
static inline void load_case_begin(struct load_case *c)
{
	load_case_init(c, 8 * LOAD_CASE_MIB);
	load_case_dirty(c, 0x8f000, 0x12000);
	load_case_dirty(c, 0xef000, 0x4000);
	for (uint64_t at = LOAD_CASE_MIB; at <= 3 * LOAD_CASE_MIB;
	     at += LOAD_CASE_MIB)
		load_case_dirty(c, at - 0x1000, 0x7000);
	load_case_dirty(c, 0x13f000, 0x8000);
}

/* A file that offers all that is asked for. */
static inline void load_case_offer(struct elf_build *b, bool is64, bool pvh)
{
	elf_build_init(b, is64);
	elf_build_load(b, 0x200000, 0x1000, 0x200, 0x200);
	if (pvh)
		elf_build_pvh(b, 0x1c00, 0x200010, 4);
	b->entry = 0x200020;
	elf_build_write(b);
}

static inline int load_case_run_offer(struct load_case *c, struct elf_build *b,
				      bool multiboot, enum boot_protocol asked)
{
	if (multiboot)
		elf_build_multiboot(b->bytes + 0x400, 3, NULL);
	load_case_image(c, b->bytes, b->size);
	c->req.protocol = asked;
	return load_case_run(c);
}

#endif
