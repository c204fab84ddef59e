/* SPDX-License-Identifier: MIT */
/*
 * smp_ids - the APIC ids that CPUID and the local APIC tell.
 *
 * CPU n was started by APIC id n, and must find that wherever it looks.
 * Reference: SDM 2 "CPUID", leaves 1, 0xB and 0x1F; AMD APM 3, function
 * 0x8000001E; SDM 3A "Local APIC ID Register", "Logical Destination Mode in
 * x2APIC Mode". Not looked at: the other numbers of the topology leaves.
 */
#include "apic.h"
#include "arch.h"
#include "console.h"
#include "smp.h"
#include "smp_checks.h"
#include "smp_crew.h"

#define CPUID_EXT_1_ECX_TOPOLOGY (1u << 22)
#define NOT_THERE		 0xffffffffu

enum place {
	LEAF_1,
	LEAF_B,
	LEAF_1F,
	LEAF_EXT_1E,
	REGISTER,
	LOGICAL,
	PLACES,
};

static const char *const place_names[PLACES] = {
	"CPUID leaf 1",	    "CPUID leaf 0xB", "CPUID leaf 0x1F",
	"CPUID 0x8000001E", "APIC register",  "logical id",
};

static uint32_t found[CPUS_MAX][PLACES];

static uint32_t id_by_topology(uint32_t leaf)
{
	struct cpuid_regs r;

	if (cpuid(0, 0).eax < leaf)
		return NOT_THERE;
	r = cpuid(leaf, 0);
	return r.ebx & 0xffff ? r.edx : NOT_THERE;
}

static uint32_t id_by_ext_1e(void)
{
	if (cpuid(0x80000000, 0).eax < 0x8000001e ||
	    !(cpuid(0x80000001, 0).ecx & CPUID_EXT_1_ECX_TOPOLOGY))
		return NOT_THERE;
	return cpuid(0x8000001e, 0).eax;
}

static void job_ask_cpuid(unsigned index)
{
	uint32_t *ids = found[index];

	ids[LEAF_1] = cpuid(1, 0).ebx >> 24;
	ids[LEAF_B] = id_by_topology(0xb);
	ids[LEAF_1F] = id_by_topology(0x1f);
	ids[LEAF_EXT_1E] = id_by_ext_1e();
	if (smp_plan.fault == FAULT_ID && index == smp_plan.cpus - 1)
		ids[LEAF_1]++;
}

static void job_ask_apic(unsigned index)
{
	found[index][REGISTER] = apic_id();
	if (!apic_in_x2apic_mode() && index < 8)
		apic_set_logical_id((uint8_t)(1u << index));
	found[index][LOGICAL] = apic_logical_id();
}

/* In xAPIC mode as smp_check_apic_ids sets it: the first 8 CPUs have a bit. */
static uint32_t expected_at(enum place place, uint32_t id)
{
	if (place != LOGICAL)
		return id;
	if (apic_in_x2apic_mode())
		return id >> 4 << 16 | 1u << (id & 15);
	return id < 8 ? 1u << id : 0;
}

static void check_place(enum place place, const char *mode)
{
	bool good = true;

	console_printf("smp: ids: %s%s", mode, place_names[place]);
	if (found[0][place] == NOT_THERE) {
		for (unsigned i = 1; i < smp_plan.cpus; i++)
			good &= found[i][place] == NOT_THERE;
		console_puts(good ? ": not there\n" : ": not on CPU 0");
		if (!good)
			smp_verdict(false);
		return;
	}
	for (unsigned i = 0; i < smp_plan.cpus && good; i++) {
		uint32_t expected = expected_at(place, smp_apic_id(i));

		good = smp_apic_id(i) == i && found[i][place] == expected;
		if (!good)
			console_printf(": CPU %u (APIC id %u) has 0x%x, not "
				       "0x%x",
				       i, smp_apic_id(i), found[i][place],
				       expected);
	}
	smp_verdict(good);
}

void smp_check_cpuid_ids(void)
{
	crew_do_all(job_ask_cpuid);
	for (enum place place = LEAF_1; place <= LEAF_EXT_1E; place++)
		check_place(place, "");
}

void smp_check_apic_ids(void)
{
	const char *mode = apic_in_x2apic_mode() ? "x2apic " : "xapic ";

	crew_do_all(job_ask_apic);
	check_place(REGISTER, mode);
	check_place(LOGICAL, mode);
}
