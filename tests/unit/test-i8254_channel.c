/* SPDX-License-Identifier: MIT */
/*
 * The interval timer through its ports, at instants of its own clock. Ports
 * and control words are literal here: they are what the data sheet says, not
 * what the model's own names say.
 */
#include "i8254_case.h"

#include "prng.h"

START_TEST(test_i8254_power_on)
{
	unsigned int channel;

	for (channel = 0; channel < 3; channel++) {
		check_out(channel, now_pit, 1, true);
		check_no_rise(channel, now_pit);
		ck_assert_uint_eq(in((uint16_t)(0x40 + channel)), 0);
	}
	ck_assert_uint_eq(in(0x43), 0xff);
}
END_TEST

START_TEST(test_i8254_mode_0)
{
	out(0x43, 0x30);
	check_out(0, now_pit, 100000, false);
	check_no_rise(0, now_pit);
	out_word(0x40, 0x1234);
	/* Taken after one clock, out 0x1234 clocks later. */
	check_out(0, 1000, 0x1235, false);
	check_out(0, 1001 + 0x1234, 1000000, true);
	check_rise(0, 1000, 1001 + 0x1234);
	check_rise(0, 1000 + 0x1234, 1001 + 0x1234);
	check_no_rise(0, 1001 + 0x1234);
	now_pit = 1001;
	ck_assert_uint_eq(in_word(0x40), 0x1234);
	now_pit = 1001 + 0x1000;
	ck_assert_uint_eq(in_word(0x40), 0x234);
	/* Through 0, and on. */
	now_pit = 1001 + 0x1234;
	ck_assert_uint_eq(in_word(0x40), 0);
	now_pit++;
	ck_assert_uint_eq(in_word(0x40), 0xffff);
	now_pit += 0x1ffff;
	ck_assert_uint_eq(in_word(0x40), 0);
	/* The first byte of the next count stops it and takes the output low.
	 */
	out(0x40, 5);
	check_out(0, now_pit, 100000, false);
	now_pit += 10;
	out(0x40, 0);
	check_rise(0, now_pit, now_pit + 6);
}
END_TEST

START_TEST(test_i8254_count_of_0_is_the_largest)
{
	out(0x43, 0x30);
	out_word(0x40, 0);
	check_rise(0, now_pit, now_pit + 1 + 0x10000);
	out(0x43, 0x31);
	out_word(0x40, 0);
	check_rise(0, now_pit, now_pit + 1 + 10000);
}
END_TEST

START_TEST(test_i8254_mode_2)
{
	int i;

	out(0x43, 0x34);
	out_word(0x40, 4);
	check_out(0, 1000, 4, true);
	check_rise(0, 1000, 1005);
	for (i = 0; i < 5; i++) {
		uint64_t began_pit = 1001 + 4 * (uint64_t)i;

		check_out(0, began_pit, 3, true);
		check_out(0, began_pit + 3, 1, false);
		check_rise(0, began_pit, began_pit + 4);
		check_rise(0, began_pit + 3, began_pit + 4);
		now_pit = began_pit;
		ck_assert_uint_eq(in_word(0x40), 4);
		now_pit += 3;
		ck_assert_uint_eq(in_word(0x40), 1);
	}
	/* Far on, and not a tick off. */
	check_rise(0, 1001 + 4000000000000ull, 1005 + 4000000000000ull);
}
END_TEST

START_TEST(test_i8254_mode_3)
{
	/* Of 5 clocks three are high. */
	static const unsigned int odd[] = {4, 2, 0, 4, 2};
	unsigned int i;

	out(0x43, 0x36);
	out_word(0x40, 5);
	check_out(0, 1001, 3, true);
	check_out(0, 1004, 2, false);
	check_out(0, 1006, 3, true);
	check_rise(0, 1001, 1006);
	check_rise(0, 1006, 1011);
	for (i = 0; i < 10; i++) {
		now_pit = 1001 + i;
		ck_assert_uint_eq(in_word(0x40), odd[i % 5]);
	}
	now_pit = 2000;
	out(0x43, 0x36);
	out_word(0x40, 0);
	check_out(0, 2001, 0x8000, true);
	check_out(0, 2001 + 0x8000, 0x8000, false);
	now_pit = 2001 + 0x4000;
	ck_assert_uint_eq(in_word(0x40), 0x8000);
	now_pit = 2001 + 0x8001;
	ck_assert_uint_eq(in_word(0x40), 0xfffe);
}
END_TEST

START_TEST(test_i8254_mode_4)
{
	out(0x43, 0x38);
	out_word(0x40, 3);
	check_out(0, 1000, 4, true);
	check_out(0, 1004, 1, false);
	check_out(0, 1005, 100000, true);
	check_rise(0, 1000, 1005);
	check_no_rise(0, 1005);
	now_pit = 1004;
	ck_assert_uint_eq(in_word(0x40), 0);
}
END_TEST

/* Bit 2 of the mode counts for modes 4 and 5 alone. */
START_TEST(test_i8254_modes_6_and_7)
{
	out(0x43, 0x3c);
	out(0x43, 0xe2);
	ck_assert_uint_eq(in(0x40), 0xf4);
	out(0x43, 0x3e);
	out(0x43, 0xe2);
	ck_assert_uint_eq(in(0x40), 0xf6);
	out(0x43, 0x3a);
	out(0x43, 0xe2);
	ck_assert_uint_eq(in(0x40), 0xfa);
}
END_TEST

START_TEST(test_i8254_new_count_waits_for_the_period)
{
	out(0x43, 0x34);
	out_word(0x40, 100);
	now_pit = 1001 + 250;
	out_word(0x40, 10);
	ck_assert_uint_eq(in_word(0x40), 50);
	check_rise(0, now_pit, 1301);
	check_rise(0, 1301, 1311);
	check_out(0, 1310, 1, false);
	now_pit = 1303;
	ck_assert_uint_eq(in_word(0x40), 8);
	/* The last one counts. */
	out_word(0x40, 20);
	out_word(0x40, 30);
	check_rise(0, 1303, 1311);
	check_rise(0, 1311, 1341);
	/* A control word does not wait. */
	out(0x43, 0x34);
	check_no_rise(0, 1303);
	out_word(0x40, 7);
	check_rise(0, 1303, 1311);
	check_rise(0, 1311, 1318);
}
END_TEST

START_TEST(test_i8254_new_count_waits_for_the_half)
{
	out(0x43, 0x36);
	out_word(0x40, 100);
	now_pit = 1001 + 10;
	out_word(0x40, 20);
	/* High to the end of this half, low for half of the new count. */
	check_out(0, 1011, 40, true);
	check_out(0, 1051, 10, false);
	check_rise(0, 1011, 1061);
	check_rise(0, 1061, 1081);
	now_pit = 1051 + 5;
	out_word(0x40, 50);
	check_rise(0, now_pit, 1061);
	check_out(0, 1061, 25, true);
	check_rise(0, 1061, 1111);
}
END_TEST

/* Before there is time enough for a whole wave of the new count. */
START_TEST(test_i8254_new_count_near_zero)
{
	now_pit = 0;
	out(0x43, 0x36);
	out_word(0x40, 4);
	now_pit = 1;
	out_word(0x40, 0x8000);
	check_out(0, 3, 0x4000, false);
	check_rise(0, 1, 3 + 0x4000);
	check_rise(0, 3 + 0x4000, 3 + 0xc000);
}
END_TEST

/* Illegal; what matters is that nobody has to do a million things a second. */
START_TEST(test_i8254_count_of_1)
{
	out(0x43, _i == 2 ? 0x34 : 0x36);
	out_word(0x40, 1);
	check_no_rise(0, now_pit);
	check_out(0, now_pit, 1000, true);
	now_pit += 10;
	out_word(0x40, 2);
	check_rise(0, now_pit, now_pit + 3);
	now_pit += 10;
	out_word(0x40, 1);
	ck_assert(i8254_out(&pit, 0, now_pit + 100));
	check_no_rise(0, now_pit + 100);
}
END_TEST

START_TEST(test_i8254_access)
{
	out(0x43, 0x10);
	out(0x40, 0x45);
	check_rise(0, now_pit, now_pit + 0x46);
	now_pit++;
	ck_assert_uint_eq(in(0x40), 0x45);
	ck_assert_uint_eq(in(0x40), 0x45);
	out(0x43, 0x20);
	out(0x40, 0x45);
	check_rise(0, now_pit, now_pit + 0x4501);
	now_pit++;
	ck_assert_uint_eq(in(0x40), 0x45);
	ck_assert_uint_eq(in(0x40), 0x45);
	/* A control word starts over between the bytes. */
	out(0x43, 0x30);
	out(0x40, 0x99);
	in(0x40);
	out(0x43, 0x30);
	out_word(0x40, 0x1234);
	now_pit++;
	ck_assert_uint_eq(in_word(0x40), 0x1234);
}
END_TEST

START_TEST(test_i8254_latch)
{
	out(0x43, 0x34);
	out_word(0x40, 0x1000);
	now_pit = 1001;
	out(0x43, 0x00);
	now_pit = 1101;
	out(0x43, 0x00); /* until it is read, there is no second one */
	ck_assert_uint_eq(in_word(0x40), 0x1000);
	ck_assert_uint_eq(in_word(0x40), 0x1000 - 100);
	out(0x43, 0x00);
	now_pit = 1111;
	ck_assert_uint_eq(in(0x40), 0x9c);
	now_pit = 1222;
	ck_assert_uint_eq(in(0x40), 0x0f);
	/* Channel 2 has not been touched. */
	out(0x43, 0x80);
	out(0x43, 0x34);
	out_word(0x40, 0x0200);
	now_pit++;
	ck_assert_uint_eq(in_word(0x40), 0x0200);
}
END_TEST

START_TEST(test_i8254_read_back)
{
	out(0x43, 0x30);
	out(0x43, 0xe2);
	ck_assert_uint_eq(in(0x40), 0x70); /* no count, output low */
	out_word(0x40, 3);
	out(0x43, 0xe2);
	ck_assert_uint_eq(in(0x40), 0x70); /* one clock to go */
	now_pit++;
	out(0x43, 0xe2);
	now_pit += 100;
	out(0x43, 0xe2); /* as with the count */
	ck_assert_uint_eq(in(0x40), 0x30);
	out(0x43, 0xe2);
	ck_assert_uint_eq(in(0x40), 0xb0);

	/* Status first, then the count, of the channels that are named. */
	out(0x43, 0x74);
	out_word(0x41, 0x0300);
	now_pit++;
	out(0x43, 0xc6);
	now_pit += 10;
	ck_assert_uint_eq(in(0x41), 0xb4);
	ck_assert_uint_eq(in_word(0x41), 0x0300);
	ck_assert_uint_eq(in_word(0x41), 0x0300 - 10);
	ck_assert_uint_eq(in(0x40), 0xb0);
	ck_assert_uint_eq(in_word(0x40), 0x10003 - 101);
	out(0x43, 0xd4); /* the count alone */
	now_pit += 10;
	ck_assert_uint_eq(in_word(0x41), 0x0300 - 10);
	out(0x43, 0xf4); /* neither */
	ck_assert_uint_eq(in_word(0x41), 0x0300 - 20);
	/* A count that waits is not there yet. */
	out_word(0x41, 0x0200);
	out(0x43, 0xe4);
	ck_assert_uint_eq(in(0x41), 0xf4);
	now_pit += 0x300;
	out(0x43, 0xe4);
	ck_assert_uint_eq(in(0x41), 0xb4);
}
END_TEST

START_TEST(test_i8254_bcd)
{
	out(0x43, 0x31);
	out_word(0x40, 0x1234);
	check_rise(0, now_pit, now_pit + 1235);
	now_pit += 1 + 235;
	ck_assert_uint_eq(in_word(0x40), 0x0999);
	now_pit += 1000;
	ck_assert_uint_eq(in_word(0x40), 0x9999);
	out(0x43, 0xe2);
	ck_assert_uint_eq(in(0x40), 0xb1);
	/* Digits that are none. */
	out(0x43, 0x35);
	out_word(0x40, 0xffff);
	check_rise(0, now_pit, now_pit + 1 + 16665);
	now_pit++;
	ck_assert_uint_eq(in_word(0x40), 0x6665);
}
END_TEST

START_TEST(test_i8254_ns)
{
	uint64_t seed = 0x8254;
	int i;

	ck_assert_uint_eq(i8254_ticks_from_ns(1000000000), 1193182);
	ck_assert_uint_eq(i8254_ticks_from_ns(838), 0);
	ck_assert_uint_eq(i8254_ticks_from_ns(839), 1);
	ck_assert_uint_eq(i8254_ns_from_ticks(1), 839);
	ck_assert_uint_eq(i8254_ns_from_ticks(1193182), 1000000000);
	for (i = 0; i < 10000; i++) {
		uint64_t ticks_pit = prng_any_size(&seed) >> 10;
		uint64_t ns = i8254_ns_from_ticks(ticks_pit);

		tap_require(i8254_ticks_from_ns(ns) == ticks_pit);
		tap_require(!ns || i8254_ticks_from_ns(ns - 1) < ticks_pit);
	}
}
END_TEST

/* Whatever a guest does: the rise that is foretold is the first that the
 * output shows, tick by tick. */
START_TEST(test_i8254_random)
{
	static const uint16_t ports[] = {0x40, 0x42, 0x43, 0x61};
	uint64_t seed = 0x82c54;
	int i;

	now_pit = 0;
	for (i = 0; i < 20000; i++) {
		uint64_t r = prng_next(&seed);
		unsigned int channel = r >> 40 & 2;
		uint64_t rise_pit = 0, t_pit = now_pit;
		bool found;

		/* Counts small enough to see the end of. */
		out(ports[r & 3], (uint8_t)(r >> 8 & (r & 2 ? 0xff : 0x0f)));
		if (r >> 50 & 1)
			in(ports[r >> 44 & 3]);
		if (r >> 51 & 1)
			now_pit += r >> 16 & 31;
		t_pit = now_pit;
		found = i8254_next_rise(&pit, channel, t_pit, &rise_pit);
		while (t_pit < now_pit + 40 &&
		       (i8254_out(&pit, channel, t_pit) ||
			!i8254_out(&pit, channel, t_pit + 1)))
			t_pit++;
		if (t_pit < now_pit + 40)
			tap_require(found && rise_pit == t_pit + 1);
		else
			tap_require(!found || rise_pit > t_pit);
	}
}
END_TEST

static Suite *i8254_suite(void)
{
	Suite *suite = suite_create("i8254");
	TCase *modes = tcase_create("modes");
	TCase *access = tcase_create("access");

	tcase_add_checked_fixture(modes, setup, NULL);
	tcase_add_test(modes, test_i8254_power_on);
	tcase_add_test(modes, test_i8254_mode_0);
	tcase_add_test(modes, test_i8254_count_of_0_is_the_largest);
	tcase_add_test(modes, test_i8254_mode_2);
	tcase_add_test(modes, test_i8254_mode_3);
	tcase_add_test(modes, test_i8254_mode_4);
	tcase_add_test(modes, test_i8254_modes_6_and_7);
	tcase_add_test(modes, test_i8254_new_count_waits_for_the_period);
	tcase_add_test(modes, test_i8254_new_count_waits_for_the_half);
	tcase_add_test(modes, test_i8254_new_count_near_zero);
	tcase_add_loop_test(modes, test_i8254_count_of_1, 2, 4);
	tcase_add_test(modes, test_i8254_random);

	tcase_add_checked_fixture(access, setup, NULL);
	tcase_add_test(access, test_i8254_access);
	tcase_add_test(access, test_i8254_latch);
	tcase_add_test(access, test_i8254_read_back);
	tcase_add_test(access, test_i8254_bcd);
	tcase_add_test(access, test_i8254_ns);

	suite_add_tcase(suite, modes);
	suite_add_tcase(suite, access);
	return suite;
}

int main(void)
{
	return tap_run(i8254_suite());
}
