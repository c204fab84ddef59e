/* SPDX-License-Identifier: MIT */
/*
 * guest_cpuid - per-vCPU CPUID.
 *
 * Reference: SDM 2A "CPUID-CPU Identification"; AMD APM 3 appendix on CPUID
 * functions; Linux Documentation/virt/kvm/x86/cpuid.rst and api.rst,
 * "KVM_GET_SUPPORTED_CPUID". The template of KVM carries the *host's* APIC
 * ids and cache sharing in some leaves (which ones depends on the version),
 * so each field is written here, not trusted.
 * Not modelled: sockets, dies and hardware threads; n vCPUs are n cores.
 */
#include "guest_cpuid.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cpuid_flags.h"
#include "kvm.h"

enum {
	CPUID_ROOM = 256, /* entries; KVM_MAX_CPUID_ENTRIES of Linux */
};

#define LEAF_1_ECX_MONITOR		(1u << 3)
#define LEAF_1_ECX_TSC_DEADLINE		(1u << 24)
#define LEAF_1_ECX_HYPERVISOR		(1u << 31)
#define LEAF_1_EDX_HTT			(1u << 28)
#define LEAF_6_EAX_ARAT			(1u << 2)
#define LEAF_HYPERVISOR			0x40000000u
#define LEAF_KVM_FEATURES		0x40000001u
#define KVM_FEATURE_BIT_MSI_EXT_DEST_ID (1u << 15)
/* Frequencies where VMware put them; KVM guests of today ask there too. */
#define LEAF_FREQUENCIES		0x40000010u

size_t guest_cpuid_table_size(void)
{
	return sizeof(struct kvm_cpuid2) +
	       CPUID_ROOM * sizeof(struct kvm_cpuid_entry2);
}

int guest_cpuid_supported(int kvm_fd, struct kvm_cpuid2 **out)
{
	struct kvm_cpuid2 *table = calloc(1, guest_cpuid_table_size());
	int ret;

	if (!table)
		return -ENOMEM;
	/* Room is kept for the three entries that may be added. */
	table->nent = CPUID_ROOM - 3;
	ret = kvm_sys_ioctl(kvm_fd, KVM_GET_SUPPORTED_CPUID, table);
	if (ret < 0) {
		free(table);
		return ret;
	}
	*out = table;
	return 0;
}

static uint32_t *entry_register(struct kvm_cpuid_entry2 *entry,
				enum cpuid_register reg)
{
	switch (reg) {
	case CPUID_EAX:
		return &entry->eax;
	case CPUID_EBX:
		return &entry->ebx;
	case CPUID_ECX:
		return &entry->ecx;
	case CPUID_EDX:
		break;
	}
	return &entry->edx;
}

/* Number of low APIC id bits that n CPUs take. */
static uint32_t id_bits(uint32_t n)
{
	uint32_t bits = 0;

	while ((1u << bits) < n)
		bits++;
	return bits;
}

static void fix_leaf_1(struct kvm_cpuid_entry2 *entry, uint32_t apic_id,
		       uint32_t count)
{
	entry->ebx &= 0x0000ffffu;
	entry->ebx |= apic_id << 24 | count << 16;
	entry->ecx &= ~LEAF_1_ECX_MONITOR;
	/* KVM never reports the deadline bit by itself; LVTT accepts the mode
	 * only if KVM was given it. */
	entry->ecx |= LEAF_1_ECX_TSC_DEADLINE | LEAF_1_ECX_HYPERVISOR;
	entry->edx &= ~LEAF_1_EDX_HTT;
	if (count > 1)
		entry->edx |= LEAF_1_EDX_HTT;
}

/* "Deterministic Cache Parameters": who shares it; on Intel the cores in the
 * package too, bits that AMD reserves. */
static void fix_cache_leaf(struct kvm_cpuid_entry2 *entry, uint32_t count)
{
	uint32_t level = (entry->eax >> 5) & 7;
	uint32_t sharing = level >= 3 ? count - 1 : 0;

	if (!(entry->eax & 0x1f))
		return; /* no more caches */
	entry->eax &= 0x3fffu;
	entry->eax |= sharing << 14;
	if (entry->function == 0x4)
		entry->eax |= (count - 1) << 26;
}

/* "Extended Topology Enumeration": threads of a core, cores of a package. */
static void fix_topology_leaf(struct kvm_cpuid_entry2 *entry, uint32_t apic_id,
			      uint32_t count)
{
	uint32_t level = entry->index;

	entry->eax = level == 1 ? id_bits(count) : 0;
	entry->ebx = level == 0 ? 1 : level == 1 ? count : 0;
	entry->ecx = level | (level < 2 ? (level + 1) << 8 : 0);
	entry->edx = apic_id;
}

static void fix_entry(struct kvm_cpuid_entry2 *entry, uint32_t apic_id,
		      const struct guest_cpuid_request *request)
{
	uint32_t count = request->vcpu_count;

	switch (entry->function) {
	case 0x1:
		fix_leaf_1(entry, apic_id, count);
		break;
	case 0x4:
	case 0x8000001d:
		fix_cache_leaf(entry, count);
		break;
	case 0x5: /* MONITOR/MWAIT: not offered */
		entry->eax = entry->ebx = entry->ecx = entry->edx = 0;
		break;
	case 0x6:
		entry->eax |= LEAF_6_EAX_ARAT;
		break;
	case 0xb:
	case 0x1f:
		fix_topology_leaf(entry, apic_id, count);
		break;
	case LEAF_HYPERVISOR:
		if (entry->eax < LEAF_FREQUENCIES)
			entry->eax = LEAF_FREQUENCIES;
		break;
	case LEAF_KVM_FEATURES:
		entry->eax &= ~KVM_FEATURE_BIT_MSI_EXT_DEST_ID;
		break;
	case 0x80000008: /* AMD: cores less one, size of the core id */
		entry->ecx &= ~0xf0ffu;
		entry->ecx |= (count - 1) | id_bits(count) << 12;
		break;
	case 0x8000001e: /* AMD: extended APIC id, core, node */
		entry->eax = apic_id;
		entry->ebx = (entry->ebx & ~0xffffu) | apic_id;
		entry->ecx = 0;
		break;
	default:
		break;
	}
}

static void add_topology_levels(struct kvm_cpuid2 *table, uint32_t function)
{
	const struct kvm_cpuid_entry2 *first = NULL;
	bool have_level_1 = false;

	for (uint32_t i = 0; i < table->nent; i++) {
		if (table->entries[i].function != function)
			continue;
		if (table->entries[i].index == 0)
			first = &table->entries[i];
		if (table->entries[i].index == 1)
			have_level_1 = true;
	}
	/* Newer kernels give only level 0, zeroed. Its successor needs room. */
	if (first && !have_level_1 && table->nent < CPUID_ROOM) {
		table->entries[table->nent] = *first;
		table->entries[table->nent++].index = 1;
	}
}

static void add_frequencies(struct kvm_cpuid2 *table, uint32_t tsc_khz)
{
	struct kvm_cpuid_entry2 *entry = NULL;

	for (uint32_t i = 0; i < table->nent; i++)
		if (table->entries[i].function == LEAF_FREQUENCIES)
			entry = &table->entries[i];
	if (!entry) {
		if (table->nent == CPUID_ROOM)
			return;
		entry = &table->entries[table->nent++];
	}
	*entry = (struct kvm_cpuid_entry2){
		.function = LEAF_FREQUENCIES,
		.eax = tsc_khz,
		.ebx = CPUID_APIC_BUS_KHZ,
	};
}

void guest_cpuid_for_vcpu(struct kvm_cpuid2 *table, uint32_t apic_id,
			  const struct guest_cpuid_request *request)
{
	add_topology_levels(table, 0xb);
	add_topology_levels(table, 0x1f);
	add_frequencies(table, request->tsc_khz);
	for (uint32_t i = 0; i < table->nent; i++)
		fix_entry(&table->entries[i], apic_id, request);
	for (size_t h = 0; h < request->hide_count; h++) {
		const struct cpuid_flag *flag = request->hide[h];

		for (uint32_t i = 0; i < table->nent; i++) {
			struct kvm_cpuid_entry2 *entry = &table->entries[i];

			if (entry->function == flag->leaf &&
			    entry->index == flag->subleaf)
				*entry_register(entry, flag->reg) &=
					~(1u << flag->bit);
		}
	}
}
