/* SPDX-License-Identifier: MIT */
/*
 * output - result files. A full disk or a reader that is gone is an error of
 * its own exit status (74), never a shorter file taken for a whole one.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct output *output, char *err, size_t err_size)
{
	int saved = errno;

	snprintf(err, err_size, "%s: %s",
		 strcmp(output->path, "-") ? output->path : "stdout",
		 strerror(saved));
	return -saved;
}

int output_open(struct output *output, const char *path, char *err,
		size_t err_size)
{
	output->path = path;
	output->fd = -1;
	if (!path)
		return 0;
	if (!strcmp(path, "-"))
		output->fd = STDOUT_FILENO;
	else
		output->fd = open(
			path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return output->fd < 0 ? fail(output, err, err_size) : 0;
}

int output_write(struct output *output, const char *text, size_t len, char *err,
		 size_t err_size)
{
	if (!output->path)
		return 0;
	while (len) {
		ssize_t n = write(output->fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			/* A pipe that somebody else made non-blocking. */
			struct pollfd pfd = {.fd = output->fd,
					     .events = POLLOUT};

			poll(&pfd, 1, -1);
			continue;
		}
		if (n < 0)
			return fail(output, err, err_size);
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int output_close(struct output *output, char *err, size_t err_size)
{
	int fd = output->fd;

	output->fd = -1;
	if (fd < 0 || fd == STDOUT_FILENO)
		return 0;
	return close(fd) ? fail(output, err, err_size) : 0;
}
