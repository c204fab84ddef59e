/* SPDX-License-Identifier: MIT */
/*
 * fuzz-mc146818 - registers of the clock of the day, and time, in any order.
 *
 * Rules: what a running clock shows is a date, in the form that register B
 * asks for, and goes on by a second a second (by the reckoning of libc); the
 * next interrupt comes when it was told, not a ns before, and not at all where
 * none was told; register C is read once; memory keeps what was written.
 */
#define _GNU_SOURCE /* timegm */
#include "mc146818.h"

#include <string.h>
#include <time.h>

#include "fuzz.h"
#include "mc146818_calendar.h"

#define NS_PER_S    1000000000ull
#define FLAGS	    0x70u
#define SET	    0x80u
#define TIME_BITS   52		 /* 52 days */
#define CENTURIES_S 315569520000 /* a hundred of them */
/* 2026-02-28 23:59:58 UTC. */
#define START_NS    (1772323198 * NS_PER_S)

enum {
	SECOND_ALARM = 0x01,
	HOUR_ALARM = 0x05,
	A = 0x0a,
	B = 0x0b,
	C = 0x0c,
	D = 0x0d,
	CENTURY = 0x32,
};

struct state {
	struct mc146818 rtc;
	uint64_t now_ns;
	uint8_t memory[MC146818_BYTES]; /* as written */
};

static uint8_t rd(struct mc146818 *rtc, uint8_t index, uint64_t at_ns)
{
	mc146818_write(rtc, MC146818_PORT_INDEX, index, at_ns);
	return mc146818_read(rtc, MC146818_PORT_DATA, at_ns);
}

static bool is_memory(uint8_t index)
{
	return index > D && index != CENTURY;
}

static bool is_alarm(uint8_t index)
{
	return index == 1 || index == 3 || index == 5;
}

static bool is_held(const struct mc146818 *rtc)
{
	return (rtc->bytes[B] & SET) || (rtc->bytes[A] & 0x60) == 0x60;
}

/* A number that the register may show, from first to last. */
static int number(uint8_t byte, uint8_t b, int first, int last)
{
	int value = byte;

	if (!(b & MC146818_B_BINARY)) {
		FUZZ_CHECK((byte & 15) <= 9 && byte >> 4 <= 9);
		value = (byte >> 4) * 10 + (byte & 15);
	}
	FUZZ_CHECK(value >= first && value <= last);
	return value;
}

static int hour(uint8_t byte, uint8_t b)
{
	if (b & MC146818_B_24_HOURS)
		return number(byte, b, 0, 23);
	return number(byte & 0x7f, b, 1, 12) % 12 + (byte & 0x80 ? 12 : 0);
}

static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 || year % 400 == 0);
}

/* What the clock shows, as seconds of libc. */
static int64_t shown_s(struct mc146818 *rtc, uint64_t at_ns)
{
	static const int days[] = {31, 28, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	uint8_t b = rtc->bytes[B];
	int year = number(rd(rtc, CENTURY, at_ns), b, 0, 99) * 100 +
		   number(rd(rtc, 9, at_ns), b, 0, 99);
	int month = number(rd(rtc, 8, at_ns), b, 1, 12);
	int day = number(rd(rtc, 7, at_ns), b, 1,
			 days[month - 1] + (month == 2 && is_leap(year)));
	struct tm tm = {
		.tm_year = year - 1900,
		.tm_mon = month - 1,
		.tm_mday = day,
		.tm_hour = hour(rd(rtc, 4, at_ns), b),
		.tm_min = number(rd(rtc, 2, at_ns), b, 0, 59),
		.tm_sec = number(rd(rtc, 0, at_ns), b, 0, 59),
	};
	int weekday = number(rd(rtc, 6, at_ns), b, 1, 7);
	int64_t time_s = timegm(&tm);

	FUZZ_CHECK(weekday == tm.tm_wday + 1);
	return time_s;
}

/* On copies: looking does not count. */
static void check_calendar(const struct state *s, uint64_t ahead_ns)
{
	struct mc146818 copy = s->rtc;
	uint64_t then_ns = s->now_ns + ahead_ns;
	uint64_t phase_ns = s->rtc.phase_ns;
	int64_t now_s, elapsed_s;

	FUZZ_CHECK(phase_ns < NS_PER_S);
	if (is_held(&copy))
		return;
	elapsed_s = (int64_t)((then_ns + phase_ns) / NS_PER_S -
			      (s->now_ns + phase_ns) / NS_PER_S);
	now_s = shown_s(&copy, s->now_ns);
	elapsed_s -= shown_s(&copy, then_ns) - now_s;
	/* After 9999 comes 0. */
	FUZZ_CHECK(!elapsed_s || elapsed_s == CENTURIES_S);
}

static bool irq_at(const struct state *s, uint64_t at_ns)
{
	struct mc146818 copy = s->rtc;

	return mc146818_irq(&copy, at_ns);
}

static void check_next(struct state *s, uint64_t ahead_ns)
{
	struct mc146818 copy = s->rtc;
	uint64_t due_ns = 0;

	if (mc146818_irq(&copy, s->now_ns)) {
		FUZZ_CHECK(!mc146818_next_irq(&copy, s->now_ns, &due_ns));
		return;
	}
	if (!mc146818_next_irq(&copy, s->now_ns, &due_ns)) {
		FUZZ_CHECK(!irq_at(s, s->now_ns + ahead_ns));
		return;
	}
	FUZZ_CHECK(due_ns > s->now_ns);
	/* An alarm comes within a day. */
	FUZZ_CHECK(due_ns - s->now_ns <= 86400 * NS_PER_S);
	FUZZ_CHECK(irq_at(s, due_ns));
	FUZZ_CHECK(!irq_at(s, due_ns - 1));
}

static void check_flags(const struct state *s)
{
	struct mc146818 copy = s->rtc;
	bool irq = mc146818_irq(&copy, s->now_ns);
	uint8_t flags = rd(&copy, C, s->now_ns);

	FUZZ_CHECK(!(flags & 0x0f));
	FUZZ_CHECK(!!(flags & 0x80) == !!(flags & s->rtc.bytes[B] & FLAGS));
	FUZZ_CHECK(!!(flags & 0x80) == irq);
	FUZZ_CHECK(!rd(&copy, C, s->now_ns));
	FUZZ_CHECK(!mc146818_irq(&copy, s->now_ns));
	FUZZ_CHECK(rd(&copy, D, s->now_ns) == 0x80);
	if (is_held(&copy))
		FUZZ_CHECK(!(rd(&copy, A, s->now_ns) & 0x80));
}

static void check_memory(const struct state *s, uint8_t index)
{
	struct mc146818 copy = s->rtc;

	if (is_memory(index) || is_alarm(index))
		FUZZ_CHECK(rd(&copy, index, s->now_ns) == s->memory[index]);
}

static void write_register(struct state *s, uint8_t index, uint8_t value)
{
	index &= 0x7f;
	mc146818_write(&s->rtc, MC146818_PORT_INDEX, index, s->now_ns);
	mc146818_write(&s->rtc, MC146818_PORT_DATA, value, s->now_ns);
	s->memory[index] = value;
	if (is_held(&s->rtc) && !is_memory(index) && index < A) {
		struct mc146818 copy = s->rtc;

		FUZZ_CHECK(rd(&copy, index, s->now_ns) == value);
	}
}

static void write_alarm(struct state *s, struct fuzz_input *in)
{
	for (uint8_t i = SECOND_ALARM; i <= HOUR_ALARM; i += 2)
		write_register(s, i, fuzz_u8(in));
}

/* To the next second, or a few ns before it or after; never back. */
static void go_to_second(struct state *s, unsigned int more_ns)
{
	uint64_t left_ns = NS_PER_S - s->now_ns % NS_PER_S;

	s->now_ns += left_ns > 4 ? left_ns - 4 + more_ns : more_ns;
}

static void step(struct state *s, struct fuzz_input *in)
{
	uint8_t op = fuzz_u8(in);

	switch (op & 7) {
	case 0:
		s->now_ns += fuzz_any_size(in, TIME_BITS);
		break;
	case 1:
		go_to_second(s, op >> 5);
		break;
	case 2:
		write_register(s, op >> 3 & 15, fuzz_u8(in));
		break;
	case 3:
		write_register(s, fuzz_u8(in), fuzz_u8(in));
		break;
	case 4:
		write_alarm(s, in);
		break;
	case 5:
		rd(&s->rtc, fuzz_u8(in), s->now_ns);
		break;
	case 6:
		rd(&s->rtc, C, s->now_ns);
		break;
	case 7:
		if (op & 8)
			mc146818_reset(&s->rtc, s->now_ns);
		else
			write_register(s, B, op);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.now_ns = START_NS};
	uint64_t ahead_ns = fuzz_any_size(&in, TIME_BITS);

	mc146818_init(&s.rtc, 64u << 20, 0, s.now_ns);
	memcpy(s.memory, s.rtc.bytes, sizeof(s.memory));
	while (fuzz_more(&in)) {
		step(&s, &in);
		check_next(&s, ahead_ns);
		check_flags(&s);
	}
	check_calendar(&s, ahead_ns);
	for (unsigned int i = 0; i < MC146818_BYTES; i++)
		check_memory(&s, (uint8_t)i);
	return 0;
}
