/* SPDX-License-Identifier: MIT */
/*
 * irq_sink - where an interrupt controller model sends its interrupts.
 *
 * Reference: SDM 3A "Message Signalled Interrupts" (ed. 2023-06).
 */
#ifndef APIC_IRQ_SINK_H
#define APIC_IRQ_SINK_H

#include <stdint.h>

/* One interrupt as a write on the bus. The upper half of the address is 0:
 * destinations have eight bits. */
struct irq_msg {
	uint32_t address;
	uint32_t data;
};

/* The owner's method. It is called while a model is at work, so it may only
 * note the message or make one non-blocking call, and must not come back into
 * the model. */
struct irq_sink {
	void (*send)(void *context, const struct irq_msg *msg);
	void *context;
};

#endif
