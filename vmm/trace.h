/* SPDX-License-Identifier: MIT */
/*
 * trace - the trace file of a run: rings for the threads, and the main thread
 * that empties them into the file.
 *
 * Bounded: a ring has room for TRACE_RING_ROOM records and a file for
 * TRACE_FILE_MAX bytes; what a guest provokes beyond that is counted.
 */
#ifndef VMM_TRACE_H
#define VMM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "trace_format.h"
#include "trace_ring.h"

struct vm;

enum {
	TRACE_DRAIN_MS = 50,
	TRACE_FILE_MAX = 64 << 20, /* 1.6 million records */
};

struct trace {
	struct output output;
	uint32_t events;
	uint32_t ring_count;	  /* one a vCPU, the last the timer thread's */
	struct trace_ring *rings; /* NULL until trace_start */
	uint64_t room;		  /* records that the file still takes */
	uint64_t written, file_full;
	int error; /* -errno of the first write that failed */
	char err[256];
};

/*
 * Opens path for a trace of these events (TRACE_ALL_EVENTS, or what
 * trace_events_parse gave); NULL: no trace, and all that follows does nothing.
 * Only files that never block are taken. 0, or -errno with one line in err.
 * Main thread, as all of this.
 */
int trace_open(struct trace *trace, const char *path, uint32_t events,
	       char *err, size_t err_size);

/* Writes the header and gives vm's threads their rings. Before they start.
 * 0, or -errno with one line in err. */
int trace_start(struct trace *trace, struct vm *vm, char *err, size_t err_size);

/* Empties the rings into the file: every TRACE_DRAIN_MS. */
void trace_drain(struct trace *trace);

/*
 * The threads are gone: what is left, and the last record, which tells what
 * was lost; *lost is that too. 0, or -errno with one line in err if anything
 * could not be written. Frees the rings.
 */
int trace_finish(struct trace *trace, uint64_t *lost, char *err,
		 size_t err_size);

/* Closes the file; 0, or -errno with one line in err. */
int trace_close(struct trace *trace, char *err, size_t err_size);

#endif
