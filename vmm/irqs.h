/* SPDX-License-Identifier: MIT */
/*
 * irqs - the interrupt controllers outside of KVM: I/O APIC and 8259 pair, and
 * how what they ask for reaches the processors.
 *
 * Decide, unlock, act: whoever drives a line or a register holds the lock of
 * the chips (the bus's) and collects what is to be done in a struct irqs_work;
 * irqs_deliver does it when the lock is gone.
 * Reference: Linux Documentation/virt/kvm/api.rst "KVM_SIGNAL_MSI",
 * "KVM_SET_GSI_ROUTING", "KVM_CAP_SPLIT_IRQCHIP", "KVM_INTERRUPT".
 *
 * KVM tells of the end of a level interrupt only if its routing table has a
 * message like it, so that table follows the level pins of the I/O APIC.
 */
#ifndef VMM_IRQS_H
#define VMM_IRQS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "i8259.h"
#include "ioapic.h"
#include "kick.h"

struct end;

enum {
	/* Messages that are alike are one, as they would be in the local APIC;
	 * each pin has one, and one access changes one pin's at most. */
	IRQS_MSGS_MAX = IOAPIC_PINS + 1,
};

/* What one access, or one change of lines, asks for. Starts as all zeros. */
struct irqs_work {
	struct irq_msg msgs[IRQS_MSGS_MAX];
	unsigned int msg_count;
	bool intr;	     /* the 8259s' output rose */
	unsigned int routes; /* as irqs.routes was when the lock went */
};

/* Where it goes. */
struct irqs_target {
	int vm_fd; /* -1: nowhere; messages are counted as refused */
	/* Of the processor that INTR is wired to; NULL with vm_fd -1. */
	struct kick *kick;
	atomic_bool *intr; /* mirrors the output; relaxed */
	struct end *end;
};

struct irqs {
	/* Set once, before the vCPU threads start. */
	struct irqs_target target;
	pthread_mutex_t *lock; /* of the chips */
	/* Guarded by that lock. */
	struct ioapic ioapic;
	struct i8259 i8259;
	bool intr;
	unsigned int routes; /* counts changes of level interrupts */
	uint64_t eoi_exits;
	uint64_t extints; /* acknowledged for KVM_INTERRUPT */
	/* Taken before the chips' lock: the last to look is the last to tell
	 * KVM. */
	pthread_mutex_t routes_lock;
	/* Any thread. */
	atomic_uint routes_told; /* state of routes that KVM knows */
	atomic_ullong msis;	 /* sent */
	atomic_ullong msis_refused;
	atomic_ullong route_updates;
	/* Messages of mode ExtINT, which are not sent. KVM_SIGNAL_MSI drops
	 * them, and KVM_INTERRUPT delivers by LINT0 alone: there is no virtual
	 * wire through the I/O APIC, and the tables tell of none. */
	atomic_ullong extint_messages;
};

/* lock: the chips' lock, the owner's. */
void irqs_init(struct irqs *irqs, pthread_mutex_t *lock);
void irqs_destroy(struct irqs *irqs);

/* All of these with the lock held. Any thread. */

/* A device drives ISA interrupt irq (below 16, not 2): the 8259's input, and
 * the pin of that number, but for the timer's (see platform.h). */
void irqs_set_isa_locked(struct irqs *irqs, unsigned int irq, bool level,
			 struct irqs_work *work);

/* The same by the number that ACPI has for it, 0 to IOAPIC_PINS - 1: those of
 * the ISA interrupts, pin 2 alone for 2, and the pin of that number. */
void irqs_set_gsi_locked(struct irqs *irqs, unsigned int gsi, bool level,
			 struct irqs_work *work);

/* Guest accesses to the I/O APIC's window, as ioapic_read and ioapic_write,
 * and to the 8259s' ports. */
uint32_t irqs_ioapic_read_locked(struct irqs *irqs, uint32_t offset,
				 unsigned int size);
void irqs_ioapic_write_locked(struct irqs *irqs, uint32_t offset,
			      unsigned int size, uint32_t value,
			      struct irqs_work *work);
bool irqs_has_port(uint16_t port);
uint8_t irqs_port_read_locked(struct irqs *irqs, uint16_t port,
			      struct irqs_work *work);
void irqs_port_write_locked(struct irqs *irqs, uint16_t port, uint8_t value,
			    struct irqs_work *work);

/* A processor ended the level interrupt of this vector. */
void irqs_eoi_locked(struct irqs *irqs, uint8_t vector, struct irqs_work *work);

/* The processor takes what the 8259s ask for. False: they ask no more.
 * *more: INTR is still up, or again. */
bool irqs_intack_locked(struct irqs *irqs, uint8_t *vector, bool *more);

/* The last thing before the lock is let go. */
void irqs_close_locked(const struct irqs *irqs, struct irqs_work *work);

/* Does the work, without the lock; may take it for a moment. An error of KVM
 * ends the run. Any thread. */
void irqs_deliver(struct irqs *irqs, const struct irqs_work *work);

#endif
