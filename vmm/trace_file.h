/* SPDX-License-Identifier: MIT */
/*
 * trace_file - a trace file in memory, checked: what a reader of traces works
 * on. The file may come from anywhere. One thread.
 */
#ifndef VMM_TRACE_FILE_H
#define VMM_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_format.h"

struct trace_file {
	uint8_t *bytes; /* on the heap */
	const struct trace_header *header;
	const struct trace_record *records; /* the good ones, without the last
					     * that tells what is missing */
	size_t count;
	bool has_end;
	struct trace_record end; /* that one */
};

/*
 * Reads the whole. 0; or -EINVAL or -errno with one line in err that names the
 * offset and what is wrong there. After an error in the records those before it
 * are in *file all the same: count is 0 where there is nothing to be had.
 * trace_file_free() it in any case.
 */
int trace_file_load(struct trace_file *file, const char *path, char *err,
		    size_t err_size);
void trace_file_free(struct trace_file *file);

/* Pointers to the records in the order of their instants; those of the same
 * one as they stand in the file. On the heap; NULL: no memory. */
const struct trace_record **trace_file_sort(const struct trace_file *file);

#endif
