/* SPDX-License-Identifier: MIT */
/*
 * fuzz-i8259 - command words, lines and acknowledges, in any order.
 *
 * Rules: requests are what lines and acknowledges make of them, none lost and
 * none invented; what is acknowledged is the waiting input of highest priority,
 * and above all that is in service; its vector is in the eight of its chip;
 * with nothing to deliver the answer is IR7 and nothing is in service; an end
 * of interrupt ends one at most; what can be read back reads back.
 */
#include "i8259.h"

#include <string.h>

#include "fuzz.h"

enum {
	CASCADE = 1 << 2,
};

static const uint16_t ports[] = {
	I8259_PORT_FIRST,      I8259_PORT_FIRST + 1,  I8259_PORT_SECOND,
	I8259_PORT_SECOND + 1, I8259_PORT_ELCR_FIRST, I8259_PORT_ELCR_SECOND,
};

struct state {
	struct i8259 p;
	uint8_t lines[2]; /* as driven */
	uint8_t irr[2];	  /* as it must be, but for the cascade's */
};

static unsigned int rank(const struct i8259_chip *chip, unsigned int input)
{
	return (input + 7u - chip->lowest) % 8;
}

/* In service, as far as it keeps `input` back. */
static uint8_t busy_for(const struct i8259_chip *chip, unsigned int input)
{
	uint8_t busy = chip->isr;

	if (chip->special_mask)
		busy &= (uint8_t)~chip->imr;
	if (chip->special_fully_nested && input == 2 && chip->cascaded)
		busy &= (uint8_t)~CASCADE;
	return busy;
}

static bool may_interrupt(const struct i8259_chip *chip, unsigned int input)
{
	uint8_t waiting = chip->irr & (uint8_t)~chip->imr;
	uint8_t busy = busy_for(chip, input);

	if (chip->expects != I8259_READY || !(waiting >> input & 1))
		return false;
	for (unsigned int i = 0; i < 8; i++) {
		if ((waiting >> i & 1) && rank(chip, i) < rank(chip, input))
			return false;
		if ((busy >> i & 1) && rank(chip, i) <= rank(chip, input))
			return false;
	}
	return true;
}

/* The one that may, or 8. */
static unsigned int candidate(const struct i8259_chip *chip)
{
	unsigned int input = 0;

	while (input < 8 && !may_interrupt(chip, input))
		input++;
	return input;
}

/* `input` of chip n was taken; `was` is the chip before. */
static void check_taken(struct state *s, unsigned int n,
			const struct i8259_chip *was, unsigned int input)
{
	const struct i8259_chip *chip = &s->p.chip[n];
	uint8_t bit = (uint8_t)(1u << input);

	FUZZ_CHECK(may_interrupt(was, input));
	FUZZ_CHECK(chip->isr == (was->auto_eoi ? was->isr : was->isr | bit));
	if (!(chip->elcr & bit))
		s->irr[n] &= (uint8_t)~bit;
	FUZZ_CHECK(chip->lowest == (was->auto_eoi && was->rotates_on_auto_eoi
					    ? input
					    : was->lowest));
}

static void check_vector(const struct i8259_chip *chip, uint8_t vector,
			 unsigned int input)
{
	FUZZ_CHECK(vector == (chip->vector_base | input));
	FUZZ_CHECK(!(chip->vector_base & 7));
}

static void acknowledge(struct state *s)
{
	struct i8259 was = s->p;
	unsigned int first = candidate(&was.chip[0]);
	unsigned int second = candidate(&was.chip[1]);
	bool asks = i8259_intr(&s->p);
	uint8_t vector = i8259_intack(&s->p);
	bool is_spurious = !asks || (first == 2 && second == 8);

	FUZZ_CHECK(asks == (first < 8));
	FUZZ_CHECK(s->p.spurious == was.spurious + is_spurious);
	if (!asks) {
		check_vector(&was.chip[0], vector, 7);
		was.spurious++;
		FUZZ_CHECK(!memcmp(&was, &s->p, sizeof(was)));
		return;
	}
	check_taken(s, 0, &was.chip[0], first);
	if (first != 2) {
		check_vector(&was.chip[0], vector, first);
		FUZZ_CHECK(s->p.chip[1].isr == was.chip[1].isr);
	} else if (is_spurious) {
		check_vector(&was.chip[1], vector, 7);
		FUZZ_CHECK(s->p.chip[1].isr == was.chip[1].isr);
	} else {
		check_vector(&was.chip[1], vector, second);
		check_taken(s, 1, &was.chip[1], second);
	}
}

static void check_poll(struct state *s, unsigned int n,
		       const struct i8259_chip *was, uint8_t value)
{
	if (candidate(was) == 8) {
		FUZZ_CHECK(!value);
		FUZZ_CHECK(s->p.chip[n].isr == was->isr);
		return;
	}
	FUZZ_CHECK(value == (0x80u | candidate(was)));
	check_taken(s, n, was, value & 7);
}

static void read_port(struct state *s, unsigned int i)
{
	struct i8259 was = s->p;
	unsigned int n = i == 5 || i == 2 || i == 3;
	const struct i8259_chip *chip = &was.chip[n];
	uint8_t value = i8259_read(&s->p, ports[i]);

	if (i < 4 && chip->polled) {
		check_poll(s, n, chip, value);
		return;
	}
	FUZZ_CHECK(!memcmp(&was, &s->p, sizeof(was)));
	if (i >= 4)
		FUZZ_CHECK(value == chip->elcr);
	else if (i % 2)
		FUZZ_CHECK(value == chip->imr);
	else
		FUZZ_CHECK(value == (chip->reads_isr ? chip->isr : chip->irr));
}

static bool is_one_bit(unsigned int set)
{
	return set && !(set & (set - 1));
}

/* The second command word: ends, and what is the lowest. */
static void check_ocw2(const struct i8259_chip *was,
		       const struct i8259_chip *chip, uint8_t value)
{
	uint8_t ended = was->isr & (uint8_t)~chip->isr;
	uint8_t busy = was->isr;
	unsigned int best = 8;

	FUZZ_CHECK(!(chip->isr & (uint8_t)~was->isr));
	if (!(value & 0x20)) {
		FUZZ_CHECK(!ended);
		return;
	}
	if (value & 0x40) {
		FUZZ_CHECK(ended == (was->isr & 1u << (value & 7)));
		return;
	}
	if (was->special_mask)
		busy &= (uint8_t)~was->imr;
	for (unsigned int i = 0; i < 8; i++)
		if ((busy >> i & 1) &&
		    (best == 8 || rank(was, i) < rank(was, best)))
			best = i;
	FUZZ_CHECK(busy ? is_one_bit(ended) && ended == 1u << best : !ended);
	FUZZ_CHECK(chip->lowest == (busy && value & 0x80 ? best : was->lowest));
}

static void write_port(struct state *s, unsigned int i, uint8_t value)
{
	struct i8259 was = s->p;
	unsigned int n = i == 5 || i == 2 || i == 3;
	struct i8259_chip *chip = &s->p.chip[n];

	i8259_write(&s->p, ports[i], value);
	if (i >= 4) {
		FUZZ_CHECK(chip->elcr == (value & (n ? 0xde : 0xf8)));
		s->irr[n] |= s->lines[n] & chip->elcr;
	} else if (i % 2) {
		if (was.chip[n].expects == I8259_READY ||
		    was.chip[n].expects == I8259_EXPECTS_ICW1)
			FUZZ_CHECK(chip->imr == value);
		else
			FUZZ_CHECK(chip->imr == was.chip[n].imr);
	} else if (value & 0x10) {
		FUZZ_CHECK(!chip->isr && !chip->imr && chip->lowest == 7);
		FUZZ_CHECK(chip->expects == I8259_EXPECTS_ICW2);
		s->irr[n] = s->lines[n] & chip->elcr;
	} else if (!(value & 0x08)) {
		check_ocw2(&was.chip[n], chip, value);
	}
	FUZZ_CHECK(s->p.spurious == was.spurious);
}

static void set_line(struct state *s, unsigned int irq, bool asserted)
{
	unsigned int n = irq / 8;
	uint8_t bit = (uint8_t)(1u << irq % 8);

	if (irq == 2)
		return;
	if (!asserted)
		s->irr[n] &= (uint8_t)~bit;
	else if (!(s->lines[n] & bit) || (s->p.chip[n].elcr & bit))
		s->irr[n] |= bit;
	s->lines[n] =
		asserted ? s->lines[n] | bit : s->lines[n] & (uint8_t)~bit;
	i8259_set_line(&s->p, irq, asserted);
}

/* As an operating system does; by words alone that takes the fuzzer long. */
static void initialise(struct state *s, unsigned int n, struct fuzz_input *in)
{
	uint8_t base = fuzz_u8(in), last = fuzz_u8(in);

	write_port(s, 2 * n, 0x11);
	write_port(s, 2 * n + 1, base);
	write_port(s, 2 * n + 1, n ? 2 : 4);
	write_port(s, 2 * n + 1, last);
	FUZZ_CHECK(s->p.chip[n].expects == I8259_READY);
	FUZZ_CHECK(s->p.chip[n].vector_base == (base & 0xf8));
	FUZZ_CHECK(s->p.chip[n].auto_eoi == !!(last & 2));
}

static void step(struct state *s, struct fuzz_input *in)
{
	uint8_t op = fuzz_u8(in);

	switch (op >> 5) {
	case 0:
	case 1:
		set_line(s, op % I8259_IRQS, op & 0x10);
		break;
	case 2:
		acknowledge(s);
		break;
	case 3:
		write_port(s, op & 2, 0x20); /* end of interrupt */
		break;
	case 4:
		read_port(s, op % 6);
		break;
	case 5:
	case 6:
		write_port(s, op % 6, fuzz_u8(in));
		break;
	case 7:
		initialise(s, op & 1, in);
		break;
	}
}

static void check(const struct state *s)
{
	const struct i8259_chip *first = &s->p.chip[0], *second = &s->p.chip[1];

	FUZZ_CHECK((first->irr & ~CASCADE) == (s->irr[0] & ~CASCADE));
	FUZZ_CHECK(second->irr == s->irr[1]);
	FUZZ_CHECK(i8259_intr(&s->p) == (candidate(first) < 8));
	/* What the second one asks for is on the wire. */
	FUZZ_CHECK(!!(first->lines & CASCADE) == (candidate(second) < 8));
	for (unsigned int n = 0; n < 2; n++) {
		FUZZ_CHECK(s->p.chip[n].lowest < 8);
		FUZZ_CHECK(!(s->p.chip[n].vector_base & 7));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.lines = {0, 0}};

	i8259_reset(&s.p);
	while (fuzz_more(&in)) {
		step(&s, &in);
		check(&s);
	}
	return 0;
}
