/* SPDX-License-Identifier: MIT */
/*
 * Guest RAM: where the regions lie, what ram_ptr refuses, what the map says.
 * Large sizes are only mapped, never touched.
 */
#define _GNU_SOURCE /* mincore, setresuid */
#include "memory.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

#define MIB UINT64_C(0x100000)
#define GIB UINT64_C(0x40000000)

/* Stands in for the library's, and does the same, but for what fails. */
static struct {
	void *at;
	size_t size;
	int prot;
} protections[4];
static unsigned int protected;
static unsigned int fail_from = UINT32_MAX;

int mprotect(void *at, size_t size, int prot)
{
	unsigned int i = protected ++;

	if (i < 4) {
		protections[i].at = at;
		protections[i].size = size;
		protections[i].prot = prot;
	}
	if (i < fail_from)
		return (int)syscall(SYS_mprotect, at, size, prot);
	errno = ENOMEM;
	return -1;
}

static bool all_bytes(const uint8_t *bytes, uint64_t size, uint8_t value)
{
	for (uint64_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

START_TEST(test_memory_sizes_out_of_range_are_refused)
{
	static const uint64_t bad[] = {
		0,
		1,
		MIB - 1,
		MIB - 4096,
		MIB + 1,
		2 * MIB + 2048,
		64 * GIB + 4096,
		UINT64_MAX,
		UINT64_MAX - 4095,
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct guest_ram ram;

		ck_assert_int_eq(ram_alloc(&ram, bad[i]), -EINVAL);
		ck_assert_uint_eq(ram.count, 0);
		ck_assert_ptr_null(ram_ptr(&ram, 0, 1));
		ram_free(&ram);
	}
}
END_TEST

/* Away and back, so that KVM is told, and readable all the time. */
START_TEST(test_memory_translation_is_dropped)
{
	static const uint64_t places[] = {0x3000, 0x3fff, 0x3123};
	uint8_t *page;
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	page = ram.regions[0].host + 0x3000;
	memset(page - 1, 0xa5, 0x1002);
	protected = 0;
	ck_assert_int_eq(ram_drop_translation(&ram, places[_i]), 0);
	ck_assert_uint_eq(protected, 2);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_ptr_eq(protections[i].at, page);
		ck_assert_uint_eq(protections[i].size, 0x1000);
	}
	ck_assert_int_eq(protections[0].prot, PROT_READ);
	ck_assert_int_eq(protections[1].prot, PROT_READ | PROT_WRITE);
	ck_assert(all_bytes(page - 1, 0x1002, 0xa5));
	page[7] = 1;
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_no_translation_of_what_is_not_ram)
{
	static const uint64_t places[] = {MIB, 3 * GIB, 0xfffff123, UINT64_MAX};
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	protected = 0;
	ck_assert_int_eq(ram_drop_translation(&ram, places[_i]), -EFAULT);
	ck_assert_uint_eq(protected, 0);
	ck_assert_int_eq(ram_drop_translation(&ram, MIB - 1), 0);
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_translation_stays)
{
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	protected = 0;
	fail_from = (unsigned int)_i;
	ck_assert_int_eq(ram_drop_translation(&ram, 0), -ENOMEM);
	fail_from = UINT32_MAX;
	ram_free(&ram);
}
END_TEST

/* How much of *ram the kernel has given pages to. */
static uint64_t resident(const struct guest_ram *ram)
{
	static unsigned char there[4 * MIB / 4096];
	uint64_t bytes = 0;

	ck_assert_int_eq(
		mincore(ram->regions[0].host, ram->regions[0].size, there), 0);
	for (uint64_t i = 0; i < ram->regions[0].size / 4096; i++)
		bytes += there[i] & 1 ? 4096 : 0;
	return bytes;
}

/* Locking would bring the pages too. Root may, whatever the limit is. */
static void forbid_locking(void)
{
	const struct rlimit none = {0, 0};

	if (!geteuid())
		ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
}

START_TEST(test_memory_made_resident)
{
	struct ram_residence residence;
	struct guest_ram ram;

	forbid_locking();
	ck_assert_int_eq(ram_alloc(&ram, 4 * MIB), 0);
	ram.regions[0].host[5] = 7;
	ck_assert_uint_lt(resident(&ram), 4 * MIB);
	/* Too much to ask for: not touched. */
	residence = ram_make_resident(&ram, 4 * MIB - 1);
	ck_assert(!residence.is_prefaulted);
	ck_assert(!residence.is_locked);
	ck_assert_uint_lt(resident(&ram), 4 * MIB);
	residence = ram_make_resident(&ram, 4 * MIB);
	ck_assert(residence.is_prefaulted);
	ck_assert_uint_eq(resident(&ram), 4 * MIB);
	ck_assert_uint_eq(ram.regions[0].host[5], 7);
	ck_assert_uint_eq(ram.regions[0].host[6], 0);
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_locked_where_permitted)
{
	const struct rlimit plenty = {8 * MIB, 8 * MIB};
	struct ram_residence residence;
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, 4 * MIB), 0);
	if (!setrlimit(RLIMIT_MEMLOCK, &plenty))
		ck_assert(ram_make_resident(&ram, 4 * MIB).is_locked);
	munlock(ram.regions[0].host, 4 * MIB);
	forbid_locking();
	residence = ram_make_resident(&ram, 4 * MIB);
	ck_assert(residence.is_prefaulted);
	/* Under a sanitizer mlock() does nothing, successfully. */
	ck_assert_int_eq(residence.is_locked,
			 !mlock(ram.regions[0].host, 4 * MIB));
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_small_ram_is_one_zeroed_region)
{
	struct guest_ram ram;
	const uint8_t *host;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	ck_assert_uint_eq(ram.count, 1);
	ck_assert_uint_eq(ram.regions[0].gpa, 0);
	ck_assert_uint_eq(ram.regions[0].size, MIB);
	ck_assert_uint_eq((uintptr_t)ram.regions[0].host % RAM_PAGE_SIZE, 0);
	host = ram_ptr(&ram, 0, MIB);
	ck_assert_ptr_nonnull(host);
	ck_assert(all_bytes(host, MIB, 0));
	ram_free(&ram);
	ck_assert_uint_eq(ram.count, 0);
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_continues_above_the_hole)
{
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, 3 * GIB), 0);
	ck_assert_uint_eq(ram.count, 1);
	ram_free(&ram);

	ck_assert_int_eq(ram_alloc(&ram, 3 * GIB + MIB), 0);
	ck_assert_uint_eq(ram.count, 2);
	ck_assert_uint_eq(ram.regions[0].size, 3 * GIB);
	ck_assert_uint_eq(ram.regions[1].gpa, 4 * GIB);
	ck_assert_uint_eq(ram.regions[1].size, MIB);
	ram_free(&ram);

	ck_assert_int_eq(ram_alloc(&ram, RAM_MAX_SIZE), 0);
	ck_assert_uint_eq(ram.regions[1].size, 61 * GIB);
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_ptr_stays_in_one_region)
{
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, 3 * GIB + 2 * MIB), 0);
	ck_assert_ptr_eq(ram_ptr(&ram, 0, 1), ram.regions[0].host);
	ck_assert_ptr_eq(ram_ptr(&ram, 0, 3 * GIB), ram.regions[0].host);
	ck_assert_ptr_eq(ram_ptr(&ram, 3 * GIB - 1, 1),
			 ram.regions[0].host + 3 * GIB - 1);
	ck_assert_ptr_null(ram_ptr(&ram, 0, 3 * GIB + 1));
	ck_assert_ptr_null(ram_ptr(&ram, 3 * GIB - 1, 2));
	ck_assert_ptr_null(ram_ptr(&ram, 3 * GIB, 1));
	ck_assert_ptr_null(ram_ptr(&ram, 4 * GIB - 1, 1));
	ck_assert_ptr_null(ram_ptr(&ram, 4 * GIB - 1, 2));
	ck_assert_ptr_eq(ram_ptr(&ram, 4 * GIB, 2 * MIB), ram.regions[1].host);
	ck_assert_ptr_null(ram_ptr(&ram, 4 * GIB, 2 * MIB + 1));
	ck_assert_ptr_null(ram_ptr(&ram, 4 * GIB + 2 * MIB, 1));
	/* From below the hole to above it: RAM at both ends is not enough. */
	ck_assert_ptr_null(ram_ptr(&ram, 2 * GIB, 2 * GIB + MIB));
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_ptr_survives_wrapping_sums)
{
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	ck_assert_ptr_null(ram_ptr(&ram, 0, UINT64_MAX));
	ck_assert_ptr_null(ram_ptr(&ram, 1, UINT64_MAX));
	ck_assert_ptr_null(ram_ptr(&ram, UINT64_MAX, 1));
	ck_assert_ptr_null(ram_ptr(&ram, UINT64_MAX, 2));
	ck_assert_ptr_null(ram_ptr(&ram, UINT64_MAX - 0xfff, 0x2000));
	ck_assert_ptr_null(ram_ptr(&ram, MIB - 1, UINT64_MAX - MIB + 2));
	/* No bytes at all: as one byte. */
	ck_assert_ptr_nonnull(ram_ptr(&ram, MIB - 1, 0));
	ck_assert_ptr_null(ram_ptr(&ram, MIB, 0));
	ram_free(&ram);
}
END_TEST

/* Zero [start, start + len) of a dirty page run; only that may change. */
static void check_zero(struct guest_ram *ram, uint64_t start, uint64_t len)
{
	const uint64_t size = 0x6000;
	uint8_t *host = ram_ptr(ram, 0, size);

	memset(host, 0xa5, size);
	ck_assert_int_eq(ram_zero(ram, start, len), 0);
	ck_assert(all_bytes(host, start, 0xa5));
	ck_assert(all_bytes(host + start, len, 0));
	ck_assert(all_bytes(host + start + len, size - start - len, 0xa5));
}

static void check_zero_all_edges(struct guest_ram *ram)
{
	static const uint64_t starts[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1800};
	static const uint64_t lens[] = {0,	1,	2,	0x7ff,	0x800,
					0x801,	0xfff,	0x1000, 0x1001, 0x1fff,
					0x2000, 0x2001, 0x3000, 0x4123};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		for (size_t j = 0; j < sizeof(lens) / sizeof(lens[0]); j++)
			check_zero(ram, starts[i], lens[j]);
}

START_TEST(test_memory_zero_touches_exactly_its_range)
{
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	check_zero_all_edges(&ram);
	ram_free(&ram);
}
END_TEST

/* An image may claim gigabytes of bss: zeroing must not fill host memory. */
START_TEST(test_memory_zero_gives_whole_pages_back)
{
	unsigned char resident[64];
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	memset(ram.regions[0].host, 0xa5, 64 * RAM_PAGE_SIZE);
	ck_assert_int_eq(ram_zero(&ram, 1, 63 * RAM_PAGE_SIZE), 0);
	ck_assert_int_eq(
		mincore(ram.regions[0].host, 64 * RAM_PAGE_SIZE, resident), 0);
	for (unsigned int i = 0; i < 64; i++)
		ck_assert_uint_eq(resident[i] & 1, i == 0 || i == 63);
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_zero_works_on_locked_pages)
{
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	/* Locked pages cannot be dropped. Whether the host lets them be locked
	 * (a sanitizer does not) makes no difference to the result. */
	(void)mlock(ram.regions[0].host, 0x6000);
	check_zero_all_edges(&ram);
	ram_free(&ram);
}
END_TEST

START_TEST(test_memory_zero_refuses_what_is_not_ram)
{
	struct guest_ram ram;

	ck_assert_int_eq(ram_alloc(&ram, MIB), 0);
	ck_assert_int_eq(ram_zero(&ram, MIB - 1, 2), -EINVAL);
	ck_assert_int_eq(ram_zero(&ram, UINT64_MAX, 2), -EINVAL);
	ck_assert_int_eq(ram_zero(&ram, UINT64_MAX, 0), 0);
	ram_free(&ram);
}
END_TEST

/* Ascending, without gaps but the hole, and as long as the RAM. */
static void check_map(uint64_t size, unsigned int expect)
{
	struct ram_map_entry map[RAM_MAP_MAX];
	struct guest_ram ram;
	uint64_t sum = 0;

	ck_assert_int_eq(ram_alloc(&ram, size), 0);
	ck_assert_uint_eq(ram_map_entries(&ram, map), expect);
	for (unsigned int i = 0; i < expect; i++) {
		ck_assert_uint_gt(map[i].size, 0);
		ck_assert_ptr_nonnull(ram_ptr(&ram, map[i].gpa, map[i].size));
		ck_assert_uint_eq(map[i].type,
				  i == 1 ? RAM_MAP_RESERVED : RAM_MAP_USABLE);
		ck_assert_uint_eq(map[i].gpa, i == 3 ? 4 * GIB : sum);
		sum += map[i].size;
	}
	ck_assert_uint_eq(sum, size);
	ck_assert_uint_eq(map[0].size, 639 * 1024);
	ck_assert_uint_eq(map[1].gpa + map[1].size, MIB);
	ram_free(&ram);
}

START_TEST(test_memory_map_covers_ram)
{
	check_map(MIB, 2);
	check_map(MIB + RAM_PAGE_SIZE, 3);
	check_map(64 * MIB, 3);
	check_map(3 * GIB, 3);
	check_map(3 * GIB + MIB, 4);
	check_map(64 * GIB, 4);
}
END_TEST

START_TEST(test_memory_map_of_no_ram_is_empty)
{
	struct ram_map_entry map[RAM_MAP_MAX];
	struct guest_ram ram = {0};

	ck_assert_uint_eq(ram_map_entries(&ram, map), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tc = tcase_create("memory");

	tcase_add_test(tc, test_memory_sizes_out_of_range_are_refused);
	tcase_add_test(tc, test_memory_made_resident);
	tcase_add_test(tc, test_memory_locked_where_permitted);
	tcase_add_test(tc, test_memory_small_ram_is_one_zeroed_region);
	tcase_add_test(tc, test_memory_continues_above_the_hole);
	tcase_add_test(tc, test_memory_ptr_stays_in_one_region);
	tcase_add_test(tc, test_memory_ptr_survives_wrapping_sums);
	tcase_add_test(tc, test_memory_zero_touches_exactly_its_range);
	tcase_add_test(tc, test_memory_zero_gives_whole_pages_back);
	tcase_add_test(tc, test_memory_zero_works_on_locked_pages);
	tcase_add_test(tc, test_memory_zero_refuses_what_is_not_ram);
	tcase_add_loop_test(tc, test_memory_translation_is_dropped, 0, 3);
	tcase_add_loop_test(tc, test_memory_no_translation_of_what_is_not_ram,
			    0, 4);
	tcase_add_loop_test(tc, test_memory_translation_stays, 0, 2);
	tcase_add_test(tc, test_memory_map_covers_ram);
	tcase_add_test(tc, test_memory_map_of_no_ram_is_empty);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
