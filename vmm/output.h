/* SPDX-License-Identifier: MIT */
/*
 * output - files that a command writes its results to. Opened before the
 * work, so that a path that cannot be written costs no run; and left as they
 * were if there is nothing to write in the end.
 */
#ifndef VMM_OUTPUT_H
#define VMM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output {
	const char *path; /* "-": stdout; NULL: none, and writing is a no-op */
	int fd;
	bool is_new;	/* it was not there before */
	bool has_begun; /* what it held before is gone */
};

/* For whoever opens a file to write to: 0, or -EBUSY if it is a regular one
 * that another descriptor writes to, of this program or another one that asks
 * here. Ours until fd is closed. Any thread. */
int output_own(int fd);

/* Opens path, which must not be written by somebody else; what it holds stays.
 * 0 or -errno with one line in err. Main thread. */
int output_open(struct output *output, const char *path, char *err,
		size_t err_size);

/* Empties the file, once; for those who write to fd themselves. 0 or -errno
 * with one line in err. Main thread. */
int output_begin(struct output *output, char *err, size_t err_size);

/* Writes all of text, in place of what there was before. 0 or -errno with one
 * line in err. Main thread. */
int output_write(struct output *output, const char *text, size_t len, char *err,
		 size_t err_size);

/* Closes, and removes a new file that nothing was written to; 0 or -errno, with
 * one line in err, of what could not be kept. */
int output_close(struct output *output, char *err, size_t err_size);

#endif
