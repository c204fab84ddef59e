/* SPDX-License-Identifier: MIT */
/*
 * fake_irq - a sink that counts messages and keeps the first ones.
 */
#ifndef TESTS_FAKE_IRQ_H
#define TESTS_FAKE_IRQ_H

#include "irq_sink.h"

#define FAKE_IRQ_KEPT 32u

struct fake_irq {
	unsigned int count;
	struct irq_msg messages[FAKE_IRQ_KEPT];
};

static inline void fake_irq_send(void *context, const struct irq_msg *msg)
{
	struct fake_irq *fake = context;

	if (fake->count < FAKE_IRQ_KEPT)
		fake->messages[fake->count] = *msg;
	fake->count++;
}

static inline struct irq_sink fake_irq_sink(struct fake_irq *fake)
{
	return (struct irq_sink){.send = fake_irq_send, .context = fake};
}

#endif
