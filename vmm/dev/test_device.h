/* SPDX-License-Identifier: MIT */
/*
 * test_device - the register and the memory of QEMU's pc-testdev: what a test
 * suite writes to in order to see how its accesses arrive.
 *
 * Pure: no I/O, no locks; the owner serialises calls and hands over ports a
 * byte at a time, low byte first, which is what wider accesses come to here.
 * Reference: QEMU hw/misc/pc-testdev.c, as a guest sees it. Not here: the
 * device's ports that are no storage, which drop a page's translation and drive
 * interrupt lines (see test_ports.h).
 *
 *   0xe0  register, 4 bytes
 *   0xe8  the same 4 bytes again: QEMU offers them there byte by byte
 *   0xff000000  64 KiB of memory, which is a device to KVM
 */
#ifndef DEV_TEST_DEVICE_H
#define DEV_TEST_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_DEVICE_PORT	0xe0u
#define TEST_DEVICE_BYTES_PORT	0xe8u
#define TEST_DEVICE_REGISTER	4u /* bytes, in either place */
#define TEST_DEVICE_MEMORY_GPA	UINT64_C(0xff000000)
#define TEST_DEVICE_MEMORY_SIZE 0x10000u

struct test_device {
	uint8_t bytes[TEST_DEVICE_REGISTER];
	uint8_t memory[TEST_DEVICE_MEMORY_SIZE];
};

/* State after power-on: all zeros. */
void test_device_reset(struct test_device *dev);

/* The register's byte at offset, 0 to TEST_DEVICE_REGISTER - 1. */
uint8_t test_device_read(const struct test_device *dev, unsigned int offset);
void test_device_write(struct test_device *dev, unsigned int offset,
		       uint8_t value);

/* Guest accesses len bytes of the memory, at the guest-physical address gpa.
 * False, and nothing is done, unless all of them are the memory's. */
bool test_device_memory_read(const struct test_device *dev, uint64_t gpa,
			     uint8_t *data, unsigned int len);
bool test_device_memory_write(struct test_device *dev, uint64_t gpa,
			      const uint8_t *data, unsigned int len);

#endif
