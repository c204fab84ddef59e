/* SPDX-License-Identifier: MIT */
/*
 * Every day of six centuries, and the hours and alarms of a day, against a
 * calendar that is kept day by day.
 */
#include "mc146818_calendar.h"

#include "tap.h"

#define BINARY_24 0x06
#define BCD_24	  0x02
#define BINARY_12 0x04
#define BCD_12	  0x00

static uint8_t fields[MC146818_FIELDS];

START_TEST(test_calendar_every_day)
{
	static const unsigned int length[] = {31, 28, 31, 30, 31, 30,
					      31, 31, 30, 31, 30, 31};
	unsigned int year = 1901, month = 0, day = 1, weekday = 2;
	int64_t time_s = -69 * 365ll * 86400 - 17 * 86400 + 80000;

	while (year < 2501) {
		bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

		calendar_to_fields(time_s, BINARY_24, fields);
		tap_require(fields[MC146818_CENTURY] == year / 100);
		tap_require(fields[MC146818_YEAR] == year % 100);
		tap_require(fields[MC146818_MONTH] == month + 1);
		tap_require(fields[MC146818_DAY] == day);
		tap_require(fields[MC146818_WEEKDAY] == weekday + 1);
		tap_require(calendar_from_fields(fields, BINARY_24) == time_s);
		time_s += 86400;
		weekday = (weekday + 1) % 7;
		if (++day <= length[month] + (month == 1 && leap))
			continue;
		day = 1;
		month = (month + 1) % 12;
		year += month == 0;
	}
}
END_TEST

START_TEST(test_calendar_hours)
{
	static const struct {
		uint8_t form, byte;
		unsigned int hour;
	} hours[] = {
		{BCD_24, 0x00, 0},     {BCD_24, 0x19, 19},
		{BCD_24, 0x23, 23},    {BINARY_24, 0x17, 23},
		{BCD_12, 0x12, 0},     {BCD_12, 0x01, 1},
		{BCD_12, 0x11, 11},    {BCD_12, 0x92, 12},
		{BCD_12, 0x81, 13},    {BCD_12, 0x91, 23},
		{BINARY_12, 0x0c, 0},  {BINARY_12, 0x8c, 12},
		{BINARY_12, 0x8b, 23}, {BINARY_12, 0x0b, 11},
	};
	int64_t time_s = hours[_i].hour * 3600ll + 47 * 60 + 59;

	calendar_to_fields(time_s, hours[_i].form, fields);
	ck_assert_uint_eq(fields[MC146818_HOUR], hours[_i].byte);
	ck_assert_int_eq(calendar_from_fields(fields, hours[_i].form), time_s);
}
END_TEST

/* Each time of the day as an alarm of a day before. */
START_TEST(test_calendar_alarms)
{
	static const uint8_t forms[] = {BCD_12, BCD_24, BINARY_12, BINARY_24};
	int64_t time_s, alarm_s;

	for (time_s = 0; time_s < 86400; time_s += 7) {
		uint8_t alarm[3];

		calendar_to_fields(time_s, forms[_i], fields);
		alarm[0] = fields[MC146818_SECOND];
		alarm[1] = fields[MC146818_MINUTE];
		alarm[2] = fields[MC146818_HOUR];
		tap_require(
			calendar_next_alarm(-1, alarm, forms[_i], &alarm_s));
		tap_require(alarm_s == time_s);
		tap_require(calendar_next_alarm(time_s, alarm, forms[_i],
						&alarm_s));
		tap_require(alarm_s == time_s + 86400);
	}
}
END_TEST

START_TEST(test_calendar_alarms_of_no_time)
{
	static const struct {
		uint8_t form, alarm[3];
	} alarms[] = {
		{BCD_24, {0x60, 0xff, 0xff}}, {BCD_24, {0x0a, 0xff, 0xff}},
		{BCD_24, {0xff, 0x7f, 0xff}}, {BCD_24, {0x00, 0x00, 0x24}},
		{BCD_24, {0x00, 0x00, 0x0a}}, {BCD_12, {0x00, 0x00, 0x13}},
		{BCD_12, {0x00, 0x00, 0x00}}, {BINARY_24, {0xbf, 0xff, 0xff}},
	};
	int64_t alarm_s;

	ck_assert(!calendar_next_alarm(0, alarms[_i].alarm, alarms[_i].form,
				       &alarm_s));
}
END_TEST

static Suite *calendar_suite(void)
{
	Suite *suite = suite_create("mc146818_calendar");
	TCase *all = tcase_create("calendar");

	tcase_add_test(all, test_calendar_every_day);
	tcase_add_loop_test(all, test_calendar_hours, 0, 14);
	tcase_add_loop_test(all, test_calendar_alarms, 0, 4);
	tcase_add_loop_test(all, test_calendar_alarms_of_no_time, 0, 8);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return tap_run(calendar_suite());
}
