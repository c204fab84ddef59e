/* SPDX-License-Identifier: MIT */
/*
 * i8042 - keyboard controller, as much of it as a reset needs.
 *
 * Pure: no I/O, no locks; the owner serialises calls. Port 0x64 only.
 * Reference: IBM PC AT Technical Reference, "Keyboard Controller" commands.
 * Not modelled: keyboard, mouse, the data port, A20, replies to commands.
 */
#ifndef DEV_I8042_H
#define DEV_I8042_H

#include <stdbool.h>
#include <stdint.h>

#define I8042_STATUS_PORT 0x64u

struct i8042 {
	uint64_t ignored_commands; /* all that do not pulse the reset line */
};

/* State after power-on. */
void i8042_reset(struct i8042 *k);

/* Guest reads the status port: both buffers empty, self test passed. */
uint8_t i8042_read_status(const struct i8042 *k);

/* Guest writes a command to the status port. True: the reset line is pulsed,
 * the machine starts anew. */
bool i8042_write_command(struct i8042 *k, uint8_t command);

#endif
