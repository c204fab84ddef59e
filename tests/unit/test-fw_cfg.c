/* SPDX-License-Identifier: MIT */
/*
 * fw_cfg as a test suite's library asks it: 16 bits select an item, whose bytes
 * come one by one. Keys are literal here: they are QEMU's.
 */
#include "fw_cfg.h"

#include "tap.h"

#define RAM_BYTES UINT64_C(0x123456789a)

static struct fw_cfg fw;

static void setup(void)
{
	fw_cfg_reset(&fw, RAM_BYTES, 0x0203);
}

static uint8_t next(void)
{
	uint32_t value = 0xaaaaaaaa;

	ck_assert_uint_eq(fw_cfg_read(&fw, 1, 1, &value), 1);
	ck_assert_uint_le(value, 0xff);
	return (uint8_t)value;
}

static void choose(uint16_t key)
{
	ck_assert_uint_eq(fw_cfg_write(&fw, 0, 2, key), 2);
}

/* What is there, and zeros behind it. */
static void expect(const char *bytes, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		ck_assert_uint_eq(next(), (uint8_t)bytes[i]);
	for (unsigned int i = 0; i < 20; i++)
		ck_assert_uint_eq(next(), 0);
}

static const struct {
	uint16_t key;
	const char *bytes;
	unsigned int count;
} items[] = {
	{0x0000, "QEMU", 4},
	{0x0001, "\x01\0\0\0", 4},
	{0x0003, "\x9a\x78\x56\x34\x12\0\0\0", 8},
	{0x0005, "\x03\x02", 2},
	{0x000f, "\x03\x02", 2},
	/* Bit 14 names no other item. */
	{0x4005, "\x03\x02", 2},
	/* Bit 15 does; these are a directory without files, and what is
	 * nothing. */
	{0x8005, "", 0},
	{0x0002, "", 0},
	{0x0004, "", 0},
	{0x0011, "", 0},
	{0x0019, "", 0},
	{0x0105, "", 0},
	{0xffff, "", 0},
};

START_TEST(test_fw_cfg_items)
{
	choose(items[_i].key);
	expect(items[_i].bytes, items[_i].count);
	/* Again from the start. */
	choose(items[_i].key);
	expect(items[_i].bytes, items[_i].count);
}
END_TEST

START_TEST(test_fw_cfg_after_power_on)
{
	expect("QEMU", 4);
	ck_assert_uint_eq(FW_CFG_PORT, 0x510);
	ck_assert_uint_eq(FW_CFG_WINDOW, 2);
}
END_TEST

/* In the middle of an item another one is chosen. */
START_TEST(test_fw_cfg_choice_starts_anew)
{
	choose(3);
	ck_assert_uint_eq(next(), 0x9a);
	ck_assert_uint_eq(next(), 0x78);
	choose(5);
	ck_assert_uint_eq(next(), 0x03);
	choose(3);
	ck_assert_uint_eq(next(), 0x9a);
}
END_TEST

/* 32 bits are no access of this device; of 24, which are the rest of another
 * one, 16 are. */
START_TEST(test_fw_cfg_wide_selector)
{
	choose(5);
	ck_assert_uint_eq(next(), 0x03);
	ck_assert_uint_eq(fw_cfg_write(&fw, 0, 4, 3), 4);
	ck_assert_uint_eq(next(), 0x02);
	ck_assert_uint_eq(fw_cfg_write(&fw, 0, 3, 0xff0000), 2);
	expect("QEMU", 4);
}
END_TEST

/* A byte written to either port is nothing, also where a wider access leaves
 * one. */
START_TEST(test_fw_cfg_bytes_do_not_select)
{
	choose(5);
	ck_assert_uint_eq(next(), 0x03);
	ck_assert_uint_eq(fw_cfg_write(&fw, 0, 1, 3), 1);
	ck_assert_uint_eq(fw_cfg_write(&fw, 1, 1, 3), 1);
	ck_assert_uint_eq(fw_cfg_write(&fw, 1, 4, 0x03030303), 1);
	ck_assert_uint_eq(next(), 0x02);
}
END_TEST

/* A byte of the selector's port is data; all of the selector is zero. */
START_TEST(test_fw_cfg_reads_of_the_selector)
{
	uint32_t value = 0xaaaaaaaa;

	ck_assert_uint_eq(next(), 'Q');
	ck_assert_uint_eq(fw_cfg_read(&fw, 0, 1, &value), 1);
	ck_assert_uint_eq(value, 'E');
	for (unsigned int size = 2; size <= 4; size++) {
		value = 0xaaaaaaaa;
		ck_assert_uint_eq(fw_cfg_read(&fw, 0, size, &value),
				  size == 4 ? 4 : 2);
		ck_assert_uint_eq(value, 0);
	}
	/* One port is left for it. */
	ck_assert_uint_eq(fw_cfg_read(&fw, 1, 3, &value), 1);
	ck_assert_uint_eq(value, 'M');
	ck_assert_uint_eq(next(), 'U');
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fw_cfg");
	TCase *all = tcase_create("items");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_loop_test(all, test_fw_cfg_items, 0,
			    sizeof(items) / sizeof(items[0]));
	tcase_add_test(all, test_fw_cfg_after_power_on);
	tcase_add_test(all, test_fw_cfg_choice_starts_anew);
	tcase_add_test(all, test_fw_cfg_wide_selector);
	tcase_add_test(all, test_fw_cfg_bytes_do_not_select);
	tcase_add_test(all, test_fw_cfg_reads_of_the_selector);
	suite_add_tcase(suite, all);
	return tap_run(suite);
}
