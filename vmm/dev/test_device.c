/* SPDX-License-Identifier: MIT */
/*
 * test_device - see test_device.h.
 */
#include "test_device.h"

#include <assert.h>
#include <string.h>

void test_device_reset(struct test_device *dev)
{
	memset(dev, 0, sizeof(*dev));
}

uint8_t test_device_read(const struct test_device *dev, unsigned int offset)
{
	assert(offset < TEST_DEVICE_REGISTER);
	return dev->bytes[offset];
}

void test_device_write(struct test_device *dev, unsigned int offset,
		       uint8_t value)
{
	assert(offset < TEST_DEVICE_REGISTER);
	dev->bytes[offset] = value;
}

/* An address below the memory wraps to a huge offset. */
static bool is_inside(uint64_t offset, unsigned int len)
{
	return offset < TEST_DEVICE_MEMORY_SIZE &&
	       len <= TEST_DEVICE_MEMORY_SIZE - offset;
}

bool test_device_memory_read(const struct test_device *dev, uint64_t gpa,
			     uint8_t *data, unsigned int len)
{
	uint64_t offset = gpa - TEST_DEVICE_MEMORY_GPA;

	if (!is_inside(offset, len))
		return false;
	memcpy(data, dev->memory + offset, len);
	return true;
}

bool test_device_memory_write(struct test_device *dev, uint64_t gpa,
			      const uint8_t *data, unsigned int len)
{
	uint64_t offset = gpa - TEST_DEVICE_MEMORY_GPA;

	if (!is_inside(offset, len))
		return false;
	memcpy(dev->memory + offset, data, len);
	return true;
}
