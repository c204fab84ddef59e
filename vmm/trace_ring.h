/* SPDX-License-Identifier: MIT */
/*
 * trace_ring - trace records from one thread to the main thread, without a
 * lock: one producer, one consumer.
 *
 * Memory order. The producer writes a record and then releases `head`; the
 * consumer acquires `head` and then reads it. The consumer releases `tail`
 * once it has copied the records out; the producer acquires `tail` before it
 * writes over them. A full ring loses the new record and counts it.
 */
#ifndef VMM_TRACE_RING_H
#define VMM_TRACE_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_format.h"

enum {
	/* 640 KiB; of one vCPU with all events, 2300 fires. */
	TRACE_RING_ROOM = 16384,
	TRACE_RING_LINE = 64, /* of the cache */
};

struct trace_ring {
	/* Set once. */
	uint32_t events; /* 1 << enum trace_event that are kept */
	struct trace_record *records;

	/* Writer: the producer. Counts of records, modulo 2^64. */
	alignas(TRACE_RING_LINE) atomic_ullong head;
	uint64_t tail_seen; /* the producer's last look at it */
	atomic_ullong lost;

	/* Writer: the consumer. */
	alignas(TRACE_RING_LINE) atomic_ullong tail;
};

/* Room for TRACE_RING_ROOM records, every page of it there, so that no put
 * meets a page fault. 0 or -ENOMEM. Main thread. */
int trace_ring_init(struct trace_ring *ring, uint32_t events);
void trace_ring_free(struct trace_ring *ring);

/* Keeps a copy, if its event is wanted. The producer's thread. */
void trace_ring_put(struct trace_ring *ring, const struct trace_record *record);

/* Moves up to max records to `to`, oldest first; returns how many. The
 * consumer's thread. */
size_t trace_ring_take(struct trace_ring *ring, struct trace_record *to,
		       size_t max);

#endif
