/* SPDX-License-Identifier: MIT */
/*
 * bench_qemu - the same guest under QEMU, as a row of a benchmark: KVM's own
 * timer behind another VMM. QEMU is an optional program (Debian:
 * qemu-system-x86), nothing is linked to it.
 *
 * It cannot take the guest's report, so the guest prints its samples on its
 * serial port; from them we make a result as `punctual run` would have
 * written it, as far as a benchmark reads one.
 */
#ifndef VMM_BENCH_QEMU_H
#define VMM_BENCH_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_output;
struct config;

#define BENCH_QEMU_PROGRAM "qemu-system-x86_64"

enum {
	BENCH_QEMU_ARGV_MAX = 32,
};

struct bench_qemu_args {
	const char *argv[BENCH_QEMU_ARGV_MAX]; /* NULL after the last */
	char memory[32], cpus[16], exit_device[64];
	char *append; /* to be freed */
};

/* Is it in the PATH? */
bool bench_qemu_is_there(void);

/*
 * May QEMU run that configuration, and with the same meaning? 0; -ENOTSUP with
 * one line in err, which names the key that forbids it.
 */
int bench_qemu_check(const struct config *config, char *err, size_t err_size);

/* Its command line; strings of the config are borrowed. 0 or -ENOMEM. */
int bench_qemu_args(const struct config *config, struct bench_qemu_args *args);

/*
 * Replaces what QEMU wrote by a result, and its exit status by the guest's;
 * without a report in it there will be no result, and output->line says why.
 * steal_ticks: stolen from the host meanwhile, USER_HZ. 0 or -ENOMEM.
 */
int bench_qemu_convert(struct bench_output *output, uint64_t steal_ticks);

#endif
