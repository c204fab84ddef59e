/* SPDX-License-Identifier: MIT */
/*
 * Calendar arithmetic for the clock of the day.
 * Reference: Motorola MC146818 data sheet, "Time, Calendar, and Alarm
 * Locations"; a year is taken to begin in March, so that the odd day is last.
 * Not modelled: leap seconds, daylight saving.
 */
#include "mc146818_calendar.h"

#define PM		   0x80u /* of the hour, in the form with 12 */
#define ALARM_ANY	   0xc0u

#define SECONDS_PER_HOUR   3600
#define DAYS_PER_400_YEARS 146097
#define DAYS_PER_YEAR	   365
/* From March of year 0 to 1970. */
#define DAYS_TO_EPOCH	   719468

struct date {
	int64_t year;
	unsigned int month, day; /* from 1 */
};

/* Both round down, whatever the sign. */
static int64_t div_floor(int64_t value, int64_t divisor)
{
	int64_t quotient = value / divisor;

	return value % divisor < 0 ? quotient - 1 : quotient;
}

static int64_t mod_floor(int64_t value, int64_t divisor)
{
	return value - div_floor(value, divisor) * divisor;
}

/* Days before month n of a year that begins in March. */
static int64_t days_before_month(int64_t month_from_march)
{
	return (153 * month_from_march + 2) / 5;
}

static int64_t days_from_date(const struct date *date)
{
	/* A month of 0 or above 12 moves the year. */
	int64_t months = date->year * 12 + (int64_t)date->month - 3;
	int64_t year = div_floor(months, 12);

	return year * DAYS_PER_YEAR + div_floor(year, 4) -
	       div_floor(year, 100) + div_floor(year, 400) +
	       days_before_month(mod_floor(months, 12)) + date->day - 1 -
	       DAYS_TO_EPOCH;
}

static struct date date_from_days(int64_t days)
{
	int64_t since = days + DAYS_TO_EPOCH;
	int64_t era = div_floor(since, DAYS_PER_400_YEARS);
	int64_t day = mod_floor(since, DAYS_PER_400_YEARS);
	/* Take off the leap days, and all years are of one length. */
	int64_t year =
		(day - day / 1460 + day / 36524 - day / 146096) / DAYS_PER_YEAR;
	int64_t day_of_year =
		day - (DAYS_PER_YEAR * year + year / 4 - year / 100);
	int64_t month = (5 * day_of_year + 2) / 153;

	return (struct date){
		.year = era * 400 + year + (month >= 10),
		.month = (unsigned int)(month >= 10 ? month - 9 : month + 3),
		.day = (unsigned int)(day_of_year - days_before_month(month)) +
		       1,
	};
}

static uint8_t encode(unsigned int value, uint8_t b)
{
	if (b & MC146818_B_BINARY)
		return (uint8_t)value;
	return (uint8_t)(value / 10 << 4 | value % 10);
}

static unsigned int decode(uint8_t byte, uint8_t b)
{
	if (b & MC146818_B_BINARY)
		return byte;
	return (byte >> 4) * 10u + (byte & 15u);
}

static uint8_t encode_hour(unsigned int hour, uint8_t b)
{
	unsigned int of_12 = hour % 12 ? hour % 12 : 12;

	if (b & MC146818_B_24_HOURS)
		return encode(hour, b);
	return (uint8_t)(encode(of_12, b) | (hour >= 12 ? PM : 0u));
}

static unsigned int decode_hour(uint8_t byte, uint8_t b)
{
	if (b & MC146818_B_24_HOURS)
		return decode(byte, b);
	return decode(byte & (uint8_t)~PM, b) % 12 + (byte & PM ? 12 : 0);
}

void calendar_to_fields(int64_t time_s, uint8_t b,
			uint8_t fields[MC146818_FIELDS])
{
	int64_t days = div_floor(time_s, SECONDS_PER_DAY);
	unsigned int second = (unsigned int)mod_floor(time_s, SECONDS_PER_DAY);
	struct date date = date_from_days(days);

	fields[MC146818_SECOND] = encode(second % 60, b);
	fields[MC146818_MINUTE] = encode(second / 60 % 60, b);
	fields[MC146818_HOUR] = encode_hour(second / SECONDS_PER_HOUR, b);
	/* 1970 began on a Thursday. */
	fields[MC146818_WEEKDAY] =
		encode((unsigned int)mod_floor(days + 4, 7) + 1, b);
	fields[MC146818_DAY] = encode(date.day, b);
	fields[MC146818_MONTH] = encode(date.month, b);
	fields[MC146818_YEAR] =
		encode((unsigned int)mod_floor(date.year, 100), b);
	fields[MC146818_CENTURY] = encode(
		(unsigned int)mod_floor(div_floor(date.year, 100), 100), b);
}

int64_t calendar_from_fields(const uint8_t fields[MC146818_FIELDS], uint8_t b)
{
	struct date date = {
		.year = decode(fields[MC146818_CENTURY], b) * 100 +
			decode(fields[MC146818_YEAR], b),
		.month = decode(fields[MC146818_MONTH], b),
		.day = decode(fields[MC146818_DAY], b),
	};

	return days_from_date(&date) * SECONDS_PER_DAY +
	       decode_hour(fields[MC146818_HOUR], b) * SECONDS_PER_HOUR +
	       decode(fields[MC146818_MINUTE], b) * 60 +
	       decode(fields[MC146818_SECOND], b);
}

/* Bytes that the clock shows at some time of the day, or that stand for any. */
static bool alarm_is_possible(const uint8_t alarm[3], uint8_t b)
{
	unsigned int hour = decode_hour(alarm[2], b);

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int value = decode(alarm[i], b);

		if (alarm[i] < ALARM_ANY &&
		    (value >= 60 || encode(value, b) != alarm[i]))
			return false;
	}
	return alarm[2] >= ALARM_ANY ||
	       (hour < 24 && encode_hour(hour, b) == alarm[2]);
}

static bool alarm_matches(uint8_t alarm, uint8_t shown)
{
	return alarm >= ALARM_ANY || alarm == shown;
}

/* Goes from hour to hour, and through minutes and seconds only where what is
 * above them matches: some 150 steps, and not for ever, as there is a match. */
bool calendar_next_alarm(int64_t time_s, const uint8_t alarm[3], uint8_t b,
			 int64_t *alarm_s)
{
	int64_t t = time_s + 1;

	if (!alarm_is_possible(alarm, b))
		return false;
	for (;;) {
		unsigned int s = (unsigned int)mod_floor(t, SECONDS_PER_DAY);

		if (!alarm_matches(alarm[2],
				   encode_hour(s / SECONDS_PER_HOUR, b)))
			t += SECONDS_PER_HOUR - s % SECONDS_PER_HOUR;
		else if (!alarm_matches(alarm[1], encode(s / 60 % 60, b)))
			t += 60 - s % 60;
		else if (!alarm_matches(alarm[0], encode(s % 60, b)))
			t++;
		else
			break;
	}
	*alarm_s = t;
	return true;
}
