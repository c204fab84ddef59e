/* SPDX-License-Identifier: MIT */
/*
 * Channel 2 behind its gate in port 0x61, in each mode.
 */
#include "i8254_case.h"

/* How a guest measures its TSC: mode 0, gate up, wait for bit 5. */
START_TEST(test_i8254_speaker_measures)
{
	out(0x61, (uint8_t)((in(0x61) & ~0x02) | 0x01));
	out(0x43, 0xb0);
	ck_assert_uint_eq(in(0x61) & 0x20, 0);
	out_word(0x42, 59659); /* 50 ms */
	now_pit += 59659;
	ck_assert_uint_eq(in(0x61) & 0x20, 0);
	now_pit++;
	ck_assert_uint_eq(in(0x61) & 0x20, 0x20);
}
END_TEST

START_TEST(test_i8254_speaker_port)
{
	unsigned int toggles = 0, i;
	uint8_t last;

	out(0x61, 0xff);
	ck_assert_uint_eq(in(0x61) & 0xef, 0x2f);
	out(0x61, 0xfe);
	ck_assert_uint_eq(in(0x61) & 0xef, 0x2e);
	out(0x61, 0x00);
	ck_assert_uint_eq(in(0x61) & 0xcf, 0x00);
	last = in(0x61);
	for (i = 0; i < 180; i++) {
		now_pit++;
		toggles += (in(0x61) ^ last) >> 4 & 1;
		last = in(0x61);
	}
	ck_assert_uint_eq(toggles, 10);
}
END_TEST

START_TEST(test_i8254_gate_pauses)
{
	/* Modes 0 and 4: it stops, and goes on. */
	out(0x61, 0x01);
	out(0x43, _i == 0 ? 0xb0 : 0xb8);
	out_word(0x42, 100);
	now_pit = 1001 + 40;
	out(0x61, 0x00);
	check_no_rise(2, now_pit);
	now_pit += 1000;
	ck_assert_uint_eq(in_word(0x42), 60);
	out(0x61, 0x00);
	out(0x61, 0x01);
	out(0x61, 0x01);
	ck_assert_uint_eq(in_word(0x42), 60);
	check_rise(2, now_pit, now_pit + 60 + (_i != 0));
	/* A count that comes while it is stopped. */
	out(0x61, 0x00);
	out_word(0x42, 10);
	now_pit += 1000;
	check_no_rise(2, now_pit);
	out(0x61, 0x01);
	check_rise(2, now_pit, now_pit + 10 + (_i != 0));
}
END_TEST

START_TEST(test_i8254_gate_restarts)
{
	/* Modes 2 and 3: the output goes high, a rise begins anew. */
	out(0x61, 0x01);
	out(0x43, _i == 2 ? 0xb4 : 0xb6);
	out_word(0x42, 10);
	now_pit = 1001 + 9;
	check_out(2, now_pit, 1, false);
	out(0x61, 0x00);
	check_out(2, now_pit, 1000, true);
	check_no_rise(2, now_pit);
	now_pit += 1000;
	out(0x61, 0x01);
	check_rise(2, now_pit, now_pit + 11);
	/* A count that waits is taken then. */
	now_pit += 3;
	out_word(0x42, 20);
	out(0x61, 0x00);
	out(0x61, 0x01);
	check_rise(2, now_pit, now_pit + 21);
	/* Control word and count first, the gate later. */
	out(0x61, 0x00);
	out(0x43, _i == 2 ? 0xb4 : 0xb6);
	out(0x61, 0x01);
	check_no_rise(2, now_pit);
	out(0x61, 0x00);
	out_word(0x42, 20);
	check_no_rise(2, now_pit);
	now_pit += 1000;
	out(0x61, 0x01);
	check_rise(2, now_pit, now_pit + 21);
}
END_TEST

START_TEST(test_i8254_gate_triggers)
{
	unsigned int mode = _i ? 5 : 1;

	out(0x43, mode == 1 ? 0xb2 : 0xba);
	out(0x61, 0x01);
	check_no_rise(2, now_pit);
	out_word(0x42, 10);
	out(0x43, 0xe8);
	ck_assert_uint_eq(in(0x42) & 0xc0, 0xc0);
	now_pit += 100;
	check_no_rise(2, now_pit);
	check_out(2, now_pit, 100, true);
	out(0x61, 0x00);
	out(0x61, 0x01);
	check_rise(2, now_pit, now_pit + 11 + (mode == 5));
	check_out(2, now_pit + 1, 9, mode == 5);
	check_out(2, now_pit + 11, 1, mode == 1);
	/* Low does nothing, the next rise starts over. */
	now_pit += 5;
	out(0x61, 0x00);
	check_rise(2, now_pit, now_pit + 6 + (mode == 5));
	out(0x61, 0x01);
	check_rise(2, now_pit, now_pit + 11 + (mode == 5));
	/* A new count waits for the trigger. */
	out_word(0x42, 20);
	check_rise(2, now_pit, now_pit + 11 + (mode == 5));
	out(0x61, 0x00);
	out(0x61, 0x01);
	check_rise(2, now_pit, now_pit + 21 + (mode == 5));
	now_pit += 1;
	out(0x43, 0xe8);
	ck_assert_uint_eq(in(0x42) & 0x40, 0);
	ck_assert_uint_eq(in_word(0x42), 20);
}
END_TEST

static Suite *i8254_gate_suite(void)
{
	Suite *suite = suite_create("i8254_gate");
	TCase *gate = tcase_create("gate");

	tcase_add_checked_fixture(gate, setup, NULL);
	tcase_add_test(gate, test_i8254_speaker_measures);
	tcase_add_test(gate, test_i8254_speaker_port);
	tcase_add_loop_test(gate, test_i8254_gate_pauses, 0, 2);
	tcase_add_loop_test(gate, test_i8254_gate_restarts, 2, 4);
	tcase_add_loop_test(gate, test_i8254_gate_triggers, 0, 2);

	suite_add_tcase(suite, gate);
	return suite;
}

int main(void)
{
	return tap_run(i8254_gate_suite());
}
