/* SPDX-License-Identifier: MIT */
/*
 * tap - run a Check suite and report in TAP on stdout, as meson reads it.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <check.h>
#include <signal.h>

/* ck_assert() for loops of many thousand turns: Check reports every assertion
 * it passes through a pipe, which costs more than most of what is tested. */
#define tap_require(condition)                                    \
	do {                                                      \
		if (!(condition))                                 \
			ck_abort_msg("required: %s", #condition); \
	} while (0)

/*
 * Run every case of the suite, each in a process of its own, and print TAP.
 * Takes over the suite. Returns 0 when the suite ran, whatever it found: the
 * TAP lines carry the verdict, and a status on top would count a failure
 * twice. For use as the value of main().
 */
static inline int tap_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);

	/* A shell has its background jobs ignore SIGINT, nohup SIGHUP: how a
	 * test was started is no part of it. */
	for (int n = 1; n < NSIG; n++)
		signal(n, SIG_DFL);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return 0;
}

#endif
