/* SPDX-License-Identifier: MIT */
/* image_hash - tells one build of a guest from another. */
#ifndef VMM_IMAGE_HASH_H
#define VMM_IMAGE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits: for files that differ by accident, not by malice. Pure. */
uint64_t image_hash_bytes(const void *bytes, size_t len);

/* Of a regular file of at most 1 GiB. 0, or -errno. Main thread. */
int image_hash(const char *path, uint64_t *hash);

#endif
