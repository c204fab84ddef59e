/* SPDX-License-Identifier: MIT */
/*
 * console - where the bytes of the guest's serial port go.
 *
 * Bytes are gathered and written at each newline, when the buffer is full,
 * on console_flush and at the end, so that a line costs one system call. The
 * last part of the stream is kept for the state dump. A pty without a reader is
 * no error: what it would have read is dropped and counted.
 */
#ifndef VMM_CONSOLE_H
#define VMM_CONSOLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CONSOLE_BUFFER_SIZE = 4096, /* not above PIPE_BUF, see console_flush */
	CONSOLE_TAIL_SIZE = 8192,   /* a power of two; Linux panics in 3000 */
	CONSOLE_PTY_PATIENCE_MS = 100,
	CONSOLE_PTY_DRAIN_MS = 1000,
};

struct console {
	int fd; /* -1: bytes are counted and kept for the dump only */
	bool owns_fd;
	bool is_pty; /* no reader, no wait; a slow one has little time */
	bool closed; /* main thread */
	/* Guarded by lock. */
	size_t used;
	uint64_t bytes;
	int error;	  /* first errno of a write; later bytes are dropped */
	bool is_stalled;  /* a pty whose reader did not read in time */
	uint64_t dropped; /* bytes that no reader of a pty wanted */
	char buffer[CONSOLE_BUFFER_SIZE];
	char tail[CONSOLE_TAIL_SIZE];
	pthread_mutex_t lock;
	/* Writer: main thread, once, when the VM stops. Reader: whoever is in
	 * a write that was interrupted; it gives up then. */
	atomic_bool closing;
};

/* fd is written to but not closed; -1 for none. Main thread. */
void console_init(struct console *console, int fd);

/* Opens path for writing, truncated. 0 or -errno, -EBUSY if a result is written
 * to it. Main thread. */
int console_init_file(struct console *console, const char *path);

/* Makes a pty and writes to that. 0 or -errno. Main thread. */
int console_init_pty(struct console *console);

/*
 * One byte from the guest. 0, or -errno of the write that failed, once; the
 * guest runs on while the caller decides. May block as long as the reader of
 * fd does; a signal ends that after console_stop_waiting. vCPU threads.
 */
int console_put(struct console *console, uint8_t byte);

/*
 * Writes what is waiting, unless a vCPU thread is at it or the write would
 * block: the main thread has a time limit to keep. 0 or -errno.
 */
int console_flush(struct console *console);

/* From now on an interrupted write is not taken up again; what it did not
 * write is left to console_close. Any thread. */
void console_stop_waiting(struct console *console);

/*
 * Last flush, after the vCPU threads are gone; waits patience_ms (-1: as long
 * as it takes) for a reader that does not read. 0 or -errno; a second call
 * does nothing. Main thread.
 */
int console_close(struct console *console, int patience_ms);

/*
 * Copies the last bytes of the stream, oldest first, at most size of them.
 * Returns how many. Main thread, after the vCPU threads are gone or paused.
 */
size_t console_tail(struct console *console, char *out, size_t size);

#endif
