/* SPDX-License-Identifier: MIT */
/*
 * CPUID as each vCPU is told it: tables as KVM gives them on an Intel and on
 * an AMD host go in, whose ids and counts are the host's and so all wrong.
 * Bits are literal here: they are what the manuals say. KVM_GET_SUPPORTED_CPUID
 * is answered by the test.
 */
#include "guest_cpuid.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpuid_flags.h"
#include "kvm.h"
#include "tap.h"

#define TSC_KHZ 2445000u
#define INDEXED KVM_CPUID_FLAG_SIGNIFCANT_INDEX

static const struct kvm_cpuid_entry2 intel[] = {
	{.function = 0, .eax = 0x1f},
	/* The host's APIC id 9, 24 CPUs, MONITOR, no deadline bit, HTT. */
	{.function = 1,
	 .eax = 0x806f8,
	 .ebx = 0x09180800,
	 .ecx = 0x77fafbff & ~(1u << 24),
	 .edx = 0xbfebfbff},
	{.function = 4, .flags = INDEXED, .eax = 0x7c01c121, .ebx = 0x2c0003f},
	{.function = 4, .index = 1, .flags = INDEXED, .eax = 0x7c01c122},
	{.function = 4, .index = 2, .flags = INDEXED, .eax = 0x7c01c143},
	{.function = 4, .index = 3, .flags = INDEXED, .eax = 0x7c1fc163},
	{.function = 4, .index = 4, .flags = INDEXED, .eax = 0},
	{.function = 5, .eax = 0x40, .ebx = 0x40, .ecx = 3, .edx = 0x2020},
	{.function = 6, .eax = 0x75, .ecx = 9},
	{.function = 7, .flags = INDEXED, .eax = 2, .ebx = 0xf3bfbffb},
	{.function = 7, .index = 1, .flags = INDEXED, .eax = 0x1c30},
	{.function = 0xb,
	 .flags = INDEXED,
	 .eax = 1,
	 .ebx = 2,
	 .ecx = 0x100,
	 .edx = 9},
	{.function = 0xb,
	 .index = 1,
	 .flags = INDEXED,
	 .eax = 7,
	 .ebx = 24,
	 .ecx = 0x201,
	 .edx = 9},
	{.function = 0xb, .index = 2, .flags = INDEXED, .ecx = 2, .edx = 9},
	/* Newer kernels: the first level alone, zeroed. */
	{.function = 0x1f, .flags = INDEXED},
	{.function = 0x40000000,
	 .eax = 0x40000001,
	 .ebx = 0x4b4d564b,
	 .ecx = 0x564b4d56,
	 .edx = 0x4d},
	{.function = 0x40000001, .eax = 0x01007efb | 1u << 15},
	{.function = 0x80000000, .eax = 0x80000008},
	{.function = 0x80000001, .ecx = 0x121, .edx = 0x2c100800},
	{.function = 0x80000007, .edx = 0x100},
};

static const struct kvm_cpuid_entry2 amd[] = {
	{.function = 0, .eax = 0x10},
	{.function = 1,
	 .ebx = 0x2a400800,
	 .ecx = 0x7ed8320b,
	 .edx = 0x178bfbff},
	{.function = 0xb, .flags = INDEXED, .edx = 0x2a},
	{.function = 0x80000001, .ecx = 0x75c237ff, .edx = 0x2fd3fbff},
	{.function = 0x80000008, .eax = 0x3030, .ecx = 0x703f},
	{.function = 0x8000001d, .flags = INDEXED, .eax = 0x04004121},
	{.function = 0x8000001d, .index = 3, .flags = INDEXED, .eax = 0x3c163},
	{.function = 0x8000001e, .eax = 0x2a, .ebx = 0x115, .ecx = 0x703},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct kvm_cpuid_entry2 *supported;
static uint32_t supported_count;
static int supported_error;
static uint32_t room_offered;

/* In the place of vmm/kvm.c. */
int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	struct kvm_cpuid2 *table = arg;

	ck_assert_int_eq(fd, 42);
	ck_assert_uint_eq(request, KVM_GET_SUPPORTED_CPUID);
	room_offered = table->nent;
	if (supported_error)
		return supported_error;
	for (uint32_t i = 0; i < supported_count; i++)
		table->entries[i] = supported[i];
	table->nent = supported_count;
	return 0;
}

static struct kvm_cpuid2 *table;
static struct guest_cpuid_request request;

static void teardown(void)
{
	free(table);
	table = NULL;
}

static void make(const struct kvm_cpuid_entry2 *host, size_t count,
		 uint32_t apic_id, uint32_t vcpu_count)
{
	teardown();
	supported = host;
	supported_count = (uint32_t)count;
	supported_error = 0;
	tap_require(guest_cpuid_supported(42, &table) == 0);
	request.vcpu_count = vcpu_count;
	request.tsc_khz = TSC_KHZ;
	guest_cpuid_for_vcpu(table, apic_id, &request);
}

static struct kvm_cpuid_entry2 *leaf(uint32_t function, uint32_t index)
{
	struct kvm_cpuid_entry2 *found = NULL;

	for (uint32_t i = 0; i < table->nent; i++) {
		struct kvm_cpuid_entry2 *entry = &table->entries[i];

		if (entry->function != function || entry->index != index)
			continue;
		tap_require(!found);
		found = entry;
	}
	tap_require(found);
	return found;
}

static uint32_t bits_for(uint32_t count)
{
	uint32_t bits = 0;

	while (count > 1u << bits)
		bits++;
	return bits;
}

static void check_topology(uint32_t function, uint32_t apic_id, uint32_t count)
{
	const struct kvm_cpuid_entry2 *threads = leaf(function, 0);
	const struct kvm_cpuid_entry2 *cores = leaf(function, 1);

	tap_require(threads->eax == 0 && threads->ebx == 1);
	tap_require(threads->ecx == 0x100);
	tap_require(cores->eax == bits_for(count) && cores->ebx == count);
	tap_require(cores->ecx == 0x201);
	tap_require(threads->edx == apic_id && cores->edx == apic_id);
	/* A guest must know that the second level has an index of its own. */
	tap_require(cores->flags == INDEXED);
}

static void check_ids_intel(uint32_t count)
{
	for (uint32_t id = 0; id < count; id++) {
		make(intel, COUNT(intel), id, count);
		tap_require(leaf(1, 0)->ebx ==
			    (id << 24 | count << 16 | 0x800));
		tap_require((leaf(1, 0)->edx >> 28 & 1) == (count > 1));
		check_topology(0xb, id, count);
		check_topology(0x1f, id, count);
		tap_require(leaf(0xb, 2)->edx == id);
		tap_require(leaf(0xb, 2)->ecx == 2);
		tap_require(!leaf(0xb, 2)->eax && !leaf(0xb, 2)->ebx);
	}
}

static void check_ids_amd(uint32_t count)
{
	for (uint32_t id = 0; id < count; id++) {
		const struct kvm_cpuid_entry2 *entry;

		make(amd, COUNT(amd), id, count);
		tap_require(leaf(1, 0)->ebx >> 24 == id);
		check_topology(0xb, id, count);
		entry = leaf(0x8000001e, 0);
		/* One thread a core, one node. */
		tap_require(entry->eax == id && entry->ebx == id);
		tap_require(entry->ecx == 0);
		entry = leaf(0x80000008, 0);
		tap_require((entry->ecx & 0xff) == count - 1);
		tap_require((entry->ecx >> 12 & 0xf) == bits_for(count));
		tap_require(entry->eax == 0x3030);
	}
}

/* The places of an APIC id, every vCPU of every size of VM. */
START_TEST(test_guest_cpuid_ids)
{
	for (uint32_t count = 1; count <= 64; count++) {
		check_ids_intel(count);
		check_ids_amd(count);
	}
}
END_TEST

/* First and second level are a core's own, the third is shared. */
START_TEST(test_guest_cpuid_caches_intel)
{
	for (uint32_t n = 0; n < 64; n++) {
		make(intel, COUNT(intel), 0, n + 1);
		tap_require(leaf(4, 0)->eax == (0x121 | n << 26));
		tap_require(leaf(4, 1)->eax == (0x122 | n << 26));
		tap_require(leaf(4, 2)->eax == (0x143 | n << 26));
		tap_require(leaf(4, 3)->eax == (0x163 | n << 14 | n << 26));
		tap_require(leaf(4, 4)->eax == 0);
		tap_require(leaf(4, 0)->ebx == 0x2c0003f);
	}
}
END_TEST

/* The bits that hold the number of cores on Intel are reserved here. */
START_TEST(test_guest_cpuid_caches_amd)
{
	for (uint32_t n = 0; n < 64; n++) {
		make(amd, COUNT(amd), 0, n + 1);
		tap_require(leaf(0x8000001d, 0)->eax == 0x121);
		tap_require(leaf(0x8000001d, 3)->eax == (0x163 | n << 14));
	}
}
END_TEST

START_TEST(test_guest_cpuid_features)
{
	make(intel, COUNT(intel), 0, 1);
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 3 & 1, 0);	 /* MONITOR */
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 24 & 1, 1); /* TSC deadline */
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 31, 1);	 /* hypervisor */
	ck_assert_uint_eq(leaf(1, 0)->ecx | 1u << 24 | 1u << 31 | 1u << 3,
			  intel[1].ecx | 1u << 24 | 1u << 31 | 1u << 3);
	ck_assert_uint_eq(leaf(1, 0)->eax, 0x806f8);
	ck_assert_uint_eq(leaf(5, 0)->eax, 0);
	ck_assert_uint_eq(leaf(5, 0)->ecx, 0);
	ck_assert_uint_eq(leaf(5, 0)->edx, 0);
	ck_assert_uint_eq(leaf(6, 0)->eax & 4, 4); /* ARAT */
	ck_assert_uint_eq(leaf(0x40000001, 0)->eax, 0x01007efb & ~(1u << 15));
	ck_assert_uint_eq(leaf(0x80000007, 0)->edx, 0x100);
	ck_assert_uint_eq(leaf(7, 1)->eax, 0x1c30);
}
END_TEST

START_TEST(test_guest_cpuid_frequencies_once)
{
	make(intel, COUNT(intel), 0, 1);
	ck_assert_uint_eq(leaf(0x40000010, 0)->eax, TSC_KHZ);
	ck_assert_uint_eq(leaf(0x40000010, 0)->ebx, 1000000);
	ck_assert_uint_eq(leaf(0x40000000, 0)->eax, 0x40000010);
	ck_assert_uint_eq(leaf(0x40000000, 0)->ebx, 0x4b4d564b);
	/* Again, as for a KVM that has the leaf: leaf() sees it once. */
	request.tsc_khz = 1234567;
	guest_cpuid_for_vcpu(table, 0, &request);
	ck_assert_uint_eq(leaf(0x40000010, 0)->eax, 1234567);
	ck_assert_uint_eq(leaf(0xb, 1)->ebx, 1);
}
END_TEST

START_TEST(test_guest_cpuid_keeps_a_higher_hypervisor_leaf)
{
	static const struct kvm_cpuid_entry2 host[] = {
		{.function = 0x40000000, .eax = 0x40000100},
	};

	make(host, COUNT(host), 0, 1);
	ck_assert_uint_eq(leaf(0x40000000, 0)->eax, 0x40000100);
}
END_TEST

/* What KVM does not have is not made up, the frequencies apart. */
START_TEST(test_guest_cpuid_absent_stays_absent)
{
	make(NULL, 0, 0, 4);
	ck_assert_uint_eq(table->nent, 1);
	ck_assert_uint_eq(table->entries[0].function, 0x40000010);
}
END_TEST

START_TEST(test_guest_cpuid_hides_flags)
{
	const struct cpuid_flag *hide[] = {
		cpuid_flag_find("cx16", NULL),
		cpuid_flag_find("tsc_deadline_timer", NULL),
		cpuid_flag_find("fsgsbase", NULL),
		cpuid_flag_find("avx_vnni", NULL),
		cpuid_flag_find("arat", NULL),
	};
	uint32_t untouched;

	make(intel, COUNT(intel), 3, 4);
	untouched = leaf(1, 0)->ecx;
	for (size_t i = 0; i < COUNT(hide); i++)
		ck_assert_ptr_nonnull(hide[i]);
	request.hide = hide;
	request.hide_count = COUNT(hide);
	make(intel, COUNT(intel), 3, 4);
	ck_assert_uint_eq(leaf(1, 0)->ecx, untouched & ~(1u << 13 | 1u << 24));
	ck_assert_uint_eq(leaf(7, 0)->ebx, 0xf3bfbffb & ~1u);
	ck_assert_uint_eq(leaf(7, 0)->eax, 2);
	ck_assert_uint_eq(leaf(7, 1)->eax, 0x1c30 & ~(1u << 4));
	ck_assert_uint_eq(leaf(6, 0)->eax & 4, 0);
	ck_assert_uint_eq(leaf(1, 0)->ebx, 0x03040800);
}
END_TEST

/* A table filled to what was offered has room for all that is added. */
START_TEST(test_guest_cpuid_full_table)
{
	struct kvm_cpuid_entry2 *host;
	uint32_t most;

	make(intel, COUNT(intel), 0, 1);
	most = room_offered;
	host = calloc(most, sizeof(*host));
	ck_assert_ptr_nonnull(host);
	host[0].function = 0xb;
	host[1].function = 0x1f;
	for (uint32_t i = 2; i < most; i++)
		host[i] = (struct kvm_cpuid_entry2){.function = 2, .index = i};
	make(host, most, 5, 6);
	ck_assert_uint_eq(table->nent, most + 3);
	ck_assert_uint_ge(guest_cpuid_table_size(),
			  sizeof(*table) +
				  table->nent * sizeof(*table->entries));
	ck_assert_uint_eq(leaf(0xb, 1)->ebx, 6);
	ck_assert_uint_eq(leaf(0x1f, 1)->edx, 5);
	ck_assert_uint_eq(leaf(0x40000010, 0)->eax, TSC_KHZ);
	/* Twice over nothing is added a second time. */
	guest_cpuid_for_vcpu(table, 5, &request);
	ck_assert_uint_eq(table->nent, most + 3);
	free(host);
}
END_TEST

START_TEST(test_guest_cpuid_supported_fails)
{
	struct kvm_cpuid2 *out = NULL;

	supported_error = -E2BIG;
	ck_assert_int_eq(guest_cpuid_supported(42, &out), -E2BIG);
	ck_assert_ptr_null(out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guest_cpuid");
	TCase *tc = tcase_create("guest_cpuid");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, test_guest_cpuid_ids);
	tcase_add_test(tc, test_guest_cpuid_caches_intel);
	tcase_add_test(tc, test_guest_cpuid_caches_amd);
	tcase_add_test(tc, test_guest_cpuid_features);
	tcase_add_test(tc, test_guest_cpuid_frequencies_once);
	tcase_add_test(tc, test_guest_cpuid_keeps_a_higher_hypervisor_leaf);
	tcase_add_test(tc, test_guest_cpuid_absent_stays_absent);
	tcase_add_test(tc, test_guest_cpuid_hides_flags);
	tcase_add_test(tc, test_guest_cpuid_full_table);
	tcase_add_test(tc, test_guest_cpuid_supported_fails);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
