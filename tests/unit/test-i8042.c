/* SPDX-License-Identifier: MIT */
/*
 * Every command byte: which reset the machine, and that the rest is counted.
 */
#include "i8042.h"

#include "tap.h"

static struct i8042 kbc;

static void setup(void)
{
	i8042_reset(&kbc);
}

/* A guest polls for an empty input buffer (bit 1) before the command. */
START_TEST(test_i8042_status_is_ready)
{
	ck_assert_uint_eq(i8042_read_status(&kbc), 0x04);
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
	unsigned int command, resets = 0;

	for (command = 0; command < 256; command++) {
		bool reset = i8042_write_command(&kbc, (uint8_t)command);

		ck_assert_int_eq(reset, command >= 0xf0 && command % 2 == 0);
		resets += reset;
	}
	ck_assert_uint_eq(kbc.ignored_commands, 256 - resets);
	ck_assert_uint_eq(resets, 8);
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
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return tap_run(i8042_suite());
}
