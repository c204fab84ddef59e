/* SPDX-License-Identifier: MIT */
/*
 * trace - see trace.h. The main thread has the console and the time limit to
 * look after as well, so a file that may block it is refused.
 */
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "vm.h"

enum {
	RECORDS_A_WRITE = 1024,
};

_Static_assert(TRACE_FILE_MAX <= INT32_MAX, "an int");

int trace_open(struct trace *trace, const char *path, uint32_t events,
	       char *err, size_t err_size)
{
	struct stat st;
	int ret;

	memset(trace, 0, sizeof(*trace));
	trace->output.fd = -1;
	/* A FIFO without a reader would hold up the open itself. */
	if (path && !stat(path, &st) &&
	    !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode) ||
	      S_ISDIR(st.st_mode))) {
		snprintf(err, err_size,
			 "--trace: %s: neither a file nor a device, and could "
			 "block the run",
			 path);
		return -EINVAL;
	}
	trace->events = events;
	ret = output_open(&trace->output, path, err, err_size);
	if (ret || !path || !isatty(trace->output.fd))
		return ret;
	output_close(&trace->output, err, err_size);
	snprintf(err, err_size, "--trace: %s: a terminal", path);
	return -EINVAL;
}

static struct trace_header header_of(const struct trace *trace,
				     const struct vm *vm)
{
	const struct user_timer_setup *setup = &vm->timer_setup;
	struct trace_header header = {
		.version = TRACE_VERSION,
		.header_size = sizeof(header),
		.record_size = sizeof(struct trace_record),
		.vcpu_count = vm->vcpu_count,
		.tsc_khz = vm->tsc_khz,
		.events = trace->events,
		.spin_share_q16 = setup->policy.spin_share_q16,
		.target_q16 = (uint32_t)setup->target_q16,
		.advance = setup->advance,
		.tuner = setup->tuner,
		.source = setup->source,
		.max_advance_tsc = setup->policy.max_advance_tsc,
		.start_advance_tsc = setup->start_advance_tsc,
		.fixed_advance_tsc = setup->fixed_advance_tsc,
	};

	memcpy(header.magic, TRACE_MAGIC, sizeof(header.magic));
	return header;
}

/* After the first failure nothing is written any more: no holes. */
static void write_bytes(struct trace *trace, const void *bytes, size_t size)
{
	if (!trace->error)
		trace->error = output_write(&trace->output, bytes, size,
					    trace->err, sizeof(trace->err));
}

static void free_rings(struct trace *trace)
{
	for (uint32_t i = 0; trace->rings && i < trace->ring_count; i++)
		trace_ring_free(&trace->rings[i]);
	free(trace->rings);
	trace->rings = NULL;
}

static int make_rings(struct trace *trace, uint32_t count)
{
	int ret = 0;

	trace->rings =
		aligned_alloc(TRACE_RING_LINE, count * sizeof(*trace->rings));
	if (!trace->rings)
		return -ENOMEM;
	memset(trace->rings, 0, count * sizeof(*trace->rings));
	trace->ring_count = count;
	for (uint32_t i = 0; !ret && i < count; i++)
		ret = trace_ring_init(&trace->rings[i], trace->events);
	return ret;
}

int trace_start(struct trace *trace, struct vm *vm, char *err, size_t err_size)
{
	struct trace_header header;
	int ret;

	if (!trace->output.path)
		return 0;
	ret = make_rings(trace, vm->vcpu_count + 1);
	if (ret) {
		snprintf(err, err_size, "--trace: memory for %u rings: %s",
			 vm->vcpu_count + 1, strerror(-ret));
		free_rings(trace);
		return ret;
	}
	header = header_of(trace, vm);
	/* The last record has room whatever comes. */
	trace->room = (TRACE_FILE_MAX - sizeof(header)) /
			      sizeof(struct trace_record) -
		      1;
	write_bytes(trace, &header, sizeof(header));
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vm->vcpus[i].timer.trace = &trace->rings[i];
	vm->timer_thread.trace = &trace->rings[vm->vcpu_count];
	user_timer_setup_trace(&vm->timer_setup);
	vm->trace = trace;
	return 0;
}

/* At most one ringful: a producer that is faster than the disk must not keep
 * the main thread here. */
static void drain_ring(struct trace *trace, struct trace_ring *ring)
{
	struct trace_record records[RECORDS_A_WRITE];

	for (size_t done = 0; done < TRACE_RING_ROOM;) {
		size_t count = trace_ring_take(ring, records, RECORDS_A_WRITE);
		size_t kept = count < trace->room ? count : trace->room;

		write_bytes(trace, records, kept * sizeof(records[0]));
		trace->room -= kept;
		trace->written += kept;
		trace->file_full += count - kept;
		done += count;
		if (count < RECORDS_A_WRITE)
			return;
	}
}

void trace_drain(struct trace *trace)
{
	for (uint32_t i = 0; trace->rings && i < trace->ring_count; i++)
		drain_ring(trace, &trace->rings[i]);
}

int trace_finish(struct trace *trace, uint64_t *lost, char *err,
		 size_t err_size)
{
	struct trace_record last = {.event = TRACE_END};

	*lost = 0;
	if (!trace->rings)
		return 0;
	trace_drain(trace);
	for (uint32_t i = 0; i < trace->ring_count; i++)
		*lost += atomic_load(&trace->rings[i].lost);
	last.host_tsc = clock_read_tsc();
	last.args[0] = trace->written;
	last.args[1] = *lost;
	last.args[2] = trace->file_full;
	*lost += trace->file_full;
	write_bytes(trace, &last, sizeof(last));
	free_rings(trace);
	if (trace->error)
		snprintf(err, err_size, "--trace: %s", trace->err);
	return trace->error;
}

int trace_close(struct trace *trace, char *err, size_t err_size)
{
	free_rings(trace);
	return output_close(&trace->output, err, err_size);
}
