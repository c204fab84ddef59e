/* SPDX-License-Identifier: MIT */
/*
 * When an expiry is an ordinary interrupt, by the registers; all values
 * literal, as the SDM has them.
 */
#include "lvtt.h"

#include <string.h>

#include "tap.h"

static uint8_t page[LVTT_APIC_PAGE_BYTES];

static void set(unsigned int offset, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		page[offset + (unsigned int)i] = (uint8_t)(value >> 8 * i);
}

/* APIC 5, enabled, deadline mode, vector 0xec. */
static void setup(void)
{
	memset(page, 0, sizeof(page));
	set(0x20, 5u << 24);
	set(0xf0, 0x1ff);
	set(0x320, 0x400ec);
}

START_TEST(test_lvtt_plain)
{
	uint8_t vector = 0;

	ck_assert(lvtt_is_deadline_mode(page));
	ck_assert(lvtt_delivers(page, 5, &vector));
	ck_assert_uint_eq(vector, 0xec);
	/* Delivery status and the other bits of the id are no obstacle. */
	set(0x320, 0x410ec);
	set(0x20, 5u << 24 | 0xffffff);
	ck_assert(lvtt_delivers(page, 5, &vector));
	set(0x320, 0x40010);
	ck_assert(lvtt_delivers(page, 5, &vector));
	ck_assert_uint_eq(vector, 16);
}
END_TEST

static const struct {
	unsigned int offset;
	uint32_t value;
	bool deadline_mode;
} odd[] = {
	{0x320, 0x500ec, true},			      /* masked */
	{0x320, 0x000ec, false},		      /* one-shot */
	{0x320, 0x200ec, false},		      /* periodic */
	{0x320, 0x600ec, false},		      /* reserved */
	{0x320, 0x4000f, true},			      /* a vector below 16 */
	{0x320, 0x40000, true},	 {0xf0, 0x0ff, true}, /* software-disabled */
	{0x20, 6u << 24, true},			      /* somebody else's id */
	{0x20, 0, true},
};

START_TEST(test_lvtt_odd)
{
	uint8_t vector;

	set(odd[_i].offset, odd[_i].value);
	ck_assert_int_eq(lvtt_is_deadline_mode(page), odd[_i].deadline_mode);
	ck_assert(!lvtt_delivers(page, 5, &vector));
}
END_TEST

/* An MSI to that id would reach them all. */
START_TEST(test_lvtt_broadcast_id)
{
	uint8_t vector;

	set(0x20, 0xffu << 24);
	ck_assert(!lvtt_delivers(page, 0xff, &vector));
	set(0x20, 0xfeu << 24);
	ck_assert(lvtt_delivers(page, 0xfe, &vector));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lvtt");
	TCase *tcase = tcase_create("lvtt");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_lvtt_plain);
	tcase_add_loop_test(tcase, test_lvtt_odd, 0,
			    (int)(sizeof(odd) / sizeof(odd[0])));
	tcase_add_test(tcase, test_lvtt_broadcast_id);
	suite_add_tcase(suite, tcase);
	return tap_run(suite);
}
