/* SPDX-License-Identifier: MIT */
/*
 * The I/O APIC through its memory window. Offsets and bits are literal here:
 * they are what the data sheet says, not what the model's own names say.
 */
#include "ioapic.h"

#include "fake_irq.h"
#include "prng.h"
#include "tap.h"

#define MASKED	   0x10000u
#define LEVEL	   0x08000u
#define REMOTE_IRR 0x04000u

static struct ioapic io;
static struct fake_irq sent;
static struct irq_sink sink;

static void setup(void)
{
	ioapic_reset(&io);
	sent = (struct fake_irq){.count = 0};
	sink = fake_irq_sink(&sent);
}

static uint32_t rd(uint8_t index)
{
	ioapic_write(&io, 0x00, 4, index, &sink);
	return ioapic_read(&io, 0x10, 4);
}

static bool wr(uint8_t index, uint32_t value)
{
	ioapic_write(&io, 0x00, 4, index, &sink);
	return ioapic_write(&io, 0x10, 4, value, &sink);
}

static uint8_t low(unsigned int pin)
{
	return (uint8_t)(0x10 + 2 * pin);
}

static uint8_t high(unsigned int pin)
{
	return (uint8_t)(0x11 + 2 * pin);
}

static void line(unsigned int pin, bool asserted)
{
	ioapic_set_line(&io, pin, asserted, &sink);
}

static void check_sent(unsigned int count)
{
	ck_assert_uint_eq(sent.count, count);
}

static void check_last(uint32_t address, uint32_t data)
{
	ck_assert_uint_gt(sent.count, 0);
	ck_assert_uint_eq(sent.messages[sent.count - 1].address, address);
	ck_assert_uint_eq(sent.messages[sent.count - 1].data, data);
}

START_TEST(test_ioapic_reset_values)
{
	unsigned int pin;

	ck_assert_uint_eq(ioapic_read(&io, 0, 4), 0);
	ck_assert_uint_eq(rd(0), 0);
	ck_assert_uint_eq(rd(1), 0x00170020);
	ck_assert_uint_eq(rd(2), 0);
	for (pin = 0; pin < 24; pin++) {
		ck_assert_uint_eq(rd(low(pin)), MASKED);
		ck_assert_uint_eq(rd(high(pin)), 0);
	}
	ck_assert_uint_eq(rd(0x40), 0);
	ck_assert_uint_eq(rd(0x03), 0);
	ck_assert_uint_eq(rd(0xff), 0);
}
END_TEST

START_TEST(test_ioapic_registers)
{
	ck_assert(!wr(0, 0xffffffff));
	ck_assert_uint_eq(rd(0), 0x0f000000);
	ck_assert_uint_eq(rd(2), 0x0f000000);
	wr(2, 0);
	ck_assert_uint_eq(rd(2), 0x0f000000);
	wr(0, 0x05000000);
	ck_assert_uint_eq(rd(2), 0x05000000);
	wr(1, 0xffffffff);
	ck_assert_uint_eq(rd(1), 0x00170020);
	/* Past the table: nothing, and nothing else is hit. */
	wr(0x40, 0);
	wr(0x0f, 0);
	ck_assert_uint_eq(rd(low(23)), MASKED);
	ioapic_write(&io, 0, 4, 0xabcd12, &sink);
	ck_assert_uint_eq(ioapic_read(&io, 0, 4), 0x12);
}
END_TEST

START_TEST(test_ioapic_entry_read_only_bits)
{
	wr(low(3), 0xffffffff);
	wr(high(3), 0xffffffff);
	ck_assert_uint_eq(rd(low(3)), 0x1afff);
	ck_assert_uint_eq(rd(high(3)), 0xff000000);
	wr(low(3), 0);
	ck_assert_uint_eq(rd(low(3)), 0);
	ck_assert_uint_eq(rd(high(3)), 0xff000000);
}
END_TEST

START_TEST(test_ioapic_odd_accesses)
{
	static const struct {
		uint32_t offset;
		unsigned int size;
	} odd[] = {{0x00, 1}, {0x00, 8}, {0x10, 1}, {0x10, 2},	{0x10, 8},
		   {0x01, 4}, {0x12, 4}, {0x14, 4}, {0x20, 4},	{0x40, 1},
		   {0x44, 4}, {0xff, 1}, {0x0c, 4}, {0x100, 4}, {0x110, 4}};

	ioapic_write(&io, 0x00, 4, low(0), &sink);
	ck_assert_uint_eq(ioapic_read(&io, odd[_i].offset, odd[_i].size),
			  0xffffffff);
	ck_assert(
		!ioapic_write(&io, odd[_i].offset, odd[_i].size, 0x23, &sink));
	ck_assert_uint_eq(io.odd_accesses, 2);
	ck_assert_uint_eq(ioapic_read(&io, 0x00, 4), low(0));
	ck_assert_uint_eq(rd(low(0)), MASKED);
}
END_TEST

START_TEST(test_ioapic_edge)
{
	wr(high(4), 0x02000000);
	wr(low(4), 0x31);
	line(4, true);
	check_sent(1);
	check_last(0xfee02000, 0x31);
	line(4, true);
	check_sent(1);
	line(4, false);
	check_sent(1);
	line(4, true);
	check_sent(2);
	ck_assert_uint_eq(rd(low(4)), 0x31);
}
END_TEST

START_TEST(test_ioapic_edge_while_masked_is_lost)
{
	wr(low(4), MASKED | 0x31);
	line(4, true);
	wr(low(4), 0x31);
	check_sent(0);
	line(4, false);
	line(4, true);
	check_sent(1);
}
END_TEST

START_TEST(test_ioapic_level)
{
	wr(low(9), LEVEL | 0x41);
	line(9, true);
	check_sent(1);
	check_last(0xfee00000, 0xc041);
	ck_assert_uint_eq(rd(low(9)), LEVEL | REMOTE_IRR | 0x41);
	/* Held back until its end, whatever the line does. */
	line(9, false);
	line(9, true);
	check_sent(1);
	/* Read-only. */
	wr(low(9), LEVEL | 0x41);
	ck_assert_uint_eq(rd(low(9)), LEVEL | REMOTE_IRR | 0x41);
	check_sent(1);

	ioapic_eoi(&io, 0x42, &sink);
	check_sent(1);
	ioapic_eoi(&io, 0x41, &sink);
	check_sent(2);
	line(9, false);
	ioapic_eoi(&io, 0x41, &sink);
	check_sent(2);
	ck_assert_uint_eq(rd(low(9)), LEVEL | 0x41);
	/* Nobody waits for this one. */
	ioapic_eoi(&io, 0x41, &sink);
	check_sent(2);
}
END_TEST

START_TEST(test_ioapic_level_masked)
{
	wr(low(9), MASKED | LEVEL | 0x41);
	line(9, true);
	check_sent(0);
	wr(low(9), LEVEL | 0x41);
	check_sent(1);
	/* Masked in service: the end clears, the unmask sends. */
	wr(low(9), MASKED | LEVEL | 0x41);
	ioapic_eoi(&io, 0x41, &sink);
	check_sent(1);
	ck_assert_uint_eq(rd(low(9)), MASKED | LEVEL | 0x41);
	wr(low(9), LEVEL | 0x41);
	check_sent(2);
	/* A line that went low while masked sends nothing. */
	wr(low(9), MASKED | LEVEL | 0x41);
	ioapic_eoi(&io, 0x41, &sink);
	line(9, false);
	wr(low(9), LEVEL | 0x41);
	check_sent(2);
}
END_TEST

START_TEST(test_ioapic_eoi_register)
{
	wr(low(9), LEVEL | 0x41);
	wr(low(23), LEVEL | 0x41);
	line(9, true);
	line(23, true);
	check_sent(2);
	line(23, false);
	/* One vector, two pins: both are done, one comes again. */
	ck_assert(!ioapic_write(&io, 0x40, 4, 0xffffff41, &sink));
	check_sent(3);
	ck_assert_uint_eq(rd(low(9)), LEVEL | REMOTE_IRR | 0x41);
	ck_assert_uint_eq(rd(low(23)), LEVEL | 0x41);
	ck_assert_uint_eq(ioapic_read(&io, 0x40, 4), 0xffffffff);
}
END_TEST

/* Remote IRR is there when a local APIC accepts. Whoever refused is not asked
 * again before the guest or the device does something. */
START_TEST(test_ioapic_level_refused)
{
	struct irq_msg msg = {.address = 0xfee01000, .data = 0xc041};
	struct irq_msg other_place = {.address = 0xfee00000, .data = 0xc041};
	struct irq_msg other_vector = {.address = 0xfee01000, .data = 0xc042};

	wr(high(9), 0x01000000);
	wr(low(9), LEVEL | 0x41);
	wr(low(5), LEVEL | 0x41); /* to another processor */
	line(9, true);
	line(5, true);
	check_sent(2);
	ioapic_refused(&io, &other_vector);
	ck_assert_uint_eq(rd(low(9)), LEVEL | REMOTE_IRR | 0x41);
	ioapic_refused(&io, &msg);
	ck_assert_uint_eq(rd(low(9)), LEVEL | 0x41);
	ck_assert_uint_eq(rd(low(5)), LEVEL | REMOTE_IRR | 0x41);
	ioapic_eoi(&io, 0x42, &sink);
	check_sent(2);
	switch (_i) {
	case 0:
		wr(low(9), LEVEL | 0x41);
		break;
	case 1:
		wr(high(9), 0x01000000);
		break;
	default:
		line(9, false);
		check_sent(2);
		line(9, true);
	}
	check_sent(3);
	check_last(0xfee01000, 0xc041);
	ck_assert_uint_eq(rd(low(9)), LEVEL | REMOTE_IRR | 0x41);
	ioapic_refused(&io, &other_place);
	ck_assert_uint_eq(rd(low(9)), LEVEL | REMOTE_IRR | 0x41);
	ck_assert_uint_eq(rd(low(5)), LEVEL | 0x41);
}
END_TEST

/* How a guest ends a level interrupt where there is no EOI register. */
START_TEST(test_ioapic_edge_and_back_clears_remote_irr)
{
	wr(low(9), LEVEL | 0x41);
	line(9, true);
	wr(low(9), MASKED | 0x41);
	ck_assert_uint_eq(rd(low(9)), MASKED | 0x41);
	wr(low(9), MASKED | LEVEL | 0x41);
	ck_assert_uint_eq(rd(low(9)), MASKED | LEVEL | 0x41);
	check_sent(1);
	wr(low(9), LEVEL | 0x41);
	check_sent(2);
	/* To edge with the line high: not an edge. */
	wr(low(9), 0x41);
	check_sent(2);
	line(9, true);
	check_sent(2);
}
END_TEST

START_TEST(test_ioapic_modes)
{
	/* Trigger bit set throughout: level for the first two alone. */
	static const struct {
		uint32_t entry, data;
	} modes[] = {{0x8052, 0xc052}, {0x8152, 0xc152}, {0x8200, 0x0200},
		     {0x8400, 0x0400}, {0x8500, 0x0500}, {0x8700, 0x0700}};

	wr(high(1), 0xf3000000);
	wr(low(1), modes[_i].entry | 0x800);
	line(1, true);
	check_sent(1);
	check_last(0xfeef3004, modes[_i].data);
	ck_assert_uint_eq(rd(low(1)) & REMOTE_IRR, _i < 2 ? REMOTE_IRR : 0);
	line(1, false);
	line(1, true);
	check_sent(_i < 2 ? 1 : 2);
}
END_TEST

START_TEST(test_ioapic_undeliverable)
{
	static const uint32_t entries[] = {0x00,   0x0f,   0x800f,
					   0x0352, 0x8652, 0x0108};

	wr(low(1), entries[_i]);
	line(1, true);
	check_sent(0);
	ck_assert_uint_eq(io.undeliverable_irqs, 1);
	ck_assert_uint_eq(rd(low(1)), entries[_i]);
}
END_TEST

START_TEST(test_ioapic_lowest_legal_vector)
{
	wr(low(1), 0x10);
	line(1, true);
	check_sent(1);
	ck_assert_uint_eq(io.undeliverable_irqs, 0);
}
END_TEST

START_TEST(test_ioapic_polarity_is_kept_and_no_more)
{
	wr(low(1), 0x2031);
	check_sent(0);
	line(1, true);
	check_sent(1);
	check_last(0xfee00000, 0x31);
	ck_assert_uint_eq(rd(low(1)), 0x2031);
}
END_TEST

static void check_route(bool expected, uint32_t address, uint32_t data)
{
	struct irq_msg msg;

	ck_assert_int_eq(ioapic_route(&io, 9, &msg), expected);
	ck_assert_uint_eq(msg.address, address);
	ck_assert_uint_eq(msg.data, data);
}

START_TEST(test_ioapic_route)
{
	check_route(false, 0xfee00000, 0);
	ck_assert(!wr(high(9), 0x03000000));
	ck_assert(!wr(low(9), 0x41));
	check_route(false, 0xfee03000, 0x41);
	ck_assert(wr(low(9), MASKED | LEVEL | 0x41));
	check_route(true, 0xfee03000, 0xc041);
	/* The mask and a rewrite change nothing. */
	ck_assert(!wr(low(9), LEVEL | 0x41));
	line(9, true);
	ck_assert(!wr(low(9), LEVEL | MASKED | 0x41));
	check_route(true, 0xfee03000, 0xc041);
	ck_assert(wr(high(9), 0x04000000));
	check_route(true, 0xfee04000, 0xc041);
	ck_assert(wr(low(9), LEVEL | 0x42));
	ck_assert(wr(low(9), LEVEL | 0x0842));
	check_route(true, 0xfee04004, 0xc042);
	ck_assert(wr(low(9), 0x0842));
	check_route(false, 0xfee04004, 0x42);
	/* Level by the bit, and still nothing to wait for. */
	ck_assert(!wr(low(9), LEVEL | 0x0400));
	check_route(false, 0xfee04000, 0x0400);
	ck_assert(!wr(low(9), LEVEL | 0x05));
	check_route(false, 0xfee04000, 0xc005);
}
END_TEST

/* The one entry of a pin does not reach another. */
/* SMI, NMI and INIT need no interrupt flag. */
START_TEST(test_ioapic_reaches_all)
{
	static const bool reaches[8] = {[2] = true, [4] = true, [5] = true};

	ck_assert(!ioapic_reaches_all(&io));
	for (unsigned int mode = 0; mode < 8; mode++) {
		wr(low(23), MASKED | mode << 8);
		ck_assert(!ioapic_reaches_all(&io));
		wr(low(23), mode << 8 | 0x40);
		ck_assert_int_eq(ioapic_reaches_all(&io), reaches[mode]);
	}
}
END_TEST

START_TEST(test_ioapic_pins_are_separate)
{
	unsigned int pin;

	for (pin = 0; pin < 24; pin++) {
		wr(high(pin), pin << 24);
		wr(low(pin), 0x50 + pin);
	}
	for (pin = 0; pin < 24; pin++) {
		line(pin, true);
		check_sent(pin + 1);
		check_last(0xfee00000 | pin << 12, 0x50 + pin);
	}
}
END_TEST

/* Whatever a guest and the devices do: no message while masked, remote IRR
 * on level entries only and none set while the line could still send. */
START_TEST(test_ioapic_random)
{
	uint64_t seed = 0x82093;
	int i;

	for (i = 0; i < 50000; i++) {
		uint64_t r = prng_next(&seed);
		unsigned int pin = (unsigned int)(r >> 8) % 24;
		unsigned int count = sent.count, p, all_masked = 1;

		for (p = 0; p < 24; p++)
			all_masked &= (unsigned int)(io.entries[p] >> 16 & 1);
		switch (r & 3) {
		case 0:
			wr(low(pin), (uint32_t)(r >> 16));
			break;
		case 1:
			line(pin, r >> 20 & 1);
			tap_require(!all_masked || sent.count == count);
			break;
		case 2:
			ioapic_eoi(&io, (uint8_t)(r >> 20), &sink);
			tap_require(!all_masked || sent.count == count);
			break;
		default:
			ioapic_read(&io, (uint32_t)(r >> 12) & 0xff, 4);
			tap_require(sent.count == count);
		}
		for (p = 0; p < 24; p++) {
			uint32_t entry = (uint32_t)io.entries[p];
			bool level = (entry & LEVEL) && !(entry & 0x600) &&
				     (entry & 0xff) >= 16;

			tap_require(level || !(entry & REMOTE_IRR) ||
				    ((entry & LEVEL) && !(entry & 0x600)));
			tap_require(!level || !(io.lines >> p & 1) ||
				    (entry & (MASKED | REMOTE_IRR)));
		}
	}
}
END_TEST

static Suite *ioapic_suite(void)
{
	Suite *suite = suite_create("ioapic");
	TCase *registers = tcase_create("registers");
	TCase *pins = tcase_create("pins");

	tcase_add_checked_fixture(registers, setup, NULL);
	tcase_add_test(registers, test_ioapic_reset_values);
	tcase_add_test(registers, test_ioapic_registers);
	tcase_add_test(registers, test_ioapic_entry_read_only_bits);
	tcase_add_loop_test(registers, test_ioapic_odd_accesses, 0, 15);

	tcase_add_checked_fixture(pins, setup, NULL);
	tcase_add_test(pins, test_ioapic_edge);
	tcase_add_test(pins, test_ioapic_edge_while_masked_is_lost);
	tcase_add_test(pins, test_ioapic_level);
	tcase_add_test(pins, test_ioapic_level_masked);
	tcase_add_test(pins, test_ioapic_eoi_register);
	tcase_add_loop_test(pins, test_ioapic_level_refused, 0, 3);
	tcase_add_test(pins, test_ioapic_edge_and_back_clears_remote_irr);
	tcase_add_loop_test(pins, test_ioapic_modes, 0, 6);
	tcase_add_loop_test(pins, test_ioapic_undeliverable, 0, 6);
	tcase_add_test(pins, test_ioapic_lowest_legal_vector);
	tcase_add_test(pins, test_ioapic_polarity_is_kept_and_no_more);
	tcase_add_test(pins, test_ioapic_route);
	tcase_add_test(pins, test_ioapic_reaches_all);
	tcase_add_test(pins, test_ioapic_pins_are_separate);
	tcase_add_test(pins, test_ioapic_random);

	suite_add_tcase(suite, registers);
	suite_add_tcase(suite, pins);
	return suite;
}

int main(void)
{
	return tap_run(ioapic_suite());
}
