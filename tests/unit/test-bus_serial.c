/* SPDX-License-Identifier: MIT */
/*
 * The serial port as a guest's driver has it: by its ports and its interrupt.
 * Port numbers are literal here: they are what a PC has.
 */
#include "bus_case.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* The main thread sleeps until the guest looks for input, by a read or by its
 * interrupt enable; then it hears of it once. */
START_TEST(test_bus_serial_room)
{
	uint64_t count;

	bus.serial_room_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ck_assert_int_ge(bus.serial_room_fd, 0);
	ck_assert_uint_eq(bus_serial_room(&bus, false), 0);
	ck_assert_int_eq(read(bus.serial_room_fd, &count, sizeof(count)), -1);
	if (_i)
		out_nothing(0x3f9, 1, 0x01);
	for (int i = 0; i < 20; i++)
		bus_in(&bus, 0x3fd, 1);
	ck_assert_int_eq(read(bus.serial_room_fd, &count, sizeof(count)),
			 sizeof(count));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_gt(bus_serial_room(&bus, false), 2);
	ck_assert_uint_eq(bus_serial_put(&bus, (const uint8_t *)"ab", 2), 2);
	ck_assert_uint_eq(bus_in(&bus, 0x3fd, 1), 0x61);
	ck_assert_uint_eq(bus_in(&bus, 0x3f8, 1), 'a');
	ck_assert_uint_eq(bus_in(&bus, 0x3f8, 1), 'b');
	close(bus.serial_room_fd);
}
END_TEST

/* With the transmit interrupt on, each byte sent is an edge; the port's gate
 * (OUT2) has to be open. */
START_TEST(test_bus_serial_sends_by_interrupt)
{
	enable_pin(4);
	out_nothing(0x3f9, 1, 0x02);
	ck_assert_uint_eq(msis[0x44], 0);
	out_nothing(0x3fc, 1, 0x08);
	ck_assert_uint_eq(msis[0x44], 1);
	/* No interrupt acknowledged in between. */
	out_does(0x3f8, 1, 'a', BUS_CONSOLE, 'a');
	ck_assert_uint_eq(msis[0x44], 2);
	ck_assert_uint_eq(bus_in(&bus, 0x3fa, 1), 0x02);
	ck_assert_uint_eq(bus_in(&bus, 0x3fa, 1), 0x01);
	out_does(0x3f8, 1, 'b', BUS_CONSOLE, 'b');
	ck_assert_uint_eq(msis[0x44], 3);
}
END_TEST

START_TEST(test_bus_serial_receives_by_interrupt)
{
	enable_pin(4);
	out_nothing(0x3f9, 1, 0x01);
	out_nothing(0x3fc, 1, 0x08);
	ck_assert_uint_eq(msis[0x44], 0);
	ck_assert_uint_eq(bus_serial_put(&bus, (const uint8_t *)"a", 1), 1);
	ck_assert_uint_eq(msis[0x44], 1);
	ck_assert_uint_eq(bus_in(&bus, 0x3f8, 1), 'a');
	ck_assert_uint_eq(bus_serial_put(&bus, (const uint8_t *)"b", 1), 1);
	ck_assert_uint_eq(msis[0x44], 2);
}
END_TEST

/* A driver for an edge, which takes so many bytes for each interrupt and does
 * not ask for more: it gets them all. */
static void check_takes_all(const char *text, unsigned int at_once)
{
	size_t count = strlen(text), taken = 0;
	unsigned int seen = msis[0x44];

	ck_assert_uint_eq(bus_serial_put(&bus, (const uint8_t *)text, count),
			  count);
	while (msis[0x44] != seen) {
		seen = msis[0x44];
		for (unsigned int i = 0; i < at_once && taken < count; i++)
			ck_assert_uint_eq(bus_in(&bus, 0x3f8, 1),
					  (uint8_t)text[taken++]);
	}
	ck_assert_uint_eq(taken, count);
}

START_TEST(test_bus_serial_receives_by_edges)
{
	/* No FIFO; the trigger at 1, 4 and 8, with bytes left for time-outs. */
	static const uint8_t fifo[] = {0x00, 0x01, 0x41, 0x81};
	static const unsigned int at_once[] = {1, 1, 4, 8};

	enable_pin(4);
	out_nothing(0x3f9, 1, 0x01);
	out_nothing(0x3fc, 1, 0x08);
	out_nothing(0x3fa, 1, fifo[_i]);
	check_takes_all("ab", at_once[_i]);
	check_takes_all("more than the FIFO holds", at_once[_i]);
	ck_assert_uint_eq(bus_in(&bus, 0x3fa, 1) & 0x0f, 0x01);
}
END_TEST

/* Linux's, which asks IIR again after it has read what there is, or 256 bytes.
 * Messages that come while it runs are one interrupt, as in a local APIC.
 * Returns how often it runs. */
static unsigned int run_linux_handler(unsigned int *seen)
{
	unsigned int runs = 0;

	while (msis[0x44] != *seen) {
		*seen = msis[0x44];
		runs++;
		while (!(bus_in(&bus, 0x3fa, 1) & 0x01))
			for (int i = 0;
			     i < 256 && (bus_in(&bus, 0x3fd, 1) & 0x01); i++)
				bus_in(&bus, 0x3f8, 1);
	}
	return runs;
}

START_TEST(test_bus_serial_one_interrupt_too_many)
{
	static const uint8_t burst[400] = {'a'};
	unsigned int seen = 0;

	enable_pin(4);
	out_nothing(0x3f9, 1, 0x01);
	out_nothing(0x3fc, 1, 0x08);
	out_nothing(0x3fa, 1, 0x81);
	ck_assert_uint_eq(bus_serial_put(&bus, burst, 400), 400);
	ck_assert_uint_eq(run_linux_handler(&seen), 2);
	ck_assert_uint_eq(bus_in(&bus, 0x3fa, 1) & 0x0f, 0x01);
	/* Of a key there is none too many. */
	ck_assert_uint_eq(bus_serial_put(&bus, burst, 1), 1);
	ck_assert_uint_eq(run_linux_handler(&seen), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bus_serial");
	TCase *tc = tcase_create("bus_serial");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_bus_serial_room, 0, 2);
	tcase_add_test(tc, test_bus_serial_sends_by_interrupt);
	tcase_add_test(tc, test_bus_serial_receives_by_interrupt);
	tcase_add_loop_test(tc, test_bus_serial_receives_by_edges, 0, 4);
	tcase_add_test(tc, test_bus_serial_one_interrupt_too_many);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
