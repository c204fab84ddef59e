/* SPDX-License-Identifier: MIT */
/* escape - see escape.h. Not here: who reads the terminal, who ends the run. */
#include "escape.h"

#define CTRL_A 0x01u

const char escape_help[] = "punctual: Ctrl-A x ends the run, Ctrl-A h shows "
			   "this, Ctrl-A Ctrl-A sends Ctrl-A; all other keys "
			   "are the guest's\r\n";

void escape_init(struct escape *escape)
{
	escape->after_prefix = false;
}

enum escape_command escape_take(struct escape *escape, uint8_t byte,
				uint8_t out[2], size_t *count)
{
	*count = 0;
	if (!escape->after_prefix) {
		escape->after_prefix = byte == CTRL_A;
		if (byte != CTRL_A)
			out[(*count)++] = byte;
		return ESCAPE_NONE;
	}
	escape->after_prefix = false;
	switch (byte) {
	case 'x':
		return ESCAPE_END;
	case 'h':
		return ESCAPE_HELP;
	case CTRL_A:
		break;
	default:
		out[(*count)++] = CTRL_A;
		break;
	}
	out[(*count)++] = byte;
	return ESCAPE_NONE;
}
