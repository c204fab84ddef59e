/* SPDX-License-Identifier: MIT */
/*
 * fuzz-uart16550 - the first serial port, chip and line together, between a
 * guest that does anything and bytes that come at any time.
 *
 * Rules: what the guest reads are the bytes of the line, each once and in
 * order, and those of its own loopback; a byte is off the line when it was
 * read, and no sooner; the chip has room for 16, or for one; what is sent is
 * what was written, and nothing while the chip is in loopback; IIR, LSR and
 * the interrupt line say the same; a read that leaves less than the trigger
 * lets go of the line until it is followed up; registers read back.
 */
#include "serial_port.h"

#include <string.h>

#include "fuzz.h"

enum {
	RBR_THR,
	IER,
	IIR_FCR,
	LCR,
	MCR,
	LSR,
	MSR,
	SCR,
	DLAB = 0x80,
	OUT2 = 0x08,
	LOOP = 0x10,
	OVERRUN = 0x02,
};

/* A byte in the chip. */
struct held {
	uint8_t value;
	bool is_echo; /* the guest sent it itself */
};

struct state {
	struct serial_port port;
	uint64_t put;			     /* bytes that the line took */
	uint64_t read;			     /* of them, by the guest */
	uint8_t registers[UART16550_WINDOW]; /* as written */
	uint8_t divisor[2];
	struct held held[UART16550_FIFO]; /* oldest first */
	unsigned int held_count;
	uint8_t last; /* of RBR */
	bool overrun;
};

/* The bytes of the line are a function of their place in it. */
static uint8_t line_byte(uint64_t place)
{
	return (uint8_t)(place * 37 + (place >> 8) * 11 + 1);
}

static bool has_dlab(const struct state *s)
{
	return s->registers[LCR] & DLAB;
}

static bool has_fifo(const struct state *s)
{
	return s->registers[IIR_FCR] & 1;
}

static unsigned int depth(const struct state *s)
{
	return has_fifo(s) ? UART16550_FIFO : 1;
}

/* Bytes of the line that are in the chip. */
static unsigned int handed(const struct state *s)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < s->held_count; i++)
		count += !s->held[i].is_echo;
	return count;
}

static void hold(struct state *s, uint8_t value, bool is_echo)
{
	FUZZ_CHECK(s->held_count < depth(s));
	s->held[s->held_count++] = (struct held){value, is_echo};
}

/* What the port put into the chip of itself is what comes next on the line. */
static void follow_feed(struct state *s)
{
	const struct uart16550 *u = &s->port.uart;
	unsigned int at = u->oldest;

	FUZZ_CHECK(u->received <= depth(s) && u->received >= s->held_count);
	for (unsigned int i = 0; i < u->received; i++, at++) {
		if (i == s->held_count) {
			uint64_t place = s->read + handed(s);

			FUZZ_CHECK(place < s->put);
			FUZZ_CHECK(!(s->registers[MCR] & LOOP));
			hold(s, line_byte(place), false);
		}
		FUZZ_CHECK(u->fifo[at % UART16550_FIFO] == s->held[i].value);
	}
}

/* The oldest byte, which the port may have put into the chip at this very
 * access; if there is none, the last one again. */
static void check_rbr(struct state *s, uint64_t taken_before, uint8_t value)
{
	bool takes = s->port.taken != taken_before;

	if (!s->held_count && takes) {
		FUZZ_CHECK(s->read < s->put);
		hold(s, line_byte(s->read), false);
	}
	if (s->held_count) {
		struct held oldest = s->held[0];

		s->held_count--;
		memmove(s->held, s->held + 1,
			s->held_count * sizeof(s->held[0]));
		s->last = oldest.value;
		s->read += !oldest.is_echo;
	}
	FUZZ_CHECK(value == s->last);
}

/* By the chip's order, from what it has to say. */
static uint8_t source(const struct uart16550 *u, uint8_t ier)
{
	if ((ier & 4) && (u->lsr & OVERRUN))
		return 0x06;
	if ((ier & 1) && u->received)
		return u->fifo_enabled && u->received < u->trigger ? 0x0c
								   : 0x04;
	if ((ier & 2) && u->thr_news)
		return 0x02;
	return (ier & 8) && u->msr_delta ? 0x00 : 0x01;
}

/* `was` is the chip before the port had a chance to feed it. */
static void check_iir(struct state *s, const struct uart16550 *was,
		      uint8_t value)
{
	struct uart16550 before = s->port.uart;

	before.thr_news = was->thr_news;
	FUZZ_CHECK((value & 0xc0) == (has_fifo(s) ? 0xc0 : 0));
	FUZZ_CHECK((value & 0x3f) == source(&before, s->registers[IER]));
	FUZZ_CHECK(s->port.uart.thr_news ==
		   (was->thr_news && (value & 0x3f) != 0x02));
}

static void check_lsr(struct state *s, uint8_t value)
{
	FUZZ_CHECK((value & ~0x03) == 0x60);
	FUZZ_CHECK(!!(value & 1) == !!s->port.uart.received);
	FUZZ_CHECK(!!(value & OVERRUN) == s->overrun);
	s->overrun = false;
}

static uint8_t modem_lines(const struct state *s)
{
	uint8_t mcr = s->registers[MCR];

	if (!(mcr & LOOP))
		return 0xb0;
	return (uint8_t)((mcr & 2 ? 0x10 : 0) | (mcr & 1 ? 0x20 : 0) |
			 (mcr & 4 ? 0x40 : 0) | (mcr & 8 ? 0x80 : 0));
}

static bool gate_is_open(const struct state *s)
{
	return (s->registers[MCR] & (OUT2 | LOOP)) == OUT2;
}

/* Before there is more, or the time-out of what is left. */
static void check_line_after_data(const struct state *s)
{
	const struct uart16550 *u = &s->port.uart;
	uint8_t ier = s->registers[IER];

	if (!u->fifo_enabled || u->received < u->trigger)
		ier &= (uint8_t)~1u;
	FUZZ_CHECK(serial_port_irq(&s->port) ==
		   (gate_is_open(s) && source(u, ier) != 0x01));
}

static void guest_reads(struct state *s, unsigned int offset)
{
	struct uart16550 was = s->port.uart;
	uint64_t taken = s->port.taken;
	uint8_t value = serial_port_read(&s->port, offset);

	if (offset == RBR_THR && !has_dlab(s))
		check_line_after_data(s);
	switch (offset) {
	case RBR_THR:
		if (has_dlab(s))
			FUZZ_CHECK(value == s->divisor[0]);
		else
			check_rbr(s, taken, value);
		break;
	case IER:
		FUZZ_CHECK(value ==
			   (has_dlab(s) ? s->divisor[1] : s->registers[IER]));
		break;
	case IIR_FCR:
		check_iir(s, &was, value);
		break;
	case LSR:
		check_lsr(s, value);
		break;
	case MSR:
		FUZZ_CHECK((value & 0xf0) == modem_lines(s));
		FUZZ_CHECK((value & 0x0f) == was.msr_delta);
		FUZZ_CHECK(!s->port.uart.msr_delta);
		break;
	default:
		FUZZ_CHECK(value == s->registers[offset]);
		break;
	}
	serial_port_go_on(&s->port);
}

static void throw_away(struct state *s)
{
	s->held_count = 0;
}

/* With no room, a FIFO keeps what it has, a single register does not. */
static void echo(struct state *s, uint8_t value)
{
	if (s->held_count == depth(s)) {
		s->overrun = true;
		if (has_fifo(s))
			return;
		throw_away(s);
	}
	hold(s, value, true);
}

static void follow_write(struct state *s, unsigned int offset, uint8_t value)
{
	static const uint8_t writable[] = {0,	 0x0f, 0xff, 0xff,
					   0x1f, 0,    0,    0xff};
	bool enable = value & 1;

	if (offset <= IER && has_dlab(s)) {
		s->divisor[offset] = value;
		return;
	}
	if (offset == RBR_THR) {
		if (s->registers[MCR] & LOOP)
			echo(s, value);
		return;
	}
	if (offset == IIR_FCR &&
	    (enable != has_fifo(s) || (enable && (value & 2))))
		throw_away(s);
	s->registers[offset] = value & writable[offset];
}

static void guest_writes(struct state *s, unsigned int offset, uint8_t value)
{
	uint8_t out_byte = (uint8_t)~value;
	bool sends = offset == RBR_THR && !has_dlab(s) &&
		     !(s->registers[MCR] & LOOP);

	FUZZ_CHECK(serial_port_write(&s->port, offset, value, &out_byte) ==
		   sends);
	follow_write(s, offset, value);
	FUZZ_CHECK(out_byte == (sends ? value : (uint8_t)~value));
	if (!sends)
		return;
	/* It was empty, it is busy, and then it is empty again: an edge. */
	FUZZ_CHECK(!s->port.uart.thr_news);
	serial_port_sent(&s->port);
	FUZZ_CHECK(s->port.uart.thr_news);
}

static void line_brings(struct state *s, unsigned int count)
{
	uint8_t bytes[256];
	size_t room = SERIAL_LINE_SIZE - (s->put - s->read), took;

	for (unsigned int i = 0; i < count; i++)
		bytes[i] = line_byte(s->put + i);
	took = serial_port_put(&s->port, bytes, count);
	FUZZ_CHECK(took == (count < room ? count : room));
	s->put += took;
}

static void check(struct state *s)
{
	const struct serial_port *port = &s->port;
	const struct uart16550 *u = &port->uart;

	follow_feed(s);
	FUZZ_CHECK(port->put == s->put && port->taken == s->read);
	FUZZ_CHECK(s->put - s->read <= SERIAL_LINE_SIZE);
	FUZZ_CHECK(serial_port_irq(port) ==
		   (gate_is_open(s) && source(u, s->registers[IER]) != 0x01));
	/* Who asks to be told has what there is, as far as there is room. */
	if ((u->ier & 1) && !(s->registers[MCR] & LOOP) && !u->received)
		FUZZ_CHECK(s->put == s->read);
}

static void ask_for_room(struct state *s, bool eager)
{
	size_t room = serial_port_room(&s->port, eager);

	FUZZ_CHECK(!room || room == SERIAL_LINE_SIZE - (s->put - s->read));
	FUZZ_CHECK(!eager || room == SERIAL_LINE_SIZE - (s->put - s->read));
	if (room)
		FUZZ_CHECK(!serial_port_wants(&s->port));
}

static void step(struct state *s, struct fuzz_input *in)
{
	uint8_t op = fuzz_u8(in);
	unsigned int offset = op >> 3 & 7;

	switch (op & 7) {
	case 0:
	case 1:
		guest_reads(s, offset);
		break;
	case 2:
	case 3:
		guest_writes(s, offset, fuzz_u8(in));
		break;
	case 4:
		line_brings(s, op >> 3);
		break;
	case 5:
		line_brings(s, fuzz_u8(in));
		break;
	case 6:
		ask_for_room(s, op & 8);
		break;
	case 7: /* as a guest that polls */
		guest_reads(s, LSR);
		check(s);
		guest_reads(s, LSR);
		check(s);
		guest_reads(s, RBR_THR);
		break;
	}
}

/* A guest that goes on reading gets all the rest, but for what it would send
 * itself. */
static void drain(struct state *s)
{
	guest_writes(s, LCR, 0);
	check(s);
	guest_writes(s, MCR, 0);
	check(s);
	guest_writes(s, IER, 1);
	check(s);
	for (unsigned int i = 0; i < 40; i++) {
		guest_reads(s, RBR_THR);
		check(s);
	}
	FUZZ_CHECK(s->port.uart.received || s->read == s->put);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	static struct state s; /* 5 KiB, new for each input */

	memset(&s, 0, sizeof(s));
	serial_port_init(&s.port);
	while (fuzz_more(&in)) {
		step(&s, &in);
		check(&s);
	}
	drain(&s);
	return 0;
}
