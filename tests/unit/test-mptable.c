/* SPDX-License-Identifier: MIT */
/*
 * The MP tables read as a guest reads them, offsets and values literal as the
 * specification has them, and compared with the MADT: both are for the same
 * machine.
 */
#include "mptable.h"

#include <string.h>

#include "acpi.h"
#include "tap.h"

#define GPA   UINT32_C(0xf1000)
#define GUARD 0xa5

static uint8_t memory[MPTABLE_SIZE + 16];
static uint32_t used;

static void write_tables(unsigned int cpus)
{
	memset(memory, GUARD, sizeof(memory));
	used = mptable_write(memory, GPA, cpus);
}

static void setup(void)
{
	write_tables(2);
}

static uint64_t get(const uint8_t *bytes, unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value, bytes, size);
	return value;
}

static uint8_t sum(const uint8_t *bytes, uint64_t size)
{
	uint8_t total = 0;

	for (uint64_t i = 0; i < size; i++)
		total = (uint8_t)(total + bytes[i]);
	return total;
}

static const uint8_t *config(void)
{
	return memory + (get(memory + 4, 4) - GPA);
}

START_TEST(test_mptable_floating_pointer)
{
	ck_assert_int_eq(memcmp(memory, "_MP_", 4), 0);
	ck_assert_uint_eq(get(memory + 4, 4), GPA + 16);
	ck_assert_uint_eq(memory[8], 1);
	ck_assert_uint_eq(memory[9], 4);
	ck_assert_uint_eq(sum(memory, 16), 0);
	/* There is a configuration table, and no IMCR. */
	ck_assert_uint_eq(get(memory + 11, 5), 0);
}
END_TEST

START_TEST(test_mptable_header)
{
	const uint8_t *header = config();
	uint64_t length = get(header + 4, 2);

	ck_assert_int_eq(memcmp(header, "PCMP", 4), 0);
	ck_assert_uint_eq(length, used - 16);
	ck_assert_uint_eq(header[6], 4);
	ck_assert_uint_eq(sum(header, length), 0);
	ck_assert_int_eq(memcmp(header + 8, "PUNCTUALPUNCTUAL    ", 20), 0);
	ck_assert_uint_eq(get(header + 28, 6), 0);
	ck_assert_uint_eq(get(header + 34, 2), 2 + 1 + 1 + 15 + 2);
	ck_assert_uint_eq(get(header + 36, 4), 0xfee00000);
	ck_assert_uint_eq(get(header + 40, 4), 0);
}
END_TEST

/* All entries but the processors'. */
static const uint8_t fixed_entries[] = {
	1, 0, 'I',  'S', 'A', ' ', ' ',	 ' ',  /* bus 0 */
	2, 0, 0x20, 1,	 0,   0,   0xc0, 0xfe, /* IOAPIC 0 */
	3, 0, 0,    0,	 0,   0,   0,	 2,    /* the timer: pin 2 */
	3, 0, 0,    0,	 0,   1,   0,	 1,    3, 0, 0,	 0, 0, 3,  0, 3,
	3, 0, 0,    0,	 0,   4,   0,	 4,    3, 0, 0,	 0, 0, 5,  0, 5,
	3, 0, 0,    0,	 0,   6,   0,	 6,    3, 0, 0,	 0, 0, 7,  0, 7,
	3, 0, 0,    0,	 0,   8,   0,	 8,    3, 0, 13, 0, 0, 9,  0, 9,
	3, 0, 0,    0,	 0,   10,  0,	 10,   3, 0, 0,	 0, 0, 11, 0, 11,
	3, 0, 0,    0,	 0,   12,  0,	 12,   3, 0, 0,	 0, 0, 13, 0, 13,
	3, 0, 0,    0,	 0,   14,  0,	 14,   3, 0, 0,	 0, 0, 15, 0, 15,
	4, 3, 0,    0,	 0,   0,   0,	 0, /* LINT0: ExtINT */
	4, 1, 0,    0,	 0,   0,   0xff, 1, /* LINT1: NMI */
};

START_TEST(test_mptable_entries)
{
	static const unsigned int counts[] = {1, 2, 24, 63, 64};
	unsigned int cpus = counts[_i];
	const uint8_t *entry;

	write_tables(cpus);
	entry = config() + 44;
	for (unsigned int i = 0; i < cpus; i++, entry += 20) {
		ck_assert_uint_eq(get(entry, 4),
				  (i ? 0x01140000u : 0x03140000u) | i << 8);
		ck_assert_uint_eq(get(entry + 4, 4), 0);
		ck_assert_uint_eq(get(entry + 8, 4), 0x201);
		ck_assert_uint_eq(get(entry + 12, 8), 0);
	}
	ck_assert_int_eq(memcmp(entry, fixed_entries, sizeof(fixed_entries)),
			 0);
	ck_assert_ptr_eq(entry + sizeof(fixed_entries), memory + used);
	ck_assert_uint_eq(get(config() + 34, 2), cpus + 19);
	ck_assert_uint_eq(sum(config(), used - 16), 0);
	ck_assert_uint_le(used, MPTABLE_SIZE);
	for (size_t i = used; i < sizeof(memory); i++)
		ck_assert_uint_eq(memory[i], GUARD);
}
END_TEST

/* Where the MADT says an ISA interrupt goes, and with which flags. */
static void madt_says(const uint8_t *madt, unsigned int irq, uint64_t *gsi,
		      uint64_t *flags)
{
	uint64_t size = get(madt + 4, 4);

	*gsi = irq;
	*flags = 0;
	for (uint64_t i = 44; i < size; i += madt[i + 1])
		if (madt[i] == 2 && madt[i + 3] == irq) {
			*gsi = get(madt + i + 4, 4);
			*flags = get(madt + i + 8, 2);
		}
}

START_TEST(test_mptable_agrees_with_the_madt)
{
	static uint8_t acpi[ACPI_TABLES_SIZE];
	const uint8_t *xsdt, *madt, *entry = config() + 44 + 2 * 20 + 2 * 8;
	uint64_t gsi, flags;

	acpi_write(acpi, 0xf0000, 2);
	xsdt = acpi + (get(acpi + 24, 8) - 0xf0000);
	madt = acpi + (get(xsdt + 44, 8) - 0xf0000);
	ck_assert_int_eq(memcmp(madt, "APIC", 4), 0);
	for (unsigned int i = 0; i < 15; i++, entry += 8) {
		madt_says(madt, entry[5], &gsi, &flags);
		ck_assert_uint_eq(gsi, entry[7]);
		ck_assert_uint_eq(flags, get(entry + 2, 2));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mptable");
	TCase *tc = tcase_create("tables");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_mptable_floating_pointer);
	tcase_add_test(tc, test_mptable_header);
	tcase_add_loop_test(tc, test_mptable_entries, 0, 5);
	tcase_add_test(tc, test_mptable_agrees_with_the_madt);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
