/* SPDX-License-Identifier: MIT */
/*
 * The keyboard controller's status port and its "pulse output port" commands.
 * Reference: IBM PC AT Technical Reference, "Keyboard Controller" commands.
 * Not modelled: everything behind the data port; other commands are counted
 * and get no reply, so a driver concludes that no keyboard is there.
 */
#include "i8042.h"

#define I8042_STATUS_SYSTEM   0x04u /* self test passed */

/* Commands 0xf0-0xff pulse the output lines whose bit is 0; line 0 is reset. */
#define I8042_CMD_PULSE	      0xf0u
#define I8042_CMD_PULSE_MASK  0xf0u
#define I8042_CMD_PULSE_RESET 0x01u

void i8042_reset(struct i8042 *k)
{
	*k = (struct i8042){.ignored_commands = 0};
}

uint8_t i8042_read_status(const struct i8042 *k)
{
	(void)k;
	return I8042_STATUS_SYSTEM;
}

bool i8042_write_command(struct i8042 *k, uint8_t command)
{
	if ((command & I8042_CMD_PULSE_MASK) == I8042_CMD_PULSE &&
	    !(command & I8042_CMD_PULSE_RESET))
		return true;
	k->ignored_commands++;
	return false;
}
