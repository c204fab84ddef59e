/* SPDX-License-Identifier: MIT */
/*
 * image_file - a kernel image or initrd on the host, read whole.
 *
 * Files are read into memory of ours, never mapped: a mapped file can change
 * between its validation and its use, and one that is cut short meanwhile
 * ends the process with SIGBUS.
 */
#ifndef VMM_IMAGE_FILE_H
#define VMM_IMAGE_FILE_H

#include <stdint.h>

struct load_error;

struct image_file {
	int fd;	       /* -1: not open */
	uint64_t size; /* bytes when it was opened, at least 1 */
};

/*
 * Open path, which must be a regular file of 1 to max_size bytes. Does not
 * wait, whatever path names (a FIFO, a device). Returns 0; -EINVAL for what
 * it is; or the -errno of open or fstat. err says why, and f is not open
 * then. Any thread.
 */
int image_file_open(struct image_file *f, const char *path, uint64_t max_size,
		    struct load_error *err);

/*
 * Read the whole file to dst, f->size bytes. Returns 0; -EINVAL if the file
 * is no longer that long; or the -errno of read. Any thread.
 */
int image_file_read(const struct image_file *f, void *dst,
		    struct load_error *err);

/* Close it. Does nothing if it is not open. */
void image_file_close(struct image_file *f);

#endif
