/* SPDX-License-Identifier: MIT */
/*
 * An I/O APIC: lines in, messages out.
 * Reference: Intel 82093AA data sheet, "Register Description", "Interrupt
 * Delivery"; 82801BA (ICH2) data sheet for the EOI register.
 * Not modelled: the serial APIC bus, delivery that takes time, polarity.
 *
 * An entry that is not level never holds remote IRR: guests for chips without
 * an EOI register turn an entry to edge and back to get rid of it.
 */
#include "ioapic.h"

#include <assert.h>

/* In the memory window. */
#define IOAPIC_IOREGSEL		0x00u
#define IOAPIC_IOWIN		0x10u
#define IOAPIC_EOI		0x40u

/* Behind IOREGSEL. */
#define IOAPIC_ID		0x00u
#define IOAPIC_ID_SHIFT		24
#define IOAPIC_ID_MASK		0x0fu
#define IOAPIC_VER		0x01u
#define IOAPIC_VER_VALUE	(((IOAPIC_PINS - 1) << 16) | 0x20u)
#define IOAPIC_ARB		0x02u
#define IOAPIC_REDTBL		0x10u /* two for each pin, low half first */

#define ENTRY_VECTOR		0xffull
#define ENTRY_MODE_SHIFT	8
#define ENTRY_MODE_MASK		0x7u
#define ENTRY_LOGICAL		(1ull << 11)
#define ENTRY_REMOTE_IRR	(1ull << 14) /* read-only, as delivery status */
#define ENTRY_LEVEL		(1ull << 15)
#define ENTRY_MASKED		(1ull << 16)
#define ENTRY_DESTINATION_SHIFT 56
#define ENTRY_LOW_WRITABLE	0x1afffull /* all but 12, 14 and above 16 */
#define ENTRY_HIGH_WRITABLE	0xff00000000000000ull

/* Delivery modes. 3 and 6 are reserved. */
#define MODE_FIXED		0u
#define MODE_LOWEST		1u
#define MODE_SMI		2u
#define MODE_NMI		4u
#define MODE_INIT		5u
#define MODE_EXTINT		7u

#define MSI_ADDRESS		0xfee00000u
#define MSI_DESTINATION_SHIFT	12
#define MSI_LOGICAL		(1u << 2)
#define MSI_MODE_SHIFT		8
#define MSI_ASSERT		(1u << 14)
#define MSI_LEVEL		(1u << 15)

#define LOWEST_LEGAL_VECTOR	16u

static unsigned int entry_mode(uint64_t entry)
{
	return (entry >> ENTRY_MODE_SHIFT) & ENTRY_MODE_MASK;
}

static bool entry_has_vector(uint64_t entry)
{
	return entry_mode(entry) == MODE_FIXED ||
	       entry_mode(entry) == MODE_LOWEST;
}

static bool entry_reaches_all(uint64_t entry)
{
	unsigned int mode = entry_mode(entry);

	return !(entry & ENTRY_MASKED) &&
	       (mode == MODE_SMI || mode == MODE_NMI || mode == MODE_INIT);
}

static bool entry_is_deliverable(uint64_t entry)
{
	switch (entry_mode(entry)) {
	case MODE_FIXED:
	case MODE_LOWEST:
		return (entry & ENTRY_VECTOR) >= LOWEST_LEGAL_VECTOR;
	case MODE_SMI:
	case MODE_NMI:
	case MODE_INIT:
	case MODE_EXTINT:
		return true;
	default:
		return false;
	}
}

/* The other modes are edge whatever the trigger bit says: nothing ends them. */
static bool entry_is_level(uint64_t entry)
{
	return (entry & ENTRY_LEVEL) && entry_has_vector(entry);
}

static struct irq_msg entry_message(uint64_t entry)
{
	struct irq_msg msg = {
		.address = MSI_ADDRESS |
			   (uint32_t)(entry >> ENTRY_DESTINATION_SHIFT)
				   << MSI_DESTINATION_SHIFT,
		.data = (uint32_t)(entry & ENTRY_VECTOR) |
			entry_mode(entry) << MSI_MODE_SHIFT,
	};

	if (entry & ENTRY_LOGICAL)
		msg.address |= MSI_LOGICAL;
	if (entry_is_level(entry))
		msg.data |= MSI_LEVEL | MSI_ASSERT;
	return msg;
}

static void ioapic_deliver(struct ioapic *io, unsigned int pin,
			   const struct irq_sink *sink)
{
	uint64_t *entry = &io->entries[pin];
	struct irq_msg msg;

	if (!entry_is_deliverable(*entry)) {
		io->undeliverable_irqs++;
		return;
	}
	if (entry_is_level(*entry))
		*entry |= ENTRY_REMOTE_IRR;
	msg = entry_message(*entry);
	sink->send(sink->context, &msg);
}

/* A level pin sends whenever nothing holds it back. */
static void ioapic_check_level(struct ioapic *io, unsigned int pin,
			       const struct irq_sink *sink)
{
	uint64_t entry = io->entries[pin];

	if (entry_is_level(entry) && (io->lines >> pin & 1) &&
	    !(entry & (ENTRY_MASKED | ENTRY_REMOTE_IRR)))
		ioapic_deliver(io, pin, sink);
}

/* As ioapic_route. */
static bool entry_route(uint64_t entry, struct irq_msg *msg)
{
	*msg = entry_message(entry);
	return entry_is_level(entry) && entry_is_deliverable(entry);
}

static bool same_message(const struct irq_msg *a, const struct irq_msg *b)
{
	return a->address == b->address && a->data == b->data;
}

static bool routes_differ(uint64_t a, uint64_t b)
{
	struct irq_msg msg_a, msg_b;
	bool routed_a = entry_route(a, &msg_a);
	bool routed_b = entry_route(b, &msg_b);

	if (!routed_a || !routed_b)
		return routed_a != routed_b;
	return !same_message(&msg_a, &msg_b);
}

static bool ioapic_entry_write(struct ioapic *io, unsigned int index,
			       uint32_t value, const struct irq_sink *sink)
{
	unsigned int pin = index / 2;
	uint64_t old_entry = io->entries[pin];
	uint64_t writable =
		index % 2 ? ENTRY_HIGH_WRITABLE : ENTRY_LOW_WRITABLE;
	uint64_t wanted = (uint64_t)value << (index % 2 ? 32 : 0);
	uint64_t entry = (old_entry & ~writable) | (wanted & writable);

	if (!entry_is_level(entry))
		entry &= ~ENTRY_REMOTE_IRR;
	io->entries[pin] = entry;
	ioapic_check_level(io, pin, sink);
	return routes_differ(old_entry, entry);
}

static uint32_t ioapic_register_read(const struct ioapic *io)
{
	unsigned int index = io->select - IOAPIC_REDTBL;

	switch (io->select) {
	case IOAPIC_ID:
		return (uint32_t)io->id << IOAPIC_ID_SHIFT;
	case IOAPIC_VER:
		return IOAPIC_VER_VALUE;
	case IOAPIC_ARB:
		return (uint32_t)io->arbitration << IOAPIC_ID_SHIFT;
	default:
		if (index >= 2 * IOAPIC_PINS)
			return 0;
		return (uint32_t)(io->entries[index / 2] >>
				  (index % 2 ? 32 : 0));
	}
}

static bool ioapic_register_write(struct ioapic *io, uint32_t value,
				  const struct irq_sink *sink)
{
	unsigned int index = io->select - IOAPIC_REDTBL;

	if (io->select == IOAPIC_ID) {
		io->id = (value >> IOAPIC_ID_SHIFT) & IOAPIC_ID_MASK;
		io->arbitration = io->id; /* loaded along with it */
		return false;
	}
	return index < 2 * IOAPIC_PINS &&
	       ioapic_entry_write(io, index, value, sink);
}

void ioapic_reset(struct ioapic *io)
{
	*io = (struct ioapic){.select = 0};
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++)
		io->entries[pin] = ENTRY_MASKED;
}

uint32_t ioapic_read(struct ioapic *io, uint32_t offset, unsigned int size)
{
	if (size == 4 && offset == IOAPIC_IOREGSEL)
		return io->select;
	if (size == 4 && offset == IOAPIC_IOWIN)
		return ioapic_register_read(io);
	io->odd_accesses++;
	return UINT32_MAX;
}

bool ioapic_write(struct ioapic *io, uint32_t offset, unsigned int size,
		  uint32_t value, const struct irq_sink *sink)
{
	if (size == 4 && offset == IOAPIC_IOREGSEL)
		io->select = (uint8_t)value;
	else if (size == 4 && offset == IOAPIC_IOWIN)
		return ioapic_register_write(io, value, sink);
	else if (size == 4 && offset == IOAPIC_EOI)
		ioapic_eoi(io, (uint8_t)value, sink);
	else
		io->odd_accesses++;
	return false;
}

void ioapic_set_line(struct ioapic *io, unsigned int pin, bool asserted,
		     const struct irq_sink *sink)
{
	uint32_t bit;
	bool rises;

	assert(pin < IOAPIC_PINS);
	bit = 1u << pin;
	rises = asserted && !(io->lines & bit);
	io->lines = asserted ? io->lines | bit : io->lines & ~bit;
	if (entry_is_level(io->entries[pin]))
		ioapic_check_level(io, pin, sink);
	else if (rises && !(io->entries[pin] & ENTRY_MASKED))
		ioapic_deliver(io, pin, sink);
}

void ioapic_eoi(struct ioapic *io, uint8_t vector, const struct irq_sink *sink)
{
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++) {
		uint64_t *entry = &io->entries[pin];

		if (!(*entry & ENTRY_REMOTE_IRR) ||
		    (*entry & ENTRY_VECTOR) != vector)
			continue;
		*entry &= ~ENTRY_REMOTE_IRR;
		ioapic_check_level(io, pin, sink);
	}
}

void ioapic_refused(struct ioapic *io, const struct irq_msg *msg)
{
	struct irq_msg own;

	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++)
		if (ioapic_route(io, pin, &own) && same_message(&own, msg))
			io->entries[pin] &= ~ENTRY_REMOTE_IRR;
}

bool ioapic_route(const struct ioapic *io, unsigned int pin,
		  struct irq_msg *msg)
{
	assert(pin < IOAPIC_PINS);
	return entry_route(io->entries[pin], msg);
}

bool ioapic_reaches_all(const struct ioapic *io)
{
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++)
		if (entry_reaches_all(io->entries[pin]))
			return true;
	return false;
}
