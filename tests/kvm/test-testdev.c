/* SPDX-License-Identifier: MIT */
/*
 * Proves, with the guest `testdev`, that instructions of every width reach the
 * devices of machine-config.test_device through KVM, that a page which KVM must
 * look up anew keeps its contents, and that fw_cfg tells of this very machine;
 * and that without the key there is nothing. What KVM does with the page is
 * not to be seen from either side.
 */
#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "env.h"

static struct env env;

START_TEST(test_testdev_is_there)
{
	static const char *const modes[] = {"timer.mode=kernel",
					    "timer.mode=userspace"};
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct json_doc doc;
	struct run run;

	if (_i && !env.userspace)
		return;
	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "testdev.json", path));
	env_guest(&env, &run, "testdev.elf", "",
		  SETS(modes[_i], "machine-config.test_device=true",
		       "machine-config.vcpu_count=3",
		       "machine-config.mem_size_mib=65", option,
		       env.allow_unstable ? "timer.unstable_tsc=allow" : NULL));
	env_expect_status(&run, 0);
	/* 65 MiB. */
	ck_assert_msg(strstr(run.out.text, "testdev: RAM 68157440 CPUs 3\n"),
		      "%s", run.out.text);
	run_free(&run);
	doc_load(&doc, path);
	/* 0xff010000. */
	ck_assert_uint_eq(doc_u64(&doc, "bus.unclaimed_mmio"), 1);
	ck_assert_uint_eq(doc_u64(&doc, "bus.unclaimed_out"), 0);
	ck_assert_uint_eq(doc_u64(&doc, "bus.msis"), 20);
	ck_assert_uint_eq(doc_u64(&doc, "vcpus[0].flushes_refused"), 1);
	ck_assert_uint_eq(doc_u64(&doc, "vcpus[1].flushes_refused"), 0);
	json_free(&doc);
}
END_TEST

START_TEST(test_testdev_is_not_there)
{
	struct run run;

	env_guest(&env, &run, "testdev.elf", "none", SETS(env_any_mode(&env)));
	env_expect_status(&run, 0);
	run_free(&run);
}
END_TEST

static Suite *testdev_suite(void)
{
	Suite *suite = suite_create("testdev");
	TCase *tcase = env_case(suite, "testdev");

	tcase_add_loop_test(tcase, test_testdev_is_there, 0, 2);
	tcase_add_test(tcase, test_testdev_is_not_there);
	return suite;
}

int main(void)
{
	return env_run(&env, testdev_suite);
}
