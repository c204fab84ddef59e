/* SPDX-License-Identifier: MIT */
/*
 * fuzz-i8254 - control words, counts, gates and time, in any order.
 *
 * Rules: a next rise is after the instant asked about, the output is low right
 * before it and high at it, and does not rise before; where there is none, the
 * output does not rise; reading moves no output; counters go down by one a
 * clock, and stay within their count; a latch stays until it is read; a BCD
 * counter shows digits; ns and ticks go back and forth.
 */
#include "i8254.h"

#include <string.h>

#include "fuzz.h"

enum {
	LOOKS = 4,	/* between an instant and the rise after it */
	TIME_BITS = 44, /* 170 days */
};

struct state {
	struct i8254 p;
	uint64_t now_pit;
};

static bool is_low_after(const struct i8254 *p, unsigned int i,
			 uint64_t first_pit, uint64_t last_pit, bool was_low)
{
	uint64_t gap_pit = (last_pit - first_pit) / LOOKS;

	for (unsigned int n = 0; n <= LOOKS; n++) {
		bool out = i8254_out(p, i, first_pit + n * gap_pit);

		if (was_low && out)
			return false;
		was_low |= !out;
	}
	return true;
}

/* From the instant on, the output may fall, but rises at `rise` at first. */
static void check_rise(const struct i8254 *p, unsigned int i,
		       uint64_t after_pit)
{
	uint64_t rise_pit = 0;
	bool low = !i8254_out(p, i, after_pit);

	if (!i8254_next_rise(p, i, after_pit, &rise_pit)) {
		FUZZ_CHECK(
			is_low_after(p, i, after_pit, after_pit + 200000, low));
		return;
	}
	FUZZ_CHECK(rise_pit > after_pit);
	/* A BCD count may say 16665, and a square wave may begin anew. */
	FUZZ_CHECK(rise_pit - after_pit <= 2 * 0x10000 + 2);
	FUZZ_CHECK(i8254_out(p, i, rise_pit));
	FUZZ_CHECK(!i8254_out(p, i, rise_pit - 1));
	FUZZ_CHECK(is_low_after(p, i, after_pit, rise_pit - 1, low));
}

static bool is_decimal(uint16_t value)
{
	for (unsigned int i = 0; i < 16; i += 4)
		if ((value >> i & 15) > 9)
			return false;
	return true;
}

/* What a guest reads after a latch command; on a copy, so that what was
 * latched and half read before does not matter. */
static uint16_t counter_at(const struct i8254 *p, unsigned int i,
			   uint64_t at_pit)
{
	struct i8254 copy = *p;
	struct i8254_channel *c = &copy.channel[i];
	unsigned int low, high;

	c->access = 3;
	c->reads_high = false;
	c->status_latched = false;
	c->count_latched = false;
	i8254_write(&copy, I8254_PORT_CONTROL, (uint8_t)(i << 6), at_pit);
	low = i8254_read(&copy, (uint16_t)(I8254_PORT + i), at_pit + 7);
	high = i8254_read(&copy, (uint16_t)(I8254_PORT + i), at_pit + 99);
	return (uint16_t)(low | high << 8);
}

static uint32_t decode(const struct i8254_channel *c, uint16_t value)
{
	if (!c->bcd)
		return value;
	return (value >> 12) * 1000u + (value >> 8 & 15u) * 100u +
	       (value >> 4 & 15u) * 10u + (value & 15u);
}

static void check_counter(const struct i8254 *p, unsigned int i,
			  uint64_t at_pit)
{
	const struct i8254_channel *c = &p->channel[i];
	uint32_t modulus = c->bcd ? 10000 : 0x10000, before, after;
	uint16_t value = counter_at(p, i, at_pit);

	FUZZ_CHECK(!c->bcd || is_decimal(value));
	if (!c->counts) {
		FUZZ_CHECK(!value);
		return;
	}
	FUZZ_CHECK(c->count >= 1 && c->count <= 0x10000);
	before = decode(c, value);
	after = decode(c, counter_at(p, i, at_pit + 1));
	if (c->paused || (int64_t)(at_pit - c->start_pit) < 0)
		FUZZ_CHECK(before == after);
	else if (c->mode != 2 && c->mode != 3)
		FUZZ_CHECK((before - after + modulus) % modulus == 1);
	/* A count above the modulus, by digits above 9, is shown without its
	 * uppermost one. */
	if ((c->mode == 2 || c->mode == 3) && !c->has_next &&
	    c->count < modulus)
		FUZZ_CHECK(before <= c->count);
}

static void check_channel(const struct state *s, unsigned int i,
			  uint64_t ahead_pit)
{
	const struct i8254_channel *c = &s->p.channel[i];

	FUZZ_CHECK(c->mode <= 5 && c->access >= 1 && c->access <= 3);
	FUZZ_CHECK(!c->has_count ||
		   (c->written_count >= 1 && c->written_count <= 0x10000));
	FUZZ_CHECK(!c->has_next || (c->counts && c->has_count));
	check_rise(&s->p, i, s->now_pit);
	check_rise(&s->p, i, s->now_pit + ahead_pit);
	check_counter(&s->p, i, s->now_pit);
}

static void read_port(struct state *s, uint16_t port)
{
	bool out[I8254_CHANNELS], rises[I8254_CHANNELS];
	uint64_t rise_pit[I8254_CHANNELS] = {0}, again_pit = 0;
	unsigned int i;

	for (i = 0; i < I8254_CHANNELS; i++) {
		out[i] = i8254_out(&s->p, i, s->now_pit);
		rises[i] = i8254_next_rise(&s->p, i, s->now_pit, &rise_pit[i]);
	}
	i8254_read(&s->p, port, s->now_pit);
	for (i = 0; i < I8254_CHANNELS; i++) {
		FUZZ_CHECK(out[i] == i8254_out(&s->p, i, s->now_pit));
		FUZZ_CHECK(rises[i] ==
			   i8254_next_rise(&s->p, i, s->now_pit, &again_pit));
		FUZZ_CHECK(!rises[i] || again_pit == rise_pit[i]);
	}
}

/* What is latched is what the counter is, and goes on to be read. */
static void latch(struct state *s, unsigned int i)
{
	struct i8254_channel *c = &s->p.channel[i];
	bool was_latched = c->count_latched;
	uint16_t value = was_latched ? c->latched_count
				     : counter_at(&s->p, i, s->now_pit);

	i8254_write(&s->p, I8254_PORT_CONTROL, (uint8_t)(i << 6), s->now_pit);
	FUZZ_CHECK(c->count_latched && c->latched_count == value);
}

static void program(struct state *s, unsigned int i, struct fuzz_input *in)
{
	uint8_t control = fuzz_u8(in);
	uint16_t port = (uint16_t)(I8254_PORT + i);

	i8254_write(&s->p, I8254_PORT_CONTROL,
		    (uint8_t)(i << 6 | 0x30u | (control & 15u)), s->now_pit);
	i8254_write(&s->p, port, fuzz_u8(in), s->now_pit);
	if (control & 0x10)
		s->now_pit += control >> 5;
	i8254_write(&s->p, port, control & 0x80 ? fuzz_u8(in) : 0, s->now_pit);
}

static void check_conversions(uint64_t ticks_pit)
{
	uint64_t ns = i8254_ns_from_ticks(ticks_pit);

	FUZZ_CHECK(i8254_ticks_from_ns(ns) == ticks_pit);
	FUZZ_CHECK(!ns || i8254_ticks_from_ns(ns - 1) < ticks_pit);
}

static unsigned int step(struct state *s, struct fuzz_input *in)
{
	uint8_t op = fuzz_u8(in);
	unsigned int i = (op >> 3) % I8254_CHANNELS;

	switch (op & 7) {
	case 0:
		s->now_pit += fuzz_u8(in);
		break;
	case 1:
		s->now_pit += fuzz_any_size(in, TIME_BITS);
		break;
	case 2:
		program(s, i, in);
		break;
	case 3:
		i8254_write(&s->p, (uint16_t)(I8254_PORT + i), fuzz_u8(in),
			    s->now_pit);
		break;
	case 4:
		i8254_write(&s->p, I8254_PORT_CONTROL, fuzz_u8(in), s->now_pit);
		break;
	case 5:
		i = 2;
		i8254_write(&s->p, I8254_PORT_SPEAKER, op >> 3, s->now_pit);
		FUZZ_CHECK((i8254_read(&s->p, I8254_PORT_SPEAKER, s->now_pit) &
			    15) == (op >> 3 & 15));
		break;
	case 6:
		read_port(s, (uint16_t)(I8254_PORT + (op >> 3) % 4));
		break;
	case 7:
		latch(s, i);
		break;
	}
	return i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.now_pit = 1000};
	unsigned int i;

	i8254_reset(&s.p);
	while (fuzz_more(&in)) {
		i = step(&s, &in);
		check_channel(&s, i, fuzz_more(&in) ? *in.at : 0);
	}
	for (i = 0; i < I8254_CHANNELS; i++)
		check_channel(&s, i, 12345);
	check_conversions(s.now_pit);
	return 0;
}
