/* SPDX-License-Identifier: MIT */
/*
 * What a machine with machine-config.test_device has at its ports, by accesses
 * of every width as QEMU's takes them; and that one without has none of it.
 * Port numbers are literal here: they are QEMU's.
 */
#include "bus_case.h"

static void setup_test(void)
{
	setup();
	ck_assert_int_eq(bus_add_test_ports(&bus, UINT64_C(5) << 30, 3), 0);
}

static void check_unclaimed(uint64_t in, uint64_t out)
{
	ck_assert_uint_eq(bus.unclaimed_in, in);
	ck_assert_uint_eq(bus.unclaimed_out, out);
}

static void expect_in(uint16_t port, unsigned int size, uint32_t value)
{
	ck_assert_uint_eq(bus_in(&bus, port, size), value);
}

/* The register, by the port that takes it whole and by the one that takes
 * bytes. */
START_TEST(test_test_ports_register)
{
	const uint16_t port = _i ? 0xe8 : 0xe0, other = _i ? 0xe0 : 0xe8;

	expect_in(port, 4, 0);
	out_nothing(port, 4, 0x87654321);
	expect_in(port, 4, 0x87654321);
	expect_in(other, 4, 0x87654321);
	for (unsigned int i = 0; i < 4; i++)
		expect_in((uint16_t)(port + i), 1, 0x87654321u >> 8 * i & 0xff);
	expect_in(port, 2, 0x4321);
	expect_in((uint16_t)(port + 1), 2, 0x6543);
	expect_in((uint16_t)(port + 2), 2, 0x8765);
	out_nothing((uint16_t)(port + 1), 1, 0xaa);
	out_nothing((uint16_t)(port + 2), 2, 0xccbb);
	expect_in(port, 4, 0xccbbaa21);
	out_nothing((uint16_t)(port + 1), 2, 0x1122);
	out_nothing(port, 1, 0x33);
	expect_in(other, 4, 0xcc112233);
	check_unclaimed(0, 0);
}
END_TEST

/* What lies behind the register is not it. */
START_TEST(test_test_ports_register_ends)
{
	out_nothing(0xe0, 4, 0x04030201);
	out_nothing(0xdf, 2, 0xaabb);
	expect_in(0xe0, 4, 0x040302aa);
	expect_in(0xdf, 2, 0xaaff);
	check_unclaimed(1, 1);
	out_nothing(0xe3, 2, 0xbbcc);
	expect_in(0xe3, 2, 0xffcc);
	out_nothing(0xeb, 2, 0xeedd);
	expect_in(0xeb, 2, 0xffdd);
	expect_in(0xe0, 4, 0xdd0302aa);
	check_unclaimed(3, 3);
	expect_in(0xec, 1, 0xff);
	out_nothing(0xec, 1, 0);
	expect_in(0xe7, 1, 0xff);
	check_unclaimed(5, 4);
}
END_TEST

/* 32 bits at once, or it is nothing. */
START_TEST(test_test_ports_flush)
{
	struct bus_action action = bus_out(&bus, 0xe4, 4, 0xfffff123);

	ck_assert_int_eq(action.kind, BUS_FLUSH);
	ck_assert_uint_eq(action.value, 0xfffff123);
	check_unclaimed(0, 0);
	out_nothing(0xe4, 1, 0x12);
	out_nothing(0xe4, 2, 0x1234);
	out_nothing(0xe5, 4, 0x12345678);
	out_nothing(0xe2, 4, 0x12345678);
	/* 1, 2, the 3 up to 0xe7, and 2. */
	check_unclaimed(0, 8);
	expect_in(0xe8, 4, 0x56780012);
	expect_in(0xe4, 4, 0xffffffff);
	check_unclaimed(4, 8);
}
END_TEST

/* A level for each pin: 0 is low, all else high, and only a change is an edge.
 * The timer's own is pin 2, for interrupt 0 as for 2. */
START_TEST(test_test_ports_lines)
{
	const uint16_t port = (uint16_t)(0x2000 + _i);
	const unsigned int pin = _i ? (unsigned int)_i : 2;

	enable_pin(pin);
	out_nothing(port, 1, 0);
	ck_assert_uint_eq(msis[0x40 + pin], 0);
	out_nothing(port, 1, 1);
	ck_assert_uint_eq(msis[0x40 + pin], 1);
	out_nothing(port, 1, 0x80);
	ck_assert_uint_eq(msis[0x40 + pin], 1);
	out_nothing(port, 1, 0);
	out_nothing(port, 1, 0x80);
	ck_assert_uint_eq(msis[0x40 + pin], 2);
	/* Only the low byte is its own. */
	out_nothing(port, 1, 0x100);
	out_nothing(port, 1, 1);
	ck_assert_uint_eq(msis[0x40 + pin], 3);
	check_unclaimed(0, 0);
	expect_in(port, 1, 0xff);
	check_unclaimed(1, 0);
}
END_TEST

static const struct {
	uint16_t port;
	uint16_t request; /* port of the chip whose IRR is read */
	uint8_t bit;
} chips[] = {
	{0x2000, 0x20, 0x01},
	{0x2001, 0x20, 0x02},
	{0x2003, 0x20, 0x08},
	{0x2007, 0x20, 0x80},
	{0x2008, 0xa0, 0x01},
	{0x200f, 0xa0, 0x80},
	/* Not an input of either. */
	{0x2002, 0x20, 0x00},
	{0x2010, 0xa0, 0x00},
	{0x2017, 0xa0, 0x00},
};

/* What interrupt 0 has been since power-on is not asked for. */
START_TEST(test_test_ports_lines_reach_the_8259)
{
	for (uint16_t base = 0x20; base <= 0xa0; base += 0x80) {
		out_nothing(base, 1, 0x11);
		out_nothing(base + 1, 1, 0x20);
		out_nothing(base + 1, 1, base == 0x20 ? 4 : 2);
		out_nothing(base + 1, 1, 0x01);
		out_nothing(base + 1, 1, 0xff);
		out_nothing(base, 1, 0x0a);
	}
	out_nothing(chips[_i].port, 1, 0);
	expect_in(chips[_i].request, 1, 0);
	out_nothing(chips[_i].port, 1, 1);
	expect_in(chips[_i].request, 1, chips[_i].bit);
}
END_TEST

/* A wider write is bytes. */
START_TEST(test_test_ports_lines_are_bytes)
{
	enable_pin(5);
	enable_pin(6);
	enable_pin(7);
	out_nothing(0x2005, 2, 0x0100);
	ck_assert_uint_eq(msis[0x45], 0);
	ck_assert_uint_eq(msis[0x46], 1);
	out_nothing(0x2005, 4, 0x00010001);
	ck_assert_uint_eq(msis[0x45], 1);
	ck_assert_uint_eq(msis[0x46], 1);
	ck_assert_uint_eq(msis[0x47], 1);
	check_unclaimed(0, 0);
	out_nothing(0x2017, 2, 0);
	out_nothing(0x1fff, 1, 1);
	check_unclaimed(0, 2);
}
END_TEST

static uint64_t item(uint16_t key, unsigned int bytes)
{
	uint64_t value = 0;

	out_nothing(0x510, 2, key);
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)bus_in(&bus, 0x511, 1) << 8 * i;
	return value;
}

START_TEST(test_test_ports_fw_cfg)
{
	ck_assert_uint_eq(item(0, 4), 0x554d4551);
	ck_assert_uint_eq(item(1, 4), 1);
	ck_assert_uint_eq(item(3, 8), UINT64_C(5) << 30);
	ck_assert_uint_eq(item(5, 2), 3);
	ck_assert_uint_eq(item(15, 2), 3);
	ck_assert_uint_eq(item(4, 2), 0);
	check_unclaimed(0, 0);
	/* What does not select; before and behind it is nobody. */
	out_nothing(0x510, 2, 5);
	out_nothing(0x510, 4, 3);
	expect_in(0x511, 1, 3);
	check_unclaimed(0, 0);
	out_nothing(0x510, 1, 3);
	out_nothing(0x50f, 2, 3 << 8);
	expect_in(0x511, 1, 0);
	check_unclaimed(0, 1);
	out_nothing(0x50f, 4, 0);
	expect_in(0x510, 4, 0);
	expect_in(0x510, 2, 0);
	expect_in(0x511, 2, 0xff00 | 'Q');
	/* 0x50f and 0x512 were written, 0x512 was read. */
	check_unclaimed(1, 3);
}
END_TEST

START_TEST(test_test_ports_memory)
{
	uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	bus_mmio(&bus, 0xff00fff8, true, data, 8);
	memset(data, 0, sizeof(data));
	bus_mmio(&bus, 0xff00fffc, false, data, 4);
	ck_assert_int_eq(memcmp(data, "\x05\x06\x07\x08\0\0\0\0", 8), 0);
	bus_mmio(&bus, 0xff000000, false, data, 8);
	ck_assert_int_eq(memcmp(data, "\0\0\0\0\0\0\0\0", 8), 0);
	ck_assert_uint_eq(bus.unclaimed_mmio, 0);
	bus_mmio(&bus, 0xff00fffc, true, data, 8);
	bus_mmio(&bus, 0xff010000, false, data, 1);
	ck_assert_uint_eq(data[0], 0xff);
	ck_assert_uint_eq(bus.unclaimed_mmio, 2);
}
END_TEST

/* Beside them the machine is as it was. */
START_TEST(test_test_ports_others_stay)
{
	out_does(0x3f8, 1, 'x', BUS_CONSOLE, 'x');
	out_does(EXIT_PORT, 4, 7, BUS_EXIT, 7);
	expect_in(0x80, 4, 0xffffffff);
	out_nothing(0x80, 2, 0);
	check_unclaimed(4, 2);
}
END_TEST

START_TEST(test_test_ports_only_where_asked_for)
{
	static const uint16_t ports[] = {0xe0, 0xe4, 0xe8, 0x510, 0x2001};
	uint8_t data[4] = {0};

	for (unsigned int i = 0; i < 5; i++) {
		out_nothing(ports[i], 4, 0);
		expect_in(ports[i], 4, 0xffffffff);
	}
	check_unclaimed(20, 20);
	bus_mmio(&bus, 0xff000000, false, data, 4);
	ck_assert_uint_eq(data[0], 0xff);
	ck_assert_uint_eq(bus.unclaimed_mmio, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("test_ports");
	TCase *with = tcase_create("with"), *without = tcase_create("without");

	tcase_add_checked_fixture(with, setup_test, teardown);
	tcase_add_loop_test(with, test_test_ports_register, 0, 2);
	tcase_add_test(with, test_test_ports_register_ends);
	tcase_add_test(with, test_test_ports_flush);
	tcase_add_loop_test(with, test_test_ports_lines, 0, 24);
	tcase_add_loop_test(with, test_test_ports_lines_reach_the_8259, 0,
			    sizeof(chips) / sizeof(chips[0]));
	tcase_add_test(with, test_test_ports_lines_are_bytes);
	tcase_add_test(with, test_test_ports_fw_cfg);
	tcase_add_test(with, test_test_ports_memory);
	tcase_add_test(with, test_test_ports_others_stay);
	suite_add_tcase(suite, with);
	tcase_add_checked_fixture(without, setup, teardown);
	tcase_add_test(without, test_test_ports_only_where_asked_for);
	suite_add_tcase(suite, without);
	return tap_run(suite);
}
