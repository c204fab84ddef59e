/* SPDX-License-Identifier: MIT */
/*
 * i8254_channel - one counter of an 8254, and the latches before it.
 *
 * Pure, and of i8254.c alone; time as there. Each call as of
 * now_pit needs i8254_channel_settle for that instant first.
 */
#ifndef DEV_I8254_CHANNEL_H
#define DEV_I8254_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

struct i8254_channel {
	/* What the control word chose. */
	uint8_t mode;	/* 0 to 5 */
	uint8_t access; /* 1 low byte, 2 high byte, 3 both, low first */
	bool bcd;
	/* The count register. */
	uint8_t low_byte; /* of a count whose high byte is to come */
	bool writes_high, reads_high;
	bool has_count;
	bool not_loaded; /* the counter has yet to take the count */
	uint32_t written_count;
	/* The counter: it took `count` at start_pit. */
	bool counts;
	bool gate;
	bool paused; /* by the gate, after elapsed_pit */
	uint32_t count;
	uint64_t start_pit;
	uint64_t elapsed_pit;
	/* A new count that waits for the end of the (half) period at
	 * next_at_pit, for a wave as if begun at next_start_pit. */
	bool has_next;
	uint64_t next_at_pit, next_start_pit;
	/* Latches, until they are read. */
	bool status_latched, count_latched;
	uint8_t latched_status;
	uint16_t latched_count;
};

/* State after power-on: it does not count. */
void i8254_channel_reset(struct i8254_channel *c, bool gate);

/* A new count that was to wait for this instant, or an earlier one, is taken.
 */
void i8254_channel_settle(struct i8254_channel *c, uint64_t now_pit);

/* Level of the output. */
bool i8254_channel_out(const struct i8254_channel *c, uint64_t now_pit);

/* The guest's byte to or from the channel's port. */
void i8254_channel_write(struct i8254_channel *c, uint8_t value,
			 uint64_t now_pit);
uint8_t i8254_channel_read(struct i8254_channel *c, uint64_t now_pit);

/* Keeps what the guest is to read next; does nothing if something is kept. */
void i8254_channel_latch_count(struct i8254_channel *c, uint64_t now_pit);
void i8254_channel_latch_status(struct i8254_channel *c, uint64_t now_pit);

/* A control word for this channel, other than to latch. */
void i8254_channel_program(struct i8254_channel *c, uint8_t control);

void i8254_channel_set_gate(struct i8254_channel *c, bool gate,
			    uint64_t now_pit);

/* As i8254_next_rise. */
bool i8254_channel_next_rise(const struct i8254_channel *channel,
			     uint64_t after_pit, uint64_t *rise_pit);

#endif
