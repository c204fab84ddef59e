/* SPDX-License-Identifier: MIT */
/*
 * i8254 - an interval timer's ports, and time in its clocks.
 * Reference: Intel 82C54 data sheet, "Programming the 82C54"; 82371AB (PIIX4)
 * data sheet, "NMI Status and Control Register".
 * Not modelled: see i8254.h. Not here: the counters, see i8254_channel.h.
 */
#include "i8254.h"

#include <assert.h>

/* Control word: what it is for. */
#define CONTROL_CHANNEL_SHIFT 6
#define CONTROL_READ_BACK     3u
#define CONTROL_ACCESS	      0x30u /* 0: latch the count */
/* Read-back command: the first two mean it by 0. */
#define READ_BACK_NO_COUNT    0x20u
#define READ_BACK_NO_STATUS   0x10u
#define READ_BACK_CHANNEL_0   0x02u

/* Port 0x61. */
#define SPEAKER_GATE	      0x01u
#define SPEAKER_WRITABLE      0x0fu
#define SPEAKER_REFRESH	      0x10u
#define SPEAKER_OUT	      0x20u
#define SPEAKER_CHANNEL	      2u
#define REFRESH_TICKS	      18u

#define NS_PER_S	      1000000000ull

static void i8254_settle(struct i8254 *p, uint64_t now_pit)
{
	for (unsigned int i = 0; i < I8254_CHANNELS; i++)
		i8254_channel_settle(&p->channel[i], now_pit);
}

static void i8254_read_back(struct i8254 *p, uint8_t command, uint64_t now_pit)
{
	for (unsigned int i = 0; i < I8254_CHANNELS; i++) {
		if (!(command & READ_BACK_CHANNEL_0 << i))
			continue;
		if (!(command & READ_BACK_NO_COUNT))
			i8254_channel_latch_count(&p->channel[i], now_pit);
		if (!(command & READ_BACK_NO_STATUS))
			i8254_channel_latch_status(&p->channel[i], now_pit);
	}
}

static void i8254_control(struct i8254 *p, uint8_t value, uint64_t now_pit)
{
	unsigned int i = value >> CONTROL_CHANNEL_SHIFT;

	if (i == CONTROL_READ_BACK)
		i8254_read_back(p, value, now_pit);
	else if (!(value & CONTROL_ACCESS))
		i8254_channel_latch_count(&p->channel[i], now_pit);
	else
		i8254_channel_program(&p->channel[i], value);
}

static uint8_t i8254_speaker_read(const struct i8254 *p, uint64_t now_pit)
{
	uint8_t value = p->speaker;

	if (now_pit / REFRESH_TICKS % 2)
		value |= SPEAKER_REFRESH;
	if (i8254_channel_out(&p->channel[SPEAKER_CHANNEL], now_pit))
		value |= SPEAKER_OUT;
	return value;
}

void i8254_reset(struct i8254 *p)
{
	*p = (struct i8254){.speaker = 0};
	for (unsigned int i = 0; i < I8254_CHANNELS; i++)
		i8254_channel_reset(&p->channel[i], i != SPEAKER_CHANNEL);
}

uint8_t i8254_read(struct i8254 *p, uint16_t port, uint64_t now_pit)
{
	i8254_settle(p, now_pit);
	if (port == I8254_PORT_SPEAKER)
		return i8254_speaker_read(p, now_pit);
	if (port == I8254_PORT_CONTROL)
		return 0xff; /* nothing drives the bus */
	return i8254_channel_read(
		&p->channel[(port - I8254_PORT) % I8254_CHANNELS], now_pit);
}

void i8254_write(struct i8254 *p, uint16_t port, uint8_t value,
		 uint64_t now_pit)
{
	i8254_settle(p, now_pit);
	if (port == I8254_PORT_SPEAKER) {
		p->speaker = value & SPEAKER_WRITABLE;
		i8254_channel_set_gate(&p->channel[SPEAKER_CHANNEL],
				       value & SPEAKER_GATE, now_pit);
	} else if (port == I8254_PORT_CONTROL) {
		i8254_control(p, value, now_pit);
	} else {
		i8254_channel_write(
			&p->channel[(port - I8254_PORT) % I8254_CHANNELS],
			value, now_pit);
	}
}

bool i8254_out(const struct i8254 *p, unsigned int channel, uint64_t now_pit)
{
	struct i8254_channel c;

	assert(channel < I8254_CHANNELS);
	c = p->channel[channel];
	i8254_channel_settle(&c, now_pit);
	return i8254_channel_out(&c, now_pit);
}

bool i8254_next_rise(const struct i8254 *p, unsigned int channel,
		     uint64_t after_pit, uint64_t *rise_pit)
{
	assert(channel < I8254_CHANNELS);
	return i8254_channel_next_rise(&p->channel[channel], after_pit,
				       rise_pit);
}

/* Whole seconds apart, so that 64 bits are enough. */
uint64_t i8254_ticks_from_ns(uint64_t ns)
{
	return ns / NS_PER_S * I8254_HZ + ns % NS_PER_S * I8254_HZ / NS_PER_S;
}

uint64_t i8254_ns_from_ticks(uint64_t ticks_pit)
{
	uint64_t part_pit = ticks_pit % I8254_HZ;

	return ticks_pit / I8254_HZ * NS_PER_S +
	       (part_pit * NS_PER_S + I8254_HZ - 1) / I8254_HZ;
}
