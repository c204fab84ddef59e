/* SPDX-License-Identifier: MIT */
/*
 * Proves that every committed config (configs/, but for the schemas) passes
 * `check` and runs to status 0. The guests that measure are told to fire less
 * often. On a host that cannot keep deadlines in userspace, a config that
 * asks for it must be refused with 77 instead. A guest that is fetched, not
 * built here, is only checked: lab job linux starts it.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"
#include "end.h"
#include "env.h"

static struct env env;
static glob_t found;

static bool is_schema(const char *path)
{
	return strstr(strrchr(path, '/'), "schema") != NULL;
}

static bool is_built_here(const char *image)
{
	return strstr(image, "/guest-fw/") != NULL;
}

static void check_config(const char *path, struct json_doc *effective)
{
	char json[PATH_MAX], option[PATH_MAX + 16];
	struct run run;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "effective.json", json));
	env_punctual(&env, &run, SETS("check", path, option));
	env_expect_status(&run, 0);
	ck_assert_str_eq(run.err.text, "");
	run_free(&run);
	doc_load(effective, json);
}

static void run_config(const char *path, const char *image,
		       const char *boot_args, bool wants_userspace)
{
	char kernel[2 * PATH_MAX];
	struct run run;

	snprintf(kernel, sizeof(kernel), "boot-source.kernel_image_path=%s/%s",
		 env.guest_fw, image);
	env_punctual(&env, &run,
		     SETS("run", path, "--set", kernel, "--set",
			  env.allow_unstable ? "timer.unstable_tsc=allow"
					     : "timer.unstable_tsc=refuse",
			  strstr(boot_args, "fires=") ? "--set" : NULL,
			  "boot_args.fires=50"));
	env_expect_status(&run, wants_userspace && !env.userspace
					? EXIT_STATUS_CANNOT
					: 0);
	run_free(&run);
}

START_TEST(test_config_passes_check_and_runs)
{
	char image[PATH_MAX], boot_args[4096], mode[32];
	struct json_doc effective;

	if (is_schema(found.gl_pathv[_i]))
		return;
	check_config(found.gl_pathv[_i], &effective);
	doc_text(&effective, "boot-source.kernel_image_path", image,
		 sizeof(image));
	doc_text(&effective, "boot-source.boot_args", boot_args,
		 sizeof(boot_args));
	doc_text(&effective, "timer.mode", mode, sizeof(mode));
	json_free(&effective);
	if (is_built_here(image))
		run_config(found.gl_pathv[_i], basename(image), boot_args,
			   !strcmp(mode, "userspace"));
}
END_TEST

static Suite *configs_suite(void)
{
	Suite *suite = suite_create("configs");
	TCase *tcase = env_case(suite, "committed");
	char pattern[PATH_MAX];

	snprintf(pattern, sizeof(pattern), "%s/*.json", env.configs);
	glob(pattern, 0, NULL, &found);
	tcase_add_loop_test(tcase, test_config_passes_check_and_runs, 0,
			    (int)found.gl_pathc);
	return suite;
}

int main(void)
{
	int ret = env_run(&env, configs_suite);

	globfree(&found);
	return ret;
}
