/* SPDX-License-Identifier: MIT */
/*
 * The test device's storage: four bytes behind ports, and 64 KiB whose ends are
 * where the guest may try more.
 */
#include "test_device.h"

#include <string.h>

#include "tap.h"

#define FIRST UINT64_C(0xff000000)
#define END   UINT64_C(0xff010000)

/* With something before and behind it that must not change. */
static struct {
	uint8_t before[16];
	struct test_device dev;
	uint8_t behind[16];
} room;
static struct test_device *const dev = &room.dev;

static void setup(void)
{
	memset(&room, 0xcc, sizeof(room));
	test_device_reset(dev);
}

static void teardown(void)
{
	for (unsigned int i = 0; i < 16; i++) {
		ck_assert_uint_eq(room.before[i], 0xcc);
		ck_assert_uint_eq(room.behind[i], 0xcc);
	}
}

START_TEST(test_test_device_register)
{
	for (unsigned int i = 0; i < 4; i++) {
		ck_assert_uint_eq(test_device_read(dev, i), 0);
		test_device_write(dev, i, (uint8_t)(0xa1 + i));
	}
	test_device_write(dev, 1, 0x5a);
	ck_assert_uint_eq(test_device_read(dev, 0), 0xa1);
	ck_assert_uint_eq(test_device_read(dev, 1), 0x5a);
	ck_assert_uint_eq(test_device_read(dev, 2), 0xa3);
	ck_assert_uint_eq(test_device_read(dev, 3), 0xa4);
}
END_TEST

/* Each width, at both ends and across an aligned place. */
START_TEST(test_test_device_memory)
{
	static const uint8_t pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	const unsigned int len = 1u << _i;
	const uint64_t places[] = {FIRST, FIRST + 0xfff, END - len};
	uint8_t data[8];

	for (unsigned int i = 0; i < 3; i++) {
		memset(data, 0xff, sizeof(data));
		ck_assert(test_device_memory_read(dev, places[i], data, len));
		for (unsigned int at = 0; at < 8; at++)
			ck_assert_uint_eq(data[at], at < len ? 0 : 0xff);
		ck_assert(
			test_device_memory_write(dev, places[i], pattern, len));
		ck_assert(test_device_memory_read(dev, places[i], data, len));
		ck_assert_int_eq(memcmp(data, pattern, len), 0);
	}
	/* None of them has hit what is behind it. */
	ck_assert(test_device_memory_read(dev, FIRST + len, data, len));
	ck_assert_uint_eq(data[0], 0);
}
END_TEST

START_TEST(test_test_device_memory_ends)
{
	static const struct {
		uint64_t gpa;
		unsigned int len;
	} outside[] = {
		{FIRST - 1, 1},	 {FIRST - 1, 4}, {END, 1},
		{END - 1, 2},	 {END - 7, 8},	 {0, 8},
		{UINT64_MAX, 1}, {END << 4, 8},	 {FIRST | UINT64_C(1) << 32, 4},
	};
	uint8_t data[8] = {9, 9, 9, 9, 9, 9, 9, 9};

	for (unsigned int i = 0; i < sizeof(outside) / sizeof(outside[0]);
	     i++) {
		ck_assert(!test_device_memory_write(dev, outside[i].gpa, data,
						    outside[i].len));
		ck_assert(!test_device_memory_read(dev, outside[i].gpa, data,
						   outside[i].len));
		ck_assert_uint_eq(data[0], 9);
	}
	for (unsigned int i = 0; i < TEST_DEVICE_MEMORY_SIZE; i++)
		ck_assert_uint_eq(dev->memory[i], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("test_device");
	TCase *all = tcase_create("storage");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, test_test_device_register);
	tcase_add_loop_test(all, test_test_device_memory, 0, 4);
	tcase_add_test(all, test_test_device_memory_ends);
	suite_add_tcase(suite, all);
	return tap_run(suite);
}
