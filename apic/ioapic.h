/* SPDX-License-Identifier: MIT */
/*
 * ioapic - I/O APIC: 24 pins, version 0x20 (the one with an EOI register).
 *
 * Pure: no I/O, no locks, no allocation; the owner serialises calls. Messages
 * go to the sink within a call.
 * Reference: Intel 82093AA data sheet, "Register Description" and "Interrupt
 * Delivery"; Intel 82801BA (ICH2) data sheet, "APIC Memory-Mapped Registers"
 * for the EOI register; SDM 3A "Message Signalled Interrupts".
 * Not modelled: the serial APIC bus (delivery takes no time, so delivery
 * status always reads idle; arbitration is a register and no more), IRQ pin
 * assertion register, polarity (stored; lines are given as asserted or not),
 * destinations wider than eight bits.
 */
#ifndef APIC_IOAPIC_H
#define APIC_IOAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "irq_sink.h"

#define IOAPIC_PINS 24u

struct ioapic {
	/* Guest-visible registers. */
	uint8_t select; /* IOREGSEL */
	uint8_t id;
	uint8_t arbitration;
	uint64_t entries[IOAPIC_PINS]; /* redirection table */
	/* Wires. */
	uint32_t lines; /* bit n: pin n is asserted */
	/* What a guest did that came to nothing. */
	uint64_t odd_accesses;	     /* of another width, or to no register */
	uint64_t undeliverable_irqs; /* vector below 16, or reserved mode */
};

/* State after power-on: all masked, all lines low. */
void ioapic_reset(struct ioapic *io);

/* Guest reads or writes size bytes at offset from the base address. The
 * registers take aligned accesses of four bytes; of any other a read gives all
 * ones and a write vanishes, counted. A write that unmasks a level pin whose
 * line is high sends.
 * True: a level interrupt of ioapic_route came, went, or is another one. */
uint32_t ioapic_read(struct ioapic *io, uint32_t offset, unsigned int size);
bool ioapic_write(struct ioapic *io, uint32_t offset, unsigned int size,
		  uint32_t value, const struct irq_sink *sink);

/* The device on a pin (below IOAPIC_PINS) asserts its line or lets go of it.
 * Devices that share a pin are put together by the owner. */
void ioapic_set_line(struct ioapic *io, unsigned int pin, bool asserted,
		     const struct irq_sink *sink);

/* A processor ended the interrupt of this vector. Each level pin that waits
 * for it sends anew if its line is still high: a line that stays high comes
 * right back, and it is for the owner to slow that down. An end that nobody
 * waits for (both an EOI exit and the EOI register for one interrupt) is
 * nothing. */
void ioapic_eoi(struct ioapic *io, uint8_t vector, const struct irq_sink *sink);

/* No local APIC accepted this message: the level pins that send it wait for no
 * end, and hold no remote IRR. Nothing is sent, for who refused would again: a
 * pin whose line stays high sends when its entry is written or its line is
 * given anew. A chip would go on trying. */
void ioapic_refused(struct ioapic *io, const struct irq_msg *msg);

/* The message a pin sends as its entry is now. True: it is a level interrupt,
 * whose end ioapic_eoi must be told. Does not look at the mask: guests mask
 * and unmask around an interrupt, and its end still counts in between. */
bool ioapic_route(const struct ioapic *io, unsigned int pin,
		  struct irq_msg *msg);

/* Whether a pin that is not masked would send what reaches a processor that has
 * its interrupts off: an SMI, NMI or INIT. */
bool ioapic_reaches_all(const struct ioapic *io);

#endif
