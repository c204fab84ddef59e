/* SPDX-License-Identifier: MIT */
/* gnuplot - runs the program of that name. Main thread. */
#ifndef VMM_GNUPLOT_H
#define VMM_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* See program_is_there(). */
bool gnuplot_is_there(void);

/* Writes text for the inside of single quotes, where a quote is doubled and
 * nothing else means anything; what is no character to see becomes a '?'. */
void gnuplot_quote(FILE *script, const char *text);

/*
 * Feeds it a script; what it plots goes to out_fd, what it says to stderr. 0;
 * -errno if it cannot be started, -EIO if it failed or did not read it all,
 * with one line in err. SIGPIPE must be ignored and SIGCHLD not.
 */
int gnuplot_run(const char *script, size_t len, int out_fd, char *err,
		size_t err_size);

#endif
