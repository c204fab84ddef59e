/* SPDX-License-Identifier: MIT */
/*
 * output - files that a command writes its results to. Opened before the
 * work, so that a path that cannot be written costs no run.
 */
#ifndef VMM_OUTPUT_H
#define VMM_OUTPUT_H

#include <stddef.h>

struct output {
	const char *path; /* "-": stdout; NULL: none, and writing is a no-op */
	int fd;
};

/* Opens path, truncated. 0 or -errno with one line in err. Main thread. */
int output_open(struct output *output, const char *path, char *err,
		size_t err_size);

/* Writes all of text. 0 or -errno with one line in err. Main thread. */
int output_write(struct output *output, const char *text, size_t len, char *err,
		 size_t err_size);

/* Closes; 0 or -errno, with one line in err, of what could not be kept. */
int output_close(struct output *output, char *err, size_t err_size);

#endif
