/* SPDX-License-Identifier: MIT */
/*
 * i8042 - keyboard controller with no keyboard and no mouse on it.
 *
 * Pure: no I/O, no locks; the owner serialises calls.
 * Reference: IBM PC AT Technical Reference, "Keyboard Controller": commands,
 * status register, output port; IBM PS/2 Hardware Interface Technical
 * Reference, "Keyboard and Auxiliary Device Controller".
 * Not modelled: A20 (its bit is kept, memory never wraps), passwords, the
 * controller's memory beyond its first byte, a second port: its test fails,
 * and what is written as if it came from there comes from the keyboard.
 *
 * Whatever a driver sends to the keyboard is answered as by a controller that
 * found none, at once: a probe is over in some accesses instead of time-outs.
 */
#ifndef DEV_I8042_H
#define DEV_I8042_H

#include <stdbool.h>
#include <stdint.h>

#define I8042_DATA_PORT	  0x60u
#define I8042_STATUS_PORT 0x64u

/* What the next byte at the data port is for. */
enum i8042_wants {
	I8042_WANTS_KEYBOARD, /* nothing: it is for the keyboard */
	I8042_WANTS_COMMAND_BYTE,
	I8042_WANTS_OUTPUT_PORT,
	I8042_WANTS_REPLY, /* to come back as if from a device */
	I8042_WANTS_SECOND_PORT,
};

struct i8042 {
	/* Guest-visible registers. */
	uint8_t status;
	uint8_t data; /* last byte for the guest, taken or not */
	uint8_t command_byte;
	uint8_t output_port; /* without the bit that tells of IRQ 1 */
	enum i8042_wants wants;
	uint64_t ignored_commands; /* that are none of this controller's */
};

/* State after power-on and a self test that passed. */
void i8042_reset(struct i8042 *k);

/* Guest reads the status port. The input buffer is always empty. */
uint8_t i8042_read_status(const struct i8042 *k);

/* Guest writes a command to the status port. True: the reset line is pulsed,
 * the machine starts anew. */
bool i8042_write_command(struct i8042 *k, uint8_t command);

/* Guest reads or writes the data port. A write is true as above. */
uint8_t i8042_read_data(struct i8042 *k);
bool i8042_write_data(struct i8042 *k, uint8_t value);

/* Level of IRQ 1. */
bool i8042_irq(const struct i8042 *k);

#endif
