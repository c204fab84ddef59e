/* SPDX-License-Identifier: MIT */
/* compare_report - what compare found, as text and as JSON. */
#ifndef VMM_COMPARE_REPORT_H
#define VMM_COMPARE_REPORT_H

#include <stdio.h>

struct compare;
struct jsonw;

/* names: of the two files. Errors stay in out, for ferror(). Main thread. */
void compare_print(const struct compare *c, const char *const names[2],
		   FILE *out);

/* The document "punctual-compare-1"; status: the exit status. Pure. */
void compare_write(const struct compare *c, const char *const names[2],
		   int status, struct jsonw *w);

#endif
