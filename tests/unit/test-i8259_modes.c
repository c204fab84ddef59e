/* SPDX-License-Identifier: MIT */
/*
 * What the pair can do beside plain priorities: rotation, special masks, polls,
 * ends of its own accord, and a second chip that may interrupt itself.
 */
#include "i8259_case.h"

START_TEST(test_i8259_special_fully_nested)
{
	initialise(0x11);
	line(12, true);
	check_ack(0x3c);
	line(13, true);
	check_idle();
	line(8, true);
	check_ack(0x38);
	line(3, true);
	check_idle();
	line(1, true);
	check_ack(0x31);
	line(9, true);
	check_idle();
}
END_TEST

/* In the second chip, which has none behind it, the bit does nothing. */
START_TEST(test_i8259_special_fully_nested_second)
{
	out(0xa0, 0x11);
	out(0xa1, 0x38);
	out(0xa1, 0x02);
	out(0xa1, 0x11);
	line(10, true);
	check_ack(0x3a);
	out(0x20, 0x20);
	line(10, false);
	line(10, true);
	check_idle();
}
END_TEST

START_TEST(test_i8259_auto_eoi)
{
	initialise(0x03);
	line(4, true);
	line(6, true);
	check_ack(0x34);
	ck_assert_uint_eq(isr(0x20), 0);
	check_ack(0x36);
	check_idle();
	/* Both of the second chip, one after the other. */
	out(0xa0, 0x11);
	out(0xa1, 0x38);
	out(0xa1, 0x02);
	out(0xa1, 0x03);
	line(8, true);
	line(9, true);
	check_ack(0x38);
	check_ack(0x39);
	check_idle();
}
END_TEST

START_TEST(test_i8259_rotate_on_auto_eoi)
{
	initialise(0x03);
	out(0x4d0, 0x18);
	line(3, true);
	line(4, true);
	check_ack(0x33);
	check_ack(0x33);
	out(0x20, 0x80);
	check_ack(0x33);
	check_ack(0x34);
	check_ack(0x33);
	out(0x20, 0x00);
	check_ack(0x34);
	check_ack(0x34);
}
END_TEST

START_TEST(test_i8259_rotation)
{
	line(4, true);
	check_ack(0x34);
	out(0x20, 0xa0); /* on the end: 4 is the lowest now */
	line(4, false);
	line(4, true);
	line(7, true);
	line(0, true);
	line(5, true);
	check_ack(0x35);
	out(0x20, 0x20);
	check_ack(0x37);
	out(0x20, 0x20);
	check_ack(0x30);
	out(0x20, 0xe0); /* on the end of 0 */
	check_ack(0x34);
	line(1, true);
	check_ack(0x31);
	out(0x20, 0x20);
	out(0x20, 0x20);
	out(0x20, 0xc6); /* 6 the lowest */
	line(7, false);
	line(7, true);
	line(6, true);
	line(0, false);
	line(0, true);
	check_ack(0x37);
	out(0x20, 0x20);
	check_ack(0x30);
	out(0x20, 0x40); /* no operation */
	ck_assert_uint_eq(isr(0x20), 0x01);
	/* An end with nothing to end rotates nothing. */
	out(0x20, 0x20);
	out(0x20, 0xa0);
	check_ack(0x36);
}
END_TEST

START_TEST(test_i8259_special_mask)
{
	line(3, true);
	check_ack(0x33);
	line(5, true);
	check_idle();
	out(0x21, 0x08);
	check_idle();
	out(0x20, 0x68);
	check_ack(0x35);
	/* The masked one is not for a plain end. */
	out(0x20, 0x20);
	ck_assert_uint_eq(isr(0x20), 0x08);
	out(0x20, 0x20);
	ck_assert_uint_eq(isr(0x20), 0x08);
	out(0x20, 0x28); /* without its enable bit: stays */
	line(5, false);
	line(5, true);
	check_ack(0x35);
	out(0x20, 0x65);
	out(0x20, 0x48);
	line(6, true);
	check_idle();
	out(0x20, 0x20);
	check_ack(0x36);
}
END_TEST

START_TEST(test_i8259_poll)
{
	out(0x20, 0x0c);
	ck_assert_uint_eq(in(0x20), 0x00);
	line(3, true);
	out(0x20, 0x0c);
	ck_assert_uint_eq(in(0x20), 0x83);
	check_idle();
	/* Once only, and what was read before is read again. */
	ck_assert_uint_eq(in(0x20), 0x00);
	ck_assert_uint_eq(isr(0x20), 0x08);
	out(0x20, 0x20);
	line(4, true);
	out(0x20, 0x0c);
	ck_assert_uint_eq(in(0x21), 0x84);
	ck_assert_uint_eq(in(0x21), 0x00);
	out(0x20, 0x20);
	line(9, true);
	out(0x20, 0x0c);
	ck_assert_uint_eq(in(0x20), 0x82);
	out(0xa0, 0x0c);
	ck_assert_uint_eq(in(0xa0), 0x81);
	ck_assert_uint_eq(isr(0xa0), 0x02);
	out(0xa0, 0x20);
	out(0x20, 0x20);
	check_idle();
	line(9, false);
	line(9, true);
	check_ack(0x39);
}
END_TEST

static Suite *i8259_modes_suite(void)
{
	Suite *suite = suite_create("i8259_modes");
	TCase *modes = tcase_create("modes");

	tcase_add_checked_fixture(modes, setup, NULL);
	tcase_add_test(modes, test_i8259_special_fully_nested);
	tcase_add_test(modes, test_i8259_special_fully_nested_second);
	tcase_add_test(modes, test_i8259_auto_eoi);
	tcase_add_test(modes, test_i8259_rotate_on_auto_eoi);
	tcase_add_test(modes, test_i8259_rotation);
	tcase_add_test(modes, test_i8259_special_mask);
	tcase_add_test(modes, test_i8259_poll);

	suite_add_tcase(suite, modes);
	return suite;
}

int main(void)
{
	return tap_run(i8259_modes_suite());
}
