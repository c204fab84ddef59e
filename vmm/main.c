/* SPDX-License-Identifier: MIT */
/*
 * main - dispatches to the subcommand. The guest's serial output is the only
 * thing on stdout of `run`; all that punctual itself has to say goes to
 * stderr, one line each.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "end.h"
#include "monotonic.h"
#include "options.h"

#ifndef PUNCTUAL_VERSION
#error "the build passes PUNCTUAL_VERSION"
#endif

void complain(const char *format, ...)
{
	va_list args;

	fputs("punctual: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int dispatch(const struct options *options)
{
	switch (options->command) {
	case COMMAND_RUN:
		return command_run(options);
	case COMMAND_BENCH:
		return command_bench(options);
	case COMMAND_COMPARE:
		return command_compare(options);
	case COMMAND_CHECK:
		return command_check(options);
	case COMMAND_PROBE:
		return command_probe(options);
	case COMMAND_TRACE:
		return command_trace(options);
	case COMMAND_TUNE_SIM:
		return command_tune_sim(options);
	case COMMAND_VERSION:
		puts("punctual " PUNCTUAL_VERSION);
		break;
	case COMMAND_HELP:
		fputs(options_usage, stdout);
		break;
	}
	return fflush(stdout) ? EXIT_STATUS_OUTPUT : 0;
}

/* A standard descriptor that is closed would be the next file that is opened,
 * and a guest's text would go there. Read-only: a write still fails. */
static int hold_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t start_ns = monotonic_ns();
	struct options options;
	char err[256];
	int status = EXIT_STATUS_USAGE;

	/* A reader that is gone is an error of the write, with a status. */
	signal(SIGPIPE, SIG_IGN);
	if (hold_standard_fds())
		return EXIT_STATUS_INTERNAL;
	if (options_parse(argc, argv, &options, err, sizeof(err))) {
		complain("%s", err);
		fputs(options_usage, stderr);
	} else {
		options.start_ns = start_ns;
		status = dispatch(&options);
	}
	options_free(&options);
	return status;
}
