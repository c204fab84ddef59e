/* SPDX-License-Identifier: MIT */
/*
 * PM1a registers as an ACPI guest uses them: it masks all events, and powers
 * off with SLP_TYP 5 and SLP_EN in one write.
 */
#include "acpi_pm.h"

#include "tap.h"

static struct acpi_pm pm;

static void setup(void)
{
	acpi_pm_reset(&pm);
}

START_TEST(test_acpi_pm_after_power_on)
{
	static const uint8_t expected[ACPI_PM_WINDOW] = {[4] = 0x01};

	for (unsigned int i = 0; i < ACPI_PM_WINDOW; i++)
		ck_assert_uint_eq(acpi_pm_read(&pm, i), expected[i]);
}
END_TEST

START_TEST(test_acpi_pm_places)
{
	ck_assert_uint_eq(ACPI_PM_EVENT_PORT, 0x600);
	ck_assert_uint_eq(ACPI_PM_CNT_PORT, 0x604);
	ck_assert_uint_eq(ACPI_PM_EVENT_SIZE + ACPI_PM_CNT_SIZE,
			  ACPI_PM_WINDOW);
}
END_TEST

/* SLP_EN with every SLP_TYP; only S5 acts, and SLP_EN reads as 0. */
START_TEST(test_acpi_pm_slp_en_acts_with_s5_alone)
{
	for (unsigned int type = 0; type < 8; type++) {
		uint8_t value = (uint8_t)(0x20 | type << 2);

		ck_assert_int_eq(acpi_pm_write(&pm, 5, value), type == 5);
		ck_assert_uint_eq(acpi_pm_read(&pm, 5), type << 2);
		ck_assert(!acpi_pm_write(&pm, 5, (uint8_t)(type << 2)));
	}
}
END_TEST

/* The same byte does nothing anywhere else. */
START_TEST(test_acpi_pm_other_bytes_do_not_power_off)
{
	for (unsigned int i = 0; i < ACPI_PM_WINDOW - 1; i++)
		ck_assert(!acpi_pm_write(&pm, i, 0x34));
	ck_assert_uint_eq(acpi_pm_read(&pm, 5), 0);
}
END_TEST

START_TEST(test_acpi_pm_reserved_bits_do_not_stick)
{
	acpi_pm_write(&pm, 4, 0xff);
	ck_assert_uint_eq(acpi_pm_read(&pm, 4), 0x03);
	acpi_pm_write(&pm, 4, 0x00);
	/* ACPI mode is not to be left. */
	ck_assert_uint_eq(acpi_pm_read(&pm, 4), 0x01);
	acpi_pm_write(&pm, 5, 0xcb);
	ck_assert_uint_eq(acpi_pm_read(&pm, 5), 0x08);
}
END_TEST

START_TEST(test_acpi_pm_enable_reads_back_and_status_stays_0)
{
	for (unsigned int i = 0; i < 4; i++)
		acpi_pm_write(&pm, i, (uint8_t)(0xa1 + i));
	ck_assert_uint_eq(acpi_pm_read(&pm, 0), 0);
	ck_assert_uint_eq(acpi_pm_read(&pm, 1), 0);
	ck_assert_uint_eq(acpi_pm_read(&pm, 2), 0xa3);
	ck_assert_uint_eq(acpi_pm_read(&pm, 3), 0xa4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("acpi_pm");
	TCase *all = tcase_create("registers");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_test(all, test_acpi_pm_after_power_on);
	tcase_add_test(all, test_acpi_pm_places);
	tcase_add_test(all, test_acpi_pm_slp_en_acts_with_s5_alone);
	tcase_add_test(all, test_acpi_pm_other_bytes_do_not_power_off);
	tcase_add_test(all, test_acpi_pm_reserved_bits_do_not_stick);
	tcase_add_test(all, test_acpi_pm_enable_reads_back_and_status_stays_0);
	suite_add_tcase(suite, all);
	return tap_run(suite);
}
