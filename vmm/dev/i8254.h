/* SPDX-License-Identifier: MIT */
/*
 * i8254 - a PC's interval timer, and the port that gates its speaker channel.
 *
 * Pure: no clock, no locks, no allocation; the owner serialises calls. Time is
 * a value: ticks of the chip's input clock since any instant the owner likes,
 * never less than in an earlier call. Counters are functions of it, so nothing
 * has to run between two calls.
 * Reference: Intel 82C54 data sheet, "Programming the 82C54", "Mode
 * Definitions", "Operation Common to All Modes"; Intel 82371AB (PIIX4) data
 * sheet, "NMI Status and Control Register" (port 0x61).
 * Not modelled: what a counter shows before its first count (0), the clock
 * cycle between two bytes of a running count, a count of 1 in modes 2 and 3
 * (illegal: the output stays high), channel 1 as the source of the refresh bit
 * (it toggles every 18 ticks however channel 1 is programmed), NMIs and their
 * status bits of port 0x61 (0).
 *
 * Out of power-on no channel counts: no firmware set one up.
 */
#ifndef DEV_I8254_H
#define DEV_I8254_H

#include <stdbool.h>
#include <stdint.h>

#include "i8254_channel.h"

#define I8254_HZ	   1193182u
#define I8254_CHANNELS	   3u

#define I8254_PORT	   0x40u /* channels 0 to 2, control word */
#define I8254_PORT_CONTROL 0x43u
#define I8254_PORT_SPEAKER 0x61u

struct i8254 {
	struct i8254_channel channel[I8254_CHANNELS];
	uint8_t speaker; /* port 0x61, its writable bits */
};

/* State after power-on. */
void i8254_reset(struct i8254 *p);

/* Guest reads or writes a byte at one of the ports above. A write may change
 * an output at once: the owner asks i8254_out and i8254_next_rise again. */
uint8_t i8254_read(struct i8254 *p, uint16_t port, uint64_t now_pit);
void i8254_write(struct i8254 *p, uint16_t port, uint8_t value,
		 uint64_t now_pit);

/* Level of the output of a channel. That of channel 0 is IRQ 0. */
bool i8254_out(const struct i8254 *p, unsigned int channel, uint64_t now_pit);

/* The first rise of a channel's output after an instant, as things are. With
 * each rise taken as the start for the next, none is lost or shifted, however
 * late the owner is. False: there is none. A guest may ask for more than half
 * a million a second. */
bool i8254_next_rise(const struct i8254 *p, unsigned int channel,
		     uint64_t after_pit, uint64_t *rise_pit);

/* Ticks in so many ns, rounded down; ns until a tick is reached, rounded up:
 * back and forth gives the same tick. Up to 500 years. */
uint64_t i8254_ticks_from_ns(uint64_t ns);
uint64_t i8254_ns_from_ticks(uint64_t ticks_pit);

#endif
