/* SPDX-License-Identifier: MIT */
/*
 * Port 0xcf9 as guests use it: choose the kind of reset, then start it.
 */
#include "reset_ctl.h"

#include "tap.h"

static struct reset_ctl ctl;

static void setup(void)
{
	reset_ctl_reset(&ctl);
}

START_TEST(test_reset_ctl_two_writes_reset)
{
	static const uint8_t kinds[] = {0x02, 0x0a, 0x00};

	ck_assert_uint_eq(reset_ctl_read(&ctl), 0);
	ck_assert(!reset_ctl_write(&ctl, kinds[_i]));
	ck_assert_uint_eq(reset_ctl_read(&ctl), kinds[_i]);
	ck_assert(reset_ctl_write(&ctl, (uint8_t)(kinds[_i] | 0x04)));
}
END_TEST

START_TEST(test_reset_ctl_one_write_resets)
{
	ck_assert(reset_ctl_write(&ctl, 0x06));
}
END_TEST

START_TEST(test_reset_ctl_needs_a_rising_edge)
{
	ck_assert(reset_ctl_write(&ctl, 0x04));
	ck_assert(!reset_ctl_write(&ctl, 0x06));
	ck_assert(!reset_ctl_write(&ctl, 0x02));
	ck_assert(reset_ctl_write(&ctl, 0x06));
}
END_TEST

START_TEST(test_reset_ctl_other_bits_do_nothing)
{
	ck_assert(!reset_ctl_write(&ctl, 0xfb));
	ck_assert_uint_eq(reset_ctl_read(&ctl), 0x0a);
}
END_TEST

static Suite *reset_ctl_suite(void)
{
	Suite *suite = suite_create("reset_ctl");
	TCase *all = tcase_create("writes");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_loop_test(all, test_reset_ctl_two_writes_reset, 0, 3);
	tcase_add_test(all, test_reset_ctl_one_write_resets);
	tcase_add_test(all, test_reset_ctl_needs_a_rising_edge);
	tcase_add_test(all, test_reset_ctl_other_bits_do_nothing);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return tap_run(reset_ctl_suite());
}
