/* SPDX-License-Identifier: MIT */
/*
 * env - paths, the host's abilities, and runs of `punctual`; see env.h.
 *
 * Whether a host can do timer mode "userspace" is asked of `punctual probe`.
 * That it answers rightly is test-probe's business. Not here: what a run
 * should do.
 */
#define _GNU_SOURCE
#include "env.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doc.h"
#include "kvm.h"
#include "tap.h"

enum {
	ARGS_MAX = 64,
	RUN_LIMIT_MS = 60000,
	CASE_LIMIT_S = 900,
};

static int skip(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* NULL, or why the tests cannot run. */
static const char *read_environment(struct env *env)
{
	const char *slow = getenv("PUNCTUAL_TEST_SLOW");

	env->punctual = getenv("PUNCTUAL");
	env->guest_fw = getenv("GUEST_FW");
	env->configs = getenv("CONFIGS");
	env->slow = slow ? atoi(slow) : 1;
	if (!env->punctual || !env->guest_fw || !env->configs)
		return "PUNCTUAL, GUEST_FW and CONFIGS are not all set";
	if (env->slow < 1)
		return "PUNCTUAL_TEST_SLOW is not a number from 1";
	return NULL;
}

static const char *make_scratch(struct env *env)
{
	const char *parent = getenv("TMPDIR");

	snprintf(env->scratch, sizeof(env->scratch), "%s/punctual-test.XXXXXX",
		 parent && *parent ? parent : "/tmp");
	return mkdtemp(env->scratch) ? NULL : "cannot make a scratch directory";
}

static void read_probe(struct env *env)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct json_doc doc;
	struct run run;

	snprintf(option, sizeof(option), "--json=%s",
		 env_path(env, "probe.json", path));
	env_punctual(env, &run, SETS("probe", option));
	run_free(&run);
	doc_load(&doc, path);
	doc_text(&doc, "rung", env->rung, sizeof(env->rung));
	doc_text(&doc, "host.kvm_backend", env->backend, sizeof(env->backend));
	/* Then all that the ladder lacks is our word for the TSC. */
	env->allow_unstable = doc_bool(&doc, "intercepted") &&
			      !doc_bool(&doc, "host.tsc_stable");
	env->userspace = env->rung[0] || env->allow_unstable;
	env->swallowed = doc_bool(&doc, "swallowed");
	json_free(&doc);
}

int env_run(struct env *env, Suite *(*make_suite)(void))
{
	char err[256];
	const char *why = read_environment(env);
	int kvm_fd = why ? -1 : kvm_open("/dev/kvm", err, sizeof(err));
	int ret;

	if (kvm_fd < 0)
		return skip(why ? why : err);
	close(kvm_fd);
	why = make_scratch(env);
	if (why)
		return skip(why);
	read_probe(env);
	printf("# timer mode userspace %s, %s%s; bounds on time times %d\n",
	       env->userspace ? "runs" : "does not run", env->backend,
	       env->allow_unstable ? ", TSC unstable" : "", env->slow);
	fflush(stdout);
	ret = tap_run(make_suite());
	nftw(env->scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return ret;
}

TCase *env_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, CASE_LIMIT_S);
	suite_add_tcase(suite, tcase);
	return tcase;
}

char *env_path(const struct env *env, const char *name, char *buf)
{
	if (snprintf(buf, PATH_MAX, "%s/%s", env->scratch, name) >= PATH_MAX)
		ck_abort_msg("path too long");
	return buf;
}

int env_ms(const struct env *env, int ms)
{
	return ms * env->slow;
}

const char *env_any_mode(const struct env *env)
{
	return env->userspace ? "timer.mode=userspace" : "timer.mode=kernel";
}

/* A growing argument list; strings are the caller's. */
struct args {
	const char *list[ARGS_MAX];
	size_t count;
};

static void args_add(struct args *args, const char *arg)
{
	if (args->count + 1 == ARGS_MAX)
		ck_abort_msg("too many arguments");
	args->list[args->count++] = arg;
	args->list[args->count] = NULL;
}

static void args_add_set(struct args *args, const char *set)
{
	if (set[0] != '-')
		args_add(args, "--set");
	args_add(args, set);
}

void env_start_with(const struct env *env, struct run *run, int stdout_fd,
		    bool (*before)(void *arg), void *arg, const char *image,
		    const char *boot_args, const char *const *sets)
{
	char config[PATH_MAX], kernel[PATH_MAX + 64], words[8192];
	struct args args = {.count = 0};

	snprintf(config, sizeof(config), "%s/hello.json", env->configs);
	snprintf(kernel, sizeof(kernel), "boot-source.kernel_image_path=%s%s%s",
		 image[0] == '/' ? "" : env->guest_fw,
		 image[0] == '/' ? "" : "/", image);
	snprintf(words, sizeof(words), "boot-source.boot_args=%s", boot_args);
	args_add(&args, env->punctual);
	args_add(&args, "run");
	args_add(&args, config);
	args_add_set(&args, kernel);
	args_add_set(&args, words);
	if (env->allow_unstable)
		args_add_set(&args, "timer.unstable_tsc=allow");
	while (*sets)
		args_add_set(&args, *sets++);
	run_start_with(run, args.list, stdout_fd, before, arg);
}

void env_start(const struct env *env, struct run *run, int stdout_fd,
	       const char *image, const char *boot_args,
	       const char *const *sets)
{
	env_start_with(env, run, stdout_fd, NULL, NULL, image, boot_args, sets);
}

void env_finish(const struct env *env, struct run *run)
{
	run_finish(run, env_ms(env, RUN_LIMIT_MS));
}

void env_guest(const struct env *env, struct run *run, const char *image,
	       const char *boot_args, const char *const *sets)
{
	env_start(env, run, -1, image, boot_args, sets);
	env_finish(env, run);
}

void env_punctual(const struct env *env, struct run *run,
		  const char *const *list)
{
	struct args args = {.count = 0};

	args_add(&args, env->punctual);
	while (*list)
		args_add(&args, *list++);
	run_start(run, args.list, -1);
	env_finish(env, run);
}

void env_expect_status(const struct run *run, int status)
{
	if (run_status(run) != status)
		ck_abort_msg(
			"status %d, not %d; stdout: %.600s; stderr: %.900s",
			run_status(run), status, run->out.text, run->err.text);
}

void env_expect_complaint(const struct run *run, const char *text)
{
	const char *line = run->err.text;
	const char *end = strchr(line, '\n');

	if (strncmp(line, "punctual: ", 10) || !end || end[1] ||
	    !strstr(line, text))
		ck_abort_msg(
			"stderr is not one line of ours with \"%s\" in it: "
			"%.1500s",
			text, line);
}
