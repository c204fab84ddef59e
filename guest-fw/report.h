/* SPDX-License-Identifier: MIT */
/*
 * report - how the lateness guest hands its samples to the VMM.
 *
 * Shared by both sides; plain C, fixed widths, little endian, no padding.
 * After the run, before anything is sorted or printed, the boot CPU writes
 * for each CPU in turn (0 first) the guest-physical address of a struct
 * lateness_report, 32 bits, to LATENESS_REPORT_PORT with OUT. Report and
 * samples are complete by then, stay unchanged while the OUT is carried out,
 * and may change afterwards: copy them before the guest goes on. Where nobody
 * claims the port the write does nothing.
 *
 * To the VMM all of it is input from a guest, not to be trusted: addresses
 * and counts may be anything.
 */
#ifndef GUEST_REPORT_H
#define GUEST_REPORT_H

#include <stdint.h>

/* Not of a report: where a guest writes how far it is. What is written means
 * nothing to the VMM, which notes when it came. The firmware writes MARKER_C in
 * the first line of C that runs. (Not one of 0xf4 to 0xf7: those are often all
 * given to QEMU's isa-debug-exit, and each ends it.) */
#define MARKER_PORT		0xf8
#define MARKER_C		1u

#define LATENESS_REPORT_PORT	0xf5
#define LATENESS_REPORT_MAGIC	0x4e54504cu /* "LPTN" in memory order */
#define LATENESS_REPORT_VERSION 1u

enum lateness_wait {
	LATENESS_WAIT_SPIN_USER = 0,   /* wait=spin, ring 3 */
	LATENESS_WAIT_SPIN_KERNEL = 1, /* wait=spin0, ring 0 */
	LATENESS_WAIT_HLT = 2,	       /* wait=hlt */
};

struct lateness_report {
	uint32_t magic;
	uint32_t version;
	uint32_t cpu;	      /* the guest's number, 0 = boot CPU */
	uint32_t sample_size; /* bytes, 8 */
	uint64_t samples_gpa; /* int64_t[count], in the order of the fires */
	uint32_t count;	      /* of samples, warm-up included; lost: none */
	uint32_t warmup;      /* so many of them, from the start, are warm-up */
	uint64_t period_tsc;  /* mean distance from arm to deadline */
	uint64_t loop_turns;  /* of the spin loop; 0 for hlt */
	uint64_t wait_tsc;    /* sum over the fires: from arm to handler */
	uint32_t early;	      /* handler's first RDTSC below the deadline */
	uint32_t lost;	      /* no interrupt in the time limit */
	uint32_t doubled;     /* an interrupt while none was due */
	uint32_t wait;	      /* enum lateness_wait */
	uint64_t tsc_khz;     /* 0: the guest was not told */
};

_Static_assert(sizeof(struct lateness_report) == 80, "no padding, please");

#endif
