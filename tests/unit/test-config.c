// SPDX-License-Identifier: MIT
/*
 * Loading a config: defaults, values, overrides, what is written back.
 * Mistakes: test-config_mistakes.c. The table against schema and man page:
 * test-config_table.c.
 */
#define _GNU_SOURCE /* CPU_COUNT */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_case.h"
#include "cpuid_flags.h"
#include "json.h"
#include "jsonw.h"
#include "tap.h"

#define COUNT_OF(array) (int)(sizeof(array) / sizeof((array)[0]))

START_TEST(test_config_defaults)
{
	struct config c;

	ck_assert_msg(!load(IMAGE "}", NULL, NULL, &c), "%s", err);
	ck_assert_str_eq(c.kernel_image_path, "k.elf");
	ck_assert_ptr_null(c.initrd_path);
	ck_assert_str_eq(c.boot_args, "");
	ck_assert_int_eq(c.protocol, BOOT_AUTO);
	ck_assert_uint_eq(c.vcpu_count, 1);
	ck_assert_uint_eq(c.mem_size_mib, 64);
	ck_assert_ptr_null(c.cpu_affinity);
	ck_assert_uint_eq(c.hide_cpuid_count, 0);
	ck_assert(!c.test_device);
	ck_assert_int_eq(c.mode, TIMER_USERSPACE);
	ck_assert_int_eq(c.irqchip, IRQCHIP_AUTO);
	ck_assert_int_eq(c.source, TIMER_SOURCE_TIMERFD);
	ck_assert_int_eq(c.advance.mode, TUNE_AUTO);
	ck_assert_int_eq(c.tuner, TUNER_CHOICE_QUANTILE);
	ck_assert(c.target_quantile == 0.99);
	ck_assert_uint_eq(c.max_advance_ns, 400000);
	ck_assert(c.max_spin_share == 0.25);
	ck_assert_int_eq(c.vmentry_advance.mode, TUNE_AUTO);
	ck_assert_ptr_null(c.timer_affinity);
	ck_assert_int_eq(c.unstable_tsc, TSC_REFUSE_UNSTABLE);
	ck_assert(!c.halt_poll_ns.is_given);
	ck_assert_int_eq(c.serial, SERIAL_STDIO);
	ck_assert_ptr_null(c.serial_path);
	ck_assert_uint_eq(c.timeout_ms, 30000);
	ck_assert(c.exit_port.is_given);
	ck_assert_uint_eq(c.exit_port.value, 244);
	ck_assert(c.marker_port.is_given);
	ck_assert_uint_eq(c.marker_port.value, 248);
	ck_assert_int_eq(c.exit_encoding, EXIT_RAW);
	ck_assert_ptr_null(c.stats_path);
	config_free(&c);
	ck_assert_ptr_null(c.kernel_image_path);
	config_free(&c);
}
END_TEST

/* Every key with a value that is not its default. */
static const char full[] =
	"{\"boot-source\":{\"kernel_image_path\":\"k.elf\",\"initrd_path\":"
	"\"/i\",\"boot_args\":\"a=1 b\",\"protocol\":\"pvh\"},"
	"\"machine-config\":{\"vcpu_count\":2,\"mem_size_mib\":65536,"
	"\"cpu_affinity\":[[0,1023],[1]],\"hide_cpuid\":[\"mmx\",\"cx16\"],"
	"\"test_device\":true},"
	"\"timer\":{\"mode\":\"kernel\",\"irqchip\":\"split\",\"source\":"
	"\"timerfd\",\"advance\":2000,\"tuner\":\"step\",\"target_quantile\":0.875,"
	"\"max_advance_ns\":2000,\"max_spin_share\":1,\"vmentry_advance\":140,\"allow_early\":true,"
	"\"strict_lvtt\":true,\"timer_affinity\":[0],\"unstable_tsc\":"
	"\"allow\",\"halt_poll_ns\":7000},\"console\":{\"serial\":\"file:log/x\"},\"run\":{"
	"\"timeout_ms\":0,\"exit_port\":null,\"marker_port\":501,\"exit_encoding\":"
	"\"isa-debug-exit\",\"stats_path\":\"-\"}}";

START_TEST(test_config_every_key)
{
	struct config c;

	ck_assert_msg(!load(full, NULL, NULL, &c), "%s", err);
	ck_assert_str_eq(c.initrd_path, "/i");
	ck_assert_str_eq(c.boot_args, "a=1 b");
	ck_assert_int_eq(c.protocol, BOOT_PVH);
	ck_assert_uint_eq(c.vcpu_count, 2);
	ck_assert_uint_eq(c.mem_size_mib, 65536);
	ck_assert_uint_eq(c.cpu_affinity_count, 2);
	ck_assert_int_eq(CPU_COUNT(&c.cpu_affinity[0]), 2);
	ck_assert(CPU_ISSET(0, &c.cpu_affinity[0]));
	ck_assert(CPU_ISSET(1023, &c.cpu_affinity[0]));
	ck_assert_int_eq(CPU_COUNT(&c.cpu_affinity[1]), 1);
	ck_assert(CPU_ISSET(1, &c.cpu_affinity[1]));
	ck_assert_uint_eq(c.hide_cpuid_count, 3); /* mmx has two bits */
	ck_assert_uint_eq(c.hide_cpuid[0]->leaf, 1);
	ck_assert_uint_eq(c.hide_cpuid[1]->leaf, 0x80000001);
	ck_assert_str_eq(c.hide_cpuid[2]->name, "cx16");
	ck_assert(c.test_device);
	ck_assert_int_eq(c.mode, TIMER_KERNEL);
	ck_assert_int_eq(c.irqchip, IRQCHIP_SPLIT);
	ck_assert_int_eq(c.advance.mode, TUNE_FIXED);
	ck_assert_uint_eq(c.advance.ns, 2000);
	ck_assert_int_eq(c.tuner, TUNER_CHOICE_STEP);
	ck_assert(c.target_quantile == 0.875);
	ck_assert(c.max_spin_share == 1);
	ck_assert_int_eq(c.vmentry_advance.mode, TUNE_FIXED);
	ck_assert_uint_eq(c.vmentry_advance.ns, 140);
	ck_assert(c.allow_early);
	ck_assert(c.strict_lvtt);
	ck_assert_int_eq(CPU_COUNT(c.timer_affinity), 1);
	ck_assert_int_eq(c.unstable_tsc, TSC_ALLOW_UNSTABLE);
	ck_assert(c.halt_poll_ns.is_given);
	ck_assert_uint_eq(c.halt_poll_ns.value, 7000);
	ck_assert_int_eq(c.serial, SERIAL_FILE);
	ck_assert_str_eq(c.serial_path, "log/x");
	ck_assert_uint_eq(c.timeout_ms, 0);
	ck_assert(!c.exit_port.is_given);
	ck_assert(c.marker_port.is_given);
	ck_assert_uint_eq(c.marker_port.value, 501);
	ck_assert_int_eq(c.exit_encoding, EXIT_ISA_DEBUG);
	ck_assert_str_eq(c.stats_path, "-");
	config_free(&c);
}
END_TEST

START_TEST(test_config_unreadable_file)
{
	struct config c;

	ck_assert_int_eq(
		config_load("/none/c.json", NULL, 0, &c, err, sizeof(err)),
		-ENOENT);
	ck_assert_str_eq(err, "/none/c.json: No such file or directory");
}
END_TEST

START_TEST(test_config_last_override_wins)
{
	struct config c;

	ck_assert_msg(
		!load(full, "timer.advance=off", "timer.advance=1500", &c),
		"%s", err);
	ck_assert_uint_eq(c.advance.ns, 1500);
	config_free(&c);
	ck_assert_msg(
		!load(full, "timer.advance=1500", "timer.advance=off", &c),
		"%s", err);
	ck_assert_int_eq(c.advance.mode, TUNE_OFF);
	ck_assert_uint_eq(c.advance.ns, 0);
	config_free(&c);
}
END_TEST

/* Overrides take the place of what the file said, lists and null included. */
START_TEST(test_config_override_replaces)
{
	static const char *const sets[] = {
		"machine-config.hide_cpuid=[]",
		"machine-config.test_device=false",
		"machine-config.cpu_affinity=null",
		"timer.timer_affinity=[7]",
		"console.serial=pty",
		"boot-source.initrd_path=null",
		"run.stats_path=s.json",
		"run.exit_port=500",
		"run.marker_port=null",
		"timer.halt_poll_ns=null",
		"boot-source.boot_args=\"12\"",
	};
	char path[] = "/tmp/test-config-XXXXXX";
	struct config c;
	int fd = mkstemp(path), ret;

	ck_assert_int_eq(write(fd, full, strlen(full)), (int)strlen(full));
	close(fd);
	ret = config_load(path, sets, COUNT_OF(sets), &c, err, sizeof(err));
	unlink(path);
	ck_assert_msg(!ret, "%s", err);
	ck_assert_uint_eq(c.hide_cpuid_count, 0);
	ck_assert(!c.test_device);
	ck_assert_ptr_null(c.cpu_affinity);
	ck_assert_int_eq(CPU_COUNT(c.timer_affinity), 1);
	ck_assert(CPU_ISSET(7, c.timer_affinity));
	ck_assert_int_eq(c.serial, SERIAL_PTY);
	ck_assert_ptr_null(c.serial_path);
	ck_assert_ptr_null(c.initrd_path);
	ck_assert_str_eq(c.stats_path, "s.json");
	ck_assert(c.exit_port.is_given);
	ck_assert_uint_eq(c.exit_port.value, 500);
	ck_assert(!c.marker_port.is_given);
	ck_assert(!c.halt_poll_ns.is_given);
	ck_assert_uint_eq(c.halt_poll_ns.value, 0);
	ck_assert_str_eq(c.boot_args, "12");
	config_free(&c);
}
END_TEST

static const struct {
	const char *before, *set, *after;
} words[] = {
	{"", "wait=hlt", "wait=hlt"},
	{"wait=spin", "wait=hlt", "wait=hlt"},
	{"wait=spin fires=1", "wait=hlt", "wait=hlt fires=1"},
	{"fires=1 wait=spin", "wait=", "fires=1 wait="},
	{"fires=1", "wait=hlt", "fires=1 wait=hlt"},
	{"fires=1 ", "wait=hlt", "fires=1 wait=hlt"},
	{"wait=a x wait=b y", "wait=c", "wait=c x y"},
	{"  a  wait=1  b  ", "wait=2", "  a  wait=2  b  "},
	{"waits=1 await=2 wait", "wait=3", "waits=1 await=2 wait wait=3"},
	{"a=b=c", "a=d=e", "a=d=e"},
	{"console.x=1", "console.x=2", "console.x=2"},
};

START_TEST(test_config_word_override)
{
	char text[256], set[64];
	struct config c;

	snprintf(text, sizeof(text),
		 "{\"boot-source\":{\"kernel_image_path\":\"k\","
		 "\"boot_args\":\"%s\"}}",
		 words[_i].before);
	snprintf(set, sizeof(set), "boot_args.%s", words[_i].set);
	ck_assert_msg(!load(text, set, NULL, &c), "%s", err);
	ck_assert_str_eq(c.boot_args, words[_i].after);
	config_free(&c);
}
END_TEST

START_TEST(test_config_word_override_follows_the_line_override)
{
	struct config c;

	ck_assert_msg(
		!load(full, "boot-source.boot_args=x=1", "boot_args.y=2", &c),
		"%s", err);
	ck_assert_str_eq(c.boot_args, "x=1 y=2");
	config_free(&c);
}
END_TEST

START_TEST(test_config_input_paths_follow_the_file)
{
	const char *const sets[] = {"boot-source.initrd_path=sub/i",
				    "run.stats_path=s.json"};
	struct config c;

	ck_assert_int_eq(config_load(TEST_SOURCE_ROOT "/configs/hello.json",
				     sets, 2, &c, err, sizeof(err)),
			 0);
	ck_assert_str_eq(c.kernel_image_path, TEST_SOURCE_ROOT
			 "/configs/../build/guest-fw/hello.elf");
	ck_assert_str_eq(c.initrd_path, TEST_SOURCE_ROOT "/configs/sub/i");
	ck_assert_str_eq(c.stats_path, "s.json");
	config_free(&c);
	ck_assert_int_eq(chdir(TEST_SOURCE_ROOT "/configs"), 0);
	ck_assert_int_eq(
		config_load("hello.json", sets, 2, &c, err, sizeof(err)), 0);
	ck_assert_str_eq(c.initrd_path, "sub/i");
	config_free(&c);
}
END_TEST

/* Writes the config as `check` does; the text is to be freed. */
static char *effective(const struct config *config)
{
	struct jsonw w;
	size_t len;
	char *text;

	jsonw_init(&w, 2, JSON_SIZE_MAX);
	jsonw_object_begin(&w, NULL);
	config_write_effective(config, &w);
	jsonw_object_end(&w);
	text = strdup(jsonw_text(&w, &len));
	jsonw_free(&w);
	return text;
}

/* What is written is a config that means the same. */
START_TEST(test_config_effective_loads_again)
{
	static const char *const texts[] = {IMAGE "}", full};
	struct config c;
	char *first, *second;

	ck_assert_msg(!load(texts[_i], "timer.mode=userspace", NULL, &c), "%s",
		      err);
	first = effective(&c);
	config_free(&c);
	ck_assert_msg(!load(first, NULL, NULL, &c), "%s", err);
	second = effective(&c);
	config_free(&c);
	ck_assert_str_eq(first, second);
	free(first);
	free(second);
}
END_TEST

START_TEST(test_config_effective_values)
{
	static const char expected[] =
		"{\"boot-source\":{\"kernel_image_path\":\"k.elf\","
		"\"initrd_path\":\"/i\",\"boot_args\":\"a=1 b\",\"protocol\":"
		"\"pvh\"},\"machine-config\":{\"vcpu_count\":2,"
		"\"mem_size_mib\":65536,\"cpu_affinity\":[[0,1023],[1]],"
		"\"hide_cpuid\":[\"mmx\",\"cx16\"],\"test_device\":true},"
		"\"timer\":{\"mode\":"
		"\"kernel\",\"irqchip\":\"split\",\"source\":\"timerfd\","
		"\"advance\":2000,\"tuner\":\"step\",\"target_quantile\":0.875,\"max_advance_ns\":2000,"
		"\"max_spin_share\":1,\"vmentry_advance\":140,"
		"\"allow_early\":true,\"strict_lvtt\":true,\"timer_affinity\":[0],"
		"\"unstable_tsc\":\"allow\",\"halt_poll_ns\":7000},"
		"\"console\":{\"serial\":"
		"\"file:log/x\"},\"run\":{\"timeout_ms\":0,\"exit_port\":null,"
		"\"marker_port\":501,"
		"\"exit_encoding\":\"isa-debug-exit\",\"stats_path\":\"-\"},"
		"\"unused\":[\"timer.irqchip\",\"timer.source\","
		"\"timer.advance\",\"timer.tuner\",\"timer.target_quantile\",\"timer.max_advance_ns\","
		"\"timer.max_spin_share\",\"timer.vmentry_advance\","
		"\"timer.allow_early\",\"timer.strict_lvtt\",\"timer.timer_affinity\","
		"\"timer.unstable_tsc\"]}";
	struct config c;
	struct jsonw w;
	size_t len;

	ck_assert_msg(!load(full, NULL, NULL, &c), "%s", err);
	jsonw_init(&w, 0, JSON_SIZE_MAX);
	jsonw_object_begin(&w, NULL);
	config_write_effective(&c, &w);
	jsonw_object_end(&w);
	ck_assert_str_eq(jsonw_text(&w, &len), expected);
	jsonw_free(&w);
	config_free(&c);
}
END_TEST

/* Whatever is in configs/ but the schemas. */
START_TEST(test_config_named_configs_are_valid)
{
	struct dirent **entries;
	int count =
		scandir(TEST_SOURCE_ROOT "/configs", &entries, NULL, alphasort);
	int found = 0;

	ck_assert_int_gt(count, 0);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		struct config c;
		char path[512];

		snprintf(path, sizeof(path), TEST_SOURCE_ROOT "/configs/%s",
			 name);
		if (strstr(name, ".json") && !strstr(name, "schema.json")) {
			ck_assert_msg(!config_load(path, NULL, 0, &c, err,
						   sizeof(err)),
				      "%s", err);
			config_free(&c);
			found++;
		}
		free(entries[i]);
	}
	free(entries);
	ck_assert_int_ge(found, 5);
}
END_TEST

/* Damage to a config is an error or harmless, and frees all it took. */
START_TEST(test_config_survives_changes)
{
	char text[sizeof(full)], path[] = "/tmp/test-config-XXXXXX";
	int fd = mkstemp(path);

	for (size_t at = 0; at < sizeof(full) - 1; at += 3) {
		struct config c;

		memcpy(text, full, sizeof(full));
		text[at] = "\"0}],:x"[at % 7];
		if (pwrite(fd, text, sizeof(full) - 1, 0) < 0)
			ck_abort();
		if (config_load(path, NULL, 0, &c, err, sizeof(err)) == 0)
			config_free(&c);
		else if (c.boot_args || strchr(err, '\n') || !*err)
			ck_abort_msg("%s", err);
	}
	close(fd);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tc = tcase_create("config");

	tcase_set_timeout(tc, 60); /* for sanitizers on a busy host */
	tcase_add_test(tc, test_config_defaults);
	tcase_add_test(tc, test_config_every_key);
	tcase_add_test(tc, test_config_unreadable_file);
	tcase_add_test(tc, test_config_last_override_wins);
	tcase_add_test(tc, test_config_override_replaces);
	tcase_add_loop_test(tc, test_config_word_override, 0, COUNT_OF(words));
	tcase_add_test(tc, test_config_word_override_follows_the_line_override);
	tcase_add_test(tc, test_config_input_paths_follow_the_file);
	tcase_add_loop_test(tc, test_config_effective_loads_again, 0, 2);
	tcase_add_test(tc, test_config_effective_values);
	tcase_add_test(tc, test_config_named_configs_are_valid);
	tcase_add_test(tc, test_config_survives_changes);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
