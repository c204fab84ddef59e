/* SPDX-License-Identifier: MIT */
/*
 * fuzz-ioapic - guest accesses, lines, ends of interrupts and refused messages,
 * in any order.
 *
 * Rules, after each step: an entry holds what was written to its writable bits,
 * and nothing else but remote IRR; remote IRR is a level pin's alone, comes
 * with its message, and goes with its end, its level or a refusal; a level pin
 * that could send has sent, but for one that was refused, until its entry is
 * written or its line given anew; an edge is one message, of a pin that is not
 * masked; a message is what the entry says; a route that changed is told.
 */
#include "ioapic.h"

#include <string.h>

#include "fuzz.h"

enum {
	SELECT = 0x00,
	WINDOW = 0x10,
	EOI = 0x40,
	TABLE = 0x10, /* index of the first entry */
};

#define VECTOR	    0xffull
#define MODE(entry) ((unsigned int)((entry) >> 8 & 7))
#define REMOTE_IRR  (1ull << 14)
#define LEVEL	    (1ull << 15)
#define MASKED	    (1ull << 16)
#define WRITABLE    0xff0000000001afffull

struct state {
	struct ioapic io;
	/* As before the step. */
	struct ioapic was;
	uint64_t written[IOAPIC_PINS]; /* what the entries must hold */
	bool waits[IOAPIC_PINS];       /* to be asked anew, after a refusal */
	/* Of this step. */
	struct irq_msg msgs[IOAPIC_PINS + 1];
	unsigned int msg_count;
	bool ended; /* an interrupt, of this vector */
	uint8_t ended_vector;
	bool refused; /* this message */
	struct irq_msg refused_msg;
	bool told; /* of a route */
};

static void note(void *context, const struct irq_msg *msg)
{
	struct state *s = context;

	FUZZ_CHECK(s->msg_count < IOAPIC_PINS + 1);
	s->msgs[s->msg_count++] = *msg;
}

static bool has_vector(uint64_t entry)
{
	return MODE(entry) <= 1;
}

static bool is_level(uint64_t entry)
{
	return (entry & LEVEL) && has_vector(entry);
}

static bool is_legal(uint64_t entry)
{
	if (has_vector(entry))
		return (entry & VECTOR) >= 16;
	return MODE(entry) != 3 && MODE(entry) != 6;
}

static struct irq_msg message_of(uint64_t entry)
{
	struct irq_msg msg = {
		.address = 0xfee00000u | (uint32_t)(entry >> 56) << 12 |
			   (entry & 1u << 11 ? 4u : 0u),
		.data = (uint32_t)(entry & 0x7ff) |
			(is_level(entry) ? 0xc000u : 0u),
	};

	return msg;
}

static bool same(const struct irq_msg *a, const struct irq_msg *b)
{
	return a->address == b->address && a->data == b->data;
}

/* Takes the message off the list of this step. */
static bool take_message(struct state *s, uint64_t entry)
{
	struct irq_msg msg = message_of(entry);

	for (unsigned int i = 0; i < s->msg_count; i++)
		if (same(&s->msgs[i], &msg)) {
			s->msgs[i] = s->msgs[--s->msg_count];
			return true;
		}
	return false;
}

static bool route_differs(const struct state *s, unsigned int pin)
{
	struct irq_msg a, b;
	bool level_a, level_b;

	if (s->was.entries[pin] == s->io.entries[pin])
		return false;
	level_a = ioapic_route(&s->was, pin, &a);
	level_b = ioapic_route(&s->io, pin, &b);
	return level_a != level_b || (level_a && !same(&a, &b));
}

static bool was_refused(const struct state *s, uint64_t entry)
{
	struct irq_msg msg = message_of(entry);

	return s->refused && is_level(entry) && is_legal(entry) &&
	       (entry & REMOTE_IRR) && same(&msg, &s->refused_msg);
}

static void check_pin(struct state *s, unsigned int pin)
{
	uint64_t entry = s->io.entries[pin], old = s->was.entries[pin];
	bool high = s->io.lines >> pin & 1;
	bool rose = high && !(s->was.lines >> pin & 1);
	bool ended = (old & REMOTE_IRR) && s->ended &&
		     (old & VECTOR) == s->ended_vector;
	bool refused = was_refused(s, old);

	FUZZ_CHECK((entry & ~REMOTE_IRR) == s->written[pin]);
	if (!is_level(entry)) {
		FUZZ_CHECK(!(entry & REMOTE_IRR));
		if (rose && !(entry & MASKED) && is_legal(entry))
			FUZZ_CHECK(take_message(s, entry));
		return;
	}
	if (refused) {
		FUZZ_CHECK(!(entry & REMOTE_IRR));
		s->waits[pin] = true;
	}
	/* Nothing is lost. */
	if (high && !(entry & MASKED) && is_legal(entry) && !s->waits[pin])
		FUZZ_CHECK(entry & REMOTE_IRR);
	if ((entry & REMOTE_IRR) && (!(old & REMOTE_IRR) || ended)) {
		FUZZ_CHECK(high && !(entry & MASKED) && is_legal(entry));
		FUZZ_CHECK(take_message(s, entry));
	}
	if (!(entry & REMOTE_IRR))
		FUZZ_CHECK(!(old & REMOTE_IRR) || ended || refused);
}

static void check(struct state *s)
{
	bool differs = false;

	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++) {
		check_pin(s, pin);
		differs |= route_differs(s, pin);
	}
	FUZZ_CHECK(!s->msg_count); /* none that no pin accounts for */
	FUZZ_CHECK(differs == s->told);
}

static uint32_t read_register(struct state *s, uint8_t index)
{
	struct irq_sink sink = {.send = note, .context = s};

	FUZZ_CHECK(!ioapic_write(&s->io, SELECT, 4, index, &sink));
	FUZZ_CHECK(ioapic_read(&s->io, SELECT, 4) == index);
	return ioapic_read(&s->io, WINDOW, 4);
}

static void write_window(struct state *s, uint32_t value)
{
	struct irq_sink sink = {.send = note, .context = s};
	unsigned int index = s->io.select - TABLE, pin = index / 2;
	uint64_t half = index % 2 ? 0xffffffff00000000ull : 0xffffffffull;

	if (index < 2 * IOAPIC_PINS) {
		s->waits[pin] = false;
		s->written[pin] = (s->written[pin] & ~half) |
				  ((uint64_t)value << (index % 2 ? 32 : 0) &
				   half & WRITABLE);
	}
	s->told = ioapic_write(&s->io, WINDOW, 4, value, &sink);
}

/* An entry that can come about: few vectors, so that ends match. */
static uint32_t likely_entry(struct fuzz_input *in)
{
	uint8_t bits = fuzz_u8(in);

	return 0x0eu + (bits & 7u) +
	       ((bits & 8u) ? fuzz_u8(in) & 7u : 0) * 256 +
	       ((bits & 0x10u) ? (uint32_t)LEVEL : 0) +
	       ((bits & 0x20u) ? (uint32_t)MASKED : 0);
}

static void odd_access(struct state *s, struct fuzz_input *in)
{
	struct irq_sink sink = {.send = note, .context = s};
	uint32_t offset = fuzz_u16(in) & 0xfff;
	unsigned int size = 1u << (fuzz_u8(in) & 3);
	uint32_t value = fuzz_u32(in);
	struct ioapic was = s->io;

	if (size == 4 &&
	    (offset == SELECT || offset == WINDOW || offset == EOI))
		return;
	FUZZ_CHECK(!ioapic_write(&s->io, offset, size, value, &sink));
	FUZZ_CHECK(ioapic_read(&s->io, offset, size) == UINT32_MAX);
	FUZZ_CHECK(s->io.odd_accesses == was.odd_accesses + 2);
	was.odd_accesses += 2;
	FUZZ_CHECK(!memcmp(&was, &s->io, sizeof(was)));
}

static void end_interrupt(struct state *s, uint8_t vector, bool by_register)
{
	struct irq_sink sink = {.send = note, .context = s};

	s->ended = true;
	s->ended_vector = vector;
	if (by_register)
		s->told = ioapic_write(&s->io, EOI, 4, vector, &sink);
	else
		ioapic_eoi(&s->io, vector, &sink);
}

/* Of the pin, or of any that has the like; or of one that is not there. */
static void refuse(struct state *s, unsigned int pin, uint8_t changed)
{
	s->refused = true;
	s->refused_msg = message_of(s->io.entries[pin]);
	s->refused_msg.address ^= (uint32_t)(changed & 0xfu) << 12;
	s->refused_msg.data ^= changed >> 4;
	ioapic_refused(&s->io, &s->refused_msg);
}

static void step(struct state *s, struct fuzz_input *in)
{
	struct irq_sink sink = {.send = note, .context = s};
	uint8_t op = fuzz_u8(in);
	unsigned int pin = (op >> 3) % IOAPIC_PINS;

	switch (op & 7) {
	case 0:
	case 1:
		s->waits[pin] = false;
		ioapic_set_line(&s->io, pin, op & 1, &sink);
		break;
	case 2:
		end_interrupt(s, fuzz_u8(in), op & 8);
		break;
	case 3:
		end_interrupt(s, (uint8_t)(0x0eu + (op >> 3 & 7)), op & 0x40);
		break;
	case 4: /* its low half */
		read_register(s, (uint8_t)(TABLE + 2 * pin));
		write_window(s, likely_entry(in));
		break;
	case 5: /* its high half */
		read_register(s, (uint8_t)(TABLE + 2 * pin + 1));
		write_window(s, fuzz_u32(in));
		break;
	case 6: /* any register */
		read_register(s, fuzz_u8(in));
		write_window(s, fuzz_u32(in));
		break;
	case 7:
		if (op & 0x80)
			refuse(s, pin, fuzz_u8(in));
		else
			odd_access(s, in);
		break;
	}
}

/* What a guest sees at the end is what the rules were kept for. */
static void read_all(struct state *s)
{
	uint64_t entry;

	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++) {
		entry = read_register(s, (uint8_t)(TABLE + 2 * pin));
		entry |= (uint64_t)read_register(s,
						 (uint8_t)(TABLE + 2 * pin + 1))
			 << 32;
		FUZZ_CHECK(entry == s->io.entries[pin]);
	}
	FUZZ_CHECK(read_register(s, 1) == 0x170020);
	FUZZ_CHECK(!(read_register(s, 0) & ~0x0f000000u));
	FUZZ_CHECK(!read_register(s, 3));
	FUZZ_CHECK(!read_register(s, TABLE + 2 * IOAPIC_PINS));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.msg_count = 0};

	ioapic_reset(&s.io);
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++)
		s.written[pin] = MASKED;
	while (fuzz_more(&in)) {
		s.was = s.io;
		s.msg_count = 0;
		s.ended = false;
		s.refused = false;
		s.told = false;
		step(&s, &in);
		check(&s);
	}
	read_all(&s);
	return 0;
}
