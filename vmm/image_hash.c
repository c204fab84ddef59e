/* SPDX-License-Identifier: MIT */
/*
 * image_hash - a number for the contents of a file.
 * Reference: FNV, G. Fowler, L. C. Noll, K.-P. Vo (offset basis and prime of
 * the 64-bit form).
 */
#include "image_hash.h"

#include <errno.h>
#include <stdlib.h>

#include "image_file.h"
#include "load_plan.h"

#define FNV_OFFSET_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME	 UINT64_C(0x100000001b3)
#define SIZE_MAX_BYTES	 (UINT64_C(1) << 30)

uint64_t image_hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t hash = FNV_OFFSET_BASIS;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * FNV_PRIME;
	return hash;
}

int image_hash(const char *path, uint64_t *hash)
{
	struct load_error err;
	struct image_file file;
	int ret = image_file_open(&file, path, SIZE_MAX_BYTES, &err);
	void *bytes;

	if (ret)
		return ret;
	bytes = malloc(file.size);
	ret = bytes ? image_file_read(&file, bytes, &err) : -ENOMEM;
	if (!ret)
		*hash = image_hash_bytes(bytes, file.size);
	free(bytes);
	image_file_close(&file);
	return ret;
}
