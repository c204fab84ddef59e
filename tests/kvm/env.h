/* SPDX-License-Identifier: MIT */
/*
 * env - what the tests with real guests need to know: where things are, and
 * what this host can do; and how they run a guest.
 *
 * Environment: PUNCTUAL (the program), GUEST_FW (directory of the guests'
 * images), CONFIGS (directory of the configs); meson sets them. A host that
 * is slow and noisy by nature, an emulated one for instance, says so with
 * PUNCTUAL_TEST_SLOW=N: every bound on time is N times as generous.
 */
#ifndef TESTS_KVM_ENV_H
#define TESTS_KVM_ENV_H

#include <limits.h>
#include <stdbool.h>

#include <check.h>

#include "run.h"

struct env {
	const char *punctual, *guest_fw, *configs;
	int slow;		/* 1, or PUNCTUAL_TEST_SLOW */
	char scratch[PATH_MAX]; /* a directory for files, removed at the end */
	/* From `punctual probe --json`. */
	bool userspace;	     /* timer mode "userspace" runs here ... */
	bool allow_unstable; /* ... with timer.unstable_tsc=allow only */
	bool swallowed;	     /* KVM keeps the deadline writes to itself */
	char rung[32];	     /* of the ladder, "" if none */
	char backend[32];    /* kvm_intel, ... */
};

/* The arguments of a run after its config: KEY=VALUE is given to --set, what
 * begins with '-' is an option. SETS(NULL) for none. */
#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

/*
 * The body of main(): without a usable /dev/kvm says why and skips, else
 * fills *env, runs the suite and removes the scratch directory. Skipping is
 * TAP's empty plan and status 0; meson takes that for SKIP, while a status of
 * 77 beside TAP would be an error to it.
 */
int env_run(struct env *env, Suite *(*make_suite)(void));

/* Adds a case whose limit is far above what its runs may take together. */
TCase *env_case(Suite *suite, const char *name);

/* The path of a scratch file; buf of PATH_MAX bytes, returned. */
char *env_path(const struct env *env, const char *name, char *buf);

/* ms, times the slowness of the host. */
int env_ms(const struct env *env, int ms);

/* A mode to run in where it does not matter: the default if it runs here. */
const char *env_any_mode(const struct env *env);

/*
 * Starts `punctual run` with an image of GUEST_FW and a command line for the
 * guest; standard output goes to stdout_fd, or into *run if that is -1.
 */
void env_start(const struct env *env, struct run *run, int stdout_fd,
	       const char *image, const char *boot_args,
	       const char *const *sets);

/* The same; the child calls before(arg) just before the exec. */
void env_start_with(const struct env *env, struct run *run, int stdout_fd,
		    bool (*before)(void *arg), void *arg, const char *image,
		    const char *boot_args, const char *const *sets);

/* Waits for the end of a run, a minute at most. */
void env_finish(const struct env *env, struct run *run);

/* Both in one, output into *run. run_free() it. */
void env_guest(const struct env *env, struct run *run, const char *image,
	       const char *boot_args, const char *const *sets);

/* `punctual` with these arguments, start to end. run_free() it. */
void env_punctual(const struct env *env, struct run *run,
		  const char *const *args);

/* Fails the test unless the run ended with this status; shows what it said. */
void env_expect_status(const struct run *run, int status);

/* Fails the test unless standard error is one line, ours, with text in it. */
void env_expect_complaint(const struct run *run, const char *text);

#endif
