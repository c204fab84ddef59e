/* SPDX-License-Identifier: MIT */
/*
 * The serial port through its register window, as drivers use it. Offsets and
 * bits are literal here: they are what the data sheet says, not what the
 * model's own names say.
 */
#include "uart16550.h"

#include "prng.h"
#include "tap.h"

static struct uart16550 uart;

static void setup(void)
{
	uart16550_reset(&uart);
}

static uint8_t rd(unsigned int offset)
{
	return uart16550_read(&uart, offset);
}

/* A write that must not send anything. */
static void wr(unsigned int offset, uint8_t value)
{
	uint8_t out_byte = 0xee;

	ck_assert(!uart16550_write(&uart, offset, value, &out_byte));
	ck_assert_uint_eq(out_byte, 0xee);
}

START_TEST(test_uart16550_reset_values)
{
	ck_assert_uint_eq(rd(0), 0);
	ck_assert_uint_eq(rd(1), 0);
	ck_assert_uint_eq(rd(2), 0x01);
	ck_assert_uint_eq(rd(3), 0);
	ck_assert_uint_eq(rd(4), 0);
	ck_assert_uint_eq(rd(5), 0x60);
	ck_assert_uint_eq(rd(6), 0xb0);
	ck_assert_uint_eq(rd(7), 0);
}
END_TEST

START_TEST(test_uart16550_sends_every_byte)
{
	unsigned int value;

	for (value = 0; value < 256; value++) {
		uint8_t out_byte = (uint8_t)~value;

		ck_assert(uart16550_write(&uart, 0, (uint8_t)value, &out_byte));
		ck_assert_uint_eq(out_byte, value);
		ck_assert_uint_eq(rd(5), 0x60);
	}
}
END_TEST

START_TEST(test_uart16550_divisor_latch)
{
	uint8_t out_byte;

	wr(1, 0x05);
	wr(3, 0x83);
	wr(0, 0x0c);
	wr(1, 0x01);
	ck_assert_uint_eq(rd(0), 0x0c);
	ck_assert_uint_eq(rd(1), 0x01);
	wr(3, 0x03);
	ck_assert_uint_eq(rd(3), 0x03);
	ck_assert_uint_eq(rd(1), 0x05);
	ck_assert_uint_eq(rd(0), 0);
	ck_assert(uart16550_write(&uart, 0, 'x', &out_byte));
	wr(3, 0x83);
	ck_assert_uint_eq(rd(0), 0x0c);
}
END_TEST

START_TEST(test_uart16550_read_back)
{
	wr(1, 0xff);
	ck_assert_uint_eq(rd(1), 0x0f);
	wr(4, 0xef);
	ck_assert_uint_eq(rd(4), 0x0f);
	wr(3, 0x5b);
	ck_assert_uint_eq(rd(3), 0x5b);
	wr(7, 0xa5);
	ck_assert_uint_eq(rd(7), 0xa5);
}
END_TEST

/* Every interrupt enabled, and still none to report: the line is not there. */
START_TEST(test_uart16550_no_interrupt_pending)
{
	wr(1, 0x0f);
	ck_assert_uint_eq(rd(2), 0x01);
	wr(2, 0x07);
	ck_assert_uint_eq(rd(2), 0xc1);
	wr(2, 0x00);
	ck_assert_uint_eq(rd(2), 0x01);
	/* Without the enable bit the others count for nothing. */
	wr(2, 0xc6);
	ck_assert_uint_eq(rd(2), 0x01);
}
END_TEST

START_TEST(test_uart16550_status_is_read_only)
{
	wr(5, 0xff);
	ck_assert_uint_eq(rd(5), 0x60);
	wr(5, 0x00);
	ck_assert_uint_eq(rd(5), 0x60);
	wr(6, 0x0f);
	ck_assert_uint_eq(rd(6), 0xb0);
}
END_TEST

START_TEST(test_uart16550_loopback_data)
{
	uint8_t out_byte;

	wr(4, 0x1e);
	wr(0, 0xae);
	ck_assert_uint_eq(rd(5), 0x61);
	ck_assert_uint_eq(rd(0), 0xae);
	ck_assert_uint_eq(rd(5), 0x60);
	/* Nobody took the first one. */
	wr(0, 0x01);
	wr(0, 0x02);
	ck_assert_uint_eq(rd(5), 0x63);
	ck_assert_uint_eq(rd(5), 0x61);
	ck_assert_uint_eq(rd(0), 0x02);
	wr(4, 0x0f);
	ck_assert(uart16550_write(&uart, 0, 0xae, &out_byte));
	ck_assert_uint_eq(rd(5), 0x60);
}
END_TEST

/* DTR, RTS, OUT1, OUT2 come back as DSR, CTS, RI, DCD. */
START_TEST(test_uart16550_loopback_modem_lines)
{
	static const uint8_t outputs[] = {0x01, 0x02, 0x04, 0x08, 0x0a, 0x00};
	static const uint8_t inputs[] = {0x20, 0x10, 0x40, 0x80, 0x90, 0x00};

	wr(4, (uint8_t)(0x10 | outputs[_i]));
	ck_assert_uint_eq(rd(6), inputs[_i]);
	wr(4, outputs[_i]);
	ck_assert_uint_eq(rd(6), 0xb0);
}
END_TEST

START_TEST(test_uart16550_fifo_reset_drops_data)
{
	wr(4, 0x10);
	wr(2, 0x01);
	wr(0, 0x55);
	wr(2, 0x01);
	ck_assert_uint_eq(rd(5), 0x61);
	wr(2, 0x03);
	ck_assert_uint_eq(rd(5), 0x60);
	wr(0, 0x55);
	wr(2, 0x00);
	ck_assert_uint_eq(rd(5), 0x60);
	/* The receive clear bit alone, FIFOs off, does nothing. */
	wr(0, 0x55);
	wr(2, 0x02);
	ck_assert_uint_eq(rd(5), 0x61);
}
END_TEST

START_TEST(test_uart16550_offsets_wrap)
{
	wr(8 + 7, 0x3c);
	ck_assert_uint_eq(rd(7), 0x3c);
	ck_assert_uint_eq(rd(UINT32_MAX), 0x3c);
	ck_assert_uint_eq(rd(8 + 5), 0x60);
}
END_TEST

/* Whatever a guest does: the transmitter is ready, no interrupt is reported,
 * and a byte leaves only by THR outside loopback. */
START_TEST(test_uart16550_random_accesses)
{
	uint64_t seed = 0x16550;
	int i;

	for (i = 0; i < 20000; i++) {
		unsigned int offset = (unsigned int)(prng_next(&seed) % 8);
		uint8_t value = (uint8_t)prng_next(&seed);
		bool to_line =
			offset == 0 && !(uart.lcr & 0x80) && !(uart.mcr & 0x10);
		uint8_t out_byte = 0;

		if (prng_next(&seed) & 1) {
			rd(offset);
			continue;
		}
		tap_require(uart16550_write(&uart, offset, value, &out_byte) ==
			    to_line);
		tap_require(!to_line || out_byte == value);
		tap_require((rd(5) & 0x60) == 0x60);
		tap_require((rd(2) & 0x3f) == 0x01);
	}
}
END_TEST

static Suite *uart16550_suite(void)
{
	Suite *suite = suite_create("uart16550");
	TCase *registers = tcase_create("registers");
	TCase *loopback = tcase_create("loopback");

	tcase_add_checked_fixture(registers, setup, NULL);
	tcase_add_test(registers, test_uart16550_reset_values);
	tcase_add_test(registers, test_uart16550_sends_every_byte);
	tcase_add_test(registers, test_uart16550_divisor_latch);
	tcase_add_test(registers, test_uart16550_read_back);
	tcase_add_test(registers, test_uart16550_no_interrupt_pending);
	tcase_add_test(registers, test_uart16550_status_is_read_only);
	tcase_add_test(registers, test_uart16550_offsets_wrap);
	tcase_add_test(registers, test_uart16550_random_accesses);

	tcase_add_checked_fixture(loopback, setup, NULL);
	tcase_add_test(loopback, test_uart16550_loopback_data);
	tcase_add_loop_test(loopback, test_uart16550_loopback_modem_lines, 0,
			    6);
	tcase_add_test(loopback, test_uart16550_fifo_reset_drops_data);

	suite_add_tcase(suite, registers);
	suite_add_tcase(suite, loopback);
	return suite;
}

int main(void)
{
	return tap_run(uart16550_suite());
}
