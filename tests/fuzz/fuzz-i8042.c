/* SPDX-License-Identifier: MIT */
/*
 * fuzz-i8042 - commands and data for the keyboard controller, in any order.
 *
 * Rules: a reply is read once as new, and its interrupt is up as long as it is
 * new and enabled; the status is made of its bits and no others; the command
 * byte reads back; the machine is reset by what says so, and by nothing else;
 * what nobody knows changes nothing but its counter.
 */
#include "i8042.h"

#include <string.h>

#include "fuzz.h"

#define FULL	0x01u
#define SYSTEM	0x04u
#define COMMAND 0x08u
#define STATUS	0x5du /* all bits that there are */

struct state {
	struct i8042 k;
	uint8_t byte; /* what the command byte must be */
	uint8_t port; /* the output port's */
	bool full;
	uint8_t reply; /* the last one, once there was any */
	bool has_reply;
	uint8_t command; /* whose data comes next; 0: none */
};

static void expect_reply(struct state *s, uint8_t value)
{
	s->full = true;
	s->has_reply = true;
	s->reply = value;
}

static bool wants_data(uint8_t command)
{
	return command == 0x60 || (command >= 0xd1 && command <= 0xd4);
}

static void follow_command(struct state *s, uint8_t command)
{
	bool irq = s->full && (s->byte & 1);

	s->command = wants_data(command) ? command : 0;
	switch (command) {
	case 0x20:
		expect_reply(s, s->byte);
		break;
	case 0xa7:
		s->byte |= 0x20;
		break;
	case 0xa8:
		s->byte &= 0xdf;
		break;
	case 0xa9:
		expect_reply(s, 1);
		break;
	case 0xaa:
		s->byte = 0x74;
		s->port = 3;
		expect_reply(s, 0x55);
		break;
	case 0xab:
		expect_reply(s, 0);
		break;
	case 0xad:
		s->byte |= 0x10;
		break;
	case 0xae:
		s->byte &= 0xef;
		break;
	case 0xd0:
		expect_reply(s, s->port | (irq ? 0x10 : 0));
		break;
	}
}

static void write_command(struct state *s, uint8_t command)
{
	struct i8042 was = s->k;
	bool resets = i8042_write_command(&s->k, command);

	FUZZ_CHECK(resets == (command >= 0xf0 && !(command & 1)));
	follow_command(s, command);
	FUZZ_CHECK(s->k.ignored_commands - was.ignored_commands <= 1);
	if (s->k.ignored_commands == was.ignored_commands)
		return;
	was.ignored_commands++;
	was.status |= COMMAND;
	was.wants = I8042_WANTS_KEYBOARD;
	FUZZ_CHECK(!memcmp(&was, &s->k, sizeof(was)));
}

static void write_data(struct state *s, uint8_t value)
{
	uint8_t command = s->command;
	bool resets = i8042_write_data(&s->k, value);

	s->command = 0;
	FUZZ_CHECK(resets == (command == 0xd1 && !(value & 1)));
	FUZZ_CHECK(!(i8042_read_status(&s->k) & COMMAND));
	switch (command) {
	case 0x60:
		s->byte = value;
		break;
	case 0xd1:
		s->port = value & 0xef;
		break;
	case 0xd2:
	case 0xd3:
		expect_reply(s, value);
		break;
	case 0:
		s->byte &= 0xef;
		expect_reply(s, 0xfe);
		break;
	default:
		expect_reply(s, 0xfe);
		break;
	}
}

static void read_data(struct state *s)
{
	uint8_t value = i8042_read_data(&s->k);

	s->full = false;
	FUZZ_CHECK(!s->has_reply || value == s->reply);
}

static void check(struct state *s)
{
	uint8_t status = i8042_read_status(&s->k);

	FUZZ_CHECK(!(status & ~STATUS));
	FUZZ_CHECK(!!(status & FULL) == s->full);
	FUZZ_CHECK((status & SYSTEM) == (s->byte & SYSTEM));
	FUZZ_CHECK(i8042_irq(&s->k) == (s->full && (s->byte & 1)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.byte = 0x74, .port = 3};

	i8042_reset(&s.k);
	while (fuzz_more(&in)) {
		switch (fuzz_u8(&in) % 4) {
		case 0:
			write_command(&s, fuzz_u8(&in));
			break;
		case 1:
			write_data(&s, fuzz_u8(&in));
			break;
		case 2:
			read_data(&s);
			break;
		case 3: /* the byte as the guest has it */
			write_command(&s, 0x20);
			read_data(&s);
			break;
		}
		check(&s);
	}
	return 0;
}
