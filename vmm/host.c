/* SPDX-License-Identifier: MIT */
/*
 * host - reads the host's context from /proc, /sys and CPUID.
 * Reference: Linux Documentation/ABI, proc(5), SDM 2A "CPUID" leaf 1.
 */
#define _GNU_SOURCE
#include "host.h"

#include <cpuid.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "jsonw.h"

#define CLOCKSOURCE \
	"/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* First line of a file, without its newline. "" where it cannot be read. */
static void read_line(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");

	out[0] = '\0';
	if (!file)
		return;
	if (!fgets(out, (int)size, file))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
}

static int64_t read_number(const char *path)
{
	char line[64];
	char *end;
	long long value;

	read_line(path, line, sizeof(line));
	if (line[0] == 'Y' || line[0] == 'N')
		return line[0] == 'Y';
	value = strtoll(line, &end, 10);
	return end == line ? -1 : value;
}

static void read_backend(char *out, size_t size)
{
	static const char *const names[] = {"kvm_intel", "kvm_amd", "kvm_pvm"};
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s", names[i]);
		if (!access(path, F_OK)) {
			snprintf(out, size, "%s", names[i]);
			return;
		}
	}
	snprintf(out, size, "unknown");
}

static void read_cpuid(struct host_info *host)
{
	unsigned int r[12] = {0};
	unsigned int a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d))
		host->nested = c >> 31;
	for (unsigned int i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002u + i, &r[4 * i], &r[4 * i + 1],
				 &r[4 * i + 2], &r[4 * i + 3]))
			return;
	memcpy(host->machine, r, sizeof(r));
	host->machine[sizeof(r)] = '\0';
}

/* Field 8 of the "cpu" line: time another guest ran in our place. */
static uint64_t read_steal(void)
{
	char line[256];
	unsigned long long steal = 0;

	read_line("/proc/stat", line, sizeof(line));
	if (sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
		return 0;
	return steal;
}

/* "Cpus_allowed_list:\t0-1" of /proc/self/status. */
static void read_allowed_cpus(char *out, size_t size)
{
	static const char name[] = "Cpus_allowed_list:";
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	out[0] = '\0';
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, sizeof(name) - 1)) {
			const char *at = line + sizeof(name) - 1;

			at += strspn(at, " \t");
			snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
		}
	if (file)
		fclose(file);
}

static void read_scheduling(struct host_info *host)
{
	static const struct {
		int policy;
		const char *name;
	} policies[] = {
		{SCHED_OTHER, "other"}, {SCHED_FIFO, "fifo"}, {SCHED_RR, "rr"},
		{SCHED_BATCH, "batch"}, {SCHED_IDLE, "idle"},
	};
	struct sched_param param = {0};
	int policy = sched_getscheduler(0);

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if ((policy & ~SCHED_RESET_ON_FORK) == policies[i].policy)
			snprintf(host->scheduler, sizeof(host->scheduler), "%s",
				 policies[i].name);
	if (!sched_getparam(0, &param))
		host->priority = param.sched_priority;
	host->nice_value = getpriority(PRIO_PROCESS, 0);
}

uint64_t host_available_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return (uint64_t)kib << 10;
}

void host_read_clocksource(char *out, size_t size)
{
	read_line(CLOCKSOURCE, out, size);
}

void host_read(struct host_info *host)
{
	struct utsname name;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(host, 0, sizeof(*host));
	if (!uname(&name))
		snprintf(host->kernel, sizeof(host->kernel), "%s",
			 name.release);
	host_read_clocksource(host->clocksource, sizeof(host->clocksource));
	read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
		  host->governor, sizeof(host->governor));
	read_backend(host->backend, sizeof(host->backend));
	read_cpuid(host);
	host->halt_poll_ns =
		read_number("/sys/module/kvm/parameters/halt_poll_ns");
	host->preemption_timer = read_number(
		"/sys/module/kvm_intel/parameters/preemption_timer");
	host->cpus = cpus > 0 ? (uint32_t)cpus : 0;
	read_allowed_cpus(host->allowed_cpus, sizeof(host->allowed_cpus));
	read_scheduling(host);
	host->steal_ticks = read_steal();
}

bool host_tsc_is_stable(const struct host_info *host)
{
	return !strcmp(host->clocksource, "tsc") ||
	       !strcmp(host->clocksource, "hyperv_clocksource_tsc_page");
}

void host_write(const struct host_info *host, struct jsonw *w)
{
	jsonw_string(w, "kernel", host->kernel);
	jsonw_string(w, "cpu", host->machine);
	jsonw_u64(w, "cpus", host->cpus);
	jsonw_string(w, "kvm_backend", host->backend);
	jsonw_bool(w, "nested", host->nested);
	jsonw_string(w, "clocksource", host->clocksource);
	jsonw_bool(w, "tsc_stable", host_tsc_is_stable(host));
	jsonw_i64(w, "halt_poll_ns", host->halt_poll_ns);
	jsonw_i64(w, "preemption_timer", host->preemption_timer);
	jsonw_string(w, "governor", host->governor);
	jsonw_string(w, "allowed_cpus", host->allowed_cpus);
	jsonw_string(w, "scheduler", host->scheduler);
	jsonw_i64(w, "priority", host->priority);
	jsonw_i64(w, "nice", host->nice_value);
	jsonw_u64(w, "steal_ticks", host->steal_ticks);
}
