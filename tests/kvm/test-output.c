/* SPDX-License-Identifier: MIT */
/*
 * Proves that standard output carries the guest's serial port and nothing
 * else; that results go where they are asked for; and that mistakes of the
 * user and outputs that cannot be written end with a status of their own (64,
 * 74, 78) and one line that says what to mend, without a guest having run
 * where that can be known before.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doc.h"
#include "end.h"
#include "env.h"

static struct env env;

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

/* Mistakes in what is set: the status, and what the line must name. */
static const struct {
	const char *image, *set;
	int status;
	const char *complaint;
} mistakes[] = {
	{"no-such.elf", NULL, EXIT_STATUS_CONFIG, "no-such.elf"},
	{"/", NULL, EXIT_STATUS_CONFIG, "/"},
	{"/proc/self/cmdline", NULL, EXIT_STATUS_CONFIG, "/proc/self/cmdline"},
	{"hello.elf", "timer.mood=kernel", EXIT_STATUS_CONFIG, "timer.mood"},
	{"hello.elf", "timer.mode=neither", EXIT_STATUS_CONFIG, "timer.mode"},
	{"hello.elf", "timer.advance=-1", EXIT_STATUS_CONFIG, "timer.advance"},
	{"hello.elf", "machine-config.vcpu_count=65", EXIT_STATUS_CONFIG,
	 "vcpu_count"},
	{"hello.elf", "run.sandbox=true", EXIT_STATUS_CONFIG, "run.sandbox"},
	{"hello.elf", "boot-source.initrd_path=/no/such/initrd",
	 EXIT_STATUS_CONFIG, "/no/such/initrd"},
	{"hello.elf", "boot-source.protocol=elf64", EXIT_STATUS_CONFIG,
	 "hello.elf"},
	{"plain64.elf", "boot-source.protocol=multiboot", EXIT_STATUS_CONFIG,
	 "Multiboot"},
	/* The image begins at 1 MiB. */
	{"hello.elf", "machine-config.mem_size_mib=1", EXIT_STATUS_CONFIG,
	 "mem_size_mib"},
	{"hello.elf", "--json", EXIT_STATUS_CONFIG, "stdout"},
	{"hello.elf", "run.stats_path=-", EXIT_STATUS_CONFIG, "stdout"},
	{"hello.elf", "run.stats_path=/no/such/dir/stats.json",
	 EXIT_STATUS_OUTPUT, "/no/such/dir/stats.json"},
	{"hello.elf", "--json=/no/such/dir/r.json", EXIT_STATUS_OUTPUT,
	 "/no/such/dir/r.json"},
	{"hello.elf", "console.serial=file:/no/such/dir/log",
	 EXIT_STATUS_OUTPUT, "/no/such/dir/log"},
};

START_TEST(test_output_mistakes_start_no_guest)
{
	struct run run;

	env_guest(&env, &run, mistakes[_i].image, "",
		  SETS(env_any_mode(&env), mistakes[_i].set));
	env_expect_status(&run, mistakes[_i].status);
	env_expect_complaint(&run, mistakes[_i].complaint);
	ck_assert_str_eq(run.out.text, "");
	run_free(&run);
}
END_TEST

/* Files that are no config; %s in the complaint's place is the file. */
static const struct {
	const char *text, *complaint;
} configs[] = {
	{"", ":1:1"},
	{"{\"boot-source\": {\n  \"kernel_image_path\": \"x\",\n}}", ":3:1"},
	{"{\"boot-source\": {\"kernel_image_path\": \"x\", \"initrd\": 1}}",
	 "boot-source.initrd"},
	{"{\"boot-source\": {\"kernel_image_path\": \"x\"},\n"
	 " \"boot-source\": {}}",
	 ":2:2"},
	{"{}", "kernel_image_path"},
};

START_TEST(test_output_bad_config_names_the_place)
{
	char path[PATH_MAX];
	struct run run;

	write_file(env_path(&env, "bad.json", path), configs[_i].text);
	env_punctual(&env, &run, SETS("run", path));
	env_expect_status(&run, EXIT_STATUS_CONFIG);
	env_expect_complaint(&run, configs[_i].complaint);
	ck_assert_ptr_nonnull(strstr(run.err.text, "bad.json"));
	run_free(&run);
	env_punctual(&env, &run, SETS("check", path));
	env_expect_status(&run, EXIT_STATUS_CONFIG);
	run_free(&run);
}
END_TEST

START_TEST(test_output_missing_config)
{
	struct run run;

	env_punctual(&env, &run, SETS("run", "/no/such/config.json"));
	env_expect_status(&run, EXIT_STATUS_CONFIG);
	env_expect_complaint(&run, "/no/such/config.json");
	run_free(&run);
}
END_TEST

static const char *const usages[][4] = {
	{NULL},
	{"walk"},
	{"run"},
	{"run", "a.json", "b.json"},
	{"run", "a.json", "--rounds", "3"},
	{"run", "a.json", "--no-such-option"},
	{"run", "a.json", "--set"},
	{"run", "a.json", "-q", "-v"},
	{"check"},
	{"probe", "a.json"},
	{"bench"},
};

START_TEST(test_output_usage)
{
	struct run run;

	env_punctual(&env, &run,
		     SETS(usages[_i][0], usages[_i][1], usages[_i][2],
			  usages[_i][3]));
	env_expect_status(&run, EXIT_STATUS_USAGE);
	ck_assert_str_eq(run.out.text, "");
	ck_assert_int_eq(strncmp(run.err.text, "punctual: ", 10), 0);
	ck_assert_ptr_nonnull(strstr(run.err.text, "usage: punctual"));
	run_free(&run);
}
END_TEST

/* A full device, for each thing that writes. What a guest's console meets is
 * found while it runs. */
START_TEST(test_output_full_device)
{
	static const struct {
		const char *set;
		const char *stdout_path;
	} writes[] = {
		{"--json=/dev/full", NULL},
		{"run.stats_path=/dev/full", NULL},
		{"console.serial=file:/dev/full", NULL},
		{NULL, "/dev/full"},
	};
	struct run run;

	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		int fd = -1;

		if (writes[i].stdout_path)
			fd = open(writes[i].stdout_path, O_WRONLY | O_CLOEXEC);
		env_start(&env, &run, fd, "hello.elf", "status=0",
			  SETS(env_any_mode(&env), writes[i].set));
		if (fd >= 0)
			close(fd);
		env_finish(&env, &run);
		env_expect_status(&run, EXIT_STATUS_OUTPUT);
		env_expect_complaint(&run, "No space left");
		run_free(&run);
	}
}
END_TEST

/* As in `punctual run ... | head -1`: the reader goes away. */
START_TEST(test_output_reader_gone)
{
	struct run run;

	env_start(&env, &run, -1, "hello.elf", "flood",
		  SETS(env_any_mode(&env), "run.timeout_ms=0"));
	ck_assert(run_await_out(&run, "flood, line 1\n", env_ms(&env, 20000)));
	close(run.out.fd);
	run.out.fd = -1;
	env_finish(&env, &run);
	env_expect_status(&run, EXIT_STATUS_OUTPUT);
	env_expect_complaint(&run, "Broken pipe");
	run_free(&run);
}
END_TEST

/* Everything that was printed arrives, at whatever the run ends by. */
START_TEST(test_output_console_file)
{
	char path[PATH_MAX], set[PATH_MAX + 32], text[256] = "";
	struct run run;
	FILE *file;

	snprintf(set, sizeof(set), "console.serial=file:%s",
		 env_path(&env, "serial", path));
	env_guest(&env, &run, "hello.elf", "status=3",
		  SETS(env_any_mode(&env), set));
	env_expect_status(&run, 3);
	ck_assert_str_eq(run.out.text, "");
	ck_assert_str_eq(run.err.text, "");
	run_free(&run);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	ck_assert_str_eq(text, "hello: booted by pvh, command line "
			       "\"status=3\"\n");
}
END_TEST

START_TEST(test_output_console_off)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct json_doc doc;
	struct run run;

	/* With nothing else there, the result may have standard output. */
	env_guest(&env, &run, "hello.elf", "status=4",
		  SETS(env_any_mode(&env), "console.serial=off", "--json"));
	env_expect_status(&run, 4);
	ck_assert_int_eq(strncmp(run.out.text, "{\n", 2), 0);
	run_free(&run);

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "off.json", path));
	env_guest(&env, &run, "hello.elf", "status=4",
		  SETS(env_any_mode(&env), "console.serial=off", option));
	env_expect_status(&run, 4);
	ck_assert_str_eq(run.out.text, "");
	doc_load(&doc, path);
	ck_assert_uint_eq(doc_u64(&doc, "bus.console_bytes"),
			  strlen("hello: booted by pvh, command line "
				 "\"status=4\"\n"));
	json_free(&doc);
	run_free(&run);
}
END_TEST

/* Both places hold the same document, also when the run does not end well. */
START_TEST(test_output_results_in_both_places)
{
	char path[2][PATH_MAX], set[PATH_MAX + 32], option[PATH_MAX + 16];
	struct json_doc doc[2];
	struct run run;

	snprintf(set, sizeof(set), "run.stats_path=%s",
		 env_path(&env, "stats.json", path[0]));
	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "json.json", path[1]));
	env_guest(&env, &run, "hello.elf", "triple",
		  SETS(env_any_mode(&env), set, option));
	env_expect_status(&run, EXIT_STATUS_TRIPLE_FAULT);
	run_free(&run);
	doc_load(&doc[0], path[0]);
	doc_load(&doc[1], path[1]);
	ck_assert_str_eq(doc[0].text, doc[1].text);
	ck_assert_uint_eq(doc_u64(&doc[0], "end.status"),
			  EXIT_STATUS_TRIPLE_FAULT);
	json_free(&doc[0]);
	json_free(&doc[1]);
}
END_TEST

START_TEST(test_output_verbose_and_quiet)
{
	struct run run;

	env_guest(&env, &run, "hello.elf", "status=0",
		  SETS(env_any_mode(&env), "-v"));
	env_expect_status(&run, 0);
	ck_assert_ptr_nonnull(strstr(run.err.text, "rung"));
	ck_assert_ptr_null(strstr(run.out.text, "rung"));
	run_free(&run);
	/* Quiet is about what is not an error. */
	env_guest(&env, &run, "hello.elf", "status=99",
		  SETS(env_any_mode(&env), "-q"));
	env_expect_status(&run, EXIT_STATUS_GUEST_RANGE);
	env_expect_complaint(&run, "99");
	run_free(&run);
}
END_TEST

static Suite *output_suite(void)
{
	Suite *suite = suite_create("output");
	TCase *tcase = env_case(suite, "mistakes");

	tcase_add_loop_test(tcase, test_output_mistakes_start_no_guest, 0,
			    sizeof(mistakes) / sizeof(mistakes[0]));
	tcase_add_loop_test(tcase, test_output_bad_config_names_the_place, 0,
			    sizeof(configs) / sizeof(configs[0]));
	tcase_add_test(tcase, test_output_missing_config);
	tcase_add_loop_test(tcase, test_output_usage, 0,
			    sizeof(usages) / sizeof(usages[0]));
	tcase = env_case(suite, "writes");
	tcase_add_test(tcase, test_output_full_device);
	tcase_add_test(tcase, test_output_reader_gone);
	tcase = env_case(suite, "places");
	tcase_add_test(tcase, test_output_console_file);
	tcase_add_test(tcase, test_output_console_off);
	tcase_add_test(tcase, test_output_results_in_both_places);
	tcase_add_test(tcase, test_output_verbose_and_quiet);
	return suite;
}

int main(void)
{
	return env_run(&env, output_suite);
}
