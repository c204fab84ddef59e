/* SPDX-License-Identifier: MIT */
/*
 * bus_case - a bus, and a guest that accesses it; KVM is a count of messages.
 */
#ifndef TESTS_BUS_CASE_H
#define TESTS_BUS_CASE_H

#include "bus.h"

#include <string.h>

#include "kvm.h"
#include "tap.h"

#define EXIT_PORT 0xf4
#define VM_FD	  55

static struct bus bus;

/* Messages of the I/O APIC, by their low byte; KVM's part in it. */
static unsigned int msis[256];
static uint64_t mono_ns;

int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	ck_assert_int_eq(fd, VM_FD);
	if (request == KVM_SIGNAL_MSI)
		msis[((const struct kvm_msi *)arg)->data & 0xff]++;
	return 1;
}

static inline uint64_t test_ns(clockid_t id)
{
	return id == CLOCK_MONOTONIC ? mono_ns : UINT64_C(1700000000000000000);
}

static inline void setup(void)
{
	bus_init(&bus, EXIT_PORT, test_ns);
	bus.irqs.target.vm_fd = VM_FD;
}

static inline void teardown(void)
{
	bus_destroy(&bus);
}

static inline void out_does(uint16_t port, unsigned int size, uint32_t value,
			    enum bus_action_kind kind, uint32_t action_value)
{
	struct bus_action action = bus_out(&bus, port, size, value);

	ck_assert_int_eq(action.kind, kind);
	if (kind == BUS_CONSOLE || kind == BUS_EXIT || kind == BUS_MARKER ||
	    kind == BUS_LATENESS)
		ck_assert_uint_eq(action.value, action_value);
}

static inline void out_nothing(uint16_t port, unsigned int size, uint32_t value)
{
	out_does(port, size, value, BUS_NONE, 0);
}

static inline void ioapic(uint8_t index, uint32_t value)
{
	uint8_t data[4] = {index};

	bus_mmio(&bus, 0xfec00000, true, data, 4);
	memcpy(data, &value, 4);
	bus_mmio(&bus, 0xfec00010, true, data, 4);
}

/* Its edge, as the vector 0x40 + pin. */
static inline void enable_pin(unsigned int pin)
{
	ioapic((uint8_t)(0x10 + 2 * pin), 0x40 + pin);
}

#endif
