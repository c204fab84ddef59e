/* SPDX-License-Identifier: MIT */
/*
 * Port accesses of every width, as a guest makes them. Port numbers are
 * literal here: they are what a PC has.
 */
#include "bus_case.h"

static void check_unclaimed(uint64_t in, uint64_t out)
{
	ck_assert_uint_eq(bus.unclaimed_in, in);
	ck_assert_uint_eq(bus.unclaimed_out, out);
}

START_TEST(test_bus_nobody_home)
{
	ck_assert_uint_eq(bus_in(&bus, 0x80, 1), 0xff);
	ck_assert_uint_eq(bus_in(&bus, 0x80, 2), 0xffff);
	ck_assert_uint_eq(bus_in(&bus, 0x80, 4), 0xffffffff);
	out_nothing(0x80, 1, 0x12);
	out_nothing(0x80, 4, 0x12345678);
	/* Counted by bytes. */
	check_unclaimed(7, 5);
}
END_TEST

/* The last port is followed by the first: nothing is there either. */
START_TEST(test_bus_port_numbers_wrap)
{
	ck_assert_uint_eq(bus_in(&bus, 0xffff, 4), 0xffffffff);
	out_nothing(0xffff, 4, 0);
	check_unclaimed(4, 4);
}
END_TEST

START_TEST(test_bus_console_bytes)
{
	for (unsigned int value = 0; value < 256; value++)
		out_does(0x3f8, 1, value, BUS_CONSOLE, value);
	check_unclaimed(0, 0);
}
END_TEST

/* Low byte at the low port: 0x3f8 sends, 0x3f9 is the interrupt enable. */
START_TEST(test_bus_wide_write_is_split)
{
	out_does(0x3f8, 2, 0x0541, BUS_CONSOLE, 'A');
	ck_assert_uint_eq(bus_in(&bus, 0x3f9, 1), 0x05);
	/* 0x3f7 is nobody's; the byte to send comes second. */
	out_does(0x3f7, 2, 0x4200, BUS_CONSOLE, 'B');
	check_unclaimed(0, 1);
	/* Up to the scratch register, the last of the eight. */
	out_nothing(0x3ff, 2, 0x99aa);
	ck_assert_uint_eq(bus_in(&bus, 0x3ff, 1), 0xaa);
	check_unclaimed(0, 2);
}
END_TEST

START_TEST(test_bus_wide_read_is_put_together)
{
	out_nothing(0x3ff, 1, 0xa5);
	out_nothing(0x3fb, 1, 0x03);
	/* LCR, MCR, LSR, MSR. */
	ck_assert_uint_eq(bus_in(&bus, 0x3fb, 4), 0xb0600003);
	ck_assert_uint_eq(bus_in(&bus, 0x3fe, 4), 0xffffa5b0);
	check_unclaimed(2, 0);
}
END_TEST

START_TEST(test_bus_exit_port_takes_the_value_whole)
{
	out_does(EXIT_PORT, 1, 0x2a, BUS_EXIT, 0x2a);
	out_does(EXIT_PORT, 2, 0x102a, BUS_EXIT, 0x102a);
	out_does(EXIT_PORT, 4, 0x80000001, BUS_EXIT, 0x80000001);
	out_does(EXIT_PORT, 1, 0, BUS_EXIT, 0);
	check_unclaimed(0, 0);
	/* It has no bytes: a write beside it does not reach it. */
	out_nothing(EXIT_PORT - 1, 2, 0xffff);
	out_nothing(EXIT_PORT - 3, 4, 0xffffffff);
	check_unclaimed(0, 6);
	ck_assert_uint_eq(bus_in(&bus, EXIT_PORT, 1), 0xff);
}
END_TEST

START_TEST(test_bus_without_exit_port)
{
	teardown();
	bus_init(&bus, -1, NULL);
	out_nothing(EXIT_PORT, 1, 0);
	out_nothing(0xffff, 1, 0);
	out_nothing(0, 1, 0);
	check_unclaimed(0, 3);
}
END_TEST

/* Wherever it is put, the other devices stay. */
START_TEST(test_bus_exit_port_elsewhere)
{
	teardown();
	bus_init(&bus, 0x501, NULL);
	out_does(0x501, 1, 7, BUS_EXIT, 7);
	out_nothing(EXIT_PORT, 1, 7);
	out_does(0x3f8, 1, 'x', BUS_CONSOLE, 'x');
}
END_TEST

START_TEST(test_bus_marker_port)
{
	out_nothing(0xf8, 1, 1);
	check_unclaimed(0, 1);
	bus.marker_port = 0xf8;
	out_does(0xf8, 1, 0xab, BUS_MARKER, 0xab);
	out_does(0xf8, 4, 0x80000001, BUS_MARKER, 0x80000001);
	out_does(EXIT_PORT, 1, 3, BUS_EXIT, 3);
	out_nothing(0xf9, 1, 1);
	check_unclaimed(0, 2);
	ck_assert_uint_eq(bus_in(&bus, 0xf8, 1), 0xff);
}
END_TEST

START_TEST(test_bus_lateness_port)
{
	out_does(0xf5, 4, 0xfedcba98, BUS_LATENESS, 0xfedcba98);
	out_does(0xf5, 1, 0x12, BUS_LATENESS, 0x12);
	check_unclaimed(0, 0);
}
END_TEST

START_TEST(test_bus_keyboard_reset)
{
	ck_assert_uint_eq(bus_in(&bus, 0x64, 1), 0x14);
	out_nothing(0x64, 1, 0xff);
	out_nothing(0x64, 1, 0xae);
	out_does(0x64, 1, 0xfe, BUS_RESET, 0);
	out_does(0x63, 2, 0xfe00, BUS_RESET, 0);
	check_unclaimed(0, 1);
}
END_TEST

START_TEST(test_bus_reset_control)
{
	out_nothing(0xcf9, 1, 0x02);
	ck_assert_uint_eq(bus_in(&bus, 0xcf9, 1), 0x02);
	out_does(0xcf9, 1, 0x06, BUS_RESET, 0);
	out_does(0xcf8, 2, 0x0000, BUS_NONE, 0);
	out_does(0xcf8, 2, 0x0600, BUS_RESET, 0);
	check_unclaimed(0, 2);
}
END_TEST

/* A guest that looks for PCI devices writes all of their numbers there. */
START_TEST(test_bus_pci_address_is_no_reset)
{
	out_nothing(0xcf9, 1, 0x02);
	out_nothing(0xcf8, 4, 0x80000600);
	check_unclaimed(0, 4);
	ck_assert_uint_eq(bus_in(&bus, 0xcf8, 4), 0xffff02ff);
	out_nothing(0xcf8, 4, 0);
	ck_assert_uint_eq(bus_in(&bus, 0xcf9, 1), 0x02);
	/* Wide as it is, from another port on it is bytes. */
	out_does(0xcf7, 4, 0x060000, BUS_RESET, 0);
}
END_TEST

/* SLP_TYP 5 and SLP_EN at 0x604, as a word, a byte, or a dword. */
START_TEST(test_bus_acpi_poweroff)
{
	ck_assert_uint_eq(bus_in(&bus, 0x600, 4), 0);
	ck_assert_uint_eq(bus_in(&bus, 0x604, 2), 0x0001);
	out_nothing(0x602, 2, 0x0321);
	ck_assert_uint_eq(bus_in(&bus, 0x600, 4), 0x03210000);
	out_nothing(0x604, 2, 0x1400);
	ck_assert_uint_eq(bus_in(&bus, 0x604, 2), 0x1401);
	out_does(0x604, 2, 0x3400, BUS_POWEROFF, 0);
	out_does(0x605, 1, 0x34, BUS_POWEROFF, 0);
	check_unclaimed(0, 0);
	out_does(0x604, 4, 0x3400, BUS_POWEROFF, 0);
	out_nothing(0x606, 2, 0x3434);
	out_nothing(0x5ff, 1, 0x34);
	check_unclaimed(0, 5);
}
END_TEST

/* The first effect counts and the later bytes still arrive. */
START_TEST(test_bus_first_effect_of_a_wide_write)
{
	out_does(0x3f8, 4, 0x03000043, BUS_CONSOLE, 'C');
	ck_assert_uint_eq(bus_in(&bus, 0x3fb, 1), 0x03);
}
END_TEST

START_TEST(test_bus_mmio)
{
	uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	bus_mmio(&bus, 0xfed00000, true, data, 8);
	ck_assert_uint_eq(data[0], 1);
	bus_mmio(&bus, 0xfed00000, false, data, 4);
	ck_assert_uint_eq(data[0], 0xff);
	ck_assert_uint_eq(data[3], 0xff);
	ck_assert_uint_eq(data[4], 5);
	bus_mmio(&bus, 0xfed00000, false, data, 8);
	ck_assert_uint_eq(data[7], 0xff);
	ck_assert_uint_eq(bus.unclaimed_mmio, 3);
	check_unclaimed(0, 0);
}
END_TEST

/* A page of its own; what is not four bytes wide is nothing, and counted. */
START_TEST(test_bus_ioapic)
{
	uint8_t data[8] = {0x01};

	bus_mmio(&bus, 0xfec00000, true, data, 4);
	bus_mmio(&bus, 0xfec00010, false, data, 4);
	ck_assert_uint_eq(data[0], 0x20);
	ck_assert_uint_eq(data[2], 0x17);
	ck_assert_uint_eq(data[3], 0);
	bus_mmio(&bus, 0xfec00010, false, data, 8);
	for (int i = 0; i < 8; i++)
		ck_assert_uint_eq(data[i], 0xff);
	bus_mmio(&bus, 0xfec00010, false, data, 1);
	ck_assert_uint_eq(data[0], 0xff);
	ck_assert_uint_eq(bus.irqs.ioapic.odd_accesses, 2);
	bus_mmio(&bus, 0xfec00fff, false, data, 1);
	ck_assert_uint_eq(bus.unclaimed_mmio, 0);
	bus_mmio(&bus, 0xfec01000, false, data, 4);
	bus_mmio(&bus, 0xfebfffff, false, data, 1);
	bus_mmio(&bus, 0x1fec00000, false, data, 4);
	ck_assert_uint_eq(bus.unclaimed_mmio, 3);
}
END_TEST

/* A byte as if from the keyboard, by interrupt; and a reset of the data port's.
 */
START_TEST(test_bus_keyboard_data)
{
	enable_pin(1);
	out_nothing(0x64, 1, 0x60);
	out_nothing(0x60, 1, 0x01);
	out_nothing(0x64, 1, 0xd2);
	ck_assert_uint_eq(msis[0x41], 0);
	out_nothing(0x60, 1, 0x5a);
	ck_assert_uint_eq(msis[0x41], 1);
	ck_assert_uint_eq(bus_in(&bus, 0x60, 1), 0x5a);
	out_nothing(0x64, 1, 0xd1);
	out_does(0x60, 1, 0xfe, BUS_RESET, 0);
	check_unclaimed(0, 0);
}
END_TEST

START_TEST(test_bus_8259)
{
	out_nothing(0x21, 1, 0xfb);
	ck_assert_uint_eq(bus_in(&bus, 0x21, 1), 0xfb);
	out_nothing(0xa1, 1, 0x5a);
	ck_assert_uint_eq(bus_in(&bus, 0xa1, 1), 0x5a);
	out_nothing(0x4d0, 2, 0x0c20);
	ck_assert_uint_eq(bus_in(&bus, 0x4d0, 2), 0x0c20);
	check_unclaimed(0, 0);
}
END_TEST

/* A shot of 1 ms; the main thread comes when it is due. */
START_TEST(test_bus_interval_timer)
{
	enable_pin(2);
	/* After power-on a wave is chosen without an edge. */
	out_nothing(0x43, 1, 0x34);
	ck_assert_uint_eq(msis[0x42], 0);
	out_nothing(0x43, 1, 0x30);
	out_nothing(0x40, 1, 0xa9);
	out_nothing(0x40, 1, 0x04);
	mono_ns += 900000;
	bus_timer_expired(&bus);
	ck_assert_uint_eq(msis[0x42], 0);
	mono_ns += 200000;
	bus_timer_expired(&bus);
	ck_assert_uint_eq(msis[0x42], 1);
	ck_assert_uint_eq(bus_in(&bus, 0x61, 1) & 0xc0, 0);
	check_unclaimed(0, 0);
}
END_TEST

START_TEST(test_bus_clock_of_the_day)
{
	bus_connect(&bus, 256u << 20, 0, &bus.irqs.target);
	out_nothing(0x70, 1, 0x09);
	ck_assert_uint_eq(bus_in(&bus, 0x71, 1), 0x23);
	out_nothing(0x70, 1, 0x35);
	ck_assert_uint_eq(bus_in(&bus, 0x71, 1), 0x0f);
	check_unclaimed(0, 0);
}
END_TEST

/* The line is still up at the end of its interrupt. */
START_TEST(test_bus_eoi)
{
	out_nothing(0x3f9, 1, 0x02);
	out_nothing(0x3fc, 1, 0x08);
	ioapic(0x10 + 2 * 4, 0x8044);
	ck_assert_uint_eq(msis[0x44], 1);
	bus_eoi(&bus, 0x45);
	ck_assert_uint_eq(msis[0x44], 1);
	bus_eoi(&bus, 0x44);
	ck_assert_uint_eq(msis[0x44], 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bus");
	TCase *tc = tcase_create("bus");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_bus_nobody_home);
	tcase_add_test(tc, test_bus_port_numbers_wrap);
	tcase_add_test(tc, test_bus_console_bytes);
	tcase_add_test(tc, test_bus_wide_write_is_split);
	tcase_add_test(tc, test_bus_wide_read_is_put_together);
	tcase_add_test(tc, test_bus_exit_port_takes_the_value_whole);
	tcase_add_test(tc, test_bus_without_exit_port);
	tcase_add_test(tc, test_bus_exit_port_elsewhere);
	tcase_add_test(tc, test_bus_marker_port);
	tcase_add_test(tc, test_bus_lateness_port);
	tcase_add_test(tc, test_bus_keyboard_reset);
	tcase_add_test(tc, test_bus_reset_control);
	tcase_add_test(tc, test_bus_pci_address_is_no_reset);
	tcase_add_test(tc, test_bus_acpi_poweroff);
	tcase_add_test(tc, test_bus_first_effect_of_a_wide_write);
	tcase_add_test(tc, test_bus_mmio);
	tcase_add_test(tc, test_bus_ioapic);
	tcase_add_test(tc, test_bus_keyboard_data);
	tcase_add_test(tc, test_bus_8259);
	tcase_add_test(tc, test_bus_interval_timer);
	tcase_add_test(tc, test_bus_clock_of_the_day);
	tcase_add_test(tc, test_bus_eoi);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
