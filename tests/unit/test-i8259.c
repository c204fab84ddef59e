/* SPDX-License-Identifier: MIT */
/*
 * The pair of interrupt controllers through its ports. Ports and command words
 * are literal here: they are what the data sheet says, not what the model's
 * own names say.
 */
#include "i8259_case.h"

#include "prng.h"

START_TEST(test_i8259_probe)
{
	out(0xa1, 0xff);
	out(0x21, 0xfb);
	ck_assert_uint_eq(in(0x21), 0xfb);
	ck_assert_uint_eq(in(0xa1), 0xff);
	out(0x21, 0xff);
	ck_assert_uint_eq(in(0x21), 0xff);
}
END_TEST

/* Not even with nothing masked, and not in the middle of the sequence. */
START_TEST(test_i8259_silent_until_initialised)
{
	out(0x21, 0);
	out(0xa1, 0);
	line(1, true);
	line(9, true);
	check_idle();
	ck_assert_uint_eq(irr(0x20), 0x02);
	out(0x20, 0x11);
	line(1, false);
	line(1, true);
	check_idle();
	out(0x21, 0x47);
	out(0x21, 0x04);
	check_idle();
	out(0x21, 0x01);
	check_ack(0x41);
}
END_TEST

START_TEST(test_i8259_short_sequences)
{
	/* No ICW4. */
	out(0x20, 0x10);
	out(0x21, 0x30);
	out(0x21, 0x04);
	out(0x21, 0xfe);
	ck_assert_uint_eq(in(0x21), 0xfe);
	/* Single: no ICW3. */
	out(0x20, 0x13);
	out(0x21, 0x30);
	out(0x21, 0x01);
	out(0x21, 0xfd);
	ck_assert_uint_eq(in(0x21), 0xfd);
	out(0x20, 0x12);
	out(0x21, 0x30);
	out(0x21, 0xfb);
	ck_assert_uint_eq(in(0x21), 0xfb);
}
END_TEST

START_TEST(test_i8259_icw1_starts_over)
{
	line(3, true);
	line(4, true);
	check_ack(0x33);
	out(0x21, 0x80);
	out(0x20, 0xc3); /* lowest: 3 */
	out(0x20, 0x68); /* special mask mode */
	out(0x20, 0x80); /* rotation */
	initialise(0x01);
	ck_assert_uint_eq(in(0x20), 0); /* the IRR, and no edge */
	ck_assert_uint_eq(isr(0x20), 0);
	ck_assert_uint_eq(in(0x21), 0);
	check_idle();
	line(3, false);
	line(3, true);
	line(7, true);
	line(4, false);
	line(4, true);
	check_ack(0x33);
	out(0x21, 0x08);
	check_idle();
}
END_TEST

START_TEST(test_i8259_every_irq)
{
	unsigned int irq = (unsigned int)_i;
	uint16_t port = irq < 8 ? 0x20 : 0xa0;

	if (irq == 2)
		return;
	line(irq, true);
	check_ack((uint8_t)(0x30 + irq));
	check_idle();
	ck_assert_uint_eq(isr(port), 1u << irq % 8);
	ck_assert_uint_eq(isr(0x20), irq < 8 ? 1u << irq : 0x04);
	/* High all the time: no second one. */
	out(port, 0x20);
	out(0x20, 0x20);
	ck_assert_uint_eq(isr(0x20), 0);
	ck_assert_uint_eq(isr(0xa0), 0);
	line(irq, true);
	check_idle();
	line(irq, false);
	line(irq, true);
	check_ack((uint8_t)(0x30 + irq));
	ck_assert_uint_eq(pic.spurious, 0);
}
END_TEST

START_TEST(test_i8259_mask)
{
	out(0x21, 0x10);
	line(4, true);
	check_idle();
	ck_assert_uint_eq(irr(0x20), 0x10);
	/* Unlike an I/O APIC, it keeps the edge. */
	out(0x21, 0x00);
	check_ack(0x34);
	out(0x20, 0x20);
	out(0x21, 0x04);
	line(12, true);
	check_idle();
	out(0x21, 0x00);
	check_ack(0x3c);
}
END_TEST

START_TEST(test_i8259_priorities)
{
	line(5, true);
	line(3, true);
	line(14, true);
	check_ack(0x3e);
	check_idle();
	line(1, true);
	check_ack(0x31);
	line(0, true);
	check_ack(0x30);
	check_idle();
	/* Ends the best one each time. */
	out(0x20, 0x20);
	ck_assert_uint_eq(isr(0x20), 0x06);
	out(0x20, 0x20);
	ck_assert_uint_eq(isr(0x20), 0x04);
	out(0xa0, 0x20);
	out(0x20, 0x20);
	check_ack(0x33);
	/* This one by name. */
	out(0x20, 0x63);
	check_ack(0x35);
	out(0x20, 0x63);
	ck_assert_uint_eq(isr(0x20), 0x20);
	out(0x20, 0x65);
	ck_assert_uint_eq(isr(0x20), 0);
	out(0x20, 0x20);
	ck_assert_uint_eq(isr(0x20), 0);
}
END_TEST

START_TEST(test_i8259_level)
{
	out(0x4d0, 0xff);
	out(0x4d1, 0xff);
	ck_assert_uint_eq(in(0x4d0), 0xf8);
	ck_assert_uint_eq(in(0x4d1), 0xde);
	line(5, true);
	check_ack(0x35);
	out(0x20, 0x20);
	check_ack(0x35);
	line(5, false);
	out(0x20, 0x20);
	check_idle();
	line(11, true);
	check_ack(0x3b);
	out(0xa0, 0x20);
	out(0x20, 0x20);
	check_ack(0x3b);
	line(11, false);
	out(0xa0, 0x20);
	out(0x20, 0x20);
	check_idle();
	/* A level survives ICW1, an edge does not. */
	line(5, true);
	line(1, true);
	initialise(0x01);
	ck_assert_uint_eq(irr(0x20), 0x20);
	/* From edge to level under a line that is high. */
	check_ack(0x35);
	out(0x4d0, 0);
	out(0x20, 0x20);
	check_ack(0x35);
	out(0x20, 0x20);
	check_idle();
	out(0x4d0, 0x20);
	check_ack(0x35);
}
END_TEST

START_TEST(test_i8259_spurious)
{
	line(3, true);
	line(3, false);
	check_idle();
	ck_assert_uint_eq(irr(0x20), 0);
	ck_assert_uint_eq(i8259_intack(&pic), 0x37);
	ck_assert_uint_eq(isr(0x20), 0);
	ck_assert_uint_eq(pic.spurious, 1);
	/* The second chip asked; what it asked for is gone. */
	line(11, true);
	line(11, false);
	check_ack(0x3f);
	ck_assert_uint_eq(isr(0xa0), 0);
	ck_assert_uint_eq(isr(0x20), 0x04);
	ck_assert_uint_eq(pic.spurious, 2);
	out(0x20, 0x62);
	check_idle();
}
END_TEST

/* What waits behind something better is not what a chip answers with. */
START_TEST(test_i8259_spurious_while_another_waits)
{
	line(3, true);
	check_ack(0x33);
	line(6, true);
	check_idle();
	ck_assert_uint_eq(i8259_intack(&pic), 0x37);
	ck_assert_uint_eq(isr(0x20), 0x08);
	ck_assert_uint_eq(irr(0x20), 0x40);
	out(0x20, 0x20);
	check_ack(0x36);
	out(0x20, 0x20);
	/* The second chip: 9 is served, 12 waits, and 8 does not stay. */
	line(9, true);
	check_ack(0x39);
	out(0x20, 0x20);
	line(12, true);
	check_idle();
	line(8, true);
	line(8, false);
	check_ack(0x3f);
	ck_assert_uint_eq(isr(0xa0), 0x02);
	ck_assert_uint_eq(irr(0xa0), 0x10);
	ck_assert_uint_eq(pic.spurious, 2);
	out(0x20, 0x20);
	out(0xa0, 0x20);
	check_ack(0x3c);
}
END_TEST

START_TEST(test_i8259_second_chip_asks_again)
{
	line(12, true);
	line(13, true);
	check_ack(0x3c);
	/* Better, but the first chip serves the second already. */
	line(8, true);
	check_idle();
	out(0x20, 0x20);
	check_ack(0x38);
	out(0xa0, 0x20);
	out(0xa0, 0x20);
	out(0x20, 0x20);
	check_ack(0x3d);
	out(0xa0, 0x20);
	out(0x20, 0x20);
	check_idle();
}
END_TEST

START_TEST(test_i8259_read_select)
{
	line(3, true);
	line(4, true);
	check_ack(0x33);
	ck_assert_uint_eq(in(0x20), 0x10);
	out(0x20, 0x0b);
	ck_assert_uint_eq(in(0x20), 0x08);
	ck_assert_uint_eq(in(0x20), 0x08);
	out(0x20, 0x08); /* no choice made */
	ck_assert_uint_eq(in(0x20), 0x08);
	out(0x20, 0x0a);
	ck_assert_uint_eq(in(0x20), 0x10);
}
END_TEST

/* Whatever a guest and the devices do: an acknowledge after INTR is never
 * IRQ 7 by mistake, and nothing masked is delivered. */
START_TEST(test_i8259_random)
{
	static const uint16_t ports[] = {0x20, 0x21, 0xa0, 0xa1, 0x4d0, 0x4d1};
	uint64_t seed = 0x8259;
	int i;

	for (i = 0; i < 50000; i++) {
		uint64_t r = prng_next(&seed);
		unsigned int irq = (unsigned int)(r >> 8) % 16;
		uint16_t port = ports[(r >> 16) % 6];
		uint8_t waiting = pic.chip[0].irr & (uint8_t)~pic.chip[0].imr;
		uint8_t base = pic.chip[0].vector_base;

		switch (r & 3) {
		case 0:
			i8259_write(&pic, port, (uint8_t)(r >> 32));
			break;
		case 1:
			i8259_read(&pic, port);
			break;
		case 2:
			if (irq != 2)
				line(irq, r >> 12 & 1);
			break;
		default:
			if (i8259_intr(&pic)) {
				uint8_t vector = i8259_intack(&pic);

				tap_require((waiting & 0x04) ||
					    (vector >= base &&
					     vector < base + 8 &&
					     (waiting >> (vector - base) & 1)));
			}
		}
	}
}
END_TEST

static Suite *i8259_suite(void)
{
	Suite *suite = suite_create("i8259");
	TCase *cold = tcase_create("initialisation");
	TCase *all = tcase_create("operation");

	tcase_add_checked_fixture(cold, setup_cold, NULL);
	tcase_add_test(cold, test_i8259_probe);
	tcase_add_test(cold, test_i8259_silent_until_initialised);
	tcase_add_test(cold, test_i8259_short_sequences);

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_test(all, test_i8259_icw1_starts_over);
	tcase_add_loop_test(all, test_i8259_every_irq, 0, 16);
	tcase_add_test(all, test_i8259_mask);
	tcase_add_test(all, test_i8259_priorities);
	tcase_add_test(all, test_i8259_level);
	tcase_add_test(all, test_i8259_spurious);
	tcase_add_test(all, test_i8259_spurious_while_another_waits);
	tcase_add_test(all, test_i8259_second_chip_asks_again);
	tcase_add_test(all, test_i8259_read_select);
	tcase_add_test(all, test_i8259_random);

	suite_add_tcase(suite, cold);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return tap_run(i8259_suite());
}
