/* SPDX-License-Identifier: MIT */
/*
 * Guest writes of IA32_TSC and IA32_TSC_ADJUST against the rule that each
 * moves the other by the same amount, on hosts that follow and one that does
 * not.
 */
#include "guest_tsc.h"

#include "prng.h"
#include "tap.h"

#define HOST_NOW UINT64_C(1000000)

static struct guest_tsc guest;

static void setup(void)
{
	guest_tsc_init(&guest, 0 - UINT64_C(400000));
}

START_TEST(test_guest_tsc_init)
{
	ck_assert_uint_eq(guest.tsc_offset, 0 - UINT64_C(400000));
	ck_assert_uint_eq(guest.tsc_adjust, 0);
}
END_TEST

START_TEST(test_guest_tsc_write_moves_adjust)
{
	/* The guest is at 600 000 and sets itself 5 ahead, then 100 back. */
	uint64_t offset = guest_tsc_write(&guest, 600005, HOST_NOW);

	ck_assert_uint_eq(HOST_NOW + offset, 600005);
	ck_assert_uint_eq(guest.tsc_adjust, 5);
	guest_tsc_set_offset(&guest, offset);
	offset = guest_tsc_write(&guest, 599905, HOST_NOW);
	ck_assert_uint_eq(HOST_NOW + offset, 599905);
	ck_assert_uint_eq(guest.tsc_adjust, 0 - UINT64_C(95));
}
END_TEST

START_TEST(test_guest_tsc_write_zero)
{
	uint64_t offset = guest_tsc_write(&guest, 0, HOST_NOW);

	ck_assert_uint_eq(HOST_NOW + offset, 0);
	ck_assert_uint_eq(guest.tsc_adjust, 0 - UINT64_C(600000));
}
END_TEST

START_TEST(test_guest_tsc_adjust_moves_tsc)
{
	uint64_t offset = guest_tsc_write_adjust(&guest, 70);

	ck_assert_uint_eq(offset, 70 - UINT64_C(400000));
	ck_assert_uint_eq(guest.tsc_adjust, 70);
	guest_tsc_set_offset(&guest, offset);
	/* The same value again moves nothing. */
	ck_assert_uint_eq(guest_tsc_write_adjust(&guest, 70), offset);
	/* Back to 0 undoes it. */
	ck_assert_uint_eq(guest_tsc_write_adjust(&guest, 0),
			  0 - UINT64_C(400000));
}
END_TEST

/* A host whose offset cannot be moved: the register reads back what was
 * written, deadlines keep to the offset that is really in force. */
START_TEST(test_guest_tsc_host_refuses)
{
	guest_tsc_init(&guest, 0);
	guest_tsc_write_adjust(&guest, 1000);
	guest_tsc_set_offset(&guest, 0);
	ck_assert_uint_eq(guest.tsc_offset, 0);
	ck_assert_uint_eq(guest.tsc_adjust, 1000);
	ck_assert_uint_eq(guest_tsc_write_adjust(&guest, 1500), 500);
}
END_TEST

/* Until the host was read back, the old offset is in force. */
START_TEST(test_guest_tsc_writes_leave_the_offset)
{
	uint64_t before = guest.tsc_offset;

	guest_tsc_write(&guest, 123, HOST_NOW);
	guest_tsc_write_adjust(&guest, 456);
	ck_assert_uint_eq(guest.tsc_offset, before);
}
END_TEST

/* Offset minus adjust is the one thing neither register can change. */
START_TEST(test_guest_tsc_random_writes_keep_the_difference)
{
	uint64_t difference = guest.tsc_offset - guest.tsc_adjust;
	uint64_t seed = 0x75c;
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t value = prng_next(&seed);
		uint64_t offset =
			i & 1 ? guest_tsc_write(&guest, value, prng_next(&seed))
			      : guest_tsc_write_adjust(&guest, value);

		guest_tsc_set_offset(&guest, offset);
		tap_require(guest.tsc_offset - guest.tsc_adjust == difference);
	}
}
END_TEST

static Suite *guest_tsc_suite(void)
{
	Suite *suite = suite_create("guest_tsc");
	TCase *all = tcase_create("writes");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_test(all, test_guest_tsc_init);
	tcase_add_test(all, test_guest_tsc_write_moves_adjust);
	tcase_add_test(all, test_guest_tsc_write_zero);
	tcase_add_test(all, test_guest_tsc_adjust_moves_tsc);
	tcase_add_test(all, test_guest_tsc_host_refuses);
	tcase_add_test(all, test_guest_tsc_writes_leave_the_offset);
	tcase_add_test(all, test_guest_tsc_random_writes_keep_the_difference);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return tap_run(guest_tsc_suite());
}
