/* SPDX-License-Identifier: MIT */
/*
 * The ACPI tables read as a guest reads them: from the RSDP along the
 * pointers, offsets and values literal as the specification has them. The
 * AML is walked by its lengths here; tests/acpi gives it to a disassembler.
 */
#include "acpi.h"

#include <string.h>

#include "tap.h"

#define GPA   UINT32_C(0xf0000)
#define GUARD 0xa5

static uint8_t memory[ACPI_TABLES_SIZE + 16];
static uint32_t used;

static void write_tables(unsigned int cpus)
{
	memset(memory, GUARD, sizeof(memory));
	used = acpi_write(memory, GPA, cpus);
}

static void setup(void)
{
	write_tables(3);
}

static const uint8_t *at(uint64_t gpa)
{
	ck_assert_uint_ge(gpa, GPA);
	ck_assert_uint_lt(gpa, GPA + used);
	return memory + (gpa - GPA);
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

/* A whole table with a right header; its length in *size. */
static const uint8_t *table_at(uint64_t gpa, const char *signature,
			       uint64_t *size)
{
	const uint8_t *table = at(gpa);

	ck_assert_int_eq(memcmp(table, signature, 4), 0);
	*size = get(table + 4, 4);
	ck_assert_uint_ge(*size, 36);
	at(gpa + *size - 1);
	ck_assert_uint_eq(sum(table, *size), 0);
	ck_assert_int_eq(memcmp(table + 10, "PUNCTLPUNCTUAL", 14), 0);
	ck_assert_int_eq(memcmp(table + 28, "PNCT", 4), 0);
	return table;
}

/* The table of that place in the XSDT. */
static const uint8_t *listed(unsigned int index, const char *signature,
			     uint64_t *size)
{
	uint64_t xsdt_size;
	const uint8_t *xsdt = table_at(get(memory + 24, 8), "XSDT", &xsdt_size);

	ck_assert_uint_eq(xsdt_size, 36 + 2 * 8);
	return table_at(get(xsdt + 36 + index * 8, 8), signature, size);
}

START_TEST(test_acpi_rsdp)
{
	ck_assert_int_eq(memcmp(memory, "RSD PTR ", 8), 0);
	ck_assert_uint_eq(sum(memory, 20), 0);
	ck_assert_uint_eq(sum(memory, 36), 0);
	ck_assert_int_eq(memcmp(memory + 9, "PUNCTL", 6), 0);
	ck_assert_uint_eq(memory[15], 2);
	ck_assert_uint_eq(get(memory + 20, 4), 36);
}
END_TEST

/* A guest that knows only ACPI 1.0 finds the same tables. */
START_TEST(test_acpi_rsdt_and_xsdt_agree)
{
	uint64_t rsdt_size, xsdt_size;
	const uint8_t *rsdt = table_at(get(memory + 16, 4), "RSDT", &rsdt_size);
	const uint8_t *xsdt = table_at(get(memory + 24, 8), "XSDT", &xsdt_size);

	ck_assert_uint_eq(rsdt_size, 36 + 2 * 4);
	ck_assert_uint_eq(xsdt_size, 36 + 2 * 8);
	ck_assert_uint_eq(rsdt[8], 1);
	ck_assert_uint_eq(xsdt[8], 1);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_uint_eq(get(rsdt + 36 + i * 4, 4),
				  get(xsdt + 36 + i * 8, 8));
}
END_TEST

static void check_port(const uint8_t *gas, unsigned int bits,
		       unsigned int access, unsigned int port)
{
	ck_assert_uint_eq(gas[0], 1);
	ck_assert_uint_eq(gas[1], bits);
	ck_assert_uint_eq(gas[2], 0);
	ck_assert_uint_eq(gas[3], access);
	ck_assert_uint_eq(get(gas + 4, 8), port);
}

START_TEST(test_acpi_fadt)
{
	uint64_t size;
	const uint8_t *fadt = listed(0, "FACP", &size);

	ck_assert_uint_eq(size, 276);
	ck_assert_uint_eq(fadt[8], 6);
	ck_assert_uint_eq(get(fadt + 46, 2), 9);
	/* No SMI command, so no mode to switch to. */
	ck_assert_uint_eq(get(fadt + 48, 8), 0);
	ck_assert_uint_eq(get(fadt + 56, 4), 0x600);
	ck_assert_uint_eq(get(fadt + 64, 4), 0x604);
	ck_assert_uint_eq(fadt[88], 4);
	ck_assert_uint_eq(fadt[89], 2);
	/* No PM2, PM timer or general-purpose events. */
	ck_assert_uint_eq(get(fadt + 72, 8), 0);
	ck_assert_uint_eq(get(fadt + 80, 8), 0);
	ck_assert_uint_eq(get(fadt + 90, 6), 0);
	/* No C2, no C3. */
	ck_assert_uint_gt(get(fadt + 96, 2), 100);
	ck_assert_uint_gt(get(fadt + 98, 2), 1000);
	/* ISA devices, 8042, no VGA; CMOS RTC and MSI not denied. */
	ck_assert_uint_eq(get(fadt + 109, 2), 0x0007);
	/* WBINVD, C1, no fixed buttons, no RTC wake, reset register; neither
	 * reduced hardware (bit 20) nor an S4 or timer of its own. */
	ck_assert_uint_eq(get(fadt + 112, 4), 0x00000475);
	check_port(fadt + 116, 8, 1, 0xcf9);
	ck_assert_uint_eq(fadt[128], 0x06);
	check_port(fadt + 148, 32, 2, 0x600);
	check_port(fadt + 172, 16, 2, 0x604);
	/* All other registers are not there. */
	ck_assert_uint_eq(sum(fadt + 160, 12) | sum(fadt + 184, 92), 0);
}
END_TEST

START_TEST(test_acpi_facs)
{
	uint64_t size;
	const uint8_t *fadt = listed(0, "FACP", &size);
	uint64_t gpa = get(fadt + 36, 4);
	const uint8_t *facs = at(gpa);

	ck_assert_uint_eq(gpa % 64, 0);
	ck_assert_int_eq(memcmp(facs, "FACS", 4), 0);
	ck_assert_uint_eq(get(facs + 4, 4), 64);
	ck_assert_uint_eq(facs[32], 2);
	/* If both fields were set, which one counts? */
	ck_assert_uint_eq(get(fadt + 132, 8), 0);
}
END_TEST

/* Every entry but the processors', in the order in which they stand. */
static const uint8_t madt_fixed[] = {
	1, 12, 0,    0, 0, 0, 0xc0, 0xfe, 0,  0, 0, 0, /* IOAPIC */
	2, 10, 0,    0, 2, 0, 0,    0,	  0,  0,       /* IRQ 0: pin 2 */
	2, 10, 0,    9, 9, 0, 0,    0,	  13, 0,       /* IRQ 9: level */
	4, 6,  0xff, 0, 0, 1,			       /* NMI: LINT1 */
};

START_TEST(test_acpi_madt)
{
	static const unsigned int counts[] = {1, 2, 3, 24, 63, 64};
	unsigned int cpus = counts[_i];
	const uint8_t *madt, *cpu;
	uint64_t size;

	write_tables(cpus);
	madt = listed(1, "APIC", &size);
	ck_assert_uint_eq(get(madt + 36, 4), 0xfee00000);
	ck_assert_uint_eq(get(madt + 40, 4), 1);
	ck_assert_int_eq(memcmp(madt + 44, madt_fixed, sizeof(madt_fixed)), 0);
	cpu = madt + 44 + sizeof(madt_fixed);
	ck_assert_uint_eq(size, (uint64_t)(cpu - madt) + cpus * 8);
	for (unsigned int i = 0; i < cpus; i++, cpu += 8) {
		ck_assert_uint_eq(get(cpu, 4), 0x0800 | i << 16 | i << 24);
		ck_assert_uint_eq(get(cpu + 4, 4), 1);
	}
	/* What is said to be used is, and no more. */
	ck_assert_uint_le(used, ACPI_TABLES_SIZE);
	for (size_t i = used; i < sizeof(memory); i++)
		ck_assert_uint_eq(memory[i], GUARD);
}
END_TEST

static const uint8_t *dsdt_aml(uint64_t *size)
{
	uint64_t fadt_size;
	const uint8_t *fadt = listed(0, "FACP", &fadt_size);
	const uint8_t *dsdt = table_at(get(fadt + 40, 4), "DSDT", size);

	ck_assert_uint_eq(get(fadt + 140, 8), get(fadt + 40, 4));
	ck_assert_uint_eq(dsdt[8], 2);
	*size -= 36;
	return dsdt + 36;
}

/* A package length at aml: its value, and how many bytes it takes. */
static uint64_t package_length(const uint8_t *aml, unsigned int *bytes)
{
	*bytes = 1 + (aml[0] >> 6);
	ck_assert_uint_le(*bytes, 2);
	if (*bytes == 1)
		return aml[0] & 0x3f;
	ck_assert_uint_eq(aml[0] & 0x30, 0);
	return (aml[0] & 0xf) | (uint64_t)aml[1] << 4;
}

START_TEST(test_acpi_dsdt_s5_is_what_powers_off)
{
	static const uint8_t s5[] = {0x08, '_',	 'S', '5',  '_', 0x12, 8,
				     4,	   0x0a, 5,   0x0a, 5,	 0,    0};
	uint64_t size;

	ck_assert_int_eq(memcmp(dsdt_aml(&size), s5, sizeof(s5)), 0);
}
END_TEST

/* One device at aml that must fill size bytes: names, then their values. */
static uint64_t check_device(const uint8_t *aml, const char *name, uint64_t hid,
			     const uint8_t resources[13])
{
	unsigned int bytes;
	uint64_t length = package_length(aml + 2, &bytes);
	const uint8_t *body = aml + 2 + bytes;
	const uint8_t *end = aml + 2 + length;

	ck_assert_uint_eq(get(aml, 2), 0x825b);
	ck_assert_int_eq(memcmp(body, name, 4), 0);
	ck_assert_int_eq(memcmp(body + 4, "\x08_HID\x0c", 6), 0);
	ck_assert_uint_eq(get(body + 10, 4), hid);
	body += 14;
	if (!memcmp(body, "\x08_UID\x01", 6))
		body += 6;
	ck_assert_int_eq(memcmp(body, "\x08_CRS\x11\x10\x0a\x0d", 9), 0);
	ck_assert_int_eq(memcmp(body + 9, resources, 13), 0);
	ck_assert_ptr_eq(body + 22, end);
	return 2 + length;
}

START_TEST(test_acpi_dsdt_devices)
{
	static const uint8_t com1[] = {0x47, 1,	   0xf8, 3, 0xf8, 3, 1,
				       8,    0x22, 0x10, 0, 0x79, 0};
	static const uint8_t rtc[] = {0x47, 1,	  0x70, 0, 0x70, 0, 1,
				      2,    0x22, 0,	1, 0x79, 0};
	uint64_t size, length;
	const uint8_t *aml = dsdt_aml(&size);
	unsigned int bytes;

	ck_assert_uint_eq(aml[14], 0x10);
	length = package_length(aml + 15, &bytes);
	/* The scope reaches to the end of the table. */
	ck_assert_uint_eq(15 + length, size);
	ck_assert_int_eq(memcmp(aml + 15 + bytes, "_SB_", 4), 0);
	aml += 15 + bytes + 4;
	length -= bytes + 4;
	/* EISA ids: PNP is 41 d0. */
	size = check_device(aml, "COM1", 0x0105d041, com1);
	size += check_device(aml + size, "RTC0", 0x000bd041, rtc);
	ck_assert_uint_eq(size, length);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("acpi");
	TCase *tc = tcase_create("tables");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_acpi_rsdp);
	tcase_add_test(tc, test_acpi_rsdt_and_xsdt_agree);
	tcase_add_test(tc, test_acpi_fadt);
	tcase_add_test(tc, test_acpi_facs);
	tcase_add_loop_test(tc, test_acpi_madt, 0, 6);
	tcase_add_test(tc, test_acpi_dsdt_s5_is_what_powers_off);
	tcase_add_test(tc, test_acpi_dsdt_devices);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
