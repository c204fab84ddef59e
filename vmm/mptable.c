/* SPDX-License-Identifier: MIT */
/*
 * One processor entry for each vCPU, the ISA bus, one IOAPIC, the ISA
 * interrupts, and the two local interrupt pins. Reference: Intel
 * MultiProcessor Specification 1.4. Not modelled: default configurations,
 * IMCR (interrupts come in virtual wire mode), PCI, extended entries. The
 * processor signature is 0: CPUID tells it, and this table is not to
 * contradict it.
 */
#include "mptable.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "platform.h"
#include "table_checksum.h"

#define SPEC_REVISION	   4 /* 1.4 */

#define ENTRY_PROCESSOR	   0
#define ENTRY_BUS	   1
#define ENTRY_IOAPIC	   2
#define ENTRY_IO_INT	   3
#define ENTRY_LOCAL_INT	   4

#define PROCESSOR_ENABLED  0x01
#define PROCESSOR_BOOT	   0x02
#define PROCESSOR_FEATURES 0x201 /* FPU and APIC, which every vCPU has */
#define IOAPIC_ENABLED	   0x01

#define INT_VECTORED	   0
#define INT_NMI		   1
#define INT_EXTINT	   3
#define ALL_LAPICS	   0xff
#define BOOT_LAPIC	   0

#define BUS_ISA		   0

struct mp_floating {
	char signature[4];
	uint32_t config_gpa;
	uint8_t length; /* in units of 16 bytes */
	uint8_t revision;
	uint8_t checksum;
	uint8_t features[5];
};

struct mp_config {
	char signature[4];
	uint16_t length;
	uint8_t revision;
	uint8_t checksum;
	char oem_id[8];
	char product_id[12];
	uint32_t oem_table_gpa;
	uint16_t oem_table_size;
	uint16_t entry_count;
	uint32_t lapic_gpa;
	uint16_t extended_length;
	uint8_t extended_checksum;
	uint8_t reserved;
};

struct mp_processor {
	uint8_t type;
	uint8_t lapic_id, lapic_version;
	uint8_t flags;
	uint32_t signature;
	uint32_t features;
	uint32_t reserved[2];
};

struct mp_bus {
	uint8_t type;
	uint8_t id;
	char name[6]; /* padded with blanks */
};

struct mp_ioapic {
	uint8_t type;
	uint8_t id, version;
	uint8_t flags;
	uint32_t gpa;
};

struct mp_interrupt {
	uint8_t type;
	uint8_t kind;
	uint16_t inti_flags;
	uint8_t bus, irq;
	uint8_t apic_id, pin;
};

_Static_assert(sizeof(struct mp_floating) == 16, "floating pointer");
_Static_assert(sizeof(struct mp_config) == 44, "configuration header");
_Static_assert(sizeof(struct mp_processor) == 20, "processor entry");
_Static_assert(sizeof(struct mp_bus) == 8, "bus entry");
_Static_assert(sizeof(struct mp_ioapic) == 8, "IOAPIC entry");
_Static_assert(sizeof(struct mp_interrupt) == 8, "interrupt entry");

struct mp_writer {
	uint8_t *out;
	uint32_t used; /* bytes of out */
	uint16_t entries;
};

static void mp_put(struct mp_writer *w, const void *entry, uint32_t size)
{
	assert(size <= MPTABLE_SIZE - w->used);
	memcpy(w->out + w->used, entry, size);
	w->used += size;
	w->entries++;
}

static void mp_put_processors(struct mp_writer *w, unsigned int cpus)
{
	for (unsigned int i = 0; i < cpus; i++) {
		struct mp_processor processor = {
			.type = ENTRY_PROCESSOR,
			.lapic_id = (uint8_t)i,
			.lapic_version = PLATFORM_LAPIC_VERSION,
			.flags = PROCESSOR_ENABLED | (i ? 0 : PROCESSOR_BOOT),
			.features = PROCESSOR_FEATURES,
		};

		mp_put(w, &processor, sizeof(processor));
	}
}

static void mp_put_bus_and_ioapic(struct mp_writer *w)
{
	const struct mp_bus bus = {
		.type = ENTRY_BUS,
		.id = BUS_ISA,
		.name = {'I', 'S', 'A', ' ', ' ', ' '},
	};
	const struct mp_ioapic ioapic = {
		.type = ENTRY_IOAPIC,
		.id = PLATFORM_IOAPIC_ID,
		.version = PLATFORM_IOAPIC_VERSION,
		.flags = IOAPIC_ENABLED,
		.gpa = PLATFORM_IOAPIC_GPA,
	};

	mp_put(w, &bus, sizeof(bus));
	mp_put(w, &ioapic, sizeof(ioapic));
}

static void mp_put_isa_interrupts(struct mp_writer *w)
{
	for (unsigned int irq = 0; irq < PLATFORM_ISA_IRQS; irq++) {
		struct mp_interrupt interrupt = {
			.type = ENTRY_IO_INT,
			.kind = INT_VECTORED,
			.inti_flags = irq == PLATFORM_IRQ_SCI
					      ? PLATFORM_INTI_HIGH_LEVEL
					      : PLATFORM_INTI_ISA,
			.bus = BUS_ISA,
			.irq = (uint8_t)irq,
			.apic_id = PLATFORM_IOAPIC_ID,
			.pin = irq == PLATFORM_IRQ_TIMER ? PLATFORM_PIN_TIMER
							 : (uint8_t)irq,
		};

		/* The second 8259's line to the first: no device's. */
		if (irq != PLATFORM_IRQ_SLAVE)
			mp_put(w, &interrupt, sizeof(interrupt));
	}
}

/* LINT0 is the 8259s' line, to the boot processor; LINT1 is NMI. */
static void mp_put_local_interrupts(struct mp_writer *w)
{
	const struct mp_interrupt extint = {
		.type = ENTRY_LOCAL_INT,
		.kind = INT_EXTINT,
		.bus = BUS_ISA,
		.apic_id = BOOT_LAPIC,
		.pin = 0,
	};
	const struct mp_interrupt nmi = {
		.type = ENTRY_LOCAL_INT,
		.kind = INT_NMI,
		.bus = BUS_ISA,
		.apic_id = ALL_LAPICS,
		.pin = 1,
	};

	mp_put(w, &extint, sizeof(extint));
	mp_put(w, &nmi, sizeof(nmi));
}

static void mp_write_config(const struct mp_writer *w)
{
	uint8_t *at = w->out + sizeof(struct mp_floating);
	uint32_t length = w->used - (uint32_t)sizeof(struct mp_floating);
	struct mp_config config = {
		.signature = {'P', 'C', 'M', 'P'},
		.length = (uint16_t)length,
		.revision = SPEC_REVISION,
		.oem_id = {'P', 'U', 'N', 'C', 'T', 'U', 'A', 'L'},
		.product_id = {'P', 'U', 'N', 'C', 'T', 'U', 'A', 'L', ' ', ' ',
			       ' ', ' '},
		.entry_count = w->entries,
		.lapic_gpa = PLATFORM_LAPIC_GPA,
	};

	memcpy(at, &config, sizeof(config));
	config.checksum = table_checksum(at, length);
	memcpy(at, &config, sizeof(config));
}

static void mp_write_floating(uint8_t *out, uint32_t gpa)
{
	struct mp_floating floating = {
		.signature = {'_', 'M', 'P', '_'},
		.config_gpa = gpa + (uint32_t)sizeof(floating),
		.length = sizeof(floating) / 16,
		.revision = SPEC_REVISION,
	};

	memcpy(out, &floating, sizeof(floating));
	floating.checksum = table_checksum(out, sizeof(floating));
	memcpy(out, &floating, sizeof(floating));
}

uint32_t mptable_write(uint8_t out[MPTABLE_SIZE], uint32_t gpa,
		       unsigned int cpus)
{
	struct mp_writer w = {
		.out = out,
		.used = sizeof(struct mp_floating) + sizeof(struct mp_config),
	};

	assert(cpus >= 1 && cpus <= PLATFORM_CPUS_MAX);
	assert(gpa % 16 == 0 && gpa <= UINT32_MAX - MPTABLE_SIZE);
	mp_put_processors(&w, cpus);
	mp_put_bus_and_ioapic(&w);
	mp_put_isa_interrupts(&w);
	mp_put_local_interrupts(&w);
	mp_write_config(&w);
	mp_write_floating(out, gpa);
	return w.used;
}
