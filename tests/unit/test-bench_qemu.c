/* SPDX-License-Identifier: MIT */
/*
 * What QEMU is told, and what becomes of what its guest prints: texts as they
 * came, and texts as a guest that means harm would print them.
 */
#define _GNU_SOURCE
#include "bench_qemu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_child.h"
#include "bench_hist.h"
#include "bench_sample.h"
#include "bench_series.h"
#include "config.h"
#include "tap.h"

#define HEAD "lateness: TSC 2000000 kHz, told by CPUID 0x40000010; cpus=1\r\n"
#define CPU(n)                                                         \
	"lateness: cpu " n ": warm-up: 900 -5\r\n"                     \
	"lateness: cpu " n ": samples: 10 30 20 -1\r\n"                \
	"lateness: cpu " n ": fires 4 min -1 p50 10 cycles\r\n"        \
	"lateness: cpu " n ": early 1 lost 0 doubled 3 turns 70 wait " \
	"800 cycles\r\n"

static struct bench_output output;
static struct bench_sample sample;
static struct bench_hist hist;
static char err[256];

static int convert(const char *text, int status)
{
	output = (struct bench_output){.status = status,
				       .text = strdup(text),
				       .text_len = strlen(text),
				       .user_cpu_ns = 11,
				       .system_cpu_ns = 22};
	return bench_qemu_convert(&output, 5);
}

static int read_sample(void)
{
	return bench_sample_read(output.text, output.text_len, &sample, &hist,
				 err, sizeof(err));
}

START_TEST(test_bench_qemu_becomes_a_result)
{
	struct bench_series series;

	ck_assert_int_eq(convert("SeaBIOS\r\n" HEAD CPU("0"), 3), 0);
	ck_assert_int_eq(output.status, 1);
	ck_assert_msg(!read_sample(), "%s", err);
	ck_assert_int_eq(sample.status, 1);
	ck_assert(!sample.is_userspace && sample.is_prefaulted);
	ck_assert_uint_eq(sample.tsc_khz, 2000000);
	ck_assert_uint_eq(sample.samples, 4);
	ck_assert_uint_eq(sample.fires, 6);
	ck_assert_uint_eq(sample.warmup, 2);
	ck_assert_uint_eq(sample.early, 1);
	ck_assert_uint_eq(sample.lost, 0);
	ck_assert_uint_eq(sample.doubled, 3);
	ck_assert_uint_eq(sample.loop_turns, 70);
	ck_assert_uint_eq(sample.wait_tsc, 800);
	ck_assert_uint_eq(sample.below_zero, 1);
	ck_assert_int_eq(sample.p50_tsc, 10);
	ck_assert_int_eq(sample.p50_ns, 5);
	ck_assert_int_eq(sample.p99_tsc, 30);
	ck_assert_uint_eq(sample.user_cpu_ns, 11);
	ck_assert_uint_eq(sample.system_cpu_ns, 22);
	ck_assert_uint_eq(sample.steal_ticks, 5);
	ck_assert_uint_eq(hist.count, 3);
	ck_assert_int_eq(
		bench_series_read(output.text, output.text_len, &series), 0);
	ck_assert_uint_eq(series.count, 6);
	ck_assert_uint_eq(series.warmup, 2);
	ck_assert_int_eq(series.lateness_tsc[0], 900);
	bench_series_free(&series);
	bench_hist_free(&hist);
	free(output.text);
}
END_TEST

START_TEST(test_bench_qemu_pools_the_cpus)
{
	ck_assert_int_eq(convert(HEAD CPU("0") CPU("63"), 1), 0);
	ck_assert_int_eq(output.status, 0);
	ck_assert_msg(!read_sample(), "%s", err);
	ck_assert_uint_eq(sample.samples, 8);
	ck_assert_uint_eq(sample.fires, 12);
	ck_assert_uint_eq(sample.loop_turns, 140);
	bench_hist_free(&hist);
	free(output.text);
}
END_TEST

static const char *const useless[] = {
	"",
	HEAD,
	CPU("0"),
	HEAD CPU("64"),
	HEAD CPU("-1"),
	HEAD CPU("18446744073709551616"),
	"lateness: TSC 0 kHz" CPU("0"),
	"lateness: TSC 4294967296 kHz\n" CPU("0"),
	HEAD "lateness: cpu 0: samples: 1 2\n",
	HEAD
	"lateness: cpu 0: early 0 lost 0 doubled 0 turns 0 wait 0 cycles\n",
	HEAD "lateness: cpu 0: samples: 1\nlateness: cpu 0: early 1 lost\n",
	HEAD "lateness: cpu 0: \nlateness: cpu \nlateness: ",
};

/* Nothing comes of them, and the line says so. */
START_TEST(test_bench_qemu_without_a_report)
{
	ck_assert_int_eq(convert(useless[_i], 0), 0);
	ck_assert_int_eq(output.status, 70);
	ck_assert_ptr_null(output.text);
	ck_assert_ptr_nonnull(strstr(output.line, "printed no samples"));
}
END_TEST

static const struct {
	int qemu, guest;
} statuses[] = {
	{0, 70},	       /* it never ends so */
	{1, 70},	       /* its own failure: there is no report */
	{3, 1},	    {127, 63}, /* the guest's */
	{137, 137}, {143, 143}, {134, 134}, /* signals */
};

START_TEST(test_bench_qemu_statuses)
{
	ck_assert_int_eq(convert("", statuses[_i].qemu), 0);
	ck_assert_int_eq(output.status, statuses[_i].guest);
}
END_TEST

/* All that a guest may print in a benchmark's time, and no report in it. */
START_TEST(test_bench_qemu_many_short_lines)
{
	static const char *const lines[] = {"a\n", "lateness: TSC x\n",
					    "lateness: cpu 0: early x\n"};
	enum {
		SIZE = 8 << 20,
	};

	for (size_t i = 0; i < 3; i++) {
		size_t len = strlen(lines[i]), n = SIZE / len;
		static const char first[] = "lateness: cpu 0: samples: 1\n";
		char *text = malloc(sizeof(first) + n * len), *at;

		ck_assert_ptr_nonnull(text);
		at = stpcpy(text, first);
		for (size_t j = 0; j < n; j++)
			at = stpcpy(at, lines[i]);
		ck_assert_int_eq(convert(text, 1), 0);
		ck_assert_ptr_null(output.text);
		free(text);
	}
}
END_TEST

/* A line that does not end, a number too large, samples twice, letters. */
START_TEST(test_bench_qemu_odd_numbers)
{
	ck_assert_int_eq(
		convert(HEAD "lateness: cpu 0: samples: 7 99999999999999999999 "
			     "x 5\n"
			     "lateness: cpu 0: samples: 8\n"
			     "lateness: cpu 0: early 0 lost 0 doubled 0 turns "
			     "99999999999999999999999 wait 1 cycles",
			1),
		0);
	ck_assert_msg(!read_sample(), "%s", err);
	ck_assert_uint_eq(sample.samples, 2);
	ck_assert_int_eq(sample.p50_tsc, 7);
	bench_hist_free(&hist);
	free(output.text);
}
END_TEST

START_TEST(test_bench_qemu_takes_no_more_than_it_keeps)
{
	enum {
		MANY = 200000,
	};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs(HEAD "lateness: cpu 0: samples:", out);
	for (int i = 0; i < MANY; i++)
		fputs(" 1", out);
	fputs("\nlateness: cpu 0: early 0 lost 0 doubled 0 turns 0 wait 0 "
	      "cycles\n",
	      out);
	fclose(out);
	ck_assert_int_eq(convert(text, 1), 0);
	ck_assert_msg(!read_sample(), "%s", err);
	ck_assert_uint_eq(sample.samples, 131072);
	bench_hist_free(&hist);
	free(output.text);
	free(text);
}
END_TEST

static cpu_set_t affinity;

static const struct {
	const char *says;
	struct config config;
} refused[] = {
	{"boot-source.protocol", {.protocol = BOOT_ELF64}},
	{"boot-source.protocol", {.protocol = BOOT_LINUX}},
	{"machine-config.cpu_affinity", {.cpu_affinity = &affinity}},
	{"machine-config.hide_cpuid", {.hide_cpuid_count = 1}},
	{"timer.halt_poll_ns", {.halt_poll_ns = {true, 0}}},
	{"run.exit_port", {.exit_port = {false, 0}}},
};

START_TEST(test_bench_qemu_refuses)
{
	struct config config = refused[_i].config;

	config.exit_port.is_given = strcmp(refused[_i].says, "run.exit_port");
	ck_assert_int_eq(bench_qemu_check(&config, err, sizeof(err)), -ENOTSUP);
	ck_assert_ptr_eq(strstr(err, "--baseline qemu: "), err);
	ck_assert_msg(strstr(err, refused[_i].says), "%s", err);
}
END_TEST

static bool has(const struct bench_qemu_args *args, const char *option,
		const char *value)
{
	for (size_t i = 0; args->argv[i]; i++)
		if (!strcmp(args->argv[i], option) && args->argv[i + 1] &&
		    !strcmp(args->argv[i + 1], value))
			return true;
	return false;
}

START_TEST(test_bench_qemu_is_told_the_machine)
{
	struct config config = {
		.kernel_image_path = (char[]){"a.elf"},
		.boot_args = (char[]){"wait=hlt"},
		.protocol = BOOT_PVH,
		.vcpu_count = 3,
		.mem_size_mib = 77,
		.exit_port = {true, 0x1f4},
	};
	struct bench_qemu_args args;

	ck_assert_int_eq(bench_qemu_check(&config, err, sizeof(err)), 0);
	ck_assert_int_eq(bench_qemu_args(&config, &args), 0);
	ck_assert_str_eq(args.argv[0], "qemu-system-x86_64");
	ck_assert(has(&args, "-kernel", "a.elf"));
	ck_assert(has(&args, "-append", "wait=hlt print_samples"));
	ck_assert(has(&args, "-m", "77M"));
	ck_assert(has(&args, "-smp", "3"));
	ck_assert(
		has(&args, "-device", "isa-debug-exit,iobase=0x1f4,iosize=1"));
	ck_assert(has(&args, "-machine", "pc,accel=kvm,kernel-irqchip=split"));
	ck_assert(!has(&args, "-initrd", "b"));
	ck_assert(!has(&args, "-device", "pc-testdev"));
	free(args.append);
	config.initrd_path = (char[]){"b"};
	config.boot_args = (char[]){""};
	config.test_device = true;
	ck_assert_int_eq(bench_qemu_args(&config, &args), 0);
	ck_assert(has(&args, "-device", "pc-testdev"));
	ck_assert(has(&args, "-initrd", "b"));
	ck_assert(has(&args, "-append", "print_samples"));
	free(args.append);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(array[0]))

int main(void)
{
	Suite *suite = suite_create("bench_qemu");
	TCase *tc = tcase_create("bench_qemu");

	tcase_add_test(tc, test_bench_qemu_becomes_a_result);
	tcase_add_test(tc, test_bench_qemu_pools_the_cpus);
	tcase_add_loop_test(tc, test_bench_qemu_without_a_report, 0,
			    COUNT(useless));
	tcase_add_loop_test(tc, test_bench_qemu_statuses, 0, COUNT(statuses));
	tcase_add_test(tc, test_bench_qemu_many_short_lines);
	tcase_add_test(tc, test_bench_qemu_odd_numbers);
	tcase_add_test(tc, test_bench_qemu_takes_no_more_than_it_keeps);
	tcase_add_loop_test(tc, test_bench_qemu_refuses, 0, COUNT(refused));
	tcase_add_test(tc, test_bench_qemu_is_told_the_machine);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
