/* SPDX-License-Identifier: MIT */
/*
 * mc146818 - a PC's clock of the day, and the battery-backed memory with it.
 *
 * Pure: no clock, no locks, no allocation; the owner serialises calls. Time is
 * a value: ns since 1970-01-01 00:00 UTC, never less than in an earlier call
 * (a step back would only make the clock stand for a while). What the guest
 * sets is kept as a difference, so the clock goes on with the owner's time.
 * Reference: Motorola MC146818 data sheet, "Address Map", "Registers", "Update
 * Cycle"; Intel 82371AB (PIIX4) data sheet, "Real Time Clock"; for the bytes
 * of the memory, IBM PC AT Technical Reference, "Real-Time Clock/CMOS RAM".
 * Not modelled: a weekday of its own (it follows the date), daylight saving,
 * square wave, the NMI mask in bit 7 of the index, a second bank, the sum over
 * the memory, time bases other than 32768 Hz (the guest may choose one; the
 * clock runs on), registers that cannot be read during an update (it takes no
 * time, but is announced).
 */
#ifndef DEV_MC146818_H
#define DEV_MC146818_H

#include <stdbool.h>
#include <stdint.h>

#define MC146818_PORT_INDEX 0x70u
#define MC146818_PORT_DATA  0x71u
#define MC146818_BYTES	    128u

/* The fields of the calendar; each is one register. */
enum mc146818_field {
	MC146818_SECOND,
	MC146818_MINUTE,
	MC146818_HOUR,
	MC146818_WEEKDAY, /* 1: Sunday */
	MC146818_DAY,
	MC146818_MONTH,
	MC146818_YEAR,
	MC146818_CENTURY,
	MC146818_FIELDS,
};

struct mc146818 {
	/* Guest-visible registers. Those of the time are kept here while the
	 * clock is held, else in the two differences. */
	uint8_t index;
	uint8_t bytes[MC146818_BYTES];
	/* The clock shows owner's time and these two. */
	int64_t offset_s;
	uint32_t phase_ns; /* below 1 s */
	/* Flags of register C are up to date for this instant. */
	uint64_t seen_ns;
};

/* State of a new machine: time of the owner, 24 hours, BCD, no interrupts.
 * The memory tells the two sizes of RAM, below and from 4 GiB. */
void mc146818_init(struct mc146818 *rtc, uint64_t ram_low_bytes,
		   uint64_t ram_high_bytes, uint64_t now_ns);

/* The reset line: interrupts off, none pending; time and memory stay. */
void mc146818_reset(struct mc146818 *rtc, uint64_t now_ns);

/* Guest reads or writes a byte at one of the two ports. */
uint8_t mc146818_read(struct mc146818 *rtc, uint16_t port, uint64_t now_ns);
void mc146818_write(struct mc146818 *rtc, uint16_t port, uint8_t value,
		    uint64_t now_ns);

/* Level of the interrupt line, IRQ 8. */
bool mc146818_irq(struct mc146818 *rtc, uint64_t now_ns);

/* When the line goes high next, if no guest comes in between. False: never, or
 * it is high already. To be asked again after each write and after each read
 * of register C. */
bool mc146818_next_irq(struct mc146818 *rtc, uint64_t now_ns, uint64_t *due_ns);

#endif
