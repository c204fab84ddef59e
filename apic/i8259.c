/* SPDX-License-Identifier: MIT */
/*
 * Two 8259As in cascade.
 * Reference: Intel 8259A data sheet, "Programming the 8259A", "Interrupt
 * Sequence"; 82371AB (PIIX4) data sheet, "Edge/Level Control Register".
 * Not modelled: MCS-80 vectors, buffered mode, wirings other than a PC's.
 *
 * The first chip keeps a request of the second until it is acknowledged. Where
 * the second has lost it by then, it answers with IRQ 15, as on a PC.
 */
#include "i8259.h"

#include <assert.h>

#define CASCADE	      2u
#define CASCADE_BIT   (1u << CASCADE)
#define SPURIOUS      7u
#define POLL_FOUND    0x80u

/* At the even port. */
#define ICW1	      0x10u
#define ICW1_ICW4     0x01u
#define ICW1_SINGLE   0x02u
#define OCW3	      0x08u
#define OCW3_RIS      0x01u
#define OCW3_RR	      0x02u
#define OCW3_POLL     0x04u
#define OCW3_SMM      0x20u
#define OCW3_ESMM     0x40u
/* Bits 5 to 7 of OCW2 are one command. */
#define OCW2_LEVEL    0x07u
#define OCW2_EOI      0x20u
#define OCW2_SPECIFIC 0x40u
#define OCW2_ROTATE   0x80u

/* At the odd port. */
#define ICW2_BASE     0xf8u
#define ICW4_AUTO_EOI 0x02u
#define ICW4_SFNM     0x10u

/* Timer, keyboard and the cascade are edge; so are the clock, the FPU. */
#define ELCR_FIRST    0xf8u
#define ELCR_SECOND   0xdeu

/* Distance from the input of highest priority: 0 is that one. */
static unsigned int chip_rank(const struct i8259_chip *chip, unsigned int input)
{
	return (input - chip->lowest - 1u) & 7u;
}

/* The input of highest priority in a set that is not empty. */
static unsigned int chip_first(const struct i8259_chip *chip, uint8_t set)
{
	unsigned int input = (chip->lowest + 1u) & 7u;

	while (!(set >> input & 1u))
		input = (input + 1u) & 7u;
	return input;
}

/* The input that the chip asks service for; if there is none, *input stays. */
static bool chip_request(const struct i8259_chip *chip, unsigned int *input)
{
	uint8_t waiting = chip->irr & (uint8_t)~chip->imr;
	uint8_t busy = chip->isr;
	unsigned int first;

	if (chip->expects != I8259_READY || !waiting)
		return false;
	first = chip_first(chip, waiting);
	if (chip->special_mask)
		busy &= (uint8_t)~chip->imr;
	/* The second chip may have something better than what it began. */
	if (chip->special_fully_nested && (chip->cascaded >> first & 1u))
		busy &= (uint8_t)~chip->cascaded;
	if (busy &&
	    chip_rank(chip, first) >= chip_rank(chip, chip_first(chip, busy)))
		return false;
	*input = first;
	return true;
}

static void chip_set_line(struct i8259_chip *chip, unsigned int input,
			  bool asserted)
{
	uint8_t bit = (uint8_t)(1u << input);

	if (!asserted) {
		chip->lines &= (uint8_t)~bit;
		chip->irr &= (uint8_t)~bit;
		return;
	}
	if ((chip->elcr & bit) || !(chip->lines & bit))
		chip->irr |= bit;
	chip->lines |= bit;
}

static void chip_acknowledge(struct i8259_chip *chip, unsigned int input)
{
	uint8_t bit = (uint8_t)(1u << input);

	if (!(chip->elcr & bit))
		chip->irr &= (uint8_t)~bit;
	if (!chip->auto_eoi)
		chip->isr |= bit;
	else if (chip->rotates_on_auto_eoi)
		chip->lowest = (uint8_t)input;
}

static void i8259_raise_cascade(struct i8259 *p)
{
	p->chip[0].lines |= CASCADE_BIT;
	p->chip[0].irr |= CASCADE_BIT;
}

/* The output of the second chip is an edge input of the first. The request
 * that an edge leaves there stays (see above). */
static void i8259_update_cascade(struct i8259 *p)
{
	unsigned int input;

	if (!chip_request(&p->chip[1], &input))
		p->chip[0].lines &= (uint8_t)~CASCADE_BIT;
	else if (!(p->chip[0].lines & CASCADE_BIT))
		i8259_raise_cascade(p);
}

/* Takes the second chip's request, if any. An output that goes on asking
 * makes a new edge. */
static unsigned int i8259_take_second(struct i8259 *p, bool *found)
{
	unsigned int input = SPURIOUS;

	*found = chip_request(&p->chip[1], &input);
	if (*found)
		chip_acknowledge(&p->chip[1], input);
	p->chip[0].lines &= (uint8_t)~CASCADE_BIT;
	i8259_update_cascade(p);
	return input;
}

/* A poll is an acknowledge without a vector, of this chip alone. */
static uint8_t i8259_poll(struct i8259 *p, struct i8259_chip *chip)
{
	unsigned int input;
	bool found;

	chip->polled = false;
	if (chip == &p->chip[1]) {
		input = i8259_take_second(p, &found);
	} else {
		found = chip_request(chip, &input);
		if (found)
			chip_acknowledge(chip, input);
	}
	return found ? (uint8_t)(POLL_FOUND | input) : 0;
}

static void chip_icw1(struct i8259_chip *chip, uint8_t value)
{
	/* Edges have to come anew. */
	chip->irr = chip->lines & chip->elcr;
	chip->imr = 0;
	chip->isr = 0;
	chip->lowest = 7;
	chip->reads_isr = false;
	chip->polled = false;
	chip->special_mask = false;
	chip->auto_eoi = false;
	chip->rotates_on_auto_eoi = false;
	chip->special_fully_nested = false;
	chip->single = value & ICW1_SINGLE;
	chip->wants_icw4 = value & ICW1_ICW4;
	chip->expects = I8259_EXPECTS_ICW2;
}

static void chip_ocw2(struct i8259_chip *chip, uint8_t value)
{
	unsigned int input = value & OCW2_LEVEL;
	uint8_t busy = chip->isr;

	switch (value & (OCW2_ROTATE | OCW2_SPECIFIC | OCW2_EOI)) {
	case 0:
		chip->rotates_on_auto_eoi = false;
		return;
	case OCW2_ROTATE:
		chip->rotates_on_auto_eoi = true;
		return;
	case OCW2_SPECIFIC:
		return; /* no operation */
	case OCW2_ROTATE | OCW2_SPECIFIC:
		chip->lowest = (uint8_t)input;
		return;
	case OCW2_EOI:
	case OCW2_ROTATE | OCW2_EOI:
		/* In special mask mode, masked ones are not for it to end. */
		if (chip->special_mask)
			busy &= (uint8_t)~chip->imr;
		if (!busy)
			return;
		input = chip_first(chip, busy);
		break;
	}
	chip->isr &= (uint8_t) ~(1u << input);
	if (value & OCW2_ROTATE)
		chip->lowest = (uint8_t)input;
}

static void chip_ocw3(struct i8259_chip *chip, uint8_t value)
{
	if (value & OCW3_ESMM)
		chip->special_mask = value & OCW3_SMM;
	if (value & OCW3_POLL)
		chip->polled = true;
	else if (value & OCW3_RR)
		chip->reads_isr = value & OCW3_RIS;
}

static void chip_write_even(struct i8259_chip *chip, uint8_t value)
{
	if (value & ICW1)
		chip_icw1(chip, value);
	else if (value & OCW3)
		chip_ocw3(chip, value);
	else
		chip_ocw2(chip, value);
}

static void chip_write_odd(struct i8259_chip *chip, uint8_t value)
{
	enum i8259_expects last =
		chip->wants_icw4 ? I8259_EXPECTS_ICW4 : I8259_READY;

	switch (chip->expects) {
	case I8259_EXPECTS_ICW1:
	case I8259_READY:
		chip->imr = value;
		return;
	case I8259_EXPECTS_ICW2:
		chip->vector_base = value & ICW2_BASE;
		chip->expects = chip->single ? last : I8259_EXPECTS_ICW3;
		return;
	case I8259_EXPECTS_ICW3:
		chip->expects = last;
		return;
	case I8259_EXPECTS_ICW4:
		chip->auto_eoi = value & ICW4_AUTO_EOI;
		chip->special_fully_nested = value & ICW4_SFNM;
		chip->expects = I8259_READY;
		return;
	}
}

/* Inputs that are level from now on show what their lines say. */
static void chip_write_elcr(struct i8259_chip *chip, uint8_t value)
{
	chip->elcr = value;
	chip->irr |= chip->lines & value;
}

void i8259_reset(struct i8259 *p)
{
	*p = (struct i8259){.spurious = 0};
	p->chip[0].cascaded = CASCADE_BIT;
	p->chip[0].lowest = 7;
	p->chip[1].lowest = 7;
}

uint8_t i8259_read(struct i8259 *p, uint16_t port)
{
	struct i8259_chip *chip = &p->chip[port >= I8259_PORT_SECOND];

	if (port == I8259_PORT_ELCR_FIRST)
		return p->chip[0].elcr;
	if (port == I8259_PORT_ELCR_SECOND)
		return p->chip[1].elcr;
	if (chip->polled)
		return i8259_poll(p, chip);
	if (port & 1u)
		return chip->imr;
	return chip->reads_isr ? chip->isr : chip->irr;
}

void i8259_write(struct i8259 *p, uint16_t port, uint8_t value)
{
	struct i8259_chip *chip = &p->chip[port >= I8259_PORT_SECOND];

	if (port == I8259_PORT_ELCR_FIRST)
		chip_write_elcr(&p->chip[0], value & ELCR_FIRST);
	else if (port == I8259_PORT_ELCR_SECOND)
		chip_write_elcr(&p->chip[1], value & ELCR_SECOND);
	else if (port & 1u)
		chip_write_odd(chip, value);
	else
		chip_write_even(chip, value);
	i8259_update_cascade(p);
}

void i8259_set_line(struct i8259 *p, unsigned int irq, bool asserted)
{
	assert(irq < I8259_IRQS && irq != CASCADE);
	chip_set_line(&p->chip[irq / 8], irq % 8, asserted);
	i8259_update_cascade(p);
}

bool i8259_intr(const struct i8259 *p)
{
	unsigned int input;

	return chip_request(&p->chip[0], &input);
}

uint8_t i8259_intack(struct i8259 *p)
{
	struct i8259_chip *chip = &p->chip[0];
	unsigned int input = SPURIOUS;
	bool found = chip_request(chip, &input);

	if (found)
		chip_acknowledge(chip, input);
	if (found && input == CASCADE) {
		chip = &p->chip[1];
		input = i8259_take_second(p, &found);
	}
	if (!found)
		p->spurious++;
	return (uint8_t)(chip->vector_base | input);
}
