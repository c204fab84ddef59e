/* SPDX-License-Identifier: MIT */
/*
 * A terminal is given back however the process ends: each way is a child with
 * a pseudo-terminal for its own.
 *
 * PUNCTUAL, if set, is the program, for the ends that come before any guest.
 */
#define _GNU_SOURCE
#include "terminal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "tty.h"

enum {
	STATUS_TAKEN = 7,
	STATUS_WRONG = 99,
};

static struct tty tty;

static void setup(void)
{
	tty_open(&tty);
}

static void teardown(void)
{
	tty_close(&tty);
}

static void must(bool condition)
{
	if (!condition)
		_exit(STATUS_WRONG);
}

/* Runs what in a child that has the terminal; its wait status. */
static int in_child(void (*what)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		const struct rlimit no_core = {0, 0};

		setrlimit(RLIMIT_CORE, &no_core);
		for (int n = 1; n < NSIG; n++)
			signal(n, SIG_DFL);
		must(tty_become_controlling(&tty));
		what();
		_exit(STATUS_WRONG);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void take(void)
{
	must(terminal_take(STDIN_FILENO));
	must(tty_is_raw(&tty));
}

static void end_by_exit(void)
{
	take();
	exit(STATUS_TAKEN);
}

static void end_by_release(void)
{
	take();
	terminal_release();
	must(tty_is_as_before(&tty));
	/* Once is enough, and again is possible. */
	terminal_release();
	must(terminal_take(STDIN_FILENO) && tty_is_raw(&tty));
	terminal_release();
	_exit(tty_is_as_before(&tty) ? STATUS_TAKEN : STATUS_WRONG);
}

START_TEST(test_terminal_back_at_the_end)
{
	int status = in_child(_i ? end_by_release : end_by_exit);

	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), STATUS_TAKEN);
	ck_assert(tty_is_as_before(&tty));
}
END_TEST

/* What the guest prints ends lines with a newline, and so do our messages. */
static void look_at_output(void)
{
	struct termios now;

	take();
	must(!tcgetattr(STDIN_FILENO, &now));
	_exit(now.c_oflag == tty.before.c_oflag ? STATUS_TAKEN : STATUS_WRONG);
}

START_TEST(test_terminal_output_is_left_alone)
{
	ck_assert_int_eq(WEXITSTATUS(in_child(look_at_output)), STATUS_TAKEN);
}
END_TEST

static void *assert_main(void *arg)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)arg;
	dup2(fd, STDERR_FILENO);
	assert(!"in another thread");
	return NULL;
}

static void end_by_assert(void)
{
	pthread_t thread;

	take();
	pthread_create(&thread, NULL, assert_main, NULL);
	pthread_join(thread, NULL);
}

static void end_by_fault(void)
{
	take();
	/* A real one would be a sanitizer's. */
	raise(SIGSEGV);
}

static void end_by_trap(void)
{
	take();
	__builtin_trap();
}

static void end_by_user_signal(void)
{
	take();
	raise(SIGUSR1);
}

static void end_by_cpu_limit(void)
{
	take();
	kill(getpid(), SIGXCPU);
}

static const struct {
	void (*what)(void);
	int number;
} deaths[] = {
	{end_by_assert, SIGABRT},    {end_by_fault, SIGSEGV},
	{end_by_trap, SIGILL},	     {end_by_user_signal, SIGUSR1},
	{end_by_cpu_limit, SIGXCPU},
};

START_TEST(test_terminal_back_after_a_fatal_signal)
{
	int status = in_child(deaths[_i].what);

	ck_assert_msg(WIFSIGNALED(status), "wait status %#x", status);
	ck_assert_int_eq(WTERMSIG(status), deaths[_i].number);
	ck_assert(tty_is_as_before(&tty));
}
END_TEST

/* Somebody else's handler, or its will to ignore, stands. */
static void keep_handlers(void)
{
	struct sigaction there;

	signal(SIGUSR2, SIG_IGN);
	take();
	must(!sigaction(SIGUSR2, NULL, &there) && there.sa_handler == SIG_IGN);
	exit(STATUS_TAKEN);
}

START_TEST(test_terminal_ignored_signals_stay_ignored)
{
	ck_assert_int_eq(WEXITSTATUS(in_child(keep_handlers)), STATUS_TAKEN);
}
END_TEST

/* A child of the process ends, in whatever way: the terminal is not its. */
static void fork_and_exit(void)
{
	pid_t pid;
	int status;

	take();
	pid = fork();
	if (pid == 0)
		exit(0);
	must(waitpid(pid, &status, 0) == pid);
	must(tty_is_raw(&tty));
	exit(STATUS_TAKEN);
}

START_TEST(test_terminal_stays_with_its_owner)
{
	ck_assert_int_eq(WEXITSTATUS(in_child(fork_and_exit)), STATUS_TAKEN);
	ck_assert(tty_is_as_before(&tty));
}
END_TEST

/* A job that a shell put into the background: another group, and the signals
 * that would stop it at their defaults. */
static void in_background(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		must(!setpgid(0, 0));
		must(!terminal_in_foreground(STDIN_FILENO));
		must(!terminal_take(STDIN_FILENO));
		must(tty_is_as_before(&tty));
		terminal_release();
		exit(tty_is_as_before(&tty) ? STATUS_TAKEN : STATUS_WRONG);
	}
	must(waitpid(pid, &status, WUNTRACED) == pid);
	must(WIFEXITED(status));
	_exit(WEXITSTATUS(status));
}

START_TEST(test_terminal_background)
{
	ck_assert_int_eq(WEXITSTATUS(in_child(in_background)), STATUS_TAKEN);
	ck_assert(tty_is_as_before(&tty));
}
END_TEST

/* Put there while it has the terminal: the shell sets it as it likes, and
 * neither the end of the job nor its reads may disturb that. */
static bool takes_again;

static void moved_to_background(void)
{
	pid_t shell = getpid(), pid = fork();
	struct termios shells;
	int status;

	if (pid == 0) {
		char byte;

		must(!setpgid(0, 0));
		signal(SIGTTOU, SIG_IGN);
		must(!tcsetpgrp(STDIN_FILENO, getpid()));
		signal(SIGTTOU, SIG_DFL);
		take();
		/* The shell's part. */
		signal(SIGTTOU, SIG_IGN);
		must(!tcsetpgrp(STDIN_FILENO, shell));
		must(!tcgetattr(STDIN_FILENO, &shells));
		shells.c_lflag |= ISIG;
		must(!tcsetattr(STDIN_FILENO, TCSANOW, &shells));
		signal(SIGTTOU, SIG_DFL);
		must(read(STDIN_FILENO, &byte, 1) < 0 && errno == EIO);
		if (takes_again)
			must(!terminal_take(STDIN_FILENO));
		exit(STATUS_TAKEN);
	}
	must(waitpid(pid, &status, WUNTRACED) == pid);
	must(WIFEXITED(status) && WEXITSTATUS(status) == STATUS_TAKEN);
	must(!tcgetattr(STDIN_FILENO, &shells));
	_exit((shells.c_lflag & (ISIG | ICANON)) == ISIG ? STATUS_TAKEN
							 : STATUS_WRONG);
}

START_TEST(test_terminal_moved_to_background)
{
	takes_again = _i;
	ck_assert_int_eq(WEXITSTATUS(in_child(moved_to_background)),
			 STATUS_TAKEN);
}
END_TEST

/* The program ends before there is a guest: a config that is none, and one
 * whose image is missing, where there is KVM; where not, that it is. */
static const char *const early_configs[] = {
	"",
	"{\"boot-source\": {\"kernel_image_path\": \"/no/such/image\"}}",
};
static const char *early_config;

static void exec_punctual(void)
{
	const char *program = getenv("PUNCTUAL");
	int fd = memfd_create("config", 0);
	char path[64];

	must(write(fd, early_config, strlen(early_config)) >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
	execl(program, program, "run", path, (char *)NULL);
}

START_TEST(test_terminal_untouched_by_an_early_end)
{
	bool has_kvm = !access("/dev/kvm", R_OK | W_OK);
	int status;

	early_config = early_configs[_i];
	status = in_child(exec_punctual);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), _i && !has_kvm ? 77 : 78);
	ck_assert(tty_is_as_before(&tty));
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	suite_add_tcase(suite, tc);
	return tc;
}

int main(void)
{
	Suite *suite;
	TCase *tc;

	if (!tty_possible()) {
		puts("1..0 # SKIP no pseudo-terminals (mount devpts)");
		return 0;
	}
	suite = suite_create("terminal");
	tc = new_case(suite, "ends");
	tcase_add_loop_test(tc, test_terminal_back_at_the_end, 0, 2);
	tcase_add_test(tc, test_terminal_output_is_left_alone);
	tcase_add_loop_test(tc, test_terminal_back_after_a_fatal_signal, 0,
			    sizeof(deaths) / sizeof(deaths[0]));
	tcase_add_test(tc, test_terminal_ignored_signals_stay_ignored);
	tcase_add_test(tc, test_terminal_stays_with_its_owner);
	if (getenv("PUNCTUAL"))
		tcase_add_loop_test(tc, test_terminal_untouched_by_an_early_end,
				    0, 2);
	tc = new_case(suite, "jobs");
	tcase_add_test(tc, test_terminal_background);
	tcase_add_loop_test(tc, test_terminal_moved_to_background, 0, 2);
	return tap_run(suite);
}
