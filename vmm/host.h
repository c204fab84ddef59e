/* SPDX-License-Identifier: MIT */
/*
 * host - what the machine under us is, as far as a result depends on it.
 */
#ifndef VMM_HOST_H
#define VMM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonw;

struct host_info {
	char kernel[128];	  /* uname release */
	char machine[64];	  /* CPU model name */
	char clocksource[64];	  /* "" if unknown */
	char backend[32];	  /* kvm_intel, kvm_amd, ... or "unknown" */
	char governor[32];	  /* cpufreq governor of CPU 0, "" if none */
	bool nested;		  /* the hypervisor CPUID bit is set */
	int64_t halt_poll_ns;	  /* -1 if unknown */
	int64_t preemption_timer; /* kvm_intel parameter: 1, 0, -1 unknown */
	uint32_t cpus;		  /* online */
	/* Of the process, which its threads start with. */
	char allowed_cpus[128];	  /* list, as "0-1,4"; "" if unknown */
	char scheduler[16];	  /* "other", "fifo", ...; "" if unknown */
	int priority, nice_value; /* real-time priority, 0 in "other" */
	uint64_t steal_ticks;	  /* /proc/stat, summed over CPUs, USER_HZ */
};

/* Reads /proc and /sys; what is not there stays empty. Any thread. */
void host_read(struct host_info *host);

/* The current clocksource's name, "" if unknown. Any thread. */
void host_read_clocksource(char *out, size_t size);

/* What the kernel thinks can be had without swapping (MemAvailable), in bytes;
 * 0 if unknown. Any thread. */
uint64_t host_available_bytes(void);

/*
 * Is the host's TSC one to keep deadlines by? The kernel says so by using it
 * as its own clock. Any thread; pure.
 */
bool host_tsc_is_stable(const struct host_info *host);

/* The members of the result's object "host". */
void host_write(const struct host_info *host, struct jsonw *w);

#endif
