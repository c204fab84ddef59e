/* SPDX-License-Identifier: MIT */
/*
 * i8254_channel - a counter as a function of time, see i8254_channel.h.
 * Reference: Intel 82C54 data sheet, "Mode Definitions", "Operation Common to
 * All Modes". Not modelled: see i8254.h.
 *
 * A counter takes its count one clock after the last byte of it, or after the
 * rise of the gate that triggers it; outputs that go low then, do so at once.
 * Differences of instants are signed: a wave may have begun before the owner's
 * zero.
 */
#include "i8254_channel.h"

/* Control word of one channel. */
#define CONTROL_ACCESS_SHIFT 4
#define CONTROL_ACCESS_MASK  3u
#define CONTROL_MODE_SHIFT   1
#define CONTROL_MODE_MASK    7u
#define CONTROL_BCD	     0x01u
/* Status byte, beside the control word's bits. */
#define STATUS_OUT	     0x80u
#define STATUS_NULL_COUNT    0x40u

#define ACCESS_LOW	     1u
#define ACCESS_HIGH	     2u
#define ACCESS_BOTH	     3u

void i8254_channel_reset(struct i8254_channel *c, bool gate)
{
	*c = (struct i8254_channel){
		.mode = 3,
		.access = ACCESS_BOTH,
		.not_loaded = true,
		.gate = gate,
	};
}

static bool channel_is_periodic(const struct i8254_channel *c)
{
	return c->mode == 2 || c->mode == 3;
}

/* In the other two modes the gate is a trigger and no more. */
static bool channel_is_gated(const struct i8254_channel *c)
{
	return c->mode != 1 && c->mode != 5;
}

static uint32_t channel_modulus(const struct i8254_channel *c)
{
	return c->bcd ? 10000u : 0x10000u;
}

/* Digits above 9 weigh what they say. */
static uint32_t channel_decode(const struct i8254_channel *c, uint16_t value)
{
	uint32_t count = value;

	if (c->bcd)
		count = (value >> 12) * 1000u + (value >> 8 & 15u) * 100u +
			(value >> 4 & 15u) * 10u + (value & 15u);
	return count ? count : channel_modulus(c);
}

static uint16_t channel_encode(const struct i8254_channel *c, uint32_t count)
{
	count %= channel_modulus(c);
	if (c->bcd)
		count = count / 1000 << 12 | count / 100 % 10 << 8 |
			count / 10 % 10 << 4 | count % 10;
	return (uint16_t)count;
}

static bool is_before(uint64_t a_pit, uint64_t b_pit)
{
	return (int64_t)(a_pit - b_pit) < 0;
}

/* Since the counter took its count; 0 before that. */
static uint64_t channel_elapsed(const struct i8254_channel *c, uint64_t now_pit)
{
	if (c->paused)
		return c->elapsed_pit;
	return is_before(now_pit, c->start_pit) ? 0 : now_pit - c->start_pit;
}

/* Clocks of mode 3 with the output high; the odd one is among them. */
static uint32_t high_half(uint32_t count)
{
	return (count + 1) / 2;
}

bool i8254_channel_out(const struct i8254_channel *c, uint64_t now_pit)
{
	uint64_t elapsed_pit = channel_elapsed(c, now_pit);

	if (!c->counts)
		return c->mode != 0;
	if (channel_is_periodic(c) && (!c->gate || c->count < 2))
		return true;
	switch (c->mode) {
	case 0:
	case 1:
		return elapsed_pit >= c->count;
	case 2:
		return elapsed_pit % c->count != c->count - 1;
	case 3:
		return elapsed_pit % c->count < high_half(c->count);
	default:
		return elapsed_pit != c->count;
	}
}

/* In mode 3 the counter goes by twos, from an even number, once a half. */
static uint32_t square_wave_counter(uint32_t count, uint64_t elapsed_pit)
{
	uint32_t phase = (uint32_t)(elapsed_pit % count);

	if (phase >= high_half(count))
		phase -= high_half(count);
	return (count & ~1u) - 2 * phase;
}

/* The counting element, as a guest reads it. */
static uint16_t channel_counter(const struct i8254_channel *c, uint64_t now_pit)
{
	uint64_t elapsed_pit = channel_elapsed(c, now_pit);
	uint32_t modulus = channel_modulus(c);

	if (!c->counts)
		return 0;
	if (c->mode == 2)
		return channel_encode(
			c, c->count - (uint32_t)(elapsed_pit % c->count));
	if (c->mode == 3)
		return channel_encode(
			c, square_wave_counter(c->count, elapsed_pit));
	/* Past 0 it goes round, and on. */
	return channel_encode(c, c->count + modulus -
					 (uint32_t)(elapsed_pit % modulus));
}

/* The counter takes the count that was written. */
static void channel_load(struct i8254_channel *c, uint64_t now_pit)
{
	c->counts = true;
	c->count = c->written_count;
	c->start_pit = now_pit + 1;
	c->elapsed_pit = 0;
	c->paused = channel_is_gated(c) && !c->gate;
	c->not_loaded = false;
	c->has_next = false;
}

/* A new count that was to wait, and whose time has come. */
void i8254_channel_settle(struct i8254_channel *c, uint64_t now_pit)
{
	if (!c->has_next || is_before(now_pit, c->next_at_pit))
		return;
	c->has_next = false;
	c->start_pit = c->next_start_pit;
	c->count = c->written_count;
}

/* A running wave ends its period first, a square wave its half. */
static void channel_defer(struct i8254_channel *c, uint64_t now_pit)
{
	uint64_t elapsed_pit = channel_elapsed(c, now_pit);
	uint32_t phase = (uint32_t)(elapsed_pit % c->count);
	uint64_t began_pit = c->start_pit + (elapsed_pit - phase);

	c->has_next = true;
	if (c->mode == 3 && phase < high_half(c->count)) {
		c->next_at_pit = began_pit + high_half(c->count);
		c->next_start_pit =
			c->next_at_pit - high_half(c->written_count);
	} else {
		c->next_at_pit = began_pit + c->count;
		c->next_start_pit = c->next_at_pit;
	}
}

static void channel_write_count(struct i8254_channel *c, uint16_t value,
				uint64_t now_pit)
{
	c->written_count = channel_decode(c, value);
	c->has_count = true;
	if (!channel_is_gated(c))
		c->not_loaded = true; /* until the trigger */
	else if (channel_is_periodic(c) && c->counts && c->count >= 2 &&
		 !c->paused && !is_before(now_pit, c->start_pit))
		channel_defer(c, now_pit);
	else
		channel_load(c, now_pit);
}

void i8254_channel_write(struct i8254_channel *c, uint8_t value,
			 uint64_t now_pit)
{
	if (c->access == ACCESS_LOW) {
		channel_write_count(c, value, now_pit);
	} else if (c->access == ACCESS_HIGH) {
		channel_write_count(c, (uint16_t)(value << 8), now_pit);
	} else if (!c->writes_high) {
		c->low_byte = value;
		c->writes_high = true;
		if (c->mode == 0)
			c->counts = false; /* and the output is low */
	} else {
		c->writes_high = false;
		channel_write_count(c, (uint16_t)(value << 8 | c->low_byte),
				    now_pit);
	}
}

uint8_t i8254_channel_read(struct i8254_channel *c, uint64_t now_pit)
{
	uint16_t value = c->count_latched ? c->latched_count
					  : channel_counter(c, now_pit);

	if (c->status_latched) {
		c->status_latched = false;
		return c->latched_status;
	}
	if (c->access == ACCESS_BOTH && !c->reads_high) {
		c->reads_high = true;
		return (uint8_t)value;
	}
	c->reads_high = false;
	c->count_latched = false;
	return (uint8_t)(c->access == ACCESS_LOW ? value : value >> 8);
}

void i8254_channel_latch_count(struct i8254_channel *c, uint64_t now_pit)
{
	if (c->count_latched)
		return;
	c->count_latched = true;
	c->latched_count = channel_counter(c, now_pit);
}

void i8254_channel_latch_status(struct i8254_channel *c, uint64_t now_pit)
{
	bool is_null = c->not_loaded || c->has_next ||
		       (!c->paused && is_before(now_pit, c->start_pit));

	if (c->status_latched)
		return;
	c->status_latched = true;
	c->latched_status =
		(uint8_t)((i8254_channel_out(c, now_pit) ? STATUS_OUT : 0u) |
			  (is_null ? STATUS_NULL_COUNT : 0u) |
			  c->access << CONTROL_ACCESS_SHIFT |
			  c->mode << CONTROL_MODE_SHIFT |
			  (c->bcd ? CONTROL_BCD : 0u));
}

void i8254_channel_program(struct i8254_channel *c, uint8_t control)
{
	unsigned int mode = control >> CONTROL_MODE_SHIFT & CONTROL_MODE_MASK;

	/* Of the uppermost bit, modes 2 and 3 do not care. */
	*c = (struct i8254_channel){
		.mode = (uint8_t)(mode > 5 ? mode - 4 : mode),
		.access = control >> CONTROL_ACCESS_SHIFT & CONTROL_ACCESS_MASK,
		.bcd = control & CONTROL_BCD,
		.not_loaded = true,
		.gate = c->gate,
	};
}

void i8254_channel_set_gate(struct i8254_channel *c, bool gate,
			    uint64_t now_pit)
{
	bool rises = gate && !c->gate;
	bool falls = !gate && c->gate;

	c->gate = gate;
	if (rises && c->has_count &&
	    (channel_is_periodic(c) || !channel_is_gated(c))) {
		channel_load(c, now_pit);
	} else if (rises && c->paused) {
		c->start_pit = now_pit - c->elapsed_pit;
		c->paused = false;
	} else if (falls && c->counts && channel_is_gated(c)) {
		c->elapsed_pit = channel_elapsed(c, now_pit);
		c->paused = true;
		c->has_next = false; /* the rise takes it */
	}
}

bool i8254_channel_next_rise(const struct i8254_channel *channel,
			     uint64_t after_pit, uint64_t *rise_pit)
{
	struct i8254_channel c = *channel;

	i8254_channel_settle(&c, after_pit);
	if (!c.counts || c.paused)
		return false;
	if (!channel_is_periodic(&c)) {
		/* Modes 4 and 5 end in a clock of low output. */
		*rise_pit = c.start_pit + c.count + (c.mode >= 4);
		return is_before(after_pit, *rise_pit);
	}
	if (c.count < 2)
		return false;
	*rise_pit = c.start_pit + c.count;
	if (!is_before(after_pit, *rise_pit))
		*rise_pit = after_pit + c.count -
			    (after_pit - c.start_pit) % c.count;
	/* A new count that came in with the output high, for the low half. */
	if (c.has_next && is_before(c.next_at_pit, *rise_pit)) {
		*rise_pit = c.next_start_pit + c.written_count;
		return c.written_count >= 2;
	}
	return true;
}
