/* SPDX-License-Identifier: MIT */
/*
 * config - one run, as read from a JSON file and the command line.
 *
 * The file's keys are listed in config_table.c; the man page explains them.
 * A loaded config is complete and checked: every default is filled in, every
 * range holds, and nothing in it changes for the life of the VM.
 */
#ifndef VMM_CONFIG_H
#define VMM_CONFIG_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpuid_flag;
struct jsonw;

enum boot_protocol {
	BOOT_AUTO,
	BOOT_ELF64,
	BOOT_PVH,
	BOOT_MULTIBOOT,
	BOOT_LINUX,
};
enum timer_mode {
	TIMER_USERSPACE,
	TIMER_KERNEL,
};
enum irqchip_choice {
	IRQCHIP_AUTO,
	IRQCHIP_SPLIT,
};
enum timer_source {
	TIMER_SOURCE_TIMERFD,
	TIMER_SOURCE_POSIX,
};
enum tuner_choice {
	TUNER_CHOICE_STEP,
	TUNER_CHOICE_QUANTILE,
};
enum tsc_policy {
	TSC_REFUSE_UNSTABLE,
	TSC_ALLOW_UNSTABLE,
};
enum tune_mode {
	TUNE_OFF,
	TUNE_FIXED,
	TUNE_AUTO,
};
enum serial_kind {
	SERIAL_STDIO,
	SERIAL_OFF,
	SERIAL_FILE,
	SERIAL_PTY,
};
enum exit_encoding {
	EXIT_RAW,
	EXIT_ISA_DEBUG,
};

struct tune_value {
	enum tune_mode mode;
	uint64_t ns; /* TUNE_FIXED: at least 1; else 0 */
};

/* Where null has a meaning of its own. */
struct optional_value {
	bool is_given;
	uint64_t value; /* if given; else 0 */
};

struct config {
	/* boot-source; paths are ready to open */
	char *kernel_image_path;
	char *initrd_path; /* NULL: none */
	char *boot_args;   /* printable ASCII; "" if none, never NULL */
	enum boot_protocol protocol;

	/* machine-config */
	unsigned vcpu_count;	 /* 1-64 */
	uint64_t mem_size_mib;	 /* 1-65536 */
	cpu_set_t *cpu_affinity; /* one for each vCPU; NULL: not pinned */
	size_t cpu_affinity_count;
	const struct cpuid_flag **hide_cpuid; /* every bit of every name */
	size_t hide_cpuid_count;
	bool test_device;

	/* timer */
	enum timer_mode mode;
	enum irqchip_choice irqchip;
	enum timer_source source;
	struct tune_value advance;
	enum tuner_choice tuner;
	double target_quantile;	 /* 0.5-0.999 */
	uint64_t max_advance_ns; /* 1000-10^8 */
	double max_spin_share;	 /* 0-1, of the time from arm to deadline */
	struct tune_value vmentry_advance;
	bool allow_early; /* only with vmentry_advance TUNE_FIXED */
	bool strict_lvtt;
	cpu_set_t *timer_affinity; /* NULL: not pinned */
	enum tsc_policy unstable_tsc;
	/* Of the VM, in either mode; not given: as the host is set. */
	struct optional_value halt_poll_ns;

	/* console */
	enum serial_kind serial;
	char *serial_path; /* SERIAL_FILE only, else NULL */

	/* run */
	uint64_t timeout_ms; /* 0: no limit */
	/* I/O ports, which differ; not given: none. */
	struct optional_value exit_port, marker_port;
	enum exit_encoding exit_encoding;
	char *stats_path; /* NULL: none; "-": standard output */
};

/*
 * Reads path, applies set_count overrides of the form KEY=VALUE in their
 * order, and checks the whole.
 *
 * VALUE is JSON where it parses as JSON, else the text itself as a string.
 * boot_args.WORD=VALUE puts the word WORD=VALUE into boot-source.boot_args,
 * in place of those of the same name or at the end.
 *
 * kernel_image_path and initrd_path are relative to the directory of path,
 * from a file and from an override alike; stats_path and the console's file
 * are left relative to the working directory. No file but path is opened.
 *
 * Returns 0; -EINVAL (a mistake in the file or an override), -errno if the
 * file cannot be read, -EFBIG, -ENOMEM. On failure err holds one line,
 * "PATH:LINE:COLUMN: KEY: what is wrong" or "--set KEY: ...", and there is
 * nothing to free. Called at start, before any thread.
 */
int config_load(const char *path, const char *const *sets, size_t set_count,
		struct config *config, char *err, size_t err_size);

/* Frees what config_load() filled in; the struct is zeroed. */
void config_free(struct config *config);

/*
 * Writes every key with its value in force, as members of the object the
 * caller has begun. In mode "kernel" a last member "unused" lists the timer
 * keys that have no effect there.
 */
void config_write_effective(const struct config *config, struct jsonw *w);

#endif
