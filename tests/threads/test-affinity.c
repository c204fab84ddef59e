/* SPDX-License-Identifier: MIT */
/* Threads that start where they were asked to run, or do not start. */
#define _GNU_SOURCE
#include "affinity.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tap.h"

/* What the thread saw first. */
struct seen {
	cpu_set_t cpus;
	int cpu;
};

static struct seen seen;
static atomic_bool ran;
static cpu_set_t before;

static void setup(void)
{
	atomic_store(&ran, false);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
}

/* Whatever was tried, the caller runs where it ran. */
static void teardown(void)
{
	cpu_set_t after;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
}

static void *look(void *arg)
{
	struct seen *out = arg;

	atomic_store(&ran, true);
	out->cpu = sched_getcpu();
	sched_getaffinity(0, sizeof(out->cpus), &out->cpus);
	return NULL;
}

static int start(const cpu_set_t *cpus)
{
	pthread_t thread;
	int ret = affinity_thread_create(&thread, cpus, look, &seen);

	if (!ret)
		pthread_join(thread, NULL);
	return ret;
}

/* The n-th CPU that this process may use, or -1. */
static int allowed_cpu(int n)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before) && n-- == 0)
			return cpu;
	return -1;
}

static int absent_cpu(void)
{
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (!CPU_ISSET(cpu, &before))
			return cpu;
	return -1;
}

START_TEST(test_affinity_anywhere)
{
	ck_assert_int_eq(start(NULL), 0);
	ck_assert(CPU_EQUAL(&seen.cpus, &before));
}
END_TEST

START_TEST(test_affinity_each_cpu)
{
	cpu_set_t cpus;

	for (int n = 0, cpu; (cpu = allowed_cpu(n)) >= 0; n++) {
		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		ck_assert_int_eq(start(&cpus), 0);
		ck_assert(CPU_EQUAL(&seen.cpus, &cpus));
		ck_assert_int_eq(seen.cpu, cpu);
	}
}
END_TEST

START_TEST(test_affinity_all_cpus)
{
	ck_assert_int_eq(start(&before), 0);
	ck_assert(CPU_EQUAL(&seen.cpus, &before));
}
END_TEST

START_TEST(test_affinity_none)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	ck_assert_int_eq(start(&cpus), -EINVAL);
	ck_assert(!atomic_load(&ran));
}
END_TEST

START_TEST(test_affinity_absent)
{
	cpu_set_t cpus;

	if (absent_cpu() < 0)
		return;
	CPU_ZERO(&cpus);
	CPU_SET(absent_cpu(), &cpus);
	ck_assert_int_eq(start(&cpus), -EINVAL);
	ck_assert(!atomic_load(&ran));
}
END_TEST

/* The kernel would take it and leave out what it has not. */
START_TEST(test_affinity_partly_absent)
{
	cpu_set_t cpus;

	if (absent_cpu() < 0)
		return;
	CPU_ZERO(&cpus);
	CPU_SET(absent_cpu(), &cpus);
	CPU_SET(allowed_cpu(0), &cpus);
	ck_assert_int_eq(start(&cpus), -ENXIO);
	ck_assert(!atomic_load(&ran));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("affinity");
	TCase *tc = tcase_create("affinity");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_affinity_anywhere);
	tcase_add_test(tc, test_affinity_each_cpu);
	tcase_add_test(tc, test_affinity_all_cpus);
	tcase_add_test(tc, test_affinity_none);
	tcase_add_test(tc, test_affinity_absent);
	tcase_add_test(tc, test_affinity_partly_absent);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
