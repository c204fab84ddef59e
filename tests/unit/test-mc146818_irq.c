/* SPDX-License-Identifier: MIT */
/*
 * The three interrupts of the clock: foretold, not a ns early, not lost.
 */
#include "mc146818_case.h"

#include "prng.h"

START_TEST(test_mc146818_update_interrupt)
{
	uint64_t second_ns = now_ns + S;

	now_ns += 100 * MS;
	wr(0x0b, 0x12);
	check_due(second_ns);
	ck_assert_uint_eq(rd(0x0c), 0x90 | 0x40);
	ck_assert(!irq());
	ck_assert_uint_eq(rd(0x0c), 0x00);
	check_due(second_ns + S);
	check_never(); /* it is high */
	/* Not enabled, the flag comes all the same. */
	rd(0x0c);
	wr(0x0b, 0x02);
	check_never();
	now_ns += S;
	ck_assert(!irq());
	wr(0x0b, 0x12);
	ck_assert(irq());
	ck_assert_uint_eq(rd(0x0c) & 0x90, 0x90);
	/* SET takes the enable away, and there are no updates. */
	wr(0x0b, 0x92);
	ck_assert_uint_eq(rd(0x0b), 0x82);
	now_ns += 5 * S;
	ck_assert_uint_eq(rd(0x0c) & 0x10, 0);
	wr(0x0b, 0x02);
	ck_assert_uint_eq(rd(0x0b), 0x02);
}
END_TEST

START_TEST(test_mc146818_alarm)
{
	uint64_t midnight_ns = now_ns + 2 * S;

	wr(0x0b, 0x22);
	wr(1, 0x30);
	wr(3, 0x15);
	wr(5, 0x06);
	check_due(midnight_ns + (6 * 3600 + 15 * 60 + 30) * S);
	ck_assert_uint_eq(rd(0x0c) & 0xa0, 0xa0);
	/* Each hour, each minute, each second. */
	wr(5, 0xc0);
	check_due(midnight_ns + (7 * 3600 + 15 * 60 + 30) * S);
	rd(0x0c);
	wr(3, 0xff);
	check_due(midnight_ns + (7 * 3600 + 16 * 60 + 30) * S);
	rd(0x0c);
	wr(1, 0xc1);
	check_due(midnight_ns + (7 * 3600 + 16 * 60 + 31) * S);
	rd(0x0c);
	/* The same time, a day later. */
	wr(1, 0x31);
	wr(3, 0x16);
	wr(5, 0x07);
	check_due(midnight_ns + (31 * 3600 + 16 * 60 + 31) * S);
	rd(0x0c);
	/* Held: it does not come. */
	wr(0x0b, 0xa2);
	check_never();
	now_ns += 48 * 3600 * S;
	ck_assert_uint_eq(rd(0x0c) & 0x20, 0);
	wr(0x0b, 0x22);
	check_due(midnight_ns + (31 * 3600 + 16 * 60 + 31) * S + 3 * 86400 * S);
}
END_TEST

START_TEST(test_mc146818_alarm_forms)
{
	uint64_t midnight_ns = now_ns + 2 * S;

	/* 12 hours: 0x81 is one in the afternoon. */
	wr(0x0b, 0x20);
	wr(1, 0x00);
	wr(3, 0x00);
	wr(5, 0x81);
	check_due(midnight_ns + 13 * 3600 * S);
	rd(0x0c);
	wr(5, 0x12);
	check_due(midnight_ns + 24 * 3600 * S);
	rd(0x0c);
	wr(0x0b, 0x26);
	wr(5, 0x17);
	check_due(midnight_ns + 47 * 3600 * S);
}
END_TEST

/* No time of the day looks like that; and the answer comes at once. */
START_TEST(test_mc146818_alarm_never)
{
	static const uint8_t alarms[][3] = {
		{0x60, 0xff, 0xff}, {0x0a, 0xff, 0xff}, {0xff, 0x7f, 0xff},
		{0x00, 0x00, 0x24}, {0x00, 0x00, 0x0a}, {0x00, 0x00, 0x92}};

	wr(0x0b, 0x22);
	wr(1, alarms[_i][0]);
	wr(3, alarms[_i][1]);
	wr(5, alarms[_i][2]);
	check_never();
	now_ns += 3 * 86400 * S;
	ck_assert_uint_eq(rd(0x0c) & 0x20, 0);
}
END_TEST

/* The flag of an alarm that came between two looks, long ago. */
START_TEST(test_mc146818_alarm_is_not_missed)
{
	wr(1, 0x00);
	wr(3, 0x00);
	wr(5, 0x12);
	now_ns += 12 * 3600 * S;
	ck_assert_uint_eq(rd(0x0c) & 0x20, 0x00);
	now_ns += 2 * S;
	ck_assert_uint_eq(rd(0x0c) & 0x20, 0x20);
	now_ns += 100 * 3600 * S;
	ck_assert_uint_eq(rd(0x0c) & 0x20, 0x20);
	ck_assert_uint_eq(rd(0x0c) & 0x20, 0x00);
}
END_TEST

START_TEST(test_mc146818_periodic)
{
	/* Of a second, by rate. */
	static const unsigned int hz[] = {0,	256, 128, 8192, 4096, 2048,
					  1024, 512, 256, 128,	64,   32,
					  16,	8,   4,	  2};
	unsigned int rate = (unsigned int)_i, i;

	wr(0x0a, (uint8_t)(0x20 | rate));
	wr(0x0b, 0x42);
	if (!rate) {
		check_never();
		return;
	}
	for (i = 1; i <= 3; i++) {
		/* From the start of the second on, rounded up. */
		check_due(START_NS + (i * S + hz[rate] - 1) / hz[rate]);
		ck_assert_uint_eq(rd(0x0c) & 0xc0, 0xc0);
	}
	/* Late by some periods: one flag, and no drift. */
	now_ns = START_NS + 10 * S + 1;
	ck_assert(irq());
	rd(0x0c);
	ck_assert(!irq());
	check_due(START_NS + 10 * S + (S + hz[rate] - 1) / hz[rate]);
	rd(0x0c);
	wr(0x0a, (uint8_t)(0x60 | rate));
	check_never();
	now_ns += 2 * S;
	ck_assert_uint_eq(rd(0x0c), 0);
}
END_TEST

START_TEST(test_mc146818_periodic_while_held)
{
	wr(0x0b, 0xc2);
	check_due(START_NS + 976563);
}
END_TEST

/* Whatever a guest does: the interrupt that is foretold comes then. */
START_TEST(test_mc146818_random)
{
	uint64_t seed = 0x146818;
	int i;

	for (i = 0; i < 50000; i++) {
		uint64_t r = prng_next(&seed);
		uint64_t due_ns;

		if (r & 1)
			wr((uint8_t)(r >> 8 & 15), (uint8_t)(r >> 16));
		else
			rd((uint8_t)(r >> 8 & 0x3f));
		if (r & 2)
			now_ns += r >> 30 & 0x7fffffff;
		if (!mc146818_next_irq(&rtc, now_ns, &due_ns))
			continue;
		tap_require(due_ns > now_ns);
		tap_require(!mc146818_irq(&rtc, due_ns - 1));
		now_ns = due_ns;
		tap_require(irq());
		tap_require(rd(0x0c) & 0x80);
		tap_require(!irq());
	}
}
END_TEST

static Suite *mc146818_irq_suite(void)
{
	Suite *suite = suite_create("mc146818_irq");
	TCase *interrupts = tcase_create("interrupts");

	tcase_add_checked_fixture(interrupts, setup, NULL);
	tcase_add_test(interrupts, test_mc146818_update_interrupt);
	tcase_add_test(interrupts, test_mc146818_alarm);
	tcase_add_test(interrupts, test_mc146818_alarm_forms);
	tcase_add_loop_test(interrupts, test_mc146818_alarm_never, 0, 6);
	tcase_add_test(interrupts, test_mc146818_alarm_is_not_missed);
	tcase_add_loop_test(interrupts, test_mc146818_periodic, 0, 16);
	tcase_add_test(interrupts, test_mc146818_periodic_while_held);
	tcase_add_test(interrupts, test_mc146818_random);

	suite_add_tcase(suite, interrupts);
	return suite;
}

int main(void)
{
	return tap_run(mc146818_irq_suite());
}
