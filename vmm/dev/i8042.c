/* SPDX-License-Identifier: MIT */
/*
 * The keyboard controller of a PC, with nothing plugged in.
 * Reference: IBM PC AT Technical Reference, "Keyboard Controller".
 * Not modelled: see i8042.h.
 *
 * One byte for the guest at a time; a reply that comes before the last one was
 * read takes its place. A driver that tests for a second port believes the
 * test of its lines, or a byte that comes back marked as from there: neither
 * happens.
 */
#include "i8042.h"

/* Status register. */
#define STATUS_FULL	     0x01u /* a byte for the guest */
#define STATUS_SYSTEM	     0x04u /* self test passed */
#define STATUS_COMMAND	     0x08u /* the last write was one */
#define STATUS_UNLOCKED	     0x10u
#define STATUS_TIME_OUT	     0x40u

/* Command byte. */
#define BYTE_KEYBOARD_IRQ    0x01u
#define BYTE_SYSTEM	     0x04u
#define BYTE_NO_KEYBOARD     0x10u
#define BYTE_NO_SECOND	     0x20u
#define BYTE_TRANSLATE	     0x40u

/* Output port. */
#define OUTPUT_RUN	     0x01u /* 0: reset */
#define OUTPUT_A20	     0x02u
#define OUTPUT_IRQ	     0x10u /* as the line is */

/* Commands. Of 0xf0 to 0xff the low bits are output lines to pulse, by 0. */
#define CMD_READ_BYTE	     0x20u
#define CMD_WRITE_BYTE	     0x60u
#define CMD_SECOND_OFF	     0xa7u
#define CMD_SECOND_ON	     0xa8u
#define CMD_SECOND_TEST	     0xa9u
#define CMD_SELF_TEST	     0xaau
#define CMD_KEYBOARD_TEST    0xabu
#define CMD_KEYBOARD_OFF     0xadu
#define CMD_KEYBOARD_ON	     0xaeu
#define CMD_READ_OUTPUT	     0xd0u
#define CMD_WRITE_OUTPUT     0xd1u
#define CMD_REPLY	     0xd2u
#define CMD_REPLY_SECOND     0xd3u
#define CMD_TO_SECOND	     0xd4u
#define CMD_PULSE	     0xf0u
#define CMD_PULSE_RESET	     0x01u
#define CMD_PULSE_NOTHING    0xffu

#define SELF_TEST_PASSED     0x55u
#define TEST_PASSED	     0x00u
#define TEST_CLOCK_STUCK_LOW 0x01u
#define KEYBOARD_RESEND	     0xfeu /* for one that does not answer */

static void i8042_reply(struct i8042 *k, uint8_t value)
{
	k->data = value;
	k->status |= STATUS_FULL;
	k->status &= (uint8_t)~STATUS_TIME_OUT;
}

/* A byte for a device that is not there. */
static void i8042_to_nobody(struct i8042 *k)
{
	i8042_reply(k, KEYBOARD_RESEND);
	k->status |= STATUS_TIME_OUT;
}

static void i8042_set_byte(struct i8042 *k, uint8_t value)
{
	k->command_byte = value;
	k->status &= (uint8_t)~STATUS_SYSTEM;
	if (value & BYTE_SYSTEM)
		k->status |= STATUS_SYSTEM;
}

/* The state after a self test, apart from its reply. */
static void i8042_start(struct i8042 *k)
{
	k->status = STATUS_SYSTEM | STATUS_UNLOCKED;
	k->command_byte = BYTE_SYSTEM | BYTE_NO_KEYBOARD | BYTE_NO_SECOND |
			  BYTE_TRANSLATE;
	k->output_port = OUTPUT_RUN | OUTPUT_A20;
	k->wants = I8042_WANTS_KEYBOARD;
}

/* Commands that are for the controller itself, and neither pulse nor fall to
 * somebody else. False: it is none of them. */
static bool i8042_do_command(struct i8042 *k, uint8_t command)
{
	switch (command) {
	case CMD_READ_BYTE:
		i8042_reply(k, k->command_byte);
		break;
	case CMD_WRITE_BYTE:
		k->wants = I8042_WANTS_COMMAND_BYTE;
		break;
	case CMD_SECOND_OFF:
		k->command_byte |= BYTE_NO_SECOND;
		break;
	case CMD_SECOND_ON:
		k->command_byte &= (uint8_t)~BYTE_NO_SECOND;
		break;
	case CMD_SECOND_TEST:
		i8042_reply(k, TEST_CLOCK_STUCK_LOW);
		break;
	case CMD_SELF_TEST:
		i8042_start(k);
		i8042_reply(k, SELF_TEST_PASSED);
		break;
	case CMD_KEYBOARD_TEST:
		i8042_reply(k, TEST_PASSED);
		break;
	case CMD_KEYBOARD_OFF:
		k->command_byte |= BYTE_NO_KEYBOARD;
		break;
	case CMD_KEYBOARD_ON:
		k->command_byte &= (uint8_t)~BYTE_NO_KEYBOARD;
		break;
	case CMD_READ_OUTPUT:
		i8042_reply(k,
			    k->output_port | (i8042_irq(k) ? OUTPUT_IRQ : 0u));
		break;
	case CMD_WRITE_OUTPUT:
		k->wants = I8042_WANTS_OUTPUT_PORT;
		break;
	case CMD_REPLY:
	case CMD_REPLY_SECOND:
		k->wants = I8042_WANTS_REPLY;
		break;
	case CMD_TO_SECOND:
		k->wants = I8042_WANTS_SECOND_PORT;
		break;
	default:
		return command == CMD_PULSE_NOTHING;
	}
	return true;
}

void i8042_reset(struct i8042 *k)
{
	*k = (struct i8042){.ignored_commands = 0};
	i8042_start(k);
}

uint8_t i8042_read_status(const struct i8042 *k)
{
	return k->status;
}

bool i8042_write_command(struct i8042 *k, uint8_t command)
{
	k->wants = I8042_WANTS_KEYBOARD;
	if ((command & CMD_PULSE) == CMD_PULSE && !(command & CMD_PULSE_RESET))
		return true;
	if (!i8042_do_command(k, command))
		k->ignored_commands++;
	k->status |= STATUS_COMMAND;
	return false;
}

uint8_t i8042_read_data(struct i8042 *k)
{
	k->status &= (uint8_t)~STATUS_FULL;
	return k->data;
}

bool i8042_write_data(struct i8042 *k, uint8_t value)
{
	enum i8042_wants wants = k->wants;

	k->wants = I8042_WANTS_KEYBOARD;
	k->status &= (uint8_t)~STATUS_COMMAND;
	switch (wants) {
	case I8042_WANTS_COMMAND_BYTE:
		i8042_set_byte(k, value);
		break;
	case I8042_WANTS_OUTPUT_PORT:
		k->output_port = value & (uint8_t)~OUTPUT_IRQ;
		return !(value & OUTPUT_RUN);
	case I8042_WANTS_REPLY:
		i8042_reply(k, value);
		break;
	case I8042_WANTS_KEYBOARD:
		/* Talking to it turns it on. */
		k->command_byte &= (uint8_t)~BYTE_NO_KEYBOARD;
		i8042_to_nobody(k);
		break;
	case I8042_WANTS_SECOND_PORT:
		i8042_to_nobody(k);
		break;
	}
	return false;
}

bool i8042_irq(const struct i8042 *k)
{
	return (k->status & STATUS_FULL) &&
	       (k->command_byte & BYTE_KEYBOARD_IRQ);
}
