/* SPDX-License-Identifier: MIT */
/*
 * gnuplot - a child with the script on its standard input. It is an optional
 * program (Debian: gnuplot-nox), nothing is linked to it.
 */
#define _GNU_SOURCE
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

extern char **environ;

bool gnuplot_is_there(void)
{
	return program_is_there("gnuplot");
}

void gnuplot_quote(FILE *script, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', script);
		fputc((unsigned char)*text < ' ' ? '?' : *text, script);
	}
}

static int spawn(int in_fd, int out_fd, pid_t *pid)
{
	/* No start-up files: they may ask for anything. */
	char *argv[] = {(char[]){"gnuplot"}, (char[]){"-d"}, (char[]){"-"},
			NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	/* What bench blocked is the child's to die of. */
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	ret = -posix_spawnp(pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return ret;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

int gnuplot_run(const char *script, size_t len, int out_fd, char *err,
		size_t err_size)
{
	int ends[2], ret, waited;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		ret = -errno;
		goto fail;
	}
	ret = spawn(ends[0], out_fd, &pid);
	close(ends[0]);
	if (ret) {
		close(ends[1]);
		goto fail;
	}
	ret = write_all(ends[1], script, len);
	close(ends[1]);
	waited = wait_for(pid);
	if (!ret && !waited)
		return 0;
	ret = -EIO;
	snprintf(err, err_size, "gnuplot: failed, and so there is no plot");
	return ret;
fail:
	snprintf(err, err_size, "gnuplot: %s%s", strerror(-ret),
		 ret == -ENOENT ? " (apt-get install gnuplot-nox)" : "");
	return ret;
}
