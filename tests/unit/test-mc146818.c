/* SPDX-License-Identifier: MIT */
/*
 * The clock of the day through its two ports. Indexes and bits are literal
 * here: they are what the data sheet says, not what the model's own names say.
 */
#include "mc146818_case.h"

START_TEST(test_mc146818_registers)
{
	ck_assert_uint_eq(rd(0x0a), 0x26);
	ck_assert_uint_eq(rd(0x0b), 0x02);
	ck_assert_uint_eq(rd(0x0c), 0x00);
	ck_assert_uint_eq(rd(0x0d), 0x80);
	ck_assert_uint_eq(mc146818_read(&rtc, 0x70, now_ns), 0xff);
	wr(0x0c, 0xff);
	wr(0x0d, 0x00);
	ck_assert_uint_eq(rd(0x0c), 0x00);
	ck_assert_uint_eq(rd(0x0d), 0x80);
	wr(0x0a, 0xa6);
	ck_assert_uint_eq(rd(0x0a), 0x26);
	wr(0x0f, 0x0a);
	wr(0x7f, 0x55);
	wr(0x05, 0x77);
	ck_assert_uint_eq(rd(0x0f), 0x0a);
	ck_assert_uint_eq(rd(0x7f), 0x55);
	ck_assert_uint_eq(rd(0x05), 0x77);
	/* Bit 7 is the NMI mask, not a part of the index. */
	ck_assert_uint_eq(rd(0x8f), 0x0a);
	ck_assert(!irq());
	check_never();
}
END_TEST

START_TEST(test_mc146818_tells_ram)
{
	static const struct {
		uint64_t low_bytes, high_bytes;
		unsigned int base, extended, above_16m, above_4g;
	} sizes[] = {
		{64ull << 20, 0, 640, 63 << 10, 48 << 4, 0},
		{512ull << 10, 0, 512, 0, 0, 0},
		{1ull << 20, 0, 640, 0, 0, 0},
		{16ull << 20, 0, 640, 15 << 10, 0, 0},
		{3ull << 30, 5ull << 30, 640, 0xffff, 0xbf00, 5 << 14},
		{4ull << 30, 1ull << 50, 640, 0xffff, 0xff00, 0xffffff},
	};
	unsigned int extended;

	mc146818_init(&rtc, sizes[_i].low_bytes, sizes[_i].high_bytes, now_ns);
	ck_assert_uint_eq(rd(0x15) | (unsigned int)rd(0x16) << 8,
			  sizes[_i].base);
	extended = rd(0x17) | (unsigned int)rd(0x18) << 8;
	ck_assert_uint_eq(extended, sizes[_i].extended);
	ck_assert_uint_eq(rd(0x30) | (unsigned int)rd(0x31) << 8, extended);
	ck_assert_uint_eq(rd(0x34) | (unsigned int)rd(0x35) << 8,
			  sizes[_i].above_16m);
	ck_assert_uint_eq(rd(0x5b) | (unsigned int)rd(0x5c) << 8 |
				  (unsigned int)rd(0x5d) << 16,
			  sizes[_i].above_4g);
}
END_TEST

START_TEST(test_mc146818_time)
{
	check_time(0x20260228, 0x235958);
	ck_assert_uint_eq(rd(6), 7);
	now_ns += 2 * S - 1;
	check_time(0x20260228, 0x235959);
	now_ns += 1;
	check_time(0x20260301, 0x000000);
	ck_assert_uint_eq(rd(6), 1);
	/* Two years and a leap day on. */
	now_ns += (365 + 365) * 86400 * S;
	check_time(0x20280229, 0x000000);
}
END_TEST

START_TEST(test_mc146818_forms)
{
	/* Binary, 24 hours. */
	wr(0x0b, 0x06);
	check_time(0x141a021c, 0x173b3a);
	/* Binary and BCD, 12 hours. */
	wr(0x0b, 0x04);
	check_time(0x141a021c, 0x8b3b3a);
	wr(0x0b, 0x00);
	check_time(0x20260228, 0x915958);
	now_ns += 2 * S;
	check_time(0x20260301, 0x120000);
	now_ns += 12 * 3600 * S;
	check_time(0x20260301, 0x920000);
	now_ns += 3600 * S;
	check_time(0x20260301, 0x810000);
	/* The other way. */
	set_time(0x20260301, 0x125960);
	wr(0x0b, 0x02);
	check_time(0x20260301, 0x010000);
	wr(0x0b, 0x00);
	set_time(0x20260301, 0x920000);
	wr(0x0b, 0x02);
	check_time(0x20260301, 0x120000);
}
END_TEST

/* As guests do it: hold it, and the divider in reset; the first update comes
 * half a second after. */
START_TEST(test_mc146818_set_as_linux_does)
{
	now_ns += 123 * MS;
	wr(0x0b, 0x82);
	wr(0x0a, 0x76);
	set_time(0x19991231, 0x235959);
	now_ns += 3 * S;
	check_time(0x19991231, 0x235959);
	wr(0x0b, 0x02);
	now_ns += 3 * S;
	check_time(0x19991231, 0x235959);
	wr(0x0a, 0x26);
	now_ns += S / 2 - 1;
	check_time(0x19991231, 0x235959);
	now_ns += 1;
	check_time(0x20000101, 0x000000);
	now_ns += S - 1;
	check_time(0x20000101, 0x000000);
	now_ns += 1;
	check_time(0x20000101, 0x000001);
}
END_TEST

START_TEST(test_mc146818_set_alone)
{
	now_ns += 900 * MS;
	wr(0x0b, 0x82);
	now_ns += 1000 * MS;
	check_time(0x20260228, 0x235958);
	set_time(0x20300615, 0x120000);
	wr(0x0b, 0x02);
	/* The divider went on all the time. */
	now_ns += 100 * MS - 1;
	check_time(0x20300615, 0x120000);
	now_ns += 1;
	check_time(0x20300615, 0x120001);
	/* Held and let go with nothing written: late by the time held. */
	wr(0x0b, 0x82);
	now_ns += 10 * S;
	wr(0x0b, 0x02);
	check_time(0x20300615, 0x120001);
}
END_TEST

START_TEST(test_mc146818_set_while_it_runs)
{
	now_ns += 250 * MS;
	wr(4, 0x12);
	check_time(0x20260228, 0x125958);
	wr(0x32, 0x19);
	check_time(0x19260228, 0x125958);
	now_ns += 750 * MS;
	check_time(0x19260228, 0x125959);
	/* What is no date is taken for what it says. */
	wr(7, 0x30);
	check_time(0x19260302, 0x125959);
	wr(8, 0x13);
	check_time(0x19270102, 0x125959);
	wr(8, 0x00);
	check_time(0x19261202, 0x125959);
	wr(6, 3);
	check_time(0x19261202, 0x125959);
}
END_TEST

START_TEST(test_mc146818_update_in_progress)
{
	ck_assert_uint_eq(rd(0x0a) & 0x80, 0);
	now_ns += S - 244 * US - 1;
	ck_assert_uint_eq(rd(0x0a) & 0x80, 0);
	now_ns += 1;
	ck_assert_uint_eq(rd(0x0a), 0xa6);
	check_time(0x20260228, 0x235958);
	wr(0x0b, 0x82);
	ck_assert_uint_eq(rd(0x0a), 0x26);
	wr(0x0b, 0x02);
	ck_assert_uint_eq(rd(0x0a), 0xa6);
	now_ns += 244 * US;
	ck_assert_uint_eq(rd(0x0a), 0x26);
	check_time(0x20260228, 0x235959);
	now_ns += S - 1;
	wr(0x0a, 0x76);
	ck_assert_uint_eq(rd(0x0a), 0x76);
}
END_TEST

START_TEST(test_mc146818_reset)
{
	wr(0x0f, 0x0a);
	wr(4, 0x11);
	wr(0x0b, 0x72);
	now_ns += S;
	ck_assert(irq());
	mc146818_reset(&rtc, now_ns);
	ck_assert(!irq());
	ck_assert_uint_eq(rd(0x0c), 0);
	ck_assert_uint_eq(rd(0x0b), 0x02);
	ck_assert_uint_eq(rd(0x0f), 0x0a);
	check_time(0x20260228, 0x115959);
}
END_TEST

static Suite *mc146818_suite(void)
{
	Suite *suite = suite_create("mc146818");
	TCase *registers = tcase_create("registers");
	TCase *calendar = tcase_create("calendar");

	tcase_add_checked_fixture(registers, setup, NULL);
	tcase_add_test(registers, test_mc146818_registers);
	tcase_add_loop_test(registers, test_mc146818_tells_ram, 0, 6);
	tcase_add_test(registers, test_mc146818_reset);

	tcase_add_checked_fixture(calendar, setup, NULL);
	tcase_add_test(calendar, test_mc146818_time);
	tcase_add_test(calendar, test_mc146818_forms);
	tcase_add_test(calendar, test_mc146818_set_as_linux_does);
	tcase_add_test(calendar, test_mc146818_set_alone);
	tcase_add_test(calendar, test_mc146818_set_while_it_runs);
	tcase_add_test(calendar, test_mc146818_update_in_progress);

	suite_add_tcase(suite, registers);
	suite_add_tcase(suite, calendar);
	return suite;
}

int main(void)
{
	return tap_run(mc146818_suite());
}
