/* SPDX-License-Identifier: MIT */
/*
 * serial_in - what the guest's serial port receives, from a descriptor.
 *
 * Read only while there is room for it, so that nothing is lost and a guest
 * that looks for no input eats none. A terminal is read from the start, for
 * its escape keys: what is typed while a whole line of bytes waits, and none of
 * them goes, is dropped and counted.
 * All calls: main thread.
 */
#ifndef VMM_SERIAL_IN_H
#define VMM_SERIAL_IN_H

#include <stdbool.h>
#include <stdint.h>

#include "escape.h"

struct bus;

enum serial_in_kind {
	SERIAL_IN_NONE,
	SERIAL_IN_STREAM,   /* pipe, file, socket: until its end */
	SERIAL_IN_TERMINAL, /* kept while we are in the background */
	SERIAL_IN_PTY,	    /* kept while there is no reader */
};

struct serial_in {
	struct bus *bus;
	enum serial_in_kind kind; /* NONE also once the source has ended */
	int fd;			  /* the caller's */
	int room_fd;		  /* eventfd that the bus writes */
	bool has_room;
	bool is_overdue; /* of a terminal: to be read without room */
	bool is_away;	 /* not to be read for now */
	struct escape escape;
	uint64_t dropped; /* bytes of a terminal */
};

/* What fd 0 is: NONE, STREAM or TERMINAL. */
enum serial_in_kind serial_in_kind_of(int fd);

/* Tells the bus whom to wake. 0 or -errno. Before the vCPU threads. */
int serial_in_open(struct serial_in *in, struct bus *bus,
		   enum serial_in_kind kind, int fd);

/* After the vCPU threads. */
void serial_in_close(struct serial_in *in);

/* The descriptor to poll for POLLIN; -1: none for now. */
int serial_in_poll_fd(const struct serial_in *in);

/* It polled as something: reads once. What the user asks for. */
enum escape_command serial_in_read(struct serial_in *in);

/* room_fd is readable. */
void serial_in_take_room(struct serial_in *in);

/* Now and then, and when we were stopped: is it away, or back? */
void serial_in_look(struct serial_in *in);

#endif
