/* SPDX-License-Identifier: MIT */
/*
 * irqs - see irqs.h.
 * Reference: SDM 3A "Message Signalled Interrupts"; the kernel's documents as
 * named there. Not here: interrupts of the local APIC timer, which take another
 * way (inject.h), and KVM_INTERRUPT, which belongs on the vCPU's thread.
 */
#include "irqs.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "end.h"
#include "kvm.h"
#include "platform.h"

#define MSI_MODE_SHIFT	8
#define MSI_MODE_MASK	7u
#define MSI_MODE_EXTINT 7u

void irqs_init(struct irqs *irqs, pthread_mutex_t *lock)
{
	memset(irqs, 0, sizeof(*irqs));
	irqs->target.vm_fd = -1;
	irqs->lock = lock;
	ioapic_reset(&irqs->ioapic);
	i8259_reset(&irqs->i8259);
	pthread_mutex_init(&irqs->routes_lock, NULL);
}

void irqs_destroy(struct irqs *irqs)
{
	pthread_mutex_destroy(&irqs->routes_lock);
}

static void work_send(void *context, const struct irq_msg *msg)
{
	struct irqs_work *work = context;

	for (unsigned int i = 0; i < work->msg_count; i++)
		if (work->msgs[i].address == msg->address &&
		    work->msgs[i].data == msg->data)
			return;
	assert(work->msg_count < IRQS_MSGS_MAX);
	work->msgs[work->msg_count++] = *msg;
}

static struct irq_sink work_sink(struct irqs_work *work)
{
	return (struct irq_sink){.send = work_send, .context = work};
}

/* After whatever may have moved the 8259s' output, which goes to LINT0 of a
 * processor and to a pin. */
static void follow_intr(struct irqs *irqs, struct irqs_work *work)
{
	struct irq_sink sink = work_sink(work);
	bool intr = i8259_intr(&irqs->i8259);

	if (intr == irqs->intr)
		return;
	irqs->intr = intr;
	if (irqs->target.intr)
		atomic_store_explicit(irqs->target.intr, intr,
				      memory_order_relaxed);
	if (intr)
		work->intr = true;
	ioapic_set_line(&irqs->ioapic, PLATFORM_PIN_PIC, intr, &sink);
}

void irqs_set_isa_locked(struct irqs *irqs, unsigned int irq, bool level,
			 struct irqs_work *work)
{
	unsigned int pin = irq == PLATFORM_IRQ_TIMER ? PLATFORM_PIN_TIMER : irq;
	struct irq_sink sink = work_sink(work);

	i8259_set_line(&irqs->i8259, irq, level);
	follow_intr(irqs, work);
	ioapic_set_line(&irqs->ioapic, pin, level, &sink);
}

void irqs_set_gsi_locked(struct irqs *irqs, unsigned int gsi, bool level,
			 struct irqs_work *work)
{
	struct irq_sink sink = work_sink(work);

	if (gsi < PLATFORM_ISA_IRQS && gsi != PLATFORM_IRQ_SLAVE)
		irqs_set_isa_locked(irqs, gsi, level, work);
	else
		ioapic_set_line(&irqs->ioapic, gsi, level, &sink);
}

uint32_t irqs_ioapic_read_locked(struct irqs *irqs, uint32_t offset,
				 unsigned int size)
{
	return ioapic_read(&irqs->ioapic, offset, size);
}

void irqs_ioapic_write_locked(struct irqs *irqs, uint32_t offset,
			      unsigned int size, uint32_t value,
			      struct irqs_work *work)
{
	struct irq_sink sink = work_sink(work);

	if (ioapic_write(&irqs->ioapic, offset, size, value, &sink))
		irqs->routes++;
}

bool irqs_has_port(uint16_t port)
{
	return port == I8259_PORT_FIRST || port == I8259_PORT_FIRST + 1 ||
	       port == I8259_PORT_SECOND || port == I8259_PORT_SECOND + 1 ||
	       port == I8259_PORT_ELCR_FIRST || port == I8259_PORT_ELCR_SECOND;
}

uint8_t irqs_port_read_locked(struct irqs *irqs, uint16_t port,
			      struct irqs_work *work)
{
	uint8_t value = i8259_read(&irqs->i8259, port);

	follow_intr(irqs, work); /* it may have been a poll */
	return value;
}

void irqs_port_write_locked(struct irqs *irqs, uint16_t port, uint8_t value,
			    struct irqs_work *work)
{
	i8259_write(&irqs->i8259, port, value);
	follow_intr(irqs, work);
}

void irqs_eoi_locked(struct irqs *irqs, uint8_t vector, struct irqs_work *work)
{
	struct irq_sink sink = work_sink(work);

	irqs->eoi_exits++;
	ioapic_eoi(&irqs->ioapic, vector, &sink);
}

bool irqs_intack_locked(struct irqs *irqs, uint8_t *vector, bool *more)
{
	/* Nobody is to be told: it is the processor itself that asks. */
	struct irqs_work unused = {.msg_count = 0};
	bool was_up = irqs->intr;

	if (was_up) {
		*vector = i8259_intack(&irqs->i8259);
		irqs->extints++;
		follow_intr(irqs, &unused);
	}
	*more = irqs->intr;
	return was_up;
}

void irqs_close_locked(const struct irqs *irqs, struct irqs_work *work)
{
	work->routes = irqs->routes;
}

/* struct kvm_irq_routing ends in a flexible array; this is it with room for
 * all pins. */
union pin_routes {
	struct kvm_irq_routing routing;
	char room[sizeof(struct kvm_irq_routing) +
		  IOAPIC_PINS * sizeof(struct kvm_irq_routing_entry)];
};

/* Returns the state of irqs->routes that they are of. */
static unsigned int take_routes(struct irqs *irqs, union pin_routes *routes)
{
	unsigned int state;
	struct irq_msg msg;

	memset(routes, 0, sizeof(*routes));
	pthread_mutex_lock(irqs->lock);
	state = irqs->routes;
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++) {
		if (!ioapic_route(&irqs->ioapic, pin, &msg))
			continue;
		routes->routing.entries[routes->routing.nr++] =
			(struct kvm_irq_routing_entry){
				.gsi = pin,
				.type = KVM_IRQ_ROUTING_MSI,
				.u.msi = {.address_lo = msg.address,
					  .data = msg.data},
			};
	}
	pthread_mutex_unlock(irqs->lock);
	return state;
}

static void update_routes(struct irqs *irqs, unsigned int wanted)
{
	union pin_routes routes;
	unsigned int state;
	int ret;

	pthread_mutex_lock(&irqs->routes_lock);
	/* Another thread may have told KVM of ours with its own. */
	if ((int)(wanted - atomic_load(&irqs->routes_told)) > 0) {
		state = take_routes(irqs, &routes);
		ret = kvm_vm_ioctl(irqs->target.vm_fd, KVM_SET_GSI_ROUTING,
				   &routes.routing);
		if (ret < 0)
			end_set(irqs->target.end, END_KVM, 0, -1,
				"KVM_SET_GSI_ROUTING: %s", strerror(-ret));
		atomic_fetch_add(&irqs->route_updates, 1);
		atomic_store(&irqs->routes_told, state);
	}
	pthread_mutex_unlock(&irqs->routes_lock);
}

/* As to a processor that the guest has yet to enable. */
static void refused(struct irqs *irqs, const struct irq_msg *msg)
{
	atomic_fetch_add(&irqs->msis_refused, 1);
	pthread_mutex_lock(irqs->lock);
	ioapic_refused(&irqs->ioapic, msg);
	pthread_mutex_unlock(irqs->lock);
}

static void send_msg(struct irqs *irqs, const struct irq_msg *msg)
{
	struct kvm_msi msi = {.address_lo = msg->address, .data = msg->data};

	if ((msg->data >> MSI_MODE_SHIFT & MSI_MODE_MASK) == MSI_MODE_EXTINT)
		atomic_fetch_add(&irqs->extint_messages, 1);
	/* Guests may name processors that are not there. */
	else if (irqs->target.vm_fd >= 0 &&
		 kvm_vm_ioctl(irqs->target.vm_fd, KVM_SIGNAL_MSI, &msi) > 0)
		atomic_fetch_add(&irqs->msis, 1);
	else
		refused(irqs, msg);
}

void irqs_deliver(struct irqs *irqs, const struct irqs_work *work)
{
	/* The routes first, whoever changed them: the end of a level interrupt
	 * that KVM has no route for would go unnoticed. */
	if (irqs->target.vm_fd >= 0 &&
	    (int)(work->routes - atomic_load(&irqs->routes_told)) > 0)
		update_routes(irqs, work->routes);
	for (unsigned int i = 0; i < work->msg_count; i++)
		send_msg(irqs, &work->msgs[i]);
	if (work->intr && irqs->target.kick)
		kick_send(irqs->target.kick, KICK_INTR);
}
