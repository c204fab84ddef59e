/* SPDX-License-Identifier: MIT */
/*
 * fuzz_file - bytes as a file, for subjects that take a path. The file has no
 * name in any directory; where it is not to be had the target cannot go on.
 *
 * Define _GNU_SOURCE before the first include.
 */
#ifndef TESTS_FUZZ_FUZZ_FILE_H
#define TESTS_FUZZ_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

struct fuzz_file {
	int fd;
	char path[40];
};

/* Has just these bytes from now on; a zeroed one is made first. */
static inline void fuzz_file_set(struct fuzz_file *file, const void *bytes,
				 size_t size)
{
	if (!*file->path) {
		file->fd = memfd_create("fuzz", MFD_CLOEXEC);
		FUZZ_CHECK(file->fd >= 0);
		snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d",
			 file->fd);
	}
	FUZZ_CHECK(!ftruncate(file->fd, (off_t)size));
	FUZZ_CHECK(!size || pwrite(file->fd, bytes, size, 0) == (ssize_t)size);
}

#endif
