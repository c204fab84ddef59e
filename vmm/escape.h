/* SPDX-License-Identifier: MIT */
/*
 * escape - the keys that a raw terminal keeps for punctual: Ctrl-A, then
 *   x       end the run
 *   h       help
 *   Ctrl-A  the guest gets one Ctrl-A
 * Any other byte after Ctrl-A reaches the guest, and the Ctrl-A with it.
 *
 * Pure: a state machine over bytes, one instance a terminal.
 */
#ifndef VMM_ESCAPE_H
#define VMM_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct escape {
	bool after_prefix; /* the last byte was a Ctrl-A that is still held */
};

enum escape_command {
	ESCAPE_NONE,
	ESCAPE_END,
	ESCAPE_HELP,
};

/* For a terminal: lines that end in CR and LF. */
extern const char escape_help[];

void escape_init(struct escape *escape);

/*
 * Takes one byte that was typed. The bytes that the guest is to get go to
 * out, their number, 0 to 2, to *count. Returns what is to be done.
 */
enum escape_command escape_take(struct escape *escape, uint8_t byte,
				uint8_t out[2], size_t *count);

#endif
