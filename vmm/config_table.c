// SPDX-License-Identifier: MIT
/*
 * config_table - the keys, their types, ranges, defaults and one-line
 * descriptions.
 *
 * boot-source and machine-config use Firecracker's names where the meaning
 * is the same. Not here: what a value means for another key (config.c), and
 * the limits of a host, which are only known when the VM is made.
 */
#include "config_table.h"

#include <string.h>

#include "config.h"

#define FIELD(name)                              \
	.offset = offsetof(struct config, name), \
	.size = sizeof(((struct config *)0)->name)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct config_choice protocols[] = {
	{"auto", BOOT_AUTO, false},   {"elf64", BOOT_ELF64, false},
	{"pvh", BOOT_PVH, false},     {"multiboot", BOOT_MULTIBOOT, false},
	{"linux", BOOT_LINUX, false}, {NULL, 0, false},
};

static const struct config_choice modes[] = {
	{"userspace", TIMER_USERSPACE, false},
	{"kernel", TIMER_KERNEL, false},
	{NULL, 0, false},
};

static const struct config_choice irqchips[] = {
	{"auto", IRQCHIP_AUTO, false},
	{"split", IRQCHIP_SPLIT, false},
	{"userspace", 0, true},
	{NULL, 0, false},
};

static const struct config_choice sources[] = {
	{"timerfd", TIMER_SOURCE_TIMERFD, false},
	{"posix", TIMER_SOURCE_POSIX, false},
	{NULL, 0, false},
};

static const struct config_choice tuners[] = {
	{"quantile", TUNER_CHOICE_QUANTILE, false},
	{"step", TUNER_CHOICE_STEP, false},
	{NULL, 0, false},
};

static const struct config_choice advances[] = {
	{"off", TUNE_OFF, false},
	{"auto", TUNE_AUTO, false},
	{NULL, 0, false},
};

static const struct config_choice vmentry_advances[] = {
	{"off", TUNE_OFF, false},
	{"auto", TUNE_AUTO, false},
	{NULL, 0, false},
};

static const struct config_choice tsc_policies[] = {
	{"refuse", TSC_REFUSE_UNSTABLE, false},
	{"allow", TSC_ALLOW_UNSTABLE, false},
	{NULL, 0, false},
};

static const struct config_choice serials[] = {
	{"stdio", SERIAL_STDIO, false},
	{"off", SERIAL_OFF, false},
	{"pty", SERIAL_PTY, false},
	{NULL, 0, false},
};

static const struct config_choice encodings[] = {
	{"raw", EXIT_RAW, false},
	{"isa-debug-exit", EXIT_ISA_DEBUG, false},
	{NULL, 0, false},
};

static const struct config_key keys[] = {
	{.path = "boot-source.kernel_image_path",
	 .type = CONFIG_INPUT_PATH,
	 FIELD(kernel_image_path),
	 .doc = "Guest image, relative to the config file."},
	{.path = "boot-source.initrd_path",
	 .type = CONFIG_INPUT_PATH,
	 .nullable = true,
	 .initial = "null",
	 FIELD(initrd_path),
	 .doc = "File handed to the guest as a module, relative to the "
		"config file; null: none."},
	{.path = "boot-source.boot_args",
	 .type = CONFIG_WORDS,
	 .initial = "\"\"",
	 FIELD(boot_args),
	 .doc = "Command line of the guest, printable ASCII."},
	{.path = "boot-source.protocol",
	 .type = CONFIG_CHOICE,
	 .choices = protocols,
	 .initial = "\"auto\"",
	 FIELD(protocol),
	 .doc = "How the image is entered; auto: bzImage, else PVH note, else "
		"Multiboot header, else ELF64 entry point."},

	{.path = "machine-config.vcpu_count",
	 .type = CONFIG_NUMBER,
	 .min = 1,
	 .max = 64,
	 .initial = "1",
	 FIELD(vcpu_count),
	 .doc = "Number of vCPUs."},
	{.path = "machine-config.mem_size_mib",
	 .type = CONFIG_NUMBER,
	 .min = 1,
	 .max = 65536,
	 .initial = "64",
	 FIELD(mem_size_mib),
	 .doc = "Guest RAM in MiB."},
	{.path = "machine-config.cpu_affinity",
	 .type = CONFIG_CPUS_PER_VCPU,
	 .nullable = true,
	 .max = CONFIG_CPU_MAX,
	 .initial = "null",
	 FIELD(cpu_affinity),
	 .doc = "Host CPUs of each vCPU thread, one list for each vCPU; null: "
		"not pinned."},
	{.path = "machine-config.hide_cpuid",
	 .type = CONFIG_FLAGS,
	 .initial = "[]",
	 FIELD(hide_cpuid),
	 .doc = "CPU features the guest must not see, by their names in "
		"/proc/cpuinfo."},
	{.path = "machine-config.test_device",
	 .type = CONFIG_BOOL,
	 .initial = "false",
	 FIELD(test_device),
	 .doc = "The machine has what test suites find in QEMU's: pc-testdev "
		"and fw_cfg."},

	{.path = "timer.mode",
	 .type = CONFIG_CHOICE,
	 .choices = modes,
	 .initial = "\"userspace\"",
	 FIELD(mode),
	 .doc = "Who emulates the TSC-deadline timer: punctual or KVM."},
	{.path = "timer.irqchip",
	 .type = CONFIG_CHOICE,
	 .choices = irqchips,
	 .initial = "\"auto\"",
	 FIELD(irqchip),
	 .doc = "Where the local APIC lives; auto: the first way in which "
		"deadline writes reach punctual."},
	{.path = "timer.source",
	 .type = CONFIG_CHOICE,
	 .choices = sources,
	 .initial = "\"timerfd\"",
	 FIELD(source),
	 .doc = "Host timer that stands behind a deadline."},
	{.path = "timer.advance",
	 .type = CONFIG_TUNE,
	 .choices = advances,
	 .min = 1,
	 .max = 100000000,
	 .initial = "\"auto\"",
	 FIELD(advance),
	 .doc = "How early the host timer fires, in ns; the rest is waited "
		"out; auto: tuned for each vCPU."},
	{.path = "timer.tuner",
	 .type = CONFIG_CHOICE,
	 .choices = tuners,
	 .initial = "\"quantile\"",
	 FIELD(tuner),
	 .doc = "How advance \"auto\" is tuned: so that a share of fires is in "
		"time (quantile), or to the mean cost (step)."},
	{.path = "timer.target_quantile",
	 .type = CONFIG_SHARE,
	 .min = 500,
	 .max = 999,
	 .initial = "0.99",
	 FIELD(target_quantile),
	 .doc = "The share of fires for which the vCPU is to be back in time; "
		"the larger, the longer it waits."},
	{.path = "timer.max_advance_ns",
	 .type = CONFIG_NUMBER,
	 .min = 1000,
	 .max = 100000000,
	 .initial = "400000",
	 FIELD(max_advance_ns),
	 .doc = "Upper limit of the advance, in ns; a wait may be longer by "
		"the entry cost."},
	{.path = "timer.max_spin_share",
	 .type = CONFIG_SHARE,
	 .max = 1000,
	 .initial = "0.25",
	 FIELD(max_spin_share),
	 .doc = "Upper limit of the advance as a share of the time from arm "
		"to deadline."},
	{.path = "timer.vmentry_advance",
	 .type = CONFIG_TUNE,
	 .choices = vmentry_advances,
	 .min = 1,
	 .max = 10000000,
	 .initial = "\"auto\"",
	 FIELD(vmentry_advance),
	 .doc = "Time from the end of the wait to the guest's first "
		"instruction: measured beside the start (auto), none (off), "
		"or ns, checked before the start and refused if too large "
		"(see allow_early)."},
	{.path = "timer.allow_early",
	 .type = CONFIG_BOOL,
	 .initial = "false",
	 FIELD(allow_early),
	 .doc = "Take a vmentry_advance in ns as it is, unmeasured: the timer "
		"may be early, and the result is marked."},
	{.path = "timer.strict_lvtt",
	 .type = CONFIG_BOOL,
	 .initial = "false",
	 FIELD(strict_lvtt),
	 .doc = "Exact effect of LVTT writes on an armed deadline, for one "
		"more ioctl an arm and a longer way into the guest."},
	{.path = "timer.timer_affinity",
	 .type = CONFIG_CPUS,
	 .nullable = true,
	 .max = CONFIG_CPU_MAX,
	 .initial = "null",
	 FIELD(timer_affinity),
	 .doc = "Host CPUs of the timer thread; null: not pinned."},
	{.path = "timer.unstable_tsc",
	 .type = CONFIG_CHOICE,
	 .choices = tsc_policies,
	 .initial = "\"refuse\"",
	 FIELD(unstable_tsc),
	 .doc = "What to do on a host whose clocksource is not the TSC."},
	{.path = "timer.halt_poll_ns",
	 .type = CONFIG_OPTIONAL,
	 .nullable = true,
	 .max = 1000000000,
	 .initial = "null",
	 FIELD(halt_poll_ns),
	 .doc = "Upper limit of KVM's polling before a halted vCPU sleeps, in "
		"ns, in either mode; null: as the host is set."},

	{.path = "console.serial",
	 .type = CONFIG_SERIAL,
	 .choices = serials,
	 .initial = "\"stdio\"",
	 FIELD(serial),
	 .doc = "Where the guest's serial port goes; file:PATH is relative to "
		"the working directory."},

	{.path = "run.timeout_ms",
	 .type = CONFIG_NUMBER,
	 .max = 604800000,
	 .initial = "30000",
	 FIELD(timeout_ms),
	 .doc = "Time limit of the run in ms; 0: none."},
	{.path = "run.exit_port",
	 .type = CONFIG_PORT,
	 .nullable = true,
	 .min = 1,
	 .max = 65535,
	 .initial = "244",
	 FIELD(exit_port),
	 .doc = "I/O port to which the guest writes its exit status; null: "
		"none."},
	{.path = "run.marker_port",
	 .type = CONFIG_PORT,
	 .nullable = true,
	 .min = 1,
	 .max = 65535,
	 .initial = "248",
	 FIELD(marker_port),
	 .doc = "I/O port to which the guest writes how far it is, for the "
		"result to tell when; null: none."},
	{.path = "run.exit_encoding",
	 .type = CONFIG_CHOICE,
	 .choices = encodings,
	 .initial = "\"raw\"",
	 FIELD(exit_encoding),
	 .doc = "What the written value means: the status itself, or QEMU's "
		"isa-debug-exit convention."},
	{.path = "run.stats_path",
	 .type = CONFIG_OUTPUT_PATH,
	 .nullable = true,
	 .initial = "null",
	 FIELD(stats_path),
	 .doc = "File for the result, relative to the working directory; "
		"\"-\": standard output; null: none."},
	{.path = "run.sandbox", .not_yet = true},
};

/* Ports of the PC that the VM's devices, or the guests' report, claim. */
static const struct config_port_range ports[] = {
	{0x20, 0x21, "the first interrupt controller"},
	{0x40, 0x43, "the interval timer"},
	{0x60, 0x64, "the keyboard controller"},
	{0x70, 0x71, "the real-time clock"},
	{0xa0, 0xa1, "the second interrupt controller"},
	{0xf5, 0xf5, "the report of the lateness guest"},
	{0x3f8, 0x3ff, "the serial port"},
	{0x4d0, 0x4d1, "the interrupt controllers"},
	{0x600, 0x605, "power management"},
	{0xcf8, 0xcff, "PCI configuration and reset control"},
};

/* Those of machine-config.test_device. */
static const struct config_port_range test_ports[] = {
	{0xe0, 0xeb, "the test device"},
	{0x510, 0x511, "fw_cfg"},
	{0x2000, 0x2017, "the test device"},
};

const struct config_key *config_table(size_t *count)
{
	*count = COUNT_OF(keys);
	return keys;
}

const struct config_key *config_table_find(const char *path, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		if (strlen(keys[i].path) == len &&
		    !memcmp(keys[i].path, path, len))
			return &keys[i];
	}
	return NULL;
}

static const struct config_port_range *
find_port(const struct config_port_range *ranges, size_t count, uint64_t port)
{
	for (size_t i = 0; i < count; i++) {
		if (port >= ranges[i].first && port <= ranges[i].last)
			return &ranges[i];
	}
	return NULL;
}

const struct config_port_range *config_port_owner(uint64_t port)
{
	return find_port(ports, COUNT_OF(ports), port);
}

const struct config_port_range *config_test_port_owner(uint64_t port)
{
	return find_port(test_ports, COUNT_OF(test_ports), port);
}
