/* SPDX-License-Identifier: MIT */
/*
 * The interrupts of the serial port: sources, order, and the line.
 */
#include "uart16550_case.h"

START_TEST(test_uart16550_receive_interrupt)
{
	wr(4, 0x08);
	receive("a");
	ck_assert(!irq());
	wr(1, 0x01);
	ck_assert(irq());
	ck_assert_uint_eq(rd(2), 0x04);
	ck_assert_uint_eq(rd(2), 0x04);
	rd(0);
	ck_assert(!irq());
	ck_assert_uint_eq(rd(2), 0x01);
}
END_TEST

START_TEST(test_uart16550_trigger_levels)
{
	static const unsigned int levels[] = {1, 4, 8, 14};
	unsigned int i;

	wr(4, 0x08);
	wr(1, 0x01);
	wr(2, (uint8_t)(_i << 6 | 0x01));
	for (i = 1; i <= 16; i++) {
		receive("a");
		ck_assert(irq());
		ck_assert_uint_eq(rd(2), i < levels[_i] ? 0xcc : 0xc4);
	}
	for (i = 15; i > 0; i--) {
		rd(0);
		ck_assert_uint_eq(rd(2), i < levels[_i] ? 0xcc : 0xc4);
	}
	rd(0);
	ck_assert(!irq());
	/* The level stays with the chip while FIFOs are off, unused. */
	wr(2, 0xc0);
	receive("a");
	ck_assert_uint_eq(rd(2), 0x04);
}
END_TEST

/* A read ends the time-out, and below the trigger nothing else is up; another
 * time-out comes, for each byte that is left. From the trigger on the line
 * stays. */
START_TEST(test_uart16550_time_out_after_a_read)
{
	wr(4, 0x08);
	wr(1, 0x01);
	wr(2, 0x41);
	receive("abcdef");
	for (unsigned int left = 5; left > 0; left--) {
		uart16550_read(&uart, 0);
		ck_assert_int_eq(irq(), left >= 4);
		uart16550_timed_out(&uart);
		ck_assert(irq());
	}
	/* Only data is read, and only what there is. */
	uart16550_read(&uart, 5);
	ck_assert(irq());
	rd(0);
	uart16550_read(&uart, 0);
	receive("g");
	ck_assert(irq());
}
END_TEST

/* The interrupts that are not of data do not wait for it. */
START_TEST(test_uart16550_other_sources_after_a_read)
{
	wr(4, 0x08);
	wr(1, 0x03);
	wr(2, 0x41);
	receive("ab");
	uart16550_read(&uart, 0);
	ck_assert(irq());
}
END_TEST

/* What Linux tests before it trusts the interrupt: twice enabled, twice there,
 * and gone when it is off. */
START_TEST(test_uart16550_thr_interrupt)
{
	wr(4, 0x08);
	wr(1, 0x02);
	ck_assert(irq());
	ck_assert_uint_eq(rd(2), 0x02);
	ck_assert(!irq());
	ck_assert_uint_eq(rd(2), 0x01);
	wr(1, 0x00);
	wr(1, 0x02);
	ck_assert(irq());
	wr(1, 0x00);
	ck_assert(!irq());
	ck_assert_uint_eq(rd(2), 0x01);
	/* Enabled again without having been off: nothing new. */
	wr(1, 0x02);
	rd(2);
	wr(1, 0x03);
	ck_assert(!irq());
}
END_TEST

START_TEST(test_uart16550_thr_interrupt_of_each_byte)
{
	uint8_t out_byte;

	wr(4, 0x08);
	wr(1, 0x02);
	ck_assert(irq());
	/* The line goes low for the byte, and comes back. */
	ck_assert(uart16550_write(&uart, 0, 'a', &out_byte));
	ck_assert(!irq());
	uart16550_sent(&uart);
	ck_assert(irq());
	ck_assert_uint_eq(rd(2), 0x02);
	ck_assert(!irq());
	send('b');
	ck_assert(irq());
}
END_TEST

/* The order: line status, data, THR, modem. Reading IIR ends THR's only where
 * it shows it. */
START_TEST(test_uart16550_priorities)
{
	wr(4, 0x10);
	wr(0, 'a');
	wr(0, 'b');
	wr(4, 0x08);
	wr(1, 0x0f);
	ck_assert(irq());
	ck_assert_uint_eq(rd(2), 0x06);
	ck_assert_uint_eq(rd(5), 0x63);
	ck_assert_uint_eq(rd(2), 0x04);
	ck_assert_uint_eq(rd(0), 'b');
	ck_assert_uint_eq(rd(2), 0x02);
	ck_assert_uint_eq(rd(2), 0x00);
	ck_assert(irq());
	ck_assert_uint_eq(rd(6), 0xbb);
	ck_assert_uint_eq(rd(2), 0x01);
	ck_assert(!irq());
}
END_TEST

/* All four are pending; each has an enable bit of its own. */
START_TEST(test_uart16550_enables)
{
	static const uint8_t enables[] = {0x00, 0x01, 0x02, 0x04, 0x08};
	static const uint8_t sources[] = {0x01, 0x04, 0x02, 0x06, 0x00};

	wr(4, 0x10);
	wr(0, 'a');
	wr(0, 'b');
	wr(4, 0x08);
	wr(1, enables[_i]);
	ck_assert_int_eq(irq(), _i != 0);
	ck_assert_uint_eq(rd(2), sources[_i]);
}
END_TEST

START_TEST(test_uart16550_out2_gates)
{
	wr(1, 0x01);
	receive("a");
	ck_assert(!irq());
	ck_assert_uint_eq(rd(2), 0x04);
	wr(4, 0x08);
	ck_assert(irq());
	wr(4, 0x18);
	ck_assert(!irq());
	wr(4, 0x07);
	ck_assert(!irq());
}
END_TEST

static Suite *uart16550_irq_suite(void)
{
	Suite *suite = suite_create("uart16550_irq");
	TCase *interrupts = tcase_create("interrupts");

	tcase_add_checked_fixture(interrupts, setup, NULL);
	tcase_add_test(interrupts, test_uart16550_receive_interrupt);
	tcase_add_loop_test(interrupts, test_uart16550_trigger_levels, 0, 4);
	tcase_add_test(interrupts, test_uart16550_time_out_after_a_read);
	tcase_add_test(interrupts, test_uart16550_other_sources_after_a_read);
	tcase_add_test(interrupts, test_uart16550_thr_interrupt);
	tcase_add_test(interrupts, test_uart16550_thr_interrupt_of_each_byte);
	tcase_add_test(interrupts, test_uart16550_priorities);
	tcase_add_loop_test(interrupts, test_uart16550_enables, 0, 5);
	tcase_add_test(interrupts, test_uart16550_out2_gates);

	suite_add_tcase(suite, interrupts);
	return suite;
}

int main(void)
{
	return tap_run(uart16550_irq_suite());
}
