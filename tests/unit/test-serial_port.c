/* SPDX-License-Identifier: MIT */
/*
 * The line before the chip: nothing is lost, nothing comes twice, whatever the
 * guest does to the chip. Offsets and bits are literal: they are what a
 * driver writes.
 */
#include "serial_port.h"

#include <string.h>

#include "tap.h"

enum {
	RBR = 0,
	IER = 1,
	FCR = 2,
	LCR = 3,
	MCR = 4,
	LSR = 5,
	MSR = 6,
	LOOKS = 8,
};

static struct serial_port port;
static uint8_t unused;

static void setup(void)
{
	serial_port_init(&port);
}

static void put(const char *text)
{
	ck_assert_uint_eq(
		serial_port_put(&port, (const uint8_t *)text, strlen(text)),
		strlen(text));
}

static void write_register(unsigned int offset, uint8_t value)
{
	ck_assert(!serial_port_write(&port, offset, value, &unused));
}

static uint8_t read_register(unsigned int offset)
{
	uint8_t value = serial_port_read(&port, offset);

	serial_port_go_on(&port);
	return value;
}

/* As a polling guest does: looks until there is something, or so often that it
 * would have been told by now. */
static int poll_byte(void)
{
	for (int i = 0; i < 1 + LOOKS; i++)
		if (read_register(LSR) & 0x01)
			return read_register(RBR);
	return -1;
}

static void expect(const char *text)
{
	for (; *text; text++)
		ck_assert_int_eq(poll_byte(), (uint8_t)*text);
}

START_TEST(test_serial_port_polled)
{
	write_register(FCR, _i ? 0x07 : 0x00);
	put("a longer text than the chip holds by itself");
	expect("a longer text than the chip holds by itself");
	ck_assert_int_eq(poll_byte(), -1);
	put("more");
	expect("more");
	ck_assert_int_eq(poll_byte(), -1);
}
END_TEST

static void print(unsigned int count)
{
	uint8_t byte;

	while (count--) {
		ck_assert_uint_eq(read_register(LSR), 0x60);
		ck_assert(serial_port_write(&port, RBR, 'x', &byte));
		serial_port_sent(&port);
	}
}

/* A guest that prints reads LSR before each byte: no look for input. Nor is
 * one look at each register, as a driver takes when it starts. */
START_TEST(test_serial_port_waits_for_looks)
{
	put("early");
	print(10 * LOOKS);
	for (unsigned int i = 0; i < 10 * 8; i++)
		read_register(i);
	ck_assert_uint_eq(port.uart.received, 0);
	ck_assert_uint_eq(serial_port_room(&port, false), 0);
	ck_assert(!serial_port_wants(&port));
	expect("early");
	ck_assert_uint_eq(serial_port_room(&port, false), SERIAL_LINE_SIZE);
}
END_TEST

/* It looks for a key each time that it has printed something. */
START_TEST(test_serial_port_looks_between_prints)
{
	put("key");
	for (int i = 0; i < LOOKS; i++) {
		print(3);
		ck_assert_uint_eq(read_register(LSR), 0x60);
	}
	ck_assert_uint_eq(read_register(LSR), 0x61);
	expect("key");
}
END_TEST

/* What Linux does to the chip when it finds it, prints by it, and starts to use
 * it; at the end its receive interrupt goes on. Whether a boot loader had
 * polled before makes no difference. */
static void linux_finds_it(void)
{
	write_register(IER, 0x00);
	write_register(IER, 0x0f);
	read_register(IER);
	write_register(IER, 0x00);
	write_register(MCR, 0x1a);
	read_register(MSR);
	write_register(MCR, 0x00);
	write_register(FCR, 0x01);
	read_register(FCR);
	write_register(FCR, 0x01);
	write_register(FCR, 0x07);
	write_register(FCR, 0x00);
	read_register(RBR);
	write_register(IER, 0x00);
}

static void linux_reads_all(void)
{
	read_register(LSR);
	read_register(RBR);
	read_register(FCR);
	read_register(MSR);
}

static void linux_starts_it(void)
{
	write_register(FCR, 0x01);
	write_register(FCR, 0x07);
	write_register(FCR, 0x00);
	linux_reads_all();
	read_register(LSR); /* is the port there? */
	read_register(LSR); /* is the transmitter empty? */
	for (int i = 0; i < 2; i++) {
		write_register(IER, 0x02);
		read_register(FCR);
		write_register(IER, 0x00);
	}
	write_register(LCR, 0x03);
	write_register(MCR, 0x08);
	write_register(IER, 0x02);
	read_register(LSR);
	read_register(FCR);
	write_register(IER, 0x00);
	linux_reads_all();
	write_register(FCR, 0x01);
	write_register(FCR, 0x81);
	write_register(IER, 0x05);
}

START_TEST(test_serial_port_linux)
{
	put("+ there before Linux");
	if (_i)
		expect("+ ");
	else
		put("!");
	linux_finds_it();
	print(100);
	linux_starts_it();
	expect(_i ? "there before Linux" : "+ there before Linux!");
	ck_assert_int_eq(poll_byte(), -1);
}
END_TEST

/* Once the guest takes what there is, it does not have to look twice. */
START_TEST(test_serial_port_goes_on_after_a_byte)
{
	put("abc");
	expect("a");
	for (const char *at = "bc"; *at; at++) {
		ck_assert(read_register(LSR) & 0x01);
		ck_assert_uint_eq(read_register(RBR), (uint8_t)*at);
	}
	ck_assert(!(read_register(LSR) & 0x01));
}
END_TEST

START_TEST(test_serial_port_interrupts)
{
	put("early");
	write_register(MCR, 0x08);
	ck_assert(!uart16550_irq(&port.uart));
	write_register(IER, 0x01);
	ck_assert(uart16550_irq(&port.uart));
	expect("early");
	ck_assert(!uart16550_irq(&port.uart));
	/* The line is up between two bytes, FIFO or not: a driver that asks
	 * IIR for more is told of it. */
	put("late");
	for (const char *at = "late"; *at; at++) {
		ck_assert(uart16550_irq(&port.uart));
		ck_assert_uint_eq(read_register(RBR), (uint8_t)*at);
	}
	ck_assert(!uart16550_irq(&port.uart));
}
END_TEST

/* Between two bytes it has been down, where that is to be seen by an edge. */
START_TEST(test_serial_port_interrupt_of_each_byte)
{
	write_register(MCR, 0x08);
	write_register(IER, 0x01);
	write_register(FCR, _i ? 0x41 : 0x00);
	put("abc");
	for (const char *at = "abc"; *at; at++) {
		ck_assert(serial_port_irq(&port));
		ck_assert_uint_eq(serial_port_read(&port, RBR), (uint8_t)*at);
		ck_assert(!serial_port_irq(&port));
		serial_port_go_on(&port);
	}
	ck_assert(!serial_port_irq(&port));
}
END_TEST

/* A driver switches the FIFO, or empties it, with the interrupt on: what was
 * in there had not been read. */
START_TEST(test_serial_port_survives_a_clear)
{
	write_register(IER, 0x01);
	put("0123456789abcdefghijklmnopqrstuvwxyz");
	write_register(FCR, 0x01);
	expect("012");
	write_register(FCR, 0x07);
	expect("345");
	write_register(FCR, 0x00);
	expect("6");
	write_register(FCR, 0x03);
	expect("789abcdefghijklmnopqrstuvwxyz");
	ck_assert_int_eq(poll_byte(), -1);
}
END_TEST

/* In loopback the line is off, and what the guest sends itself is not of it. */
START_TEST(test_serial_port_loopback)
{
	uint8_t byte;

	write_register(FCR, 0x07);
	put("line");
	write_register(MCR, 0x10);
	ck_assert_int_eq(poll_byte(), -1);
	ck_assert(!serial_port_write(&port, RBR, 'L', &byte));
	ck_assert_int_eq(poll_byte(), 'L');
	ck_assert_int_eq(poll_byte(), -1);
	write_register(MCR, 0x00);
	expect("line");
	ck_assert_int_eq(poll_byte(), -1);
}
END_TEST

/* What the guest sent itself and has not read is before the line's bytes, and
 * is none of them: where a clear throws both away, the line's come again. */
START_TEST(test_serial_port_echo_before_the_line)
{
	write_register(FCR, 0x01);
	write_register(MCR, 0x10);
	write_register(RBR, 'E');
	write_register(MCR, 0x00);
	write_register(IER, 0x01);
	put("line");
	ck_assert_int_eq(read_register(RBR), 'E');
	write_register(FCR, 0x03);
	expect("line");
	ck_assert_int_eq(poll_byte(), -1);
}
END_TEST

/* Without a FIFO loopback writes over a byte of the line: the guest has not
 * read that, however alike the two are. */
START_TEST(test_serial_port_echo_over_the_line)
{
	put("line");
	write_register(IER, 0x01);
	ck_assert_uint_eq(port.uart.received, 1);
	write_register(MCR, 0x10);
	write_register(RBR, _i ? 'l' : 'E');
	ck_assert_int_eq(read_register(RBR), _i ? 'l' : 'E');
	write_register(MCR, 0x00);
	expect("line");
}
END_TEST

/* A guest that waits for an interrupt gets it, though what it read last was
 * its own. */
START_TEST(test_serial_port_echo_then_the_line)
{
	write_register(FCR, _i ? 0x01 : 0x00);
	write_register(MCR, 0x10);
	write_register(RBR, 'E');
	put("a");
	write_register(MCR, 0x08);
	write_register(IER, 0x01);
	ck_assert_int_eq(read_register(RBR), 'E');
	ck_assert(serial_port_irq(&port));
	ck_assert_int_eq(read_register(RBR), 'a');
}
END_TEST

static void fill(void)
{
	static uint8_t bytes[SERIAL_LINE_SIZE + 5];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	ck_assert_uint_eq(serial_port_put(&port, bytes, sizeof(bytes)),
			  SERIAL_LINE_SIZE);
	ck_assert_uint_eq(serial_port_put(&port, bytes, 1), 0);
}

/* Whoever found no room is told once, and not for each byte. */
START_TEST(test_serial_port_room)
{
	unsigned int told = 0, told_after = 0;

	ck_assert_uint_eq(serial_port_room(&port, true), SERIAL_LINE_SIZE);
	fill();
	ck_assert_uint_eq(serial_port_room(&port, true), 0);
	for (unsigned int i = 0; i < SERIAL_LINE_SIZE; i++) {
		int byte = poll_byte();

		tap_require(byte == (uint8_t)(i * 7 + i / 256));
		if (serial_port_wants(&port)) {
			told++;
			told_after = i + 1;
		}
	}
	ck_assert_uint_eq(told, 1);
	ck_assert_uint_eq(told_after, SERIAL_LINE_SIZE / 2);
	ck_assert_int_eq(poll_byte(), -1);
	ck_assert(!serial_port_wants(&port));
}
END_TEST

/* A source that may wait is told when the guest first looks. */
START_TEST(test_serial_port_first_looks)
{
	ck_assert_uint_eq(serial_port_room(&port, false), 0);
	for (int i = 0; i < LOOKS; i++) {
		read_register(LSR);
		ck_assert(!serial_port_wants(&port));
	}
	read_register(LSR);
	ck_assert(serial_port_wants(&port));
	ck_assert(!serial_port_wants(&port));
	/* Nobody waits, nobody is told. */
	ck_assert_uint_eq(serial_port_room(&port, false), SERIAL_LINE_SIZE);
	read_register(LSR);
	ck_assert(!serial_port_wants(&port));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("serial_port");
	TCase *tc = tcase_create("line");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_serial_port_polled, 0, 2);
	tcase_add_test(tc, test_serial_port_waits_for_looks);
	tcase_add_test(tc, test_serial_port_looks_between_prints);
	tcase_add_loop_test(tc, test_serial_port_linux, 0, 2);
	tcase_add_test(tc, test_serial_port_goes_on_after_a_byte);
	tcase_add_test(tc, test_serial_port_interrupts);
	tcase_add_loop_test(tc, test_serial_port_interrupt_of_each_byte, 0, 2);
	tcase_add_test(tc, test_serial_port_survives_a_clear);
	tcase_add_test(tc, test_serial_port_loopback);
	tcase_add_test(tc, test_serial_port_echo_before_the_line);
	tcase_add_loop_test(tc, test_serial_port_echo_over_the_line, 0, 2);
	tcase_add_loop_test(tc, test_serial_port_echo_then_the_line, 0, 2);
	tcase_add_test(tc, test_serial_port_room);
	tcase_add_test(tc, test_serial_port_first_looks);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
