/* SPDX-License-Identifier: MIT */
/*
 * bench_qemu - a command line for QEMU, and what its guest printed.
 *
 * The text is a guest's: every number is bounded, and a line that is not one
 * of the guest's own is passed over.
 * Not modelled: guests that end otherwise than through the exit port, which
 * QEMU has as isa-debug-exit: status n makes it exit with 2 n + 1.
 */
#define _GNU_SOURCE /* asprintf */
#include "bench_qemu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_child.h"
#include "bench_sample.h"
#include "config.h"
#include "end.h"
#include "jsonw.h"
#include "lateness.h"
#include "program.h"

#define CPU_PREFIX "lateness: cpu "

bool bench_qemu_is_there(void)
{
	return program_is_there(BENCH_QEMU_PROGRAM);
}

static int refuse(char *err, size_t err_size, const char *what)
{
	snprintf(err, err_size, "--baseline qemu: %s", what);
	return -ENOTSUP;
}

int bench_qemu_check(const struct config *config, char *err, size_t err_size)
{
	if (config->protocol == BOOT_ELF64 || config->protocol == BOOT_LINUX)
		return refuse(err, err_size,
			      "boot-source.protocol: neither auto, pvh nor "
			      "multiboot, which QEMU finds out itself");
	if (config->cpu_affinity)
		return refuse(err, err_size,
			      "machine-config.cpu_affinity: QEMU's threads "
			      "cannot be bound; bind all of bench with "
			      "taskset(1)");
	if (config->hide_cpuid_count)
		return refuse(err, err_size,
			      "machine-config.hide_cpuid: QEMU has other names "
			      "for them");
	if (config->halt_poll_ns.is_given)
		return refuse(err, err_size,
			      "timer.halt_poll_ns: QEMU's VM polls as the host "
			      "is set");
	if (!config->exit_port.is_given)
		return refuse(err, err_size,
			      "run.exit_port: without one the guest cannot end "
			      "QEMU");
	return 0;
}

int bench_qemu_args(const struct config *config, struct bench_qemu_args *args)
{
	size_t n = 0;

	*args = (struct bench_qemu_args){0};
	if (asprintf(&args->append, "%s%sprint_samples", config->boot_args,
		     *config->boot_args ? " " : "") < 0) {
		args->append = NULL;
		return -ENOMEM;
	}
	snprintf(args->memory, sizeof(args->memory), "%" PRIu64 "M",
		 config->mem_size_mib);
	snprintf(args->cpus, sizeof(args->cpus), "%u", config->vcpu_count);
	/* Not wider: the port for reports is the next one. */
	snprintf(args->exit_device, sizeof(args->exit_device),
		 "isa-debug-exit,iobase=0x%" PRIx64 ",iosize=1",
		 config->exit_port.value);
	{
		/* invtsc: only then does QEMU tell the TSC's frequency. */
		const char *const fixed[] = {
			BENCH_QEMU_PROGRAM,
			"-nodefaults",
			"-no-user-config",
			"-no-reboot",
			"-display",
			"none",
			"-serial",
			"stdio",
			"-machine",
			"pc,accel=kvm,kernel-irqchip=split",
			"-cpu",
			"host,migratable=off,+invtsc",
			"-mem-prealloc",
			"-m",
			args->memory,
			"-smp",
			args->cpus,
			"-device",
			args->exit_device,
			"-kernel",
			config->kernel_image_path,
			"-append",
			args->append};

		for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
			args->argv[n++] = fixed[i];
	}
	if (config->initrd_path) {
		args->argv[n++] = "-initrd";
		args->argv[n++] = config->initrd_path;
	}
	/* fw_cfg is there without. */
	if (config->test_device) {
		args->argv[n++] = "-device";
		args->argv[n++] = "pc-testdev";
	}
	return 0;
}

/* What was found in the text. */
struct report {
	struct lateness_store store;
	uint64_t tsc_khz;
	bool is_whole; /* the last line of a CPU was there */
};

/* Reads numbers up to the end of the line. */
static int take_samples(struct lateness_result *result, const char *at,
			const char *end)
{
	size_t room = result->samples ? LATENESS_SAMPLES_MAX : 0;
	char *next;

	if (!room) {
		result->samples =
			calloc(LATENESS_SAMPLES_MAX, sizeof(*result->samples));
		if (!result->samples)
			return -ENOMEM;
	}
	while (at < end && result->report.count < LATENESS_SAMPLES_MAX) {
		int64_t sample_tsc = strtoll(at, &next, 10);

		if (next == at || next > end)
			break;
		result->samples[result->report.count++] = sample_tsc;
		at = next;
	}
	return 0;
}

static bool skip_word(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*at, word, len))
		return false;
	*at += len;
	return true;
}

/* "early 0 lost 0 doubled 0 turns 118037576 wait 839594423 cycles"; a copy, as
 * sscanf() measures all that follows, which may be megabytes. */
static bool take_sums(struct lateness_report *report, const char *at,
		      const char *end)
{
	char line[160];

	if (strncmp(at, "early ", strlen("early ")))
		return false;
	snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
	return sscanf(line,
		      "early %" SCNu32 " lost %" SCNu32 " doubled %" SCNu32
		      " turns %" SCNu64 " wait %" SCNu64 " cycles",
		      &report->early, &report->lost, &report->doubled,
		      &report->loop_turns, &report->wait_tsc) == 5;
}

/* The warm-up comes first, the other samples behind it, the sums last. */
static int take_cpu_line(struct report *r, const char *at, const char *end)
{
	struct lateness_result *result;
	char *next;
	unsigned long cpu = strtoul(at, &next, 10);
	int ret = 0;

	at = next;
	if (cpu >= LATENESS_CPUS_MAX || !skip_word(&at, ": "))
		return 0;
	result = &r->store.results[cpu];
	if (skip_word(&at, "warm-up:") && !result->report.count) {
		ret = take_samples(result, at, end);
		result->report.warmup = result->report.count;
	} else if (skip_word(&at, "samples:") && !result->present) {
		ret = take_samples(result, at, end);
		result->present = !ret;
	} else if (result->present && take_sums(&result->report, at, end)) {
		result->report.cpu = (uint32_t)cpu;
		r->is_whole = true;
	}
	return ret;
}

/* text is terminated. */
static int read_text(struct report *r, const char *text)
{
	const char *at = text, *end;
	int ret = 0;

	while (!ret && *at) {
		end = at + strcspn(at, "\r\n");
		if (skip_word(&at, CPU_PREFIX))
			ret = take_cpu_line(r, at, end);
		else if (!r->tsc_khz && skip_word(&at, "lateness: TSC "))
			r->tsc_khz = strtoull(at, NULL, 10);
		at = end + strspn(end, "\r\n");
	}
	return ret;
}

static int write_result(struct report *r, const struct bench_output *output,
			uint64_t steal_ticks, struct jsonw *w)
{
	int ret;

	jsonw_object_begin(w, NULL);
	jsonw_string(w, "schema", "punctual-result-1");
	jsonw_object_begin(w, "end");
	jsonw_i64(w, "status", output->status);
	jsonw_object_end(w);
	jsonw_string(w, "timer_mode", "kernel");
	jsonw_string(w, "rung", "kernel");
	jsonw_bool(w, "tsc_allowed_unstable", false);
	jsonw_bool(w, "early_allowed", false);
	jsonw_object_begin(w, "memory");
	jsonw_bool(w, "prefaulted", true);
	jsonw_bool(w, "locked", false);
	jsonw_object_end(w);
	jsonw_object_begin(w, "host");
	jsonw_u64(w, "steal_ticks_during_run", steal_ticks);
	jsonw_object_end(w);
	jsonw_u64(w, "tsc_khz", r->tsc_khz);
	jsonw_u64(w, "user_cpu_ns", output->user_cpu_ns);
	jsonw_u64(w, "system_cpu_ns", output->system_cpu_ns);
	ret = lateness_write(&r->store, (uint32_t)r->tsc_khz, true, w);
	jsonw_object_end(w);
	return ret;
}

/* The writer's text takes the place of the old one. */
static int replace_text(struct bench_output *output, struct report *r,
			uint64_t steal_ticks)
{
	struct jsonw w;
	const char *text;
	size_t len;
	int ret;

	jsonw_init(&w, 0, BENCH_SAMPLE_JSON_MAX);
	ret = write_result(r, output, steal_ticks, &w);
	text = jsonw_text(&w, &len);
	if (!ret && text) {
		free(output->text);
		output->text = strndup(text, len);
		output->text_len = output->text ? len : 0;
	}
	jsonw_free(&w);
	return !ret && text && output->text ? 0 : -ENOMEM;
}

/* QEMU itself fails with 1, as a guest's status 0 does. */
static void drop_text(struct bench_output *output, const char *why)
{
	if (!output->status)
		output->status = EXIT_STATUS_INTERNAL;
	free(output->text);
	output->text = NULL;
	output->text_len = 0;
	if (!*output->line)
		snprintf(output->line, sizeof(output->line), "%s", why);
}

/* The guests' statuses are below 64: what is above 128 is a signal. */
static int guest_status(int status)
{
	if (status > EXIT_STATUS_SIGNAL)
		return status;
	return status % 2 ? status / 2 : EXIT_STATUS_INTERNAL;
}

int bench_qemu_convert(struct bench_output *output, uint64_t steal_ticks)
{
	struct report r = {0};
	char *text;
	int ret;

	output->status = guest_status(output->status);
	if (output->is_too_long)
		return 0;
	text = strndup(output->text ? output->text : "", output->text_len);
	if (!text)
		return -ENOMEM;
	lateness_init(&r.store);
	ret = read_text(&r, text);
	if (!ret && r.is_whole && r.tsc_khz && r.tsc_khz <= UINT32_MAX)
		ret = replace_text(output, &r, steal_ticks);
	else if (!ret)
		drop_text(output, BENCH_QEMU_PROGRAM
			  ": the guest printed no samples, or no frequency of "
			  "its TSC");
	lateness_free(&r.store);
	free(text);
	return ret;
}
