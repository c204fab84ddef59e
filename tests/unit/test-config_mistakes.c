// SPDX-License-Identifier: MIT
/*
 * What a mistake in a config or an override is told, word for word: the
 * place, the key, what is wrong, how to mend it.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config_case.h"
#include "tap.h"

/* What a config file, or one with an override, is told. NULL: it is good. */
static const struct {
	const char *text;
	const char *set;
	const char *err;
} cases[] = {
	/* the document */
	{"", NULL, "c.json:1:1: expected a value, found the end of the text"},
	{"[]", NULL,
	 "c.json:1:1: expected an object with the sections boot-source, "
	 "machine-config, timer, console, run, found an array"},
	{"{}", NULL,
	 "c.json:1:1: boot-source.kernel_image_path: missing (name the guest "
	 "image)"},
	{"{}", "boot-source.kernel_image_path=k", NULL},
	{IMAGE ",\"timr\":{}}", NULL,
	 "c.json:1:53: timr: unknown section (there are: boot-source, "
	 "machine-config, timer, console, run)"},
	{IMAGE ",\"run\":[]}", NULL,
	 "c.json:1:52: run: expected an object, found an array"},
	{"{\n  \"run\": {\n    \"time\": 1\n  }\n}", NULL,
	 "c.json:3:13: run.time: unknown key (run has: timeout_ms, exit_port, "
	 "marker_port, exit_encoding, stats_path)"},
	{WITH("run", "\"timeout_ms\":1,\"timeout_ms\":1"), NULL,
	 "c.json:1:68: run.timeout_ms: a second member of this name (remove "
	 "one)"},
	{WITH("run", "\"tim\\u0065out_ms\":1"), NULL, NULL},
	{WITH("run", "\"timeout_ms\\u0000\":1"), NULL,
	 "c.json:1:72: run.timeout_ms\\u0000: unknown key (run has: "
	 "timeout_ms, exit_port, marker_port, exit_encoding, stats_path)"},
	/* a mistake does not hide behind an override */
	{WITH("timer", "\"mode\":\"kernle\""), "timer.mode=kernel",
	 "c.json:1:62: timer.mode: expected \"userspace\" or \"kernel\", "
	 "found \"kernle\""},
	/* numbers */
	{IMAGE "}", "machine-config.vcpu_count=0",
	 "--set machine-config.vcpu_count: expected a whole number from 1 to "
	 "64, found 0"},
	{IMAGE "}", "machine-config.vcpu_count=64", NULL},
	{IMAGE "}", "machine-config.vcpu_count=65",
	 "--set machine-config.vcpu_count: expected a whole number from 1 to "
	 "64, found 65"},
	{IMAGE "}", "machine-config.vcpu_count=4294967297",
	 "--set machine-config.vcpu_count: expected a whole number from 1 to "
	 "64, found 4294967297"},
	{IMAGE "}", "machine-config.mem_size_mib=65537",
	 "--set machine-config.mem_size_mib: expected a whole number from 1 "
	 "to 65536, found 65537"},
	{IMAGE "}", "run.timeout_ms=604800000", NULL},
	{IMAGE "}", "run.timeout_ms=\"1\"",
	 "--set run.timeout_ms: expected a whole number from 0 to 604800000, "
	 "found \"1\""},
	{IMAGE "}", "run.timeout_ms=null",
	 "--set run.timeout_ms: expected a whole number from 0 to 604800000, "
	 "found null"},
	{IMAGE "}", "timer.max_spin_share=0", NULL},
	{IMAGE "}", "timer.max_spin_share=-0.1",
	 "--set timer.max_spin_share: expected a number from 0 to 1, found "
	 "-0.1"},
	{IMAGE "}", "timer.max_spin_share=1e999",
	 "--set timer.max_spin_share: expected a number from 0 to 1, found "
	 "1e999"},
/* the advance: no number that means something else */
#define ADVANCE                                                                 \
	"--set timer.advance: expected \"off\", \"auto\" or a whole number of " \
	"ns from 1 to 100000000, found "
	{IMAGE "}", "timer.advance=-1", ADVANCE "-1"},
	{IMAGE "}", "timer.advance=-2", ADVANCE "-2"},
	{IMAGE "}", "timer.advance=1e9", ADVANCE "1e9"},
	{IMAGE "}", "timer.advance=1000000000", ADVANCE "1000000000"},
	{IMAGE "}", "timer.advance=1.5", ADVANCE "1.5"},
	{IMAGE "}", "timer.advance=0", ADVANCE "0"},
	{IMAGE "}", "timer.advance=auto ", ADVANCE "\"auto \""},
	{IMAGE "}", "timer.advance=Auto", ADVANCE "\"Auto\""},
	{IMAGE "}", "timer.advance=", ADVANCE "\"\""},
	{IMAGE "}", "timer.advance=true", ADVANCE "true"},
	{IMAGE "}", "timer.advance=off", NULL},
	{IMAGE "}", "timer.advance=400000", NULL},
	{IMAGE "}", "timer.advance=400001",
	 "--set timer.advance: 400001 is above timer.max_advance_ns, which is "
	 "400000 (lower the one or raise the other)"},
	{WITH("timer", "\"advance\":5000"), "timer.max_advance_ns=1000",
	 "c.json:1:65: timer.advance: 5000 is above timer.max_advance_ns, "
	 "which is 1000 (lower the one or raise the other)"},
	/* CPU lists */
	{IMAGE "}", "machine-config.cpu_affinity=[[0]]", NULL},
	{IMAGE "}", "machine-config.cpu_affinity=[[0],[1]]",
	 "--set machine-config.cpu_affinity: lists CPUs for 2 vCPUs, but "
	 "vcpu_count is 1 (give one list for each)"},
	{WITH("machine-config", "\"cpu_affinity\":[[0]]"),
	 "machine-config.vcpu_count=2",
	 "c.json:1:79: machine-config.cpu_affinity: lists CPUs for 1 vCPUs, "
	 "but vcpu_count is 2 (give one list for each)"},
	{IMAGE "}", "machine-config.cpu_affinity=[]",
	 "--set machine-config.cpu_affinity: expected one list of CPU numbers "
	 "for each vCPU, such as [[1]], or null, found an array"},
	{IMAGE "}", "machine-config.cpu_affinity=[0]",
	 "--set machine-config.cpu_affinity[0]: expected a list of at least "
	 "one CPU number, found a number"},
	{IMAGE "}", "machine-config.cpu_affinity=[[]]",
	 "--set machine-config.cpu_affinity[0]: expected a list of at least "
	 "one CPU number, found an empty one"},
	{WITH("machine-config", "\"cpu_affinity\":[[1,\n1024]]"), NULL,
	 "c.json:2:1: machine-config.cpu_affinity[0][1]: expected a CPU "
	 "number from 0 to 1023"},
	{IMAGE "}", "timer.timer_affinity=[3,3]",
	 "--set timer.timer_affinity[1]: CPU 3 is in this list already "
	 "(remove one)"},
	{IMAGE "}", "timer.timer_affinity=3",
	 "--set timer.timer_affinity: expected a list of CPU numbers, such as "
	 "[1], or null, found 3"},
	/* CPU features */
	{IMAGE "}", "machine-config.hide_cpuid=[\"cx17\"]",
	 "--set machine-config.hide_cpuid[0]: \"cx17\" is no CPU feature "
	 "known here (the names are those after \"flags\" in /proc/cpuinfo)"},
	{IMAGE "}", "machine-config.hide_cpuid=[\"cx16\",\"cx16\"]",
	 "--set machine-config.hide_cpuid[1]: \"cx16\" is in this list "
	 "already (remove one)"},
	{IMAGE "}", "machine-config.hide_cpuid=[1]",
	 "--set machine-config.hide_cpuid[0]: 1 is no CPU feature known here "
	 "(the names are those after \"flags\" in /proc/cpuinfo)"},
	{IMAGE "}", "machine-config.hide_cpuid=cx16",
	 "--set machine-config.hide_cpuid: expected a list of CPU feature "
	 "names, such as [\"cx16\"], found \"cx16\""},
	/* strings */
	{IMAGE "}", "boot-source.kernel_image_path=",
	 "--set boot-source.kernel_image_path: expected a file name, a string "
	 "of 1 to 4095 bytes, found \"\""},
	{IMAGE "}", "boot-source.kernel_image_path=\"a\\u0000b\"",
	 "--set boot-source.kernel_image_path: expected a file name, a string "
	 "of 1 to 4095 bytes, found \"a\\u0000b\""},
	{IMAGE "}", "boot-source.initrd_path=7",
	 "--set boot-source.initrd_path: expected a file name, a string of 1 "
	 "to 4095 bytes, or null, found 7"},
	{IMAGE "}", "boot-source.boot_args=7",
	 "--set boot-source.boot_args: expected a string, found 7"},
	{IMAGE "}", "boot-source.boot_args=\"a\\u0000b\"",
	 "--set boot-source.boot_args: a NUL character, which would end the "
	 "command line (remove \\u0000)"},
	{IMAGE "}", "boot-source.boot_args=caf\xc3\xa9",
	 "--set boot-source.boot_args: byte 0xc3 at offset 3: a command line "
	 "is printable ASCII (remove it)"},
	{IMAGE "}", "boot-source.boot_args=a\nb",
	 "--set boot-source.boot_args: byte 0x0a at offset 1: a command line "
	 "is printable ASCII (remove it)"},
	{IMAGE "}", "boot-source.boot_args=caf\xe9",
	 "--set boot-source.boot_args: a value that is not valid UTF-8"},
	/* console and port */
	{IMAGE "}", "console.serial=off", NULL},
	{IMAGE "}", "console.serial=file:",
	 "--set console.serial: expected \"stdio\", \"off\", \"pty\" or "
	 "\"file:PATH\", "
	 "found \"file:\""},
	{IMAGE "}", "run.exit_port=0",
	 "--set run.exit_port: expected an I/O port from 1 to 65535, or null, "
	 "found 0"},
	{IMAGE "}", "run.exit_port=65535", NULL},
	{IMAGE "}", "run.exit_port=65536",
	 "--set run.exit_port: expected an I/O port from 1 to 65535, or null, "
	 "found 65536"},
	{IMAGE "}", "run.exit_port=1016",
	 "--set run.exit_port: port 1016 (0x3f8) belongs to the serial port "
	 "(use another, such as 244)"},
	{IMAGE "}", "run.exit_port=1023",
	 "--set run.exit_port: port 1023 (0x3ff) belongs to the serial port "
	 "(use another, such as 244)"},
	{IMAGE "}", "run.exit_port=1024", NULL},
	{IMAGE "}", "run.exit_port=1535", NULL},
	{IMAGE "}", "run.exit_port=1536",
	 "--set run.exit_port: port 1536 (0x600) belongs to power management "
	 "(use another, such as 244)"},
	{IMAGE "}", "run.exit_port=1541",
	 "--set run.exit_port: port 1541 (0x605) belongs to power management "
	 "(use another, such as 244)"},
	{IMAGE "}", "run.exit_port=1542", NULL},
	{IMAGE "}", "run.marker_port=245",
	 "--set run.marker_port: port 245 (0xf5) belongs to the report of the "
	 "lateness guest (use another, such as 248)"},
	{IMAGE "}", "run.marker_port=65536",
	 "--set run.marker_port: expected an I/O port from 1 to 65535, or "
	 "null, found 65536"},
	{IMAGE "}", "run.exit_port=248",
	 "--set run.exit_port: port 248 is run.marker_port, too (use another for "
	 "one of them)"},
	{IMAGE "}", "run.marker_port=244",
	 "--set run.marker_port: port 244 is run.exit_port, too (use another for "
	 "one of them)"},
	{IMAGE "}", "machine-config.test_device=1",
	 "--set machine-config.test_device: expected true or false, found 1"},
	{IMAGE "}", "run.exit_port=224", NULL},
	{WITH("machine-config", "\"test_device\":true"), "run.exit_port=224",
	 "--set run.exit_port: port 224 (0xe0) belongs to the test device (use "
	 "another, or turn off machine-config.test_device)"},
	{WITH("machine-config", "\"test_device\":true"), "run.marker_port=235",
	 "--set run.marker_port: port 235 (0xeb) belongs to the test device "
	 "(use another, or turn off machine-config.test_device)"},
	{WITH("run", "\"marker_port\":1297"), "machine-config.test_device=true",
	 "c.json:1:67: run.marker_port: port 1297 (0x511) belongs to fw_cfg "
	 "(use another, or turn off machine-config.test_device)"},
	{WITH("machine-config", "\"test_device\":true"), "run.exit_port=null",
	 NULL},
	{WITH("machine-config", "\"test_device\":true"), "run.exit_port=236",
	 NULL},
	/* planned */
	{WITH("timer", "\"irqchip\":\"userspace\""), NULL,
	 "c.json:1:65: timer.irqchip: \"userspace\" is not in this version "
	 "(use \"auto\" or \"split\")"},
	{IMAGE "}", "timer.irqchip=userspace",
	 "--set timer.irqchip: \"userspace\" is not in this version (use "
	 "\"auto\" or \"split\")"},
	{IMAGE "}", "timer.strict_lvtt=0",
	 "--set timer.strict_lvtt: expected true or false, found 0"},
	{IMAGE "}", "console.serial=pty", NULL},
	{IMAGE "}", "boot-source.protocol=linux", NULL},
	{IMAGE "}", "boot-source.protocol=bzimage",
	 "--set boot-source.protocol: expected \"auto\", \"elf64\", \"pvh\", "
	 "\"multiboot\" or \"linux\", found \"bzimage\""},
	{WITH("timer", "\"target_quantile\":0.499"), NULL,
	 "c.json:1:73: timer.target_quantile: expected a number from 0.5 to "
	 "0.999, found 0.499"},
	{IMAGE "}", "timer.target_quantile=0.9991",
	 "--set timer.target_quantile: expected a number from 0.5 to 0.999, "
	 "found 0.9991"},
	{IMAGE "}", "timer.target_quantile=0.5", NULL},
	{IMAGE "}", "timer.target_quantile=0.999", NULL},
	{IMAGE "}", "timer.halt_poll_ns=0", NULL},
	{IMAGE "}", "timer.halt_poll_ns=null", NULL},
	{IMAGE "}", "timer.halt_poll_ns=1000000001",
	 "--set timer.halt_poll_ns: expected a whole number from 0 to "
	 "1000000000, or null, found 1000000001"},
	{WITH("timer", "\"source\":\"posix\",\"timer_affinity\":[0]"), NULL,
	 "c.json:1:89: timer.timer_affinity: with timer.source \"posix\" there "
	 "is no timer thread (remove it, or use \"timerfd\")"},
	{IMAGE "}", "timer.allow_early=true",
	 "--set timer.allow_early: only with a timer.vmentry_advance in ns "
	 "(remove it, or give a number there)"},
	{IMAGE "}", "run.sandbox=null",
	 "--set run.sandbox: this key is not in this version (remove it)"},
	/* overrides that are none */
	{IMAGE "}", "timer.mode",
	 "--set timer.mode: expected KEY=VALUE, such as timer.mode=kernel"},
	{IMAGE "}", "console.serail=off",
	 "--set console.serail: unknown key (console has: serial)"},
#define NO_KEY                                                              \
	"unknown key (write SECTION.KEY=VALUE, such as timer.mode=kernel, " \
	"or boot_args.WORD=VALUE)"
	{IMAGE "}", "timer={}", "--set timer: " NO_KEY},
	{IMAGE "}", "=1", "--set : " NO_KEY},
	{IMAGE "}", "nothing.here=1", "--set nothing.here: " NO_KEY},
	/* one line for the terminal, whatever the key looks like */
	{IMAGE "}", "timer.mode=a\x7f",
	 "--set timer.mode: expected \"userspace\" or \"kernel\", found "
	 "\"a?\""},
	{WITH("timer", "\"mode\":\"\x7f\""), NULL,
	 "c.json:1:62: timer.mode: expected \"userspace\" or \"kernel\", "
	 "found \"?\""},
	{IMAGE "}", "a\nb\x1b[2J\x7f=1", "--set a?b?[2J?: " NO_KEY},
	{IMAGE "}", "\t",
	 "--set ?: expected KEY=VALUE, such as timer.mode=kernel"},
	{IMAGE "}", "timer.\n=1",
	 "--set timer.?: unknown key (timer has: mode, irqchip, source, "
	 "advance, tuner, target_quantile, max_advance_ns, max_spin_share, "
	 "vmentry_advance, allow_early, strict_lvtt, timer_affinity, "
	 "unstable_tsc, halt_poll_ns)"},
	{IMAGE "}", "boot_args.\r=a",
	 "--set boot_args.?: expected WORD=VALUE in printable ASCII without "
	 "spaces"},
	{"{\"boot-source\":{\"kernel_image_path\":\"k.elf\","
	 "\"boot_args\":\"run=\\\"ls /\\\" a=b\"}}",
	 "boot_args.a=c",
	 "--set boot_args.a: the command line has quotes, which only its guest "
	 "can read (set boot-source.boot_args as a whole)"},
	{IMAGE "}", "boot_args.wait",
	 "--set boot_args.wait: expected WORD=VALUE in printable ASCII "
	 "without spaces"},
	{IMAGE "}", "boot_args.wait=a b",
	 "--set boot_args.wait: expected WORD=VALUE in printable ASCII "
	 "without spaces"},
	{IMAGE "}", "boot_args.=a",
	 "--set boot_args.: expected WORD=VALUE in printable ASCII without "
	 "spaces"},
};

/* True if it went as the case says; else says what came instead. */
static bool case_holds(size_t i)
{
	struct config c;
	int ret = load(cases[i].text, cases[i].set, NULL, &c);
	const char *expected = cases[i].err ? cases[i].err : "";

	if (!strcmp(err, expected) && ret == (*expected ? -EINVAL : 0) &&
	    !c.boot_args == !!*expected) {
		config_free(&c);
		return true;
	}
	fprintf(stderr, "case %zu: %d\n  %s\nexpected\n  %s\n", i, ret, err,
		expected);
	return false;
}

/* All in one process: a fork for each would take longer than all of them. */
START_TEST(test_config_mistakes_are_told)
{
	size_t failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		failed += !case_holds(i);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_mistakes");
	TCase *tc = tcase_create("config_mistakes");

	tcase_set_timeout(tc, 60); /* for sanitizers on a busy host */
	tcase_add_test(tc, test_config_mistakes_are_told);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
