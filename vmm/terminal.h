/* SPDX-License-Identifier: MIT */
/*
 * terminal - raw mode for the terminal that is the guest's console, and the
 * promise that it goes back to what it was.
 *
 * The one terminal a process has is process-wide state, and signal handlers
 * must reach it: so is this, against the habit of the house.
 * Reference: termios(3), cfmakeraw; tcgetpgrp(3); signal-safety(7).
 */
#ifndef VMM_TERMINAL_H
#define VMM_TERMINAL_H

#include <stdbool.h>

/* Whether a read of this terminal would get what is typed: a shell may have
 * put this process into the background. True too for a terminal that is not
 * the controlling one, where no shell has a say. Any thread. */
bool terminal_in_foreground(int fd);

/*
 * Puts the terminal fd into raw mode, but for the processing of output: what
 * guests and messages end lines with is their business. Does nothing in the
 * background. From the first call on it is given back at exit and on a fatal
 * signal, which stays fatal; SIGTTIN is ignored, so that a read in the
 * background fails instead of stopping us. True if fd is raw now. To be called
 * again after SIGCONT and now and then, since a shell moves jobs about. Main
 * thread.
 */
bool terminal_take(int fd);

/* Gives the terminal back, unless that is done or, being in the background, it
 * is not ours to set. Any thread, signal handlers too. */
void terminal_release(void);

#endif
