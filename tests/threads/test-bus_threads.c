/* SPDX-License-Identifier: MIT */
/*
 * Four vCPU threads and the main thread on one bus: ports, memory, ends of
 * interrupts, acknowledges, the timer, input. Each thread has devices of its
 * own, as a guest keeps them apart; what they share is the bus, its lock and
 * its counters, and the interrupt controllers behind it. What each reads back
 * must be its own, no count may miss one, and each edge is one message. A race
 * detector must find nothing.
 */
#include "bus.h"

#include <string.h>
#include <time.h>

#include "end.h"
#include "kvm.h"
#include "platform.h"
#include "tap.h"

enum {
	VCPUS = 4,
	ROUNDS = 3000,
	VM_FD = 55,
	EXIT_PORT = 0xf4,
	NOBODY_PORT = 0x200,
	NOBODY_GPA = 0x10000000,
	COM1 = 0x3f8,
	COM1_IER = COM1 + 1,
	IER_THR = 2,
	PIN_COM1 = 4,
	PIN_LEVEL = 11,
	RTC_INDEX = 0x70,
	RTC_DATA = 0x71,
	RTC_RAM = 0x40,
	PIT_CONTROL = 0x43,
	PIT_CHANNEL_2 = 0x42,
	PIC_DATA = 0x21,
	KEYBOARD = 0x64,
	VECTOR_COM1 = 0x44,
	TIMEOUT_S = 120,
};

static struct bus bus;
static struct end end;
static struct kick kick;
static atomic_bool intr;
static atomic_uint messages[256]; /* by vector */
static atomic_uint vcpus_done;
static atomic_ullong mono_ns;

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	tap_require(fd == VM_FD);
	if (request == KVM_SIGNAL_MSI)
		atomic_fetch_add(
			&messages[((const struct kvm_msi *)arg)->data & 0xff],
			1);
	return 1;
}

void kick_interrupt(struct kick *kick_unused)
{
	(void)kick_unused;
}

static uint64_t read_ns(clockid_t id)
{
	return id == CLOCK_MONOTONIC ? atomic_load(&mono_ns)
				     : UINT64_C(1700000000000000000);
}

static void pin_write(uint8_t index, uint32_t value)
{
	uint8_t data[4] = {index};

	bus_mmio(&bus, PLATFORM_IOAPIC_GPA, true, data, 4);
	memcpy(data, &value, 4);
	bus_mmio(&bus, PLATFORM_IOAPIC_GPA + 0x10, true, data, 4);
}

static uint32_t pin_read(uint8_t index)
{
	uint8_t data[4] = {index};
	uint32_t value;

	bus_mmio(&bus, PLATFORM_IOAPIC_GPA, true, data, 4);
	bus_mmio(&bus, PLATFORM_IOAPIC_GPA + 0x10, false, data, 4);
	memcpy(&value, data, 4);
	return value;
}

/* A byte that makes an edge when it is out. */
static void use_serial_port(unsigned int round)
{
	struct bus_action action = bus_out(&bus, COM1, 1, round & 0x7f);

	tap_require(action.kind == BUS_CONSOLE);
	tap_require(action.value == (round & 0x7f));
}

/* Two registers, index and data, and a counter's two halves. */
static void use_clocks(unsigned int round)
{
	bus_out(&bus, RTC_INDEX, 1, RTC_RAM + round % 16);
	bus_out(&bus, RTC_DATA, 1, round & 0xff);
	tap_require(bus_in(&bus, RTC_DATA, 1) == (round & 0xff));
	bus_out(&bus, PIT_CONTROL, 1, 0xb0);
	bus_out(&bus, PIT_CHANNEL_2, 1, 0);
	bus_out(&bus, PIT_CHANNEL_2, 1, 1 + round % 200);
	bus_in(&bus, PIT_CHANNEL_2, 1);
	bus_in(&bus, PIT_CHANNEL_2, 1);
}

/* Entries of level interrupts: each is one change of KVM's routes at most. */
static void use_ioapic(unsigned int round)
{
	uint32_t entry = 0x8000 | (0x50 + round % 64);

	pin_write(0x10 + 2 * PIN_LEVEL, entry);
	tap_require(pin_read(0x10 + 2 * PIN_LEVEL) == entry);
}

static void use_pic_and_keyboard(unsigned int round)
{
	uint8_t vector;
	bool more;

	/* IRQ 2 and 4 are left out, or there would be something to take. */
	bus_out(&bus, PIC_DATA, 1, 0x10 | (round & 0xe0));
	tap_require(bus_in(&bus, PIC_DATA, 1) == (0x10 | (round & 0xe0)));
	bus_intack(&bus, &vector, &more);
	tap_require(bus_in(&bus, KEYBOARD, 1) != 0xff);
	tap_require(bus_out(&bus, KEYBOARD, 1, 0xad).kind == BUS_NONE);
}

static void (*const uses[VCPUS])(unsigned int round) = {
	use_serial_port, use_clocks, use_ioapic, use_pic_and_keyboard};

static void *vcpu_main(void *arg)
{
	unsigned int index = (unsigned int)(uintptr_t)arg;
	uint8_t data[4];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uses[index](i);
		/* And what all do. */
		bus_out(&bus, NOBODY_PORT, 1, 0);
		tap_require(bus_in(&bus, NOBODY_PORT, 2) == 0xffff);
		bus_mmio(&bus, NOBODY_GPA, false, data, 4);
		tap_require(data[3] == 0xff);
		bus_eoi(&bus, (uint8_t)(0x50 + i % 64));
		tap_require(bus_out(&bus, EXIT_PORT, 4, i).kind == BUS_EXIT);
	}
	atomic_fetch_add(&vcpus_done, 1);
	return NULL;
}

/* As the main thread does beside. */
static void be_main_thread(void)
{
	const uint8_t text[] = "typed";

	do {
		atomic_fetch_add(&mono_ns, 100000);
		bus_timer_expired(&bus);
		if (bus_serial_room(&bus, true) >= sizeof(text))
			bus_serial_put(&bus, text, sizeof(text));
		bus_reaches_all(&bus);
	} while (atomic_load(&vcpus_done) < VCPUS);
}

START_TEST(test_bus_threads)
{
	const struct irqs_target target = {
		.vm_fd = VM_FD, .kick = &kick, .intr = &intr, .end = &end};
	pthread_t threads[VCPUS];

	bus_init(&bus, EXIT_PORT, read_ns);
	bus_connect(&bus, 1 << 26, 0, &target);
	pin_write(0x10 + 2 * PIN_COM1, VECTOR_COM1);
	bus_out(&bus, COM1 + 4, 1, 0x0b); /* DTR, RTS, OUT2: the gate */
	bus_out(&bus, COM1_IER, 1, IER_THR);
	ck_assert_uint_eq(messages[VECTOR_COM1], 1);
	for (uintptr_t i = 0; i < VCPUS; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, vcpu_main, (void *)i),
			0);
	be_main_thread();
	for (int i = 0; i < VCPUS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(bus.unclaimed_out, VCPUS * ROUNDS);
	ck_assert_uint_eq(bus.unclaimed_in, VCPUS * ROUNDS * 2);
	ck_assert_uint_eq(bus.unclaimed_mmio, VCPUS * ROUNDS);
	ck_assert_uint_eq(bus.irqs.eoi_exits, VCPUS * ROUNDS);
	ck_assert_uint_eq(messages[VECTOR_COM1], ROUNDS + 1);
	ck_assert_uint_eq(atomic_load(&bus.irqs.msis), ROUNDS + 1);
	ck_assert(!atomic_load(&end.published));
	bus_destroy(&bus);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bus_threads");
	TCase *tc = tcase_create("bus");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_test(tc, test_bus_threads);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
