/* SPDX-License-Identifier: MIT */
/*
 * console - gathers the guest's output and writes it out line by line.
 *
 * A reader that is gone (EPIPE), a full disk (ENOSPC) and the like are
 * reported once, to the vCPU thread that met them; SIGPIPE is ignored by the
 * process. A descriptor that somebody made non-blocking is waited for, but a
 * pty's reader only once: after that it has to catch up by itself.
 */
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "pty.h"

/* It would block. True: try again. */
static bool console_wait(struct console *console)
{
	struct pollfd pfd = {.fd = console->fd, .events = POLLOUT};
	int patience_ms = -1, ret;

	if (console->is_pty)
		patience_ms = console->is_stalled ? 0 : CONSOLE_PTY_PATIENCE_MS;
	ret = poll(&pfd, 1, patience_ms);
	if (ret == 0)
		console->is_stalled = true;
	return ret > 0 || (ret < 0 && !atomic_load(&console->closing));
}

/* A pty's reader that does not take it, or is not there, does without. */
static void console_drop(struct console *console)
{
	console->dropped += console->used;
	console->used = 0;
}

static int console_write_all(struct console *console)
{
	size_t done = 0;
	int error = 0;

	if (console->is_pty && !pty_has_reader(console->fd)) {
		console_drop(console);
		return 0;
	}
	while (console->fd >= 0 && done < console->used) {
		ssize_t n = write(console->fd, console->buffer + done,
				  console->used - done);

		if (n > 0) {
			done += (size_t)n;
			console->is_stalled = false;
		} else if (n < 0 && errno == EAGAIN) {
			if (!console_wait(console))
				break;
		} else if (n == 0 || errno != EINTR) {
			error = n == 0 ? EIO : errno;
			break;
		} else if (atomic_load(&console->closing)) {
			break;
		}
	}
	/* Interrupted because the VM ends, the rest is left to console_close,
	 * which knows how long to wait for the reader. On an error nothing
	 * later can be written either. */
	if (error || console->fd < 0)
		done = console->used;
	console->used -= done;
	memmove(console->buffer, console->buffer + done, console->used);
	if (console->is_stalled)
		console_drop(console);
	if (!error || console->error)
		return 0;
	console->error = error;
	return -error;
}

void console_init(struct console *console, int fd)
{
	console->fd = fd;
	console->owns_fd = false;
	console->is_pty = false;
	console->is_stalled = false;
	console->dropped = 0;
	console->closed = false;
	console->used = 0;
	console->bytes = 0;
	console->error = 0;
	memset(console->tail, 0, sizeof(console->tail));
	pthread_mutex_init(&console->lock, NULL);
	atomic_init(&console->closing, false);
}

int console_init_file(struct console *console, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	int ret;

	if (fd < 0)
		return -errno;
	ret = output_own(fd);
	/* Pipes and devices have nothing to empty. */
	if (!ret && ftruncate(fd, 0) && errno != EINVAL)
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	console_init(console, fd);
	console->owns_fd = true;
	return 0;
}

int console_init_pty(struct console *console)
{
	int fd = pty_open();

	if (fd < 0)
		return fd;
	console_init(console, fd);
	console->owns_fd = true;
	console->is_pty = true;
	return 0;
}

int console_put(struct console *console, uint8_t byte)
{
	int ret = 0;

	pthread_mutex_lock(&console->lock);
	console->tail[console->bytes++ & (CONSOLE_TAIL_SIZE - 1)] = (char)byte;
	/* Full only after an interrupted write, when nobody waits for more. */
	if (!console->error && console->used < CONSOLE_BUFFER_SIZE) {
		console->buffer[console->used++] = (char)byte;
		if (byte == '\n' || console->used == CONSOLE_BUFFER_SIZE)
			ret = console_write_all(console);
	}
	pthread_mutex_unlock(&console->lock);
	return ret;
}

/* True when a write of one buffer would not block: PIPE_BUF bytes fit into a
 * pipe that polls writable, and the buffer is no larger. */
static bool console_writable(const struct console *console, int patience_ms)
{
	struct pollfd pfd = {.fd = console->fd, .events = POLLOUT};

	return console->fd < 0 || poll(&pfd, 1, patience_ms) > 0;
}

int console_flush(struct console *console)
{
	int ret = 0;

	/* The holder may be blocked in a write: then it flushes by itself. */
	if (pthread_mutex_trylock(&console->lock))
		return 0;
	if (console->used && console_writable(console, 0))
		ret = console_write_all(console);
	pthread_mutex_unlock(&console->lock);
	return ret;
}

void console_stop_waiting(struct console *console)
{
	atomic_store(&console->closing, true);
}

int console_close(struct console *console, int patience_ms)
{
	int ret = 0;

	if (console->closed)
		return 0;
	console->closed = true;
	if (console->used && !console->error) {
		if (console->is_pty || console_writable(console, patience_ms))
			ret = console_write_all(console);
		else
			ret = -ETIMEDOUT;
	}
	if (console->is_pty && patience_ms && !console->is_stalled)
		pty_drain(console->fd, CONSOLE_PTY_DRAIN_MS);
	if (console->owns_fd && close(console->fd) && !ret && !console->error)
		ret = -errno;
	console->fd = -1;
	pthread_mutex_destroy(&console->lock);
	return ret;
}

size_t console_tail(struct console *console, char *out, size_t size)
{
	uint64_t have = console->bytes < CONSOLE_TAIL_SIZE ? console->bytes
							   : CONSOLE_TAIL_SIZE;
	uint64_t count = have < size ? have : size;
	uint64_t from = console->bytes - count;

	for (uint64_t i = 0; i < count; i++)
		out[i] = console->tail[(from + i) & (CONSOLE_TAIL_SIZE - 1)];
	return count;
}
