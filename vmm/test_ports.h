/* SPDX-License-Identifier: MIT */
/*
 * test_ports - what the test suites of other people find in QEMU's machine
 * beside a PC (machine-config.test_device): fw_cfg and pc-testdev, with what
 * stands behind the latter's ports.
 *
 *   0xe4  a write of 32 bits: KVM is to lose its translation of the page that
 *         has this guest-physical address
 *   0x2000 + n, n = 0 to 23: a byte is the level of the platform's interrupt n,
 *         0 low, else high
 *
 * Reference: QEMU hw/misc/pc-testdev.c, as a guest sees it. A line that a
 * device drives too is as the last of the two left it. Interrupt 2 is pin 2
 * alone: the second 8259 is at that input of the first. Wider accesses are
 * bytes, and others at 0xe4 are nobody's.
 *
 * Guarded by the bus's lock, which every call needs but test_ports_new and
 * test_ports_free.
 */
#ifndef VMM_TEST_PORTS_H
#define VMM_TEST_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "fw_cfg.h"
#include "test_device.h"

#define TEST_PORTS_FLUSH     0xe4u
#define TEST_PORTS_LINES     0x2000u
#define TEST_PORTS_LINES_END 0x2018u

struct bus_action;
struct irqs;
struct irqs_work;

struct test_ports {
	struct fw_cfg fw_cfg;
	struct test_device device;
};

/* ram_bytes: all of it; cpus: 1 to 64. NULL: no memory. Main thread. */
struct test_ports *test_ports_new(uint64_t ram_bytes, unsigned int cpus);
void test_ports_free(struct test_ports *test);

/*
 * IN and OUT of size bytes, 1 to 4. How many of them were taken, from the first
 * on; 0: that port is nobody's here. *value has as many bytes. A write may
 * leave something to do in *action, which is BUS_NONE before.
 */
unsigned int test_ports_read_locked(struct test_ports *test, uint16_t port,
				    unsigned int size, uint32_t *value);
unsigned int test_ports_write_locked(struct test_ports *test, uint16_t port,
				     unsigned int size, uint32_t value,
				     struct irqs *irqs, struct irqs_work *work,
				     struct bus_action *action);

/* An access of len bytes, as bus_mmio. False: that is not the test device's. */
bool test_ports_mmio_locked(struct test_ports *test, uint64_t gpa,
			    bool is_write, uint8_t *data, unsigned int len);

#endif
