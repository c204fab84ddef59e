/* SPDX-License-Identifier: MIT */
/*
 * The serial port through its register window, as drivers use it. Offsets and
 * bits are literal here: they are what the data sheet says, not what the
 * model's own names say.
 */
#include "uart16550_case.h"

#include "prng.h"

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

START_TEST(test_uart16550_fifo_bits)
{
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
	ck_assert_uint_eq(rd(6) & 0xf0, inputs[_i]);
	ck_assert_uint_eq(rd(6), inputs[_i]);
	wr(4, outputs[_i]);
	ck_assert_uint_eq(rd(6) & 0xf0, 0xb0);
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

START_TEST(test_uart16550_modem_deltas)
{
	/* CTS, DSR and DCD go off; RI was off. */
	wr(4, 0x10);
	ck_assert_uint_eq(rd(6), 0x0b);
	ck_assert_uint_eq(rd(6), 0x00);
	wr(4, 0x12);
	ck_assert_uint_eq(rd(6), 0x11);
	/* A ring begins, which is not noted, and ends. */
	wr(4, 0x16);
	ck_assert_uint_eq(rd(6), 0x50);
	wr(4, 0x12);
	ck_assert_uint_eq(rd(6), 0x14);
	/* There and back is a change. */
	wr(4, 0x13);
	wr(4, 0x12);
	ck_assert_uint_eq(rd(6), 0x12);
	wr(4, 0x00);
	ck_assert_uint_eq(rd(6), 0xba);
	/* Outside, the outputs reach no input. */
	wr(4, 0x0f);
	ck_assert_uint_eq(rd(6), 0xb0);
}
END_TEST

START_TEST(test_uart16550_receives)
{
	receive("a");
	ck_assert(!uart16550_receive(&uart, 'b'));
	ck_assert_uint_eq(rd(5), 0x61);
	ck_assert_uint_eq(rd(0), 'a');
	ck_assert_uint_eq(rd(5), 0x60);
	ck_assert_uint_eq(rd(0), 'a');
	ck_assert_uint_eq(rd(5), 0x60);
	receive("c");
	ck_assert_uint_eq(rd(0), 'c');
	/* Sending does not disturb it. */
	receive("d");
	send('x');
	ck_assert_uint_eq(rd(0), 'd');
}
END_TEST

START_TEST(test_uart16550_receive_fifo)
{
	unsigned int i, round;

	wr(2, 0x01);
	for (round = 0; round < 3; round++) {
		receive("0123456789abcdef");
		ck_assert(!uart16550_receive(&uart, 'g'));
		for (i = 0; i < 5; i++)
			ck_assert_uint_eq(rd(0), (unsigned int)'0' + i);
		receive("ghijk");
		ck_assert(!uart16550_receive(&uart, 'l'));
		for (i = 0; i < 16; i++) {
			ck_assert_uint_eq(rd(5), 0x61);
			ck_assert_uint_eq(rd(0),
					  (uint8_t) "56789abcdefghijk"[i]);
		}
		ck_assert_uint_eq(rd(5), 0x60);
		/* So that it goes round. */
		receive("xyz");
		wr(2, 0x01);
		ck_assert_uint_eq(rd(0), 'x');
		rd(0);
		rd(0);
	}
}
END_TEST

START_TEST(test_uart16550_fifo_resets)
{
	wr(2, 0x01);
	receive("ab");
	wr(2, 0x05); /* the transmitter's */
	ck_assert_uint_eq(rd(5), 0x61);
	wr(2, 0x03);
	ck_assert_uint_eq(rd(5), 0x60);
	receive("cd");
	wr(2, 0x00);
	ck_assert_uint_eq(rd(5), 0x60);
	receive("e");
	wr(2, 0x01);
	ck_assert_uint_eq(rd(5), 0x60);
	receive("fg");
	ck_assert_uint_eq(rd(0), 'f');
}
END_TEST

/* The divisor latch is in front of the data. */
START_TEST(test_uart16550_receive_behind_the_latch)
{
	receive("a");
	wr(3, 0x80);
	wr(0, 0x0c);
	ck_assert_uint_eq(rd(0), 0x0c);
	wr(3, 0x03);
	ck_assert_uint_eq(rd(0), 'a');
}
END_TEST

START_TEST(test_uart16550_loopback_is_off_the_line)
{
	uint8_t out_byte;

	wr(4, 0x10);
	ck_assert(!uart16550_receive(&uart, 'a'));
	ck_assert_uint_eq(rd(5), 0x60);
	wr(2, 0x01);
	for (unsigned int i = 0; i < 17; i++)
		wr(0, (uint8_t)i);
	/* The last one is lost: a FIFO keeps what it has. */
	ck_assert_uint_eq(rd(5), 0x63);
	ck_assert_uint_eq(rd(5), 0x61);
	for (unsigned int i = 0; i < 16; i++)
		ck_assert_uint_eq(rd(0), i);
	ck_assert_uint_eq(rd(5), 0x60);
	wr(4, 0x00);
	ck_assert(uart16550_write(&uart, 0, 'x', &out_byte));
}
END_TEST

/* The line waits until what came by loopback is read, or thrown away. */
START_TEST(test_uart16550_line_after_loopback)
{
	wr(2, 0x01);
	wr(4, 0x10);
	wr(0, 'E');
	wr(4, 0x00);
	ck_assert(!uart16550_receive(&uart, 'a'));
	ck_assert_uint_eq(uart16550_from_line(&uart), 0);
	if (_i)
		wr(2, 0x03);
	else
		ck_assert_uint_eq(rd(0), 'E');
	ck_assert(uart16550_receive(&uart, 'a'));
	ck_assert_uint_eq(uart16550_from_line(&uart), 1);
	ck_assert_uint_eq(rd(0), 'a');
	ck_assert_uint_eq(uart16550_from_line(&uart), 0);
}
END_TEST

/* Whatever a guest does: the transmitter is ready, a byte leaves only by THR
 * outside loopback, and the line agrees with IIR. */
START_TEST(test_uart16550_random_accesses)
{
	uint64_t seed = 0x16550;
	int i;

	for (i = 0; i < 20000; i++) {
		unsigned int offset = (unsigned int)(prng_next(&seed) % 9);
		uint8_t value = (uint8_t)prng_next(&seed);
		bool to_line =
			offset == 0 && !(uart.lcr & 0x80) && !(uart.mcr & 0x10);
		bool line = irq();
		uint8_t out_byte = 0;

		if (line)
			tap_require(!(rd(2) & 0x01));
		if (offset == 8) {
			uart16550_receive(&uart, value);
			continue;
		}
		if (prng_next(&seed) & 1) {
			rd(offset);
			continue;
		}
		tap_require(uart16550_write(&uart, offset, value, &out_byte) ==
			    to_line);
		tap_require(!to_line || out_byte == value);
		if (to_line)
			uart16550_sent(&uart);
		tap_require((rd(5) & 0x60) == 0x60);
		tap_require(uart.received <= (uart.fifo_enabled ? 16 : 1));
	}
}
END_TEST

static Suite *uart16550_suite(void)
{
	Suite *suite = suite_create("uart16550");
	TCase *registers = tcase_create("registers");
	TCase *loopback = tcase_create("loopback");
	TCase *input = tcase_create("input");

	tcase_add_checked_fixture(registers, setup, NULL);
	tcase_add_test(registers, test_uart16550_reset_values);
	tcase_add_test(registers, test_uart16550_sends_every_byte);
	tcase_add_test(registers, test_uart16550_divisor_latch);
	tcase_add_test(registers, test_uart16550_read_back);
	tcase_add_test(registers, test_uart16550_fifo_bits);
	tcase_add_test(registers, test_uart16550_status_is_read_only);
	tcase_add_test(registers, test_uart16550_offsets_wrap);
	tcase_add_test(registers, test_uart16550_random_accesses);

	tcase_add_checked_fixture(loopback, setup, NULL);
	tcase_add_test(loopback, test_uart16550_loopback_data);
	tcase_add_loop_test(loopback, test_uart16550_loopback_modem_lines, 0,
			    6);
	tcase_add_test(loopback, test_uart16550_fifo_reset_drops_data);
	tcase_add_test(loopback, test_uart16550_modem_deltas);
	tcase_add_test(loopback, test_uart16550_loopback_is_off_the_line);
	tcase_add_loop_test(loopback, test_uart16550_line_after_loopback, 0, 2);

	tcase_add_checked_fixture(input, setup, NULL);
	tcase_add_test(input, test_uart16550_receives);
	tcase_add_test(input, test_uart16550_receive_fifo);
	tcase_add_test(input, test_uart16550_fifo_resets);
	tcase_add_test(input, test_uart16550_receive_behind_the_latch);

	suite_add_tcase(suite, registers);
	suite_add_tcase(suite, loopback);
	suite_add_tcase(suite, input);
	return suite;
}

int main(void)
{
	return tap_run(uart16550_suite());
}
