/* SPDX-License-Identifier: MIT */
/*
 * pty - a pseudo-terminal for the guest's serial port; whoever wants it opens
 * the other side, and may come and go.
 * Reference: pty(7), posix_openpt(3).
 */
#ifndef VMM_PTY_H
#define VMM_PTY_H

#include <stdbool.h>
#include <stddef.h>

/* Opens one, raw, non-blocking, without a reader. Its own side or -errno. Main
 * thread. */
int pty_open(void);

/* The path of the other side: 0 or -errno. Any thread. */
int pty_name(int fd, char *name, size_t size);

/* Whether anybody has the other side open. Any thread. */
bool pty_has_reader(int fd);

/* Waits until the reader has read it all, is gone, or patience_ms is over:
 * what is unread when fd is closed is lost. Main thread. */
void pty_drain(int fd, int patience_ms);

#endif
