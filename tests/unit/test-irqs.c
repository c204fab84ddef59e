/* SPDX-License-Identifier: MIT */
/*
 * From lines to what KVM is told: which messages, which routes, in which order,
 * and who is woken. KVM is a record of its ioctls. Registers and bits are
 * literal: they are what a driver writes.
 */
#include "irqs.h"

#include <errno.h>
#include <string.h>

#include "end.h"
#include "kvm.h"
#include "tap.h"

enum {
	VM_FD = 55,
	CALLS_MAX = 64,
	LEVEL = 0x8000,
	MASKED = 0x10000,
};

struct call {
	char what; /* m message, r routes */
	uint32_t address, data;
	uint32_t count; /* of routes */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct irqs irqs;
static struct irqs_work work;
static struct kick kick;
static atomic_bool intr;
static struct end end;
static struct call calls[CALLS_MAX];
static struct kvm_irq_routing_entry routes[IOAPIC_PINS];
static unsigned int call_count;
static int msi_result, routing_result;

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	struct call *call = &calls[call_count++];
	const struct kvm_msi *msi = arg;
	const struct kvm_irq_routing *routing = arg;

	ck_assert_int_eq(fd, VM_FD);
	tap_require(call_count <= CALLS_MAX);
	/* All of it happens with the chips free for others. */
	ck_assert_int_eq(pthread_mutex_trylock(&lock), 0);
	pthread_mutex_unlock(&lock);
	if (request == KVM_SIGNAL_MSI) {
		ck_assert_uint_eq(msi->address_hi, 0);
		ck_assert_uint_eq(msi->flags, 0);
		*call = (struct call){'m', msi->address_lo, msi->data, 0};
		return msi_result;
	}
	ck_assert_uint_eq(request, KVM_SET_GSI_ROUTING);
	ck_assert_uint_eq(routing->flags, 0);
	*call = (struct call){'r', 0, 0, routing->nr};
	memcpy(routes, routing->entries, routing->nr * sizeof(routes[0]));
	return routing_result;
}

static void setup(void)
{
	irqs_init(&irqs, &lock);
	ck_assert_int_eq(end_init(&end), 0);
	irqs.target = (struct irqs_target){VM_FD, &kick, &intr, &end};
	msi_result = 1;
}

static void teardown(void)
{
	irqs_destroy(&irqs);
	end_free(&end);
}

static void deliver(void)
{
	irqs_close_locked(&irqs, &work);
	irqs_deliver(&irqs, &work);
	memset(&work, 0, sizeof(work));
}

static void ioapic(uint32_t index, uint32_t value)
{
	irqs_ioapic_write_locked(&irqs, 0x00, 4, index, &work);
	irqs_ioapic_write_locked(&irqs, 0x10, 4, value, &work);
	deliver();
}

static void entry(unsigned int pin, uint32_t low)
{
	ioapic(0x10 + 2 * pin, low);
}

static void line(unsigned int irq, bool level)
{
	irqs_set_isa_locked(&irqs, irq, level, &work);
}

static void port(uint16_t number, uint8_t value)
{
	irqs_port_write_locked(&irqs, number, value, &work);
	deliver();
}

/* Vectors from 0x30 and 0x38, none masked. */
static void init_8259(void)
{
	static const uint8_t base[] = {0x30, 0x38};

	for (int i = 0; i < 2; i++) {
		uint16_t chip = i ? 0xa0 : 0x20;

		port(chip, 0x11);
		port(chip + 1, base[i]);
		port(chip + 1, i ? 2 : 4);
		port(chip + 1, 1);
		port(chip + 1, 0);
	}
}

static void called(unsigned int n, char what, uint32_t address, uint32_t data)
{
	ck_assert_uint_lt(n, call_count);
	ck_assert_int_eq(calls[n].what, what);
	ck_assert_uint_eq(calls[n].address, address);
	ck_assert_uint_eq(calls[n].data, data);
}

/* The timer is on pin 2, all others on the pin of their number. */
START_TEST(test_irqs_isa_pins)
{
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++) {
		entry(pin, 0x40 + pin);
		ioapic(0x11 + 2 * pin, pin << 24);
	}
	for (unsigned int irq = 0; irq < 16; irq++) {
		unsigned int pin = irq ? irq : 2;

		if (irq == 2)
			continue;
		call_count = 0;
		line(irq, true);
		ck_assert_uint_eq(call_count, 0);
		deliver();
		ck_assert_uint_eq(call_count, 1);
		called(0, 'm', 0xfee00000 | pin << 12, 0x40 + pin);
		line(irq, false);
		deliver();
		ck_assert_uint_eq(call_count, 1);
	}
	ck_assert_uint_eq(irqs.msis, 15);
	ck_assert_uint_eq(irqs.route_updates, 0);
}
END_TEST

/* Two rises before anybody could see them are one interrupt. */
START_TEST(test_irqs_same_message_once)
{
	entry(4, 0x44);
	for (int i = 0; i < 100; i++) {
		line(4, true);
		line(4, false);
	}
	deliver();
	ck_assert_uint_eq(call_count, 1);
}
END_TEST

/* As many as there can be at once: 24 pins of one vector wait for its end. */
START_TEST(test_irqs_all_pins_at_once)
{
	for (unsigned int pin = 0; pin < IOAPIC_PINS; pin++) {
		ioapic(0x11 + 2 * pin, pin << 24);
		entry(pin, LEVEL | 0x50);
	}
	for (unsigned int pin = 0; pin < 16; pin++)
		if (pin != 2)
			line(pin, true);
	deliver();
	call_count = 0;
	irqs_eoi_locked(&irqs, 0x50, &work);
	deliver();
	ck_assert_uint_eq(call_count, 15);
	called(0, 'm', 0xfee01000, 0xc050);
	ck_assert_uint_eq(irqs.eoi_exits, 1);
}
END_TEST

START_TEST(test_irqs_routes_of_level_pins)
{
	entry(9, LEVEL | MASKED | 0x59);
	ck_assert_uint_eq(call_count, 1);
	ck_assert_int_eq(calls[0].what, 'r');
	ck_assert_uint_eq(calls[0].count, 1);
	ck_assert_uint_eq(routes[0].gsi, 9);
	ck_assert_uint_eq(routes[0].type, KVM_IRQ_ROUTING_MSI);
	ck_assert_uint_eq(routes[0].u.msi.address_lo, 0xfee00000);
	ck_assert_uint_eq(routes[0].u.msi.data, 0xc059);
	/* The mask is no news, an edge pin neither. */
	entry(9, LEVEL | 0x59);
	entry(4, 0x44);
	ck_assert_uint_eq(call_count, 1);
	entry(5, LEVEL | 0x55);
	ck_assert_uint_eq(calls[1].count, 2);
	entry(9, 0x59);
	ck_assert_uint_eq(calls[2].count, 1);
	ck_assert_uint_eq(routes[0].gsi, 5);
	ck_assert_uint_eq(irqs.route_updates, 3);
}
END_TEST

/* A write that unmasks a pin whose line is up: KVM must know the route first.
 */
START_TEST(test_irqs_route_before_message)
{
	line(9, true);
	entry(9, LEVEL | 0x59);
	ck_assert_uint_eq(call_count, 2);
	ck_assert_int_eq(calls[0].what, 'r');
	called(1, 'm', 0xfee00000, 0xc059);
}
END_TEST

/* Another thread changed routes, and has yet to tell KVM: whoever sends first
 * does it; then there is nothing left to tell. */
START_TEST(test_irqs_route_of_another_thread)
{
	struct irqs_work other = {.msg_count = 0};

	irqs_ioapic_write_locked(&irqs, 0x00, 4, 0x10 + 2 * 9, &other);
	irqs_ioapic_write_locked(&irqs, 0x10, 4, LEVEL | 0x59, &other);
	irqs_close_locked(&irqs, &other);
	line(9, true);
	deliver();
	ck_assert_uint_eq(call_count, 2);
	ck_assert_int_eq(calls[0].what, 'r');
	ck_assert_int_eq(calls[1].what, 'm');
	irqs_deliver(&irqs, &other);
	ck_assert_uint_eq(call_count, 2);
}
END_TEST

START_TEST(test_irqs_routes_refused)
{
	routing_result = -ENOMEM;
	entry(9, LEVEL | 0x59);
	ck_assert_int_eq(end.kind, END_KVM);
	ck_assert_ptr_nonnull(strstr(end.detail, "KVM_SET_GSI_ROUTING"));
}
END_TEST

START_TEST(test_irqs_messages_refused)
{
	static const int results[] = {0, -EPERM};

	entry(4, 0x44);
	msi_result = results[_i];
	line(4, true);
	deliver();
	ck_assert_uint_eq(irqs.msis, 0);
	ck_assert_uint_eq(irqs.msis_refused, 1);
	ck_assert_int_eq(end.kind, END_NONE);
}
END_TEST

/* A level pin to a processor that is not enabled yet: sent once and not again
 * by itself, and when the guest writes the entry. */
START_TEST(test_irqs_level_refused)
{
	static const int results[] = {0, -EPERM};

	entry(9, LEVEL | 0x59);
	msi_result = results[_i];
	line(9, true);
	deliver();
	ck_assert_uint_eq(call_count, 2);
	called(1, 'm', 0xfee00000, 0xc059);
	ck_assert_uint_eq(irqs.msis_refused, 1);
	deliver();
	ck_assert_uint_eq(call_count, 2);
	msi_result = 1;
	entry(9, LEVEL | 0x59);
	ck_assert_uint_eq(call_count, 3);
	called(2, 'm', 0xfee00000, 0xc059);
	/* Accepted: held back until its end. */
	entry(9, LEVEL | 0x59);
	ck_assert_uint_eq(call_count, 3);
	irqs_eoi_locked(&irqs, 0x59, &work);
	deliver();
	ck_assert_uint_eq(call_count, 4);
}
END_TEST

START_TEST(test_irqs_extint_messages)
{
	entry(0, 0x700);
	irqs_set_isa_locked(&irqs, 0, true, &work); /* not on this pin */
	entry(4, 0x700);
	line(4, true);
	deliver();
	ck_assert_uint_eq(call_count, 0);
	ck_assert_uint_eq(irqs.extint_messages, 1);
	ck_assert_uint_eq(irqs.msis_refused, 0);
}
END_TEST

/* Pin 0 is where the 8259s' output goes, LINT0 or no LINT0. */
START_TEST(test_irqs_intr_on_a_pin)
{
	uint8_t vector;
	bool more;

	init_8259();
	entry(0, 0x70);
	entry(4, 0x10000);
	line(4, true);
	deliver();
	ck_assert_uint_eq(call_count, 1);
	called(0, 'm', 0xfee00000, 0x70);
	ck_assert(irqs_intack_locked(&irqs, &vector, &more));
	port(0x20, 0x20);
	line(3, true);
	deliver();
	ck_assert_uint_eq(call_count, 2);
	entry(0, 0x700);
	ck_assert(irqs_intack_locked(&irqs, &vector, &more));
	port(0x20, 0x20);
	line(4, false);
	line(4, true);
	deliver();
	ck_assert_uint_eq(call_count, 2);
	ck_assert_uint_eq(irqs.extint_messages, 1);
}
END_TEST

static bool woken(void)
{
	return atomic_exchange(&kick.word, 0) == KICK_INTR;
}

START_TEST(test_irqs_intr)
{
	uint8_t vector;
	bool more;

	line(4, true);
	deliver();
	line(4, false);
	ck_assert(!woken());
	init_8259();
	ck_assert(!woken());
	ck_assert(!irqs_intack_locked(&irqs, &vector, &more));
	ck_assert(!more);
	line(4, true);
	ck_assert(atomic_load(&intr));
	ck_assert(!woken()); /* not with the lock held */
	deliver();
	ck_assert(woken());
	/* It was told: INTR is up already. Of less priority, it waits. */
	line(12, true);
	line(3, true);
	deliver();
	ck_assert(!woken());
	ck_assert(irqs_intack_locked(&irqs, &vector, &more));
	ck_assert_uint_eq(vector, 0x3c);
	ck_assert(!more);
	ck_assert(!atomic_load(&intr));
	ck_assert_uint_eq(irqs.extints, 1);
	/* An end lets the next one up. */
	port(0xa0, 0x20);
	ck_assert(!woken());
	port(0x20, 0x20);
	ck_assert(woken());
	ck_assert(irqs_intack_locked(&irqs, &vector, &more));
	ck_assert_uint_eq(vector, 0x33);
	ck_assert_uint_eq(irqs.extints, 2);
}
END_TEST

START_TEST(test_irqs_intr_taken_back)
{
	uint8_t vector;
	bool more = true;

	init_8259();
	line(7, true);
	line(7, false);
	ck_assert(!atomic_load(&intr));
	ck_assert(!irqs_intack_locked(&irqs, &vector, &more));
	ck_assert(!more);
	ck_assert_uint_eq(irqs.extints, 0);
}
END_TEST

/* A poll takes the interrupt by a read. */
START_TEST(test_irqs_intr_polled)
{
	init_8259();
	line(4, true);
	deliver();
	port(0x20, 0x0c);
	ck_assert(atomic_load(&intr));
	ck_assert_uint_eq(irqs_port_read_locked(&irqs, 0x20, &work), 0x84);
	ck_assert(!atomic_load(&intr));
}
END_TEST

START_TEST(test_irqs_ports)
{
	static const uint16_t ports[] = {0x20, 0x21, 0xa0, 0xa1, 0x4d0, 0x4d1};
	unsigned int count = 0;

	for (unsigned int p = 0; p < 0x10000; p++)
		count += irqs_has_port((uint16_t)p);
	ck_assert_uint_eq(count, 6);
	for (unsigned int i = 0; i < 6; i++)
		ck_assert(irqs_has_port(ports[i]));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("irqs");
	TCase *tc = tcase_create("irqs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_irqs_isa_pins);
	tcase_add_test(tc, test_irqs_same_message_once);
	tcase_add_test(tc, test_irqs_all_pins_at_once);
	tcase_add_test(tc, test_irqs_routes_of_level_pins);
	tcase_add_test(tc, test_irqs_route_before_message);
	tcase_add_test(tc, test_irqs_route_of_another_thread);
	tcase_add_test(tc, test_irqs_routes_refused);
	tcase_add_loop_test(tc, test_irqs_messages_refused, 0, 2);
	tcase_add_loop_test(tc, test_irqs_level_refused, 0, 2);
	tcase_add_test(tc, test_irqs_extint_messages);
	tcase_add_test(tc, test_irqs_intr_on_a_pin);
	tcase_add_test(tc, test_irqs_intr);
	tcase_add_test(tc, test_irqs_intr_taken_back);
	tcase_add_test(tc, test_irqs_intr_polled);
	tcase_add_test(tc, test_irqs_ports);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
