/* SPDX-License-Identifier: MIT */
/*
 * Proves that each boot protocol starts a guest and hands over what it says:
 * the whole command line up to its limit and not a byte of one that is longer,
 * all RAM at its place, whatever its size (the hole below 4 GiB among it), the
 * initrd, and as many CPUs as were asked for. The guests tell what they found.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "end.h"
#include "env.h"
#include "loader.h"
#include "prng.h"

enum {
	HOLE_START_MIB = 3072,
	HOLE_END_MIB = 4096,
	HELLO_MIB = 3, /* what that guest needs */
	/* Below 1 MiB: one KiB at 639 KiB and all from 640 KiB on. */
	RESERVED_KIB = 385,
};

static struct env env;

static const struct {
	const char *image;
	const char *protocol_set;
	const char *says; /* before the command line */
	size_t limit;	  /* of the command line, which ... */
	const char *name; /* ... begins with this */
} entries[] = {
	{"hello.elf", "boot-source.protocol=auto",
	 "hello: booted by pvh, command line \"", LOADER_CMDLINE_PVH, ""},
	{"hello.elf", "boot-source.protocol=pvh",
	 "hello: booted by pvh, command line \"", LOADER_CMDLINE_PVH, ""},
	{"hello.elf", "boot-source.protocol=multiboot",
	 "hello: booted by multiboot, command line \"", LOADER_CMDLINE_OTHER,
	 "hello.elf "},
	{"plain64.elf", "boot-source.protocol=auto", "plain64: command line \"",
	 LOADER_CMDLINE_OTHER, ""},
	{"plain64.elf", "boot-source.protocol=elf64",
	 "plain64: command line \"", LOADER_CMDLINE_OTHER, ""},
};

#define ENTRIES ((int)(sizeof(entries) / sizeof(entries[0])))

START_TEST(test_protocol_starts_the_guest)
{
	char expected[256];
	struct run run;

	env_guest(&env, &run, entries[_i].image, "status=9",
		  SETS(env_any_mode(&env), entries[_i].protocol_set));
	env_expect_status(&run, 9);
	snprintf(expected, sizeof(expected), "%s%sstatus=9\"\n",
		 entries[_i].says, entries[_i].name);
	ck_assert_int_eq(strncmp(run.out.text, expected, strlen(expected)), 0);
	run_free(&run);
}
END_TEST

/* status=000...07, so many bytes in all that the guest gets `length`. */
static void fill_words(char *words, size_t length)
{
	memset(words, '0', length);
	memcpy(words, "status=", 7);
	words[length - 1] = '7';
	words[length] = '\0';
}

START_TEST(test_protocol_command_line_limit)
{
	size_t limit = entries[_i].limit - strlen(entries[_i].name);
	char words[LOADER_CMDLINE_OTHER + 2];
	struct run run;

	for (size_t length = limit - 1; length <= limit; length++) {
		char expected[LOADER_CMDLINE_OTHER + 128];

		fill_words(words, length);
		env_guest(&env, &run, entries[_i].image, words,
			  SETS(env_any_mode(&env), entries[_i].protocol_set));
		env_expect_status(&run, 7);
		snprintf(expected, sizeof(expected), "%s%s%s\"\n",
			 entries[_i].says, entries[_i].name, words);
		ck_assert_int_eq(
			strncmp(run.out.text, expected, strlen(expected)), 0);
		run_free(&run);
	}
	fill_words(words, limit + 1);
	env_guest(&env, &run, entries[_i].image, words,
		  SETS(env_any_mode(&env), entries[_i].protocol_set));
	env_expect_status(&run, EXIT_STATUS_CONFIG);
	env_expect_complaint(&run, "boot_args");
	ck_assert_str_eq(run.out.text, "");
	run_free(&run);
}
END_TEST

static const unsigned int ram_sizes_mib[] = {
	2,
	3,
	64,
	129,
	1024,
	HOLE_START_MIB - 1,
	HOLE_START_MIB,
	HOLE_START_MIB + 1,
	HOLE_START_MIB + 512,
	HOLE_START_MIB + 1024,
};

START_TEST(test_protocol_ram)
{
	unsigned int mib = ram_sizes_mib[_i];
	uint64_t end_mib = mib > HOLE_START_MIB
				   ? mib - HOLE_START_MIB + HOLE_END_MIB
				   : mib;
	char set[64], expected[128];
	struct run run;

	snprintf(set, sizeof(set), "machine-config.mem_size_mib=%u", mib);
	env_guest(&env, &run, "plain64.elf", "status=0",
		  SETS(env_any_mode(&env), set));
	env_expect_status(&run, 0);
	snprintf(expected, sizeof(expected),
		 "plain64: RAM %u KiB in %u pieces, up to %" PRIx64 "\n",
		 mib * 1024 - RESERVED_KIB, mib > HOLE_START_MIB ? 3 : 2,
		 end_mib << 20);
	ck_assert_msg(strstr(run.out.text, expected), "not \"%s\" but \"%s\"",
		      expected, run.out.text);
	run_free(&run);
	if (mib < HELLO_MIB)
		return;
	/* And the other way in. */
	env_guest(&env, &run, "hello.elf", "status=0",
		  SETS(env_any_mode(&env), set));
	env_expect_status(&run, 0);
	run_free(&run);
}
END_TEST

static const size_t initrd_sizes[] = {1, 4095, 4096, 4097, 300000};

static uint32_t make_initrd(const char *path, size_t size)
{
	FILE *file = fopen(path, "we");
	uint64_t seed = size;
	uint32_t sum = 0;

	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)prng_next(&seed);

		ck_assert_int_ge(fputc(byte, file), 0);
		sum += byte;
	}
	ck_assert_int_eq(fclose(file), 0);
	return sum;
}

START_TEST(test_protocol_initrd)
{
	char path[PATH_MAX], set[PATH_MAX + 32], expected[128];
	uint32_t sum =
		make_initrd(env_path(&env, "initrd", path), initrd_sizes[_i]);
	struct run run;

	snprintf(set, sizeof(set), "boot-source.initrd_path=%s", path);
	env_guest(&env, &run, "plain64.elf", "status=0",
		  SETS(env_any_mode(&env), set));
	env_expect_status(&run, 0);
	snprintf(expected, sizeof(expected),
		 "plain64: module of %zu bytes, sum %u\n", initrd_sizes[_i],
		 sum);
	ck_assert_msg(strstr(run.out.text, expected), "not \"%s\" but \"%s\"",
		      expected, run.out.text);
	run_free(&run);
	/* hello does not look at it, but must not mind. */
	env_guest(&env, &run, "hello.elf", "status=0",
		  SETS(env_any_mode(&env), set,
		       "boot-source.protocol=multiboot"));
	env_expect_status(&run, 0);
	run_free(&run);
}
END_TEST

START_TEST(test_protocol_initrd_without_room)
{
	char path[PATH_MAX], set[PATH_MAX + 32];
	struct run run;

	env_path(&env, "large", path);
	ck_assert_int_ge(fclose(fopen(path, "we")), 0);
	ck_assert_int_eq(truncate(path, 8 << 20), 0);
	snprintf(set, sizeof(set), "boot-source.initrd_path=%s", path);
	env_guest(
		&env, &run, "hello.elf", "status=0",
		SETS(env_any_mode(&env), set, "machine-config.mem_size_mib=8"));
	env_expect_status(&run, EXIT_STATUS_CONFIG);
	env_expect_complaint(&run, "mem_size_mib");
	run_free(&run);
}
END_TEST

static const unsigned int cpu_counts[] = {2, 4, 8, 64};

START_TEST(test_protocol_cpus)
{
	char set[64], words[64], expected[64];
	unsigned int n = cpu_counts[_i];
	struct run run;

	snprintf(set, sizeof(set), "machine-config.vcpu_count=%u", n);
	snprintf(words, sizeof(words), "cpus=%u status=5", n);
	env_guest(&env, &run, "hello.elf", words,
		  SETS(env_any_mode(&env), set));
	env_expect_status(&run, 5);
	snprintf(expected, sizeof(expected), "hello: %u CPUs\n", n);
	ck_assert_msg(strstr(run.out.text, expected), "not \"%s\" but \"%s\"",
		      expected, run.out.text);
	run_free(&run);
}
END_TEST

#define LOOP(tcase, test, table)            \
	tcase_add_loop_test(tcase, test, 0, \
			    (int)(sizeof(table) / sizeof((table)[0])))

static Suite *protocols_suite(void)
{
	Suite *suite = suite_create("protocols");
	TCase *tcase = env_case(suite, "entry");

	tcase_add_loop_test(tcase, test_protocol_starts_the_guest, 0, ENTRIES);
	tcase_add_loop_test(tcase, test_protocol_command_line_limit, 0,
			    ENTRIES);
	tcase = env_case(suite, "machine");
	LOOP(tcase, test_protocol_ram, ram_sizes_mib);
	LOOP(tcase, test_protocol_initrd, initrd_sizes);
	tcase_add_test(tcase, test_protocol_initrd_without_room);
	LOOP(tcase, test_protocol_cpus, cpu_counts);
	return suite;
}

int main(void)
{
	return env_run(&env, protocols_suite);
}
