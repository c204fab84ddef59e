/* SPDX-License-Identifier: MIT */
/*
 * trace_ring - see trace_ring.h, memory order too.
 * Reference: mmap(2) MAP_POPULATE. Pages are not locked: under a shortage of
 * memory a put may meet a fault after all.
 */
#define _GNU_SOURCE
#include "trace_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define RING_BYTES (TRACE_RING_ROOM * sizeof(struct trace_record))

_Static_assert((TRACE_RING_ROOM & (TRACE_RING_ROOM - 1)) == 0, "a mask");

int trace_ring_init(struct trace_ring *ring, uint32_t events)
{
	void *records = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	memset(ring, 0, sizeof(*ring));
	if (records == MAP_FAILED)
		return -errno;
	ring->events = events;
	ring->records = records;
	return 0;
}

void trace_ring_free(struct trace_ring *ring)
{
	if (ring->records)
		munmap(ring->records, RING_BYTES);
	ring->records = NULL;
}

void trace_ring_put(struct trace_ring *ring, const struct trace_record *record)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (!(ring->events & 1u << record->event))
		return;
	if (head - ring->tail_seen >= TRACE_RING_ROOM) {
		ring->tail_seen =
			atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head - ring->tail_seen >= TRACE_RING_ROOM) {
			atomic_fetch_add_explicit(&ring->lost, 1,
						  memory_order_relaxed);
			return;
		}
	}
	ring->records[head % TRACE_RING_ROOM] = *record;
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

size_t trace_ring_take(struct trace_ring *ring, struct trace_record *to,
		       size_t max)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	size_t count = head - tail < max ? (size_t)(head - tail) : max;

	for (size_t i = 0; i < count; i++)
		to[i] = ring->records[(tail + i) % TRACE_RING_ROOM];
	atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
	return count;
}
