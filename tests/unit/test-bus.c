/* SPDX-License-Identifier: MIT */
/*
 * Port accesses of every width, as a guest makes them. Port numbers are
 * literal here: they are what a PC has.
 */
#include "bus.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kvm.h"
#include "tap.h"

#define EXIT_PORT 0xf4
#define VM_FD	  55

static struct bus bus;

/* Messages of the I/O APIC, by their low byte; KVM's part in it. */
static unsigned int msis[256];
static uint64_t mono_ns;

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	ck_assert_int_eq(fd, VM_FD);
	if (request == KVM_SIGNAL_MSI)
		msis[((const struct kvm_msi *)arg)->data & 0xff]++;
	return 1;
}

static uint64_t test_ns(clockid_t id)
{
	return id == CLOCK_MONOTONIC ? mono_ns : UINT64_C(1700000000000000000);
}

static void setup(void)
{
	bus_init(&bus, EXIT_PORT, test_ns);
	bus.irqs.target.vm_fd = VM_FD;
}

static void teardown(void)
{
	bus_destroy(&bus);
}

static void out_does(uint16_t port, unsigned int size, uint32_t value,
		     enum bus_action_kind kind, uint32_t action_value)
{
	struct bus_action action = bus_out(&bus, port, size, value);

	ck_assert_int_eq(action.kind, kind);
	if (kind == BUS_CONSOLE || kind == BUS_EXIT || kind == BUS_MARKER ||
	    kind == BUS_LATENESS)
		ck_assert_uint_eq(action.value, action_value);
}

static void out_nothing(uint16_t port, unsigned int size, uint32_t value)
{
	out_does(port, size, value, BUS_NONE, 0);
}

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
	/* A dword at 0xcf8 is split as any other: this is a PC without PCI. */
	teardown();
	setup();
	out_does(0xcf8, 4, 0x0600, BUS_RESET, 0);
	check_unclaimed(0, 3);
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

static void ioapic(uint8_t index, uint32_t value)
{
	uint8_t data[4] = {index};

	bus_mmio(&bus, 0xfec00000, true, data, 4);
	memcpy(data, &value, 4);
	bus_mmio(&bus, 0xfec00010, true, data, 4);
}

/* Its edge, as the vector 0x40 + pin. */
static void enable_pin(unsigned int pin)
{
	ioapic((uint8_t)(0x10 + 2 * pin), 0x40 + pin);
}

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
	tcase_add_loop_test(tc, test_bus_serial_room, 0, 2);
	tcase_add_test(tc, test_bus_wide_write_is_split);
	tcase_add_test(tc, test_bus_wide_read_is_put_together);
	tcase_add_test(tc, test_bus_exit_port_takes_the_value_whole);
	tcase_add_test(tc, test_bus_without_exit_port);
	tcase_add_test(tc, test_bus_exit_port_elsewhere);
	tcase_add_test(tc, test_bus_marker_port);
	tcase_add_test(tc, test_bus_lateness_port);
	tcase_add_test(tc, test_bus_keyboard_reset);
	tcase_add_test(tc, test_bus_reset_control);
	tcase_add_test(tc, test_bus_acpi_poweroff);
	tcase_add_test(tc, test_bus_first_effect_of_a_wide_write);
	tcase_add_test(tc, test_bus_mmio);
	tcase_add_test(tc, test_bus_ioapic);
	tcase_add_test(tc, test_bus_serial_sends_by_interrupt);
	tcase_add_test(tc, test_bus_serial_receives_by_interrupt);
	tcase_add_test(tc, test_bus_keyboard_data);
	tcase_add_test(tc, test_bus_8259);
	tcase_add_test(tc, test_bus_interval_timer);
	tcase_add_test(tc, test_bus_clock_of_the_day);
	tcase_add_test(tc, test_bus_eoi);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
