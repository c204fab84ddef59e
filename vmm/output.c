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
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct output *output, char *err, size_t err_size)
{
	int saved = errno;

	snprintf(err, err_size, "%s: %s",
		 strcmp(output->path, "-") ? output->path : "stdout",
		 strerror(saved));
	return -saved;
}

int output_own(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	/* A file system without locks is no reason not to write. */
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -EBUSY
								    : 0;
}

int output_open(struct output *output, const char *path, char *err,
		size_t err_size)
{
	*output = (struct output){.path = path, .fd = -1};
	if (!path)
		return 0;
	if (!strcmp(path, "-"))
		output->fd = STDOUT_FILENO;
	else
		output->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				  0644);
	output->is_new = output->fd > STDOUT_FILENO;
	if (output->fd < 0 && errno == EEXIST)
		output->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (output->fd < 0)
		return fail(output, err, err_size);
	if (output->fd == STDOUT_FILENO || !output_own(output->fd))
		return 0;
	close(output->fd);
	output->fd = -1;
	snprintf(err, err_size,
		 "%s: is being written already: each result needs a file of "
		 "its own",
		 path);
	return -EBUSY;
}

int output_begin(struct output *output, char *err, size_t err_size)
{
	struct stat st;

	if (!output->path || output->has_begun)
		return 0;
	output->has_begun = true;
	/* Whoever redirects stdout has said where to. */
	if (output->fd == STDOUT_FILENO || fstat(output->fd, &st) ||
	    !S_ISREG(st.st_mode))
		return 0;
	return ftruncate(output->fd, 0) ? fail(output, err, err_size) : 0;
}

int output_write(struct output *output, const char *text, size_t len, char *err,
		 size_t err_size)
{
	int ret = output_begin(output, err, err_size);

	if (ret || !output->path)
		return ret;
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
	if (output->is_new && !output->has_begun)
		unlink(output->path);
	return close(fd) ? fail(output, err, err_size) : 0;
}
