/* SPDX-License-Identifier: MIT */
/*
 * serial_in - see serial_in.h. Not here: raw mode, and what a command means.
 *
 * The descriptor is never made non-blocking: that would show in the shell that
 * lent it. A second reader of the same pipe could keep us in a read; that is
 * its user's doing.
 */
#include "serial_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bus.h"
#include "pty.h"
#include "terminal.h"

enum {
	READ_SIZE = SERIAL_LINE_SIZE,
};

enum serial_in_kind serial_in_kind_of(int fd)
{
	if (isatty(fd))
		return SERIAL_IN_TERMINAL;
	return fcntl(fd, F_GETFD) < 0 ? SERIAL_IN_NONE : SERIAL_IN_STREAM;
}

int serial_in_open(struct serial_in *in, struct bus *bus,
		   enum serial_in_kind kind, int fd)
{
	memset(in, 0, sizeof(*in));
	in->bus = bus;
	in->kind = kind;
	in->fd = fd;
	in->room_fd = -1;
	if (kind == SERIAL_IN_NONE)
		return 0;
	in->room_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (in->room_fd < 0)
		return -errno;
	bus->serial_room_fd = in->room_fd;
	escape_init(&in->escape);
	in->has_room = bus_serial_room(bus, kind == SERIAL_IN_TERMINAL) > 0;
	serial_in_look(in);
	return 0;
}

void serial_in_close(struct serial_in *in)
{
	in->kind = SERIAL_IN_NONE;
	if (in->room_fd < 0)
		return;
	in->bus->serial_room_fd = -1;
	close(in->room_fd);
	in->room_fd = -1;
}

int serial_in_poll_fd(const struct serial_in *in)
{
	if (in->kind == SERIAL_IN_NONE || in->is_away)
		return -1;
	return in->has_room || in->is_overdue ? in->fd : -1;
}

/* Everything up to the command, if there is one: what follows it is lost with
 * the run that it ends, or comes after the help. */
static enum escape_command take_typed(struct serial_in *in,
				      const uint8_t *bytes, size_t count)
{
	enum escape_command command = ESCAPE_NONE;

	for (size_t i = 0; i < count; i++) {
		uint8_t out[2];
		size_t n;
		enum escape_command one =
			escape_take(&in->escape, bytes[i], out, &n);

		in->dropped += n - bus_serial_put(in->bus, out, n);
		if (one == ESCAPE_END)
			return one;
		if (one != ESCAPE_NONE)
			command = one;
	}
	return command;
}

/* The read failed, or there is no more. */
static void source_ended(struct serial_in *in, int error)
{
	if (error == EINTR || error == EAGAIN)
		return;
	if (in->kind == SERIAL_IN_PTY ||
	    (in->kind == SERIAL_IN_TERMINAL && error == EIO &&
	     !terminal_in_foreground(in->fd)))
		in->is_away = true;
	else
		in->kind = SERIAL_IN_NONE;
}

enum escape_command serial_in_read(struct serial_in *in)
{
	uint8_t bytes[READ_SIZE];
	size_t room = bus_serial_room(in->bus, in->kind == SERIAL_IN_TERMINAL);
	ssize_t n;

	in->has_room = room > 0;
	if (!room && in->is_overdue)
		room = sizeof(bytes);
	in->is_overdue = false;
	if (!room)
		return ESCAPE_NONE;
	n = read(in->fd, bytes, room);
	if (n <= 0)
		source_ended(in, n < 0 ? errno : 0);
	else if (in->kind == SERIAL_IN_TERMINAL)
		return take_typed(in, bytes, (size_t)n);
	else
		bus_serial_put(in->bus, bytes, (size_t)n);
	return ESCAPE_NONE;
}

void serial_in_take_room(struct serial_in *in)
{
	uint64_t count;

	if (read(in->room_fd, &count, sizeof(count)) == sizeof(count))
		in->has_room = true;
}

void serial_in_look(struct serial_in *in)
{
	if (in->kind == SERIAL_IN_TERMINAL) {
		in->is_away = !terminal_in_foreground(in->fd);
		in->is_overdue = !in->has_room;
	} else if (in->kind == SERIAL_IN_PTY) {
		in->is_away = !pty_has_reader(in->fd);
	}
}
