/* SPDX-License-Identifier: MIT */
/*
 * fuzz-test_device - fw_cfg and the test device: accesses of all widths at
 * their ports and around the ends of their memory.
 *
 * Rules: fw_cfg takes what is its own and no more; a read gives the next byte
 * of the item that 16 bits have selected, or 0; nothing else moves. The
 * register reads as it was written; memory too, and an access that is not all
 * inside does nothing.
 */
#include "fw_cfg.h"
#include "test_device.h"

#include <string.h>

#include "fuzz.h"

#define RAM_BYTES UINT64_C(0x8877665544332211)
#define CPUS	  0xaa99

struct state {
	struct fw_cfg fw;
	uint16_t key;
	unsigned int read; /* bytes of the item, ever since it was selected */
	uint8_t bytes[TEST_DEVICE_REGISTER];
};

/* Too large for a stack; each input starts with a reset of the one, and the
 * other is told of each write. */
static struct test_device dev;
static uint8_t memory[TEST_DEVICE_MEMORY_SIZE];

/* Byte i of the item of a key, from the list of them. */
static uint8_t expected_byte(uint16_t key, unsigned int i)
{
	static const struct {
		uint16_t key;
		unsigned int size;
		uint8_t bytes[8];
	} items[] = {
		{0x00, 4, {'Q', 'E', 'M', 'U'}},
		{0x01, 4, {1}},
		{0x03, 8, {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}},
		{0x05, 2, {0x99, 0xaa}},
		{0x0f, 2, {0x99, 0xaa}},
	};

	for (unsigned int at = 0; at < sizeof(items) / sizeof(items[0]); at++)
		if (items[at].key == (key & 0xbfff) && i < items[at].size)
			return items[at].bytes[i];
	return 0;
}

static void read_fw_cfg(struct state *s, unsigned int offset, unsigned int size)
{
	uint32_t value = 0xcccccccc;
	unsigned int taken = fw_cfg_read(&s->fw, offset, size, &value);

	if (!offset && size > 1) {
		FUZZ_CHECK(taken == (size == 4 ? 4 : 2) && value == 0);
		return;
	}
	FUZZ_CHECK(taken == 1);
	FUZZ_CHECK(value == expected_byte(s->key, s->read));
	s->read++;
}

static void write_fw_cfg(struct state *s, unsigned int offset,
			 unsigned int size, uint32_t value)
{
	unsigned int taken = fw_cfg_write(&s->fw, offset, size, value);

	if (offset || size == 1 || size == 4) {
		FUZZ_CHECK(taken == (offset ? 1 : size));
		return;
	}
	FUZZ_CHECK(taken == 2);
	s->key = (uint16_t)value;
	s->read = 0;
}

/* Around either end, and now and then anywhere. */
static uint64_t any_place(struct fuzz_input *in)
{
	uint8_t kind = fuzz_u8(in);

	switch (kind % 3) {
	case 0:
		return TEST_DEVICE_MEMORY_GPA - 8 + kind / 3 % 16;
	case 1:
		return TEST_DEVICE_MEMORY_GPA + TEST_DEVICE_MEMORY_SIZE - 8 +
		       kind / 3 % 16;
	default:
		return fuzz_any_size(in, 64);
	}
}

static void access_memory(struct fuzz_input *in, bool is_write)
{
	uint64_t gpa = any_place(in);
	unsigned int len = 1 + fuzz_u8(in) % 8;
	bool inside =
		gpa >= TEST_DEVICE_MEMORY_GPA &&
		gpa - TEST_DEVICE_MEMORY_GPA <= TEST_DEVICE_MEMORY_SIZE - len;
	uint8_t *expected =
		memory + (inside ? gpa - TEST_DEVICE_MEMORY_GPA : 0);
	uint8_t data[8];

	memset(data, fuzz_u8(in), sizeof(data));
	if (is_write) {
		FUZZ_CHECK(test_device_memory_write(&dev, gpa, data, len) ==
			   inside);
		if (inside)
			memcpy(expected, data, len);
		return;
	}
	FUZZ_CHECK(test_device_memory_read(&dev, gpa, data, len) == inside);
	if (inside)
		FUZZ_CHECK(!memcmp(data, expected, len));
}

static void step(struct state *s, struct fuzz_input *in)
{
	uint8_t what = fuzz_u8(in);
	unsigned int offset = what >> 3 & 3, size = 1 + (what >> 5 & 3);

	switch (what % 8) {
	case 0:
	case 1:
		write_fw_cfg(s, offset & 1, size, fuzz_u32(in));
		break;
	case 2:
	case 3:
		read_fw_cfg(s, offset & 1, size);
		break;
	case 4:
		s->bytes[offset] = fuzz_u8(in);
		test_device_write(&dev, offset, s->bytes[offset]);
		break;
	default:
		access_memory(in, what & 1);
		break;
	}
	for (unsigned int i = 0; i < TEST_DEVICE_REGISTER; i++)
		FUZZ_CHECK(test_device_read(&dev, i) == s->bytes[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	struct state s = {.key = 0};

	fw_cfg_reset(&s.fw, RAM_BYTES, CPUS);
	test_device_reset(&dev);
	memset(memory, 0, sizeof(memory));
	while (fuzz_more(&in))
		step(&s, &in);
	FUZZ_CHECK(!memcmp(memory, dev.memory, sizeof(memory)));
	return 0;
}
