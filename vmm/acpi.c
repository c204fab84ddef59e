/* SPDX-License-Identifier: MIT */
/*
 * Builds the tables, each behind the one before it, and those that point to
 * others last. Reference: ACPI Specification 6.4 "Root System Description
 * Pointer", "Fixed ACPI Description Table", "Multiple APIC Description Table".
 * Not modelled: ACPI mode switch (no SMI command), PM timer, general-purpose
 * events, C and P states, x2APIC entries (ids stay below 255), HPET.
 */
#include "acpi.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "acpi_pm.h"
#include "platform.h"
#include "reset_ctl.h"
#include "table_checksum.h"

#define PACKED	       __attribute__((packed))

/* Whose tables these are. */
#define OEM_ID	       "PUNCTL"
#define OEM_TABLE_ID   "PUNCTUAL"
#define CREATOR_ID     "PNCT"

#define TABLE_ALIGN    64u /* the FACS asks for it; the others do not mind */

/* FADT: IAPC_BOOT_ARCH. There is an 8042, which no keyboard is plugged into. */
#define BOOT_LEGACY    0x0001 /* devices of the ISA bus, as COM1 */
#define BOOT_8042      0x0002
#define BOOT_NO_VGA    0x0004

/* FADT: fixed feature flags. */
#define FADT_WBINVD    (1u << 0)
#define FADT_PROC_C1   (1u << 2)
#define FADT_NO_POWER  (1u << 4) /* no fixed power button */
#define FADT_NO_SLEEP  (1u << 5) /* no fixed sleep button */
#define FADT_NO_RTC    (1u << 6) /* no RTC wake status in PM1 */
#define FADT_RESET_REG (1u << 10)

/* Beyond these latencies, in us, a C state counts as not there. */
#define FADT_NO_C2     101
#define FADT_NO_C3     1001

#define RESET_VALUE    0x06 /* hard, start */

#define MADT_PCAT      (1u << 0) /* a pair of 8259s is there too */
#define MADT_CPU_ON    (1u << 0)
#define MADT_ALL_CPUS  0xff
#define MADT_NMI_LINT  1

#define GAS_PORT       1 /* address space: system I/O */
#define GAS_BYTE       1 /* access sizes */
#define GAS_WORD       2

struct acpi_header {
	char signature[4];
	uint32_t length;
	uint8_t revision;
	uint8_t checksum;
	char oem_id[6];
	char oem_table_id[8];
	uint32_t oem_revision;
	char creator_id[4];
	uint32_t creator_revision;
} PACKED;

struct acpi_rsdp {
	char signature[8];
	uint8_t checksum; /* of the first 20 bytes */
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt_gpa;
	uint32_t length;
	uint64_t xsdt_gpa;
	uint8_t extended_checksum; /* of all */
	uint8_t reserved[3];
} PACKED;

#define RSDP_V1_SIZE offsetof(struct acpi_rsdp, length)

struct acpi_gas {
	uint8_t space;
	uint8_t bit_width;
	uint8_t bit_offset;
	uint8_t access_size;
	uint64_t address;
} PACKED;

struct acpi_fadt {
	struct acpi_header header;
	uint32_t facs_gpa;
	uint32_t dsdt_gpa;
	uint8_t reserved0;
	uint8_t pm_profile;
	uint16_t sci_int;
	uint32_t smi_cmd;
	uint8_t acpi_enable, acpi_disable, s4bios_req, pstate_cnt;
	uint32_t pm1a_evt, pm1b_evt, pm1a_cnt, pm1b_cnt;
	uint32_t pm2_cnt, pm_tmr, gpe0, gpe1;
	uint8_t pm1_evt_len, pm1_cnt_len, pm2_cnt_len, pm_tmr_len;
	uint8_t gpe0_len, gpe1_len, gpe1_base, cst_cnt;
	uint16_t c2_latency_us, c3_latency_us;
	uint16_t flush_size, flush_stride;
	uint8_t duty_offset, duty_width;
	uint8_t day_alarm, month_alarm, century;
	uint16_t boot_arch;
	uint8_t reserved1;
	uint32_t flags;
	struct acpi_gas reset_reg;
	uint8_t reset_value;
	uint16_t arm_boot_arch;
	uint8_t minor_revision;
	uint64_t x_facs_gpa;
	uint64_t x_dsdt_gpa;
	struct acpi_gas x_pm1a_evt, x_pm1b_evt, x_pm1a_cnt, x_pm1b_cnt;
	struct acpi_gas x_pm2_cnt, x_pm_tmr, x_gpe0, x_gpe1;
	struct acpi_gas sleep_control, sleep_status;
	uint64_t hypervisor_id;
} PACKED;

struct acpi_facs {
	char signature[4];
	uint32_t length;
	uint32_t hardware_signature;
	uint32_t waking_vector;
	uint32_t global_lock;
	uint32_t flags;
	uint64_t x_waking_vector;
	uint8_t version;
	uint8_t reserved[31];
} PACKED;

struct madt_ioapic {
	uint8_t type, length;
	uint8_t id, reserved;
	uint32_t gpa;
	uint32_t gsi_base;
} PACKED;

struct madt_override {
	uint8_t type, length;
	uint8_t bus, irq;
	uint32_t gsi;
	uint16_t inti_flags;
} PACKED;

struct madt_nmi {
	uint8_t type, length;
	uint8_t processor_uid;
	uint16_t inti_flags;
	uint8_t lint;
} PACKED;

struct madt_lapic {
	uint8_t type, length;
	uint8_t processor_uid, apic_id;
	uint32_t flags;
} PACKED;

struct acpi_madt {
	struct acpi_header header;
	uint32_t lapic_gpa;
	uint32_t flags;
	struct madt_ioapic ioapic;
	struct madt_override timer, sci;
	struct madt_nmi nmi;
	struct madt_lapic lapics[PLATFORM_CPUS_MAX]; /* as many as there are */
} PACKED;

struct acpi_rsdt {
	struct acpi_header header;
	uint32_t gpas[2];
} PACKED;

struct acpi_xsdt {
	struct acpi_header header;
	uint64_t gpas[2];
} PACKED;

#define DSDT_AML_MAX 256

struct acpi_dsdt {
	struct acpi_header header;
	uint8_t aml[DSDT_AML_MAX]; /* as much as there is */
} PACKED;

_Static_assert(sizeof(struct acpi_header) == 36, "header");
_Static_assert(sizeof(struct acpi_rsdp) == 36, "RSDP");
_Static_assert(sizeof(struct acpi_fadt) == 276, "FADT of revision 6");
_Static_assert(sizeof(struct acpi_facs) == 64, "FACS");
_Static_assert(offsetof(struct acpi_madt, lapics) == 82, "MADT entries");

struct acpi_writer {
	uint8_t *out;
	uint32_t gpa;
	uint32_t used; /* bytes, a multiple of TABLE_ALIGN */
};

/* Returns where the guest finds it. */
static uint32_t acpi_put(struct acpi_writer *w, const void *bytes,
			 uint32_t size)
{
	uint32_t gpa = w->gpa + w->used;

	assert(size <= ACPI_TABLES_SIZE - w->used);
	memcpy(w->out + w->used, bytes, size);
	w->used += (size + TABLE_ALIGN - 1) & ~(TABLE_ALIGN - 1);
	return gpa;
}

static uint32_t acpi_put_table(struct acpi_writer *w, const char *signature,
			       uint8_t revision, void *table, uint32_t size)
{
	struct acpi_header header = {
		.length = size,
		.revision = revision,
		.oem_revision = 1,
		.creator_revision = 1,
	};

	memcpy(header.signature, signature, sizeof(header.signature));
	memcpy(header.oem_id, OEM_ID, sizeof(header.oem_id));
	memcpy(header.oem_table_id, OEM_TABLE_ID, sizeof(header.oem_table_id));
	memcpy(header.creator_id, CREATOR_ID, sizeof(header.creator_id));
	memcpy(table, &header, sizeof(header));
	header.checksum = table_checksum(table, size);
	memcpy(table, &header, sizeof(header));
	return acpi_put(w, table, size);
}

static uint32_t acpi_put_facs(struct acpi_writer *w)
{
	struct acpi_facs facs = {
		.signature = {'F', 'A', 'C', 'S'},
		.length = sizeof(facs),
		.version = 2,
	};

	return acpi_put(w, &facs, sizeof(facs));
}

static uint32_t acpi_put_dsdt(struct acpi_writer *w)
{
	struct acpi_dsdt dsdt = {0};
	uint32_t size;
	const uint8_t *aml = acpi_dsdt_aml(&size);

	assert(size <= sizeof(dsdt.aml));
	memcpy(dsdt.aml, aml, size);
	/* Revision 2: integers of 64 bits. */
	return acpi_put_table(w, "DSDT", 2, &dsdt,
			      (uint32_t)sizeof(dsdt.header) + size);
}

static struct acpi_gas acpi_gas_port(uint16_t port, uint8_t bit_width,
				     uint8_t access_size)
{
	return (struct acpi_gas){
		.space = GAS_PORT,
		.bit_width = bit_width,
		.access_size = access_size,
		.address = port,
	};
}

static uint32_t acpi_put_fadt(struct acpi_writer *w, uint32_t facs_gpa,
			      uint32_t dsdt_gpa)
{
	struct acpi_fadt fadt = {
		/* One of the FACS's two fields, and both of the DSDT's. */
		.facs_gpa = facs_gpa,
		.dsdt_gpa = dsdt_gpa,
		.x_dsdt_gpa = dsdt_gpa,
		.sci_int = PLATFORM_IRQ_SCI,
		.pm1a_evt = ACPI_PM_EVENT_PORT,
		.pm1_evt_len = ACPI_PM_EVENT_SIZE,
		.x_pm1a_evt = acpi_gas_port(ACPI_PM_EVENT_PORT,
					    8 * ACPI_PM_EVENT_SIZE, GAS_WORD),
		.pm1a_cnt = ACPI_PM_CNT_PORT,
		.pm1_cnt_len = ACPI_PM_CNT_SIZE,
		.x_pm1a_cnt = acpi_gas_port(ACPI_PM_CNT_PORT,
					    8 * ACPI_PM_CNT_SIZE, GAS_WORD),
		.c2_latency_us = FADT_NO_C2,
		.c3_latency_us = FADT_NO_C3,
		.boot_arch = BOOT_LEGACY | BOOT_8042 | BOOT_NO_VGA,
		.flags = FADT_WBINVD | FADT_PROC_C1 | FADT_NO_POWER |
			 FADT_NO_SLEEP | FADT_NO_RTC | FADT_RESET_REG,
		.reset_reg = acpi_gas_port(RESET_CTL_PORT, 8, GAS_BYTE),
		.reset_value = RESET_VALUE,
	};

	return acpi_put_table(w, "FACP", 6, &fadt, sizeof(fadt));
}

static uint32_t acpi_put_madt(struct acpi_writer *w, unsigned int cpus)
{
	struct acpi_madt madt = {
		.lapic_gpa = PLATFORM_LAPIC_GPA,
		.flags = MADT_PCAT,
		.ioapic = {.type = 1,
			   .length = sizeof(madt.ioapic),
			   .id = PLATFORM_IOAPIC_ID,
			   .gpa = PLATFORM_IOAPIC_GPA},
		.timer = {.type = 2,
			  .length = sizeof(madt.timer),
			  .irq = PLATFORM_IRQ_TIMER,
			  .gsi = PLATFORM_PIN_TIMER,
			  .inti_flags = PLATFORM_INTI_ISA},
		.sci = {.type = 2,
			.length = sizeof(madt.sci),
			.irq = PLATFORM_IRQ_SCI,
			.gsi = PLATFORM_IRQ_SCI,
			.inti_flags = PLATFORM_INTI_HIGH_LEVEL},
		.nmi = {.type = 4,
			.length = sizeof(madt.nmi),
			.processor_uid = MADT_ALL_CPUS,
			.lint = MADT_NMI_LINT},
	};

	for (unsigned int i = 0; i < cpus; i++)
		madt.lapics[i] = (struct madt_lapic){
			.type = 0,
			.length = sizeof(madt.lapics[i]),
			.processor_uid = (uint8_t)i,
			.apic_id = (uint8_t)i,
			.flags = MADT_CPU_ON,
		};
	return acpi_put_table(w, "APIC", 3, &madt,
			      (uint32_t)(offsetof(struct acpi_madt, lapics) +
					 cpus * sizeof(madt.lapics[0])));
}

static void acpi_write_rsdp(struct acpi_writer *w, uint32_t rsdt_gpa,
			    uint32_t xsdt_gpa)
{
	struct acpi_rsdp rsdp = {
		.signature = {'R', 'S', 'D', ' ', 'P', 'T', 'R', ' '},
		.revision = 2,
		.rsdt_gpa = rsdt_gpa,
		.length = sizeof(rsdp),
		.xsdt_gpa = xsdt_gpa,
	};

	memcpy(rsdp.oem_id, OEM_ID, sizeof(rsdp.oem_id));
	rsdp.checksum = table_checksum(&rsdp, RSDP_V1_SIZE);
	rsdp.extended_checksum = table_checksum(&rsdp, sizeof(rsdp));
	memcpy(w->out, &rsdp, sizeof(rsdp));
}

uint32_t acpi_write(uint8_t out[ACPI_TABLES_SIZE], uint32_t gpa,
		    unsigned int cpus)
{
	struct acpi_writer w = {.out = out, .gpa = gpa, .used = TABLE_ALIGN};
	struct acpi_rsdt rsdt = {0};
	struct acpi_xsdt xsdt = {0};
	uint32_t facs_gpa, dsdt_gpa, rsdt_gpa, xsdt_gpa;

	assert(cpus >= 1 && cpus <= PLATFORM_CPUS_MAX);
	assert(gpa % TABLE_ALIGN == 0 && gpa <= UINT32_MAX - ACPI_TABLES_SIZE);
	/* The RSDP comes first and is known last. */
	_Static_assert(sizeof(struct acpi_rsdp) <= TABLE_ALIGN, "its place");
	facs_gpa = acpi_put_facs(&w);
	dsdt_gpa = acpi_put_dsdt(&w);
	rsdt.gpas[0] = acpi_put_fadt(&w, facs_gpa, dsdt_gpa);
	rsdt.gpas[1] = acpi_put_madt(&w, cpus);
	xsdt.gpas[0] = rsdt.gpas[0];
	xsdt.gpas[1] = rsdt.gpas[1];
	rsdt_gpa = acpi_put_table(&w, "RSDT", 1, &rsdt, sizeof(rsdt));
	xsdt_gpa = acpi_put_table(&w, "XSDT", 1, &xsdt, sizeof(xsdt));
	acpi_write_rsdp(&w, rsdt_gpa, xsdt_gpa);
	return w.used;
}
