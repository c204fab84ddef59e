/* SPDX-License-Identifier: MIT */
/*
 * The keyboard controller through its two ports: what resets the machine, and
 * what drivers ask before they believe that nothing is plugged in. Ports'
 * values are literal here: they are what the manual says, not what the model's
 * own names say.
 */
#include "i8042.h"

#include "prng.h"
#include "tap.h"

static struct i8042 kbc;

static void setup(void)
{
	i8042_reset(&kbc);
}

static void command(uint8_t value)
{
	ck_assert(!i8042_write_command(&kbc, value));
	/* The last write was a command. */
	ck_assert_uint_eq(i8042_read_status(&kbc) & 0x08, 0x08);
}

static void data(uint8_t value)
{
	ck_assert(!i8042_write_data(&kbc, value));
	ck_assert_uint_eq(i8042_read_status(&kbc) & 0x08, 0x00);
}

static void check_reply(uint8_t value, uint8_t status)
{
	ck_assert_uint_eq(i8042_read_status(&kbc) & 0xf7, status | 0x01);
	ck_assert_uint_eq(i8042_read_data(&kbc), value);
	ck_assert_uint_eq(i8042_read_status(&kbc) & 0x01, 0);
}

static void check_no_reply(void)
{
	ck_assert_uint_eq(i8042_read_status(&kbc) & 0x01, 0);
}

/* A guest polls for an empty input buffer (bit 1) before the command; Linux
 * warns of a locked keyboard where bit 4 is off. */
START_TEST(test_i8042_status_is_ready)
{
	ck_assert_uint_eq(i8042_read_status(&kbc), 0x14);
	ck_assert(!i8042_irq(&kbc));
}
END_TEST

START_TEST(test_i8042_pulse_resets)
{
	ck_assert(i8042_write_command(&kbc, 0xfe));
	ck_assert_uint_eq(kbc.ignored_commands, 0);
}
END_TEST

START_TEST(test_i8042_only_pulses_of_line_0_reset)
{
	static const uint8_t known[] = {0x20, 0x60, 0xa7, 0xa8, 0xa9,
					0xaa, 0xab, 0xad, 0xae, 0xd0,
					0xd1, 0xd2, 0xd3, 0xd4, 0xff};
	unsigned int value, resets = 0;

	for (value = 0; value < 256; value++) {
		bool reset = i8042_write_command(&kbc, (uint8_t)value);

		ck_assert_int_eq(reset, value >= 0xf0 && value % 2 == 0);
		resets += reset;
	}
	ck_assert_uint_eq(resets, 8);
	ck_assert_uint_eq(kbc.ignored_commands, 256 - resets - sizeof(known));
	for (value = 0; value < sizeof(known); value++)
		command(known[value]);
	ck_assert_uint_eq(kbc.ignored_commands, 256 - resets - sizeof(known));
}
END_TEST

START_TEST(test_i8042_output_port)
{
	command(0xd0);
	check_reply(0x03, 0x14);
	command(0xd1);
	data(0x01);
	command(0xd0);
	check_reply(0x01, 0x14);
	/* Bit 0 low is a reset, and only there. */
	data(0x02);
	i8042_read_data(&kbc);
	command(0xd1);
	ck_assert(i8042_write_data(&kbc, 0x02));
	/* Bit 4 is IRQ 1, not what was written. */
	i8042_reset(&kbc);
	command(0xd1);
	data(0xff);
	command(0xd0);
	check_reply(0xef, 0x14);
	command(0x60);
	data(0x05);
	command(0xab);
	command(0xd0);
	check_reply(0xff, 0x14);
}
END_TEST

START_TEST(test_i8042_command_byte)
{
	command(0x20);
	check_reply(0x74, 0x14);
	command(0x60);
	data(0x03);
	check_no_reply();
	command(0x20);
	/* The system flag is in both. */
	check_reply(0x03, 0x10);
	command(0x60);
	data(0x47);
	command(0x20);
	check_reply(0x47, 0x14);
}
END_TEST

START_TEST(test_i8042_switches)
{
	command(0x60);
	data(0x04);
	command(0xa7);
	command(0x20);
	check_reply(0x24, 0x14);
	command(0xad);
	command(0x20);
	check_reply(0x34, 0x14);
	command(0xa8);
	command(0x20);
	check_reply(0x14, 0x14);
	command(0xae);
	check_no_reply();
	command(0x20);
	check_reply(0x04, 0x14);
}
END_TEST

START_TEST(test_i8042_self_test)
{
	command(0x60);
	data(0x01);
	command(0xd1);
	data(0x01);
	command(0xaa);
	ck_assert(!i8042_irq(&kbc));
	check_reply(0x55, 0x14);
	command(0x20);
	check_reply(0x74, 0x14);
	command(0xd0);
	check_reply(0x03, 0x14);
}
END_TEST

/* Linux: a byte that comes back without bit 5, a test of the lines that fails.
 * Each has its answer at once, and none is of a second port. */
START_TEST(test_i8042_no_second_port)
{
	command(0xd3);
	data(0x5a);
	check_reply(0x5a, 0x14);
	command(0xa9);
	check_reply(0x01, 0x14);
	command(0xd4);
	data(0xf2);
	check_reply(0xfe, 0x54);
}
END_TEST

START_TEST(test_i8042_no_keyboard)
{
	command(0xab);
	check_reply(0x00, 0x14);
	/* Identify yourself; resend, says the controller, with a time-out. */
	command(0x60);
	data(0x55);
	data(0xf2);
	ck_assert(i8042_irq(&kbc));
	check_reply(0xfe, 0x54);
	ck_assert(!i8042_irq(&kbc));
	/* It is on now. */
	command(0x20);
	check_reply(0x45, 0x14);
	command(0xd2);
	data(0x1e);
	check_reply(0x1e, 0x14);
}
END_TEST

START_TEST(test_i8042_irq)
{
	command(0x60);
	data(0x44);
	data(0xff);
	ck_assert(!i8042_irq(&kbc));
	command(0x60);
	data(0x45);
	ck_assert(i8042_irq(&kbc));
	i8042_read_data(&kbc);
	ck_assert(!i8042_irq(&kbc));
}
END_TEST

/* A command forgets that another one waits for its byte. */
START_TEST(test_i8042_command_after_command)
{
	command(0xd1);
	command(0xae);
	data(0x00);
	check_reply(0xfe, 0x54);
	command(0x60);
	data(0x00);
	data(0x00);
	check_reply(0xfe, 0x50);
}
END_TEST

/* Nothing read: the last byte again. Two replies: the second. */
START_TEST(test_i8042_one_byte)
{
	ck_assert_uint_eq(i8042_read_data(&kbc), 0);
	command(0xaa);
	command(0xab);
	check_reply(0x00, 0x14);
	command(0xaa);
	check_reply(0x55, 0x14);
	ck_assert_uint_eq(i8042_read_data(&kbc), 0x55);
}
END_TEST

/* Whatever a guest does: the input buffer is empty, no byte is of a second
 * port, and the line is high only for a byte. */
START_TEST(test_i8042_random)
{
	uint64_t seed = 0x8042;
	int i;

	for (i = 0; i < 50000; i++) {
		uint64_t r = prng_next(&seed);
		uint8_t status;

		if (r & 1)
			i8042_write_command(&kbc, (uint8_t)(r >> 8));
		else if (r & 2)
			i8042_write_data(&kbc, (uint8_t)(r >> 8));
		else
			i8042_read_data(&kbc);
		status = i8042_read_status(&kbc);
		tap_require((status & 0xb2) == 0x10);
		tap_require(!i8042_irq(&kbc) || (status & 0x01));
	}
}
END_TEST

static Suite *i8042_suite(void)
{
	Suite *suite = suite_create("i8042");
	TCase *all = tcase_create("commands");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_test(all, test_i8042_status_is_ready);
	tcase_add_test(all, test_i8042_pulse_resets);
	tcase_add_test(all, test_i8042_only_pulses_of_line_0_reset);
	tcase_add_test(all, test_i8042_output_port);
	tcase_add_test(all, test_i8042_command_byte);
	tcase_add_test(all, test_i8042_switches);
	tcase_add_test(all, test_i8042_self_test);
	tcase_add_test(all, test_i8042_no_second_port);
	tcase_add_test(all, test_i8042_no_keyboard);
	tcase_add_test(all, test_i8042_irq);
	tcase_add_test(all, test_i8042_command_after_command);
	tcase_add_test(all, test_i8042_one_byte);
	tcase_add_test(all, test_i8042_random);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return tap_run(i8042_suite());
}
