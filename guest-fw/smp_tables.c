/* SPDX-License-Identifier: MIT */
/*
 * smp_tables - what ACPI and MP tables say of the CPUs: the n-th is APIC id n.
 *
 * They are where a guest without UEFI looks: the RSDP where the boot protocol
 * says, else in the EBDA or the BIOS's memory; the MP floating pointer there or
 * at the end of base memory.
 * Reference: ACPI Specification 6.4, "Finding the RSDP on IA-PC Systems",
 * "MADT"; Intel MultiProcessor Specification 1.4, "MP Floating Pointer
 * Structure". Not read: XSDT (the RSDT has the same entries below 4 GiB),
 * whatever is not about CPUs.
 */
#include "boot.h"
#include "console.h"
#include "smp.h"
#include "smp_checks.h"

#include <stddef.h>

#define EBDA_SEGMENT_GPA 0x40eu
#define BASE_KIB_GPA	 0x413u
#define BIOS_GPA	 0xe0000u
#define BIOS_END_GPA	 0x100000u
#define LOW_END_GPA	 0xa0000u

#define MADT_LAPIC	 0
#define MADT_X2APIC	 9
#define MADT_ENABLED	 1u

#define MP_PROCESSOR	 0
#define MP_ENABLED	 1u
#define MP_BOOT		 2u

struct acpi_rsdp {
	char signature[8];
	uint8_t checksum;
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt_gpa;
} __attribute__((packed));

struct acpi_table {
	char signature[4];
	uint32_t bytes;
	uint8_t rest[28];
} __attribute__((packed));

struct madt {
	struct acpi_table head;
	uint32_t lapic_gpa, flags;
	uint8_t entries[];
} __attribute__((packed));

struct mp_floating {
	char signature[4];
	uint32_t config_gpa;
	uint8_t length_16, revision, checksum, features[5];
} __attribute__((packed));

struct mp_config {
	char signature[4];
	uint16_t bytes;
	uint8_t rest[28];
	uint16_t entries;
	uint8_t more[8];
	uint8_t first[];
} __attribute__((packed));

_Static_assert(sizeof(struct acpi_rsdp) == 20, "of ACPI 1.0");
_Static_assert(sizeof(struct acpi_table) == 36, "header");
_Static_assert(sizeof(struct mp_floating) == 16, "floating pointer");
_Static_assert(sizeof(struct mp_config) == 44, "header");

/* CPUs of a table so far, and whether each was as it should be. */
struct listed {
	unsigned count;
	bool good;
};

/* Its address may be anything; gcc takes one that it knows to be low for a null
 * pointer that somebody has added to. */
static const void *physical(uint64_t gpa)
{
	__asm__("" : "+r"(gpa));
	return (const void *)(uintptr_t)gpa;
}

static bool same(const char *text, const char *signature, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] != signature[i])
			return false;
	return true;
}

static bool sums_to_zero(const void *from, size_t bytes)
{
	const uint8_t *p = from;
	uint8_t sum = 0;

	for (size_t i = 0; i < bytes; i++)
		sum = (uint8_t)(sum + p[i]);
	return sum == 0;
}

/* On 16-byte boundaries of [gpa, end). */
static const void *search(uint32_t gpa, uint32_t end_gpa, const char *signature,
			  size_t n, size_t bytes)
{
	for (; gpa + bytes <= end_gpa; gpa += 16) {
		const void *p = physical(gpa);

		if (same(p, signature, n) && sums_to_zero(p, bytes))
			return p;
	}
	return NULL;
}

static uint32_t ebda_gpa(void)
{
	uint32_t gpa = (uint32_t) * (const uint16_t *)physical(EBDA_SEGMENT_GPA)
		       << 4;

	return gpa < LOW_END_GPA ? gpa : 0;
}

static const void *search_pc(const char *signature, size_t n, size_t bytes)
{
	uint32_t base_gpa = *(const uint16_t *)physical(BASE_KIB_GPA) * 1024u;
	const void *p = NULL;

	if (ebda_gpa())
		p = search(ebda_gpa(), ebda_gpa() + 1024, signature, n, bytes);
	if (!p && base_gpa >= 1024 && base_gpa <= LOW_END_GPA)
		p = search(base_gpa - 1024, base_gpa, signature, n, bytes);
	return p ? p : search(BIOS_GPA, BIOS_END_GPA, signature, n, bytes);
}

static const struct madt *find_madt(const char **by)
{
	const struct acpi_rsdp *rsdp = physical(boot_rsdp_gpa());
	const struct acpi_table *rsdt;

	*by = "start info";
	if (!boot_rsdp_gpa()) {
		*by = "BIOS memory";
		rsdp = search_pc("RSD PTR ", 8, sizeof(*rsdp));
	}
	if (!rsdp)
		return NULL;
	rsdt = physical(rsdp->rsdt_gpa);
	for (uint32_t at = sizeof(*rsdt); at + 4 <= rsdt->bytes; at += 4) {
		const struct madt *madt = physical(
			*(const uint32_t *)physical(rsdp->rsdt_gpa + at));

		if (same(madt->head.signature, "APIC", 4) &&
		    sums_to_zero(madt, madt->head.bytes))
			return madt;
	}
	return NULL;
}

static void list(struct listed *listed, uint32_t id)
{
	if (id != listed->count && listed->good) {
		console_printf(": entry %u is APIC id %u", listed->count, id);
		listed->good = false;
	}
	listed->count++;
}

static void list_madt(struct listed *listed, const uint8_t *e)
{
	if (e[0] == MADT_LAPIC && *(const uint32_t *)(e + 4) & MADT_ENABLED)
		list(listed, e[3]);
	if (e[0] == MADT_X2APIC && *(const uint32_t *)(e + 8) & MADT_ENABLED)
		list(listed, *(const uint32_t *)(e + 4));
}

/* CPUID counts those of a package; who has several says how many by cpus=. */
static void verdict(const struct listed *listed)
{
	unsigned cpus = smp_count_by_cpuid();

	if (cpus < smp_plan.cpus)
		cpus = smp_plan.cpus;
	if (listed->count != cpus)
		console_printf(": %u CPUs, and there are %u", listed->count,
			       cpus);
	smp_verdict(listed->good && listed->count == cpus);
}

static void check_madt(void)
{
	struct listed listed = {.good = true};
	const struct madt *madt;
	const char *by;

	madt = find_madt(&by);
	console_printf("smp: ids: MADT (by %s)", by);
	if (!madt) {
		console_printf(": %s hands over none\n", boot_protocol());
		return;
	}
	for (const uint8_t *e = madt->entries;
	     e + 2 <= (const uint8_t *)madt + madt->head.bytes && e[1];
	     e += e[1])
		list_madt(&listed, e);
	verdict(&listed);
}

/* Entries for processors are of 20 bytes, all others of 8. */
static void check_mp_table(void)
{
	const struct mp_floating *floating =
		search_pc("_MP_", 4, sizeof(*floating));
	struct listed listed = {.good = true};
	const struct mp_config *config;
	const uint8_t *e;

	console_puts("smp: ids: MP table");
	if (!floating || !floating->config_gpa) {
		console_printf(": %s hands over none\n", boot_protocol());
		return;
	}
	config = physical(floating->config_gpa);
	e = config->first;
	for (unsigned n = 0; n < config->entries; n++) {
		if (e[0] == MP_PROCESSOR && e[3] & MP_ENABLED) {
			listed.good &= !(e[3] & MP_BOOT) == (listed.count > 0);
			list(&listed, e[1]);
		}
		e += e[0] == MP_PROCESSOR ? 20 : 8;
	}
	listed.good &= same(config->signature, "PCMP", 4) &&
		       sums_to_zero(config, config->bytes);
	verdict(&listed);
}

void smp_check_tables(void)
{
	check_madt();
	check_mp_table();
}
