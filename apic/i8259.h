/* SPDX-License-Identifier: MIT */
/*
 * i8259 - the two interrupt controllers of a PC, the second one on IR2.
 *
 * Pure: no I/O, no locks, no allocation; the owner serialises calls and looks
 * at i8259_intr after each of them.
 * Reference: Intel 8259A data sheet, "Programming the 8259A", "Interrupt
 * Sequence"; Intel 82371AB (PIIX4) data sheet, "Edge/Level Control Register".
 * Not modelled: MCS-80 vectors, buffered mode, ICW3 (taken, but the second
 * chip is wired to IR2), ICW1's choices of level mode (ELCR stands in for it,
 * as on PIIX) and of a single chip (only: then there is no ICW3).
 *
 * Until a chip has been initialised it requests nothing: no firmware ran, and
 * its vectors would be exceptions. Its mask can be written and read back all
 * the same, by which guests find it.
 */
#ifndef APIC_I8259_H
#define APIC_I8259_H

#include <stdbool.h>
#include <stdint.h>

#define I8259_IRQS	       16u

/* Ports: two a chip, and one edge/level register. */
#define I8259_PORT_FIRST       0x20u
#define I8259_PORT_SECOND      0xa0u
#define I8259_PORT_ELCR_FIRST  0x4d0u
#define I8259_PORT_ELCR_SECOND 0x4d1u

enum i8259_expects {
	I8259_EXPECTS_ICW1, /* since power-on */
	I8259_EXPECTS_ICW2,
	I8259_EXPECTS_ICW3,
	I8259_EXPECTS_ICW4,
	I8259_READY,
};

struct i8259_chip {
	/* Guest-visible registers; bit n: input n. */
	uint8_t irr, imr, isr;
	uint8_t elcr; /* 1: level */
	uint8_t vector_base;
	/* What the command words chose. */
	enum i8259_expects expects;
	bool single, wants_icw4; /* of ICW1, until the sequence is over */
	bool reads_isr;
	bool polled; /* the next read is a poll */
	bool special_mask;
	bool auto_eoi, rotates_on_auto_eoi;
	bool special_fully_nested;
	uint8_t lowest; /* input of lowest priority */
	/* Wires. */
	uint8_t lines;
	uint8_t cascaded; /* inputs with a chip behind them */
};

struct i8259 {
	struct i8259_chip chip[2];
	uint64_t spurious; /* acknowledged with nothing to deliver */
};

/* State after power-on. */
void i8259_reset(struct i8259 *p);

/* Guest reads or writes a byte at one of the ports of this pair, which is for
 * the owner to make sure. Reading may be a poll, which takes an interrupt. */
uint8_t i8259_read(struct i8259 *p, uint16_t port);
void i8259_write(struct i8259 *p, uint16_t port, uint8_t value);

/* The device on an IRQ (below I8259_IRQS, not 2) asserts its line or lets go
 * of it. A request that is not acknowledged goes away with its line, edge or
 * level. */
void i8259_set_line(struct i8259 *p, unsigned int irq, bool asserted);

/* The INTR output. */
bool i8259_intr(const struct i8259 *p);

/* The processor acknowledges: the vector, whose interrupt is now in service.
 * With nothing to deliver that is IRQ 7, or IRQ 15 if it was the second chip
 * that asked, and nothing is in service there. */
uint8_t i8259_intack(struct i8259 *p);

#endif
