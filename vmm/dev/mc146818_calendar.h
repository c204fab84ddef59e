/* SPDX-License-Identifier: MIT */
/*
 * mc146818_calendar - seconds to the bytes of the clock's registers and back.
 *
 * Pure functions. Reference: Motorola MC146818 data sheet, "Time, Calendar,
 * and Alarm Locations". Gregorian, no leap seconds.
 */
#ifndef DEV_MC146818_CALENDAR_H
#define DEV_MC146818_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "mc146818.h"

#define SECONDS_PER_DAY	    86400

/* The bits of register B that choose the form of the bytes. */
#define MC146818_B_24_HOURS 0x02u
#define MC146818_B_BINARY   0x04u

/* Seconds since 1970, in years 0 to 9999 (others: modulo 100 centuries), as
 * the bytes of the registers. */
void calendar_to_fields(int64_t time_s, uint8_t b,
			uint8_t fields[MC146818_FIELDS]);

/* The other way. Bytes that are no date are taken for what they say: day 31 of
 * a month of 30 is the first of the next. The weekday is not looked at. */
int64_t calendar_from_fields(const uint8_t fields[MC146818_FIELDS], uint8_t b);

/* The first instant after time_s at which a clock of this form shows the alarm
 * (second, minute, hour; 0xc0 and above: any). False: it never does. */
bool calendar_next_alarm(int64_t time_s, const uint8_t alarm[3], uint8_t b,
			 int64_t *alarm_s);

#endif
