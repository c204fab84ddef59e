/* SPDX-License-Identifier: MIT */
/*
 * Reads a host file with a known, bounded size. Reference: open(2), read(2).
 * Does not model compressed images, or input that is not a regular file.
 */
#include "image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load_plan.h"

static int image_file_check(struct image_file *f, uint64_t max_size,
			    struct load_error *err)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return load_fail(err, -errno, "fstat: %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return load_fail(err, -EINVAL,
				 "not a regular file; copy it to one");
	if (st.st_size <= 0)
		return load_fail(err, -EINVAL, "the file is empty");
	if ((uint64_t)st.st_size > max_size)
		return load_fail(err, -EINVAL,
				 "%" PRIu64 " bytes long; at most %" PRIu64
				 " are taken",
				 (uint64_t)st.st_size, max_size);
	f->size = (uint64_t)st.st_size;
	return 0;
}

int image_file_open(struct image_file *f, const char *path, uint64_t max_size,
		    struct load_error *err)
{
	int rc;

	f->size = 0;
	/* O_NONBLOCK: opening a FIFO without a writer would wait for ever. */
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (f->fd < 0) {
		rc = -errno;
		return load_fail(err, rc, "cannot be opened: %s",
				 strerror(-rc));
	}
	rc = image_file_check(f, max_size, err);
	if (rc)
		image_file_close(f);
	return rc;
}

/* Up to len bytes at offset; fewer only at the end of the file. */
static int64_t image_file_pread(int fd, uint8_t *dst, uint64_t len,
				uint64_t offset)
{
	uint64_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, dst + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

int image_file_read(const struct image_file *f, void *dst,
		    struct load_error *err)
{
	uint8_t beyond;
	int64_t got = image_file_pread(f->fd, dst, f->size, 0);
	int64_t more = 0;

	if (got == (int64_t)f->size)
		more = image_file_pread(f->fd, &beyond, 1, f->size);
	if (got < 0 || more < 0) {
		int rc = (int)(got < 0 ? got : more);

		return load_fail(err, rc, "cannot be read: %s", strerror(-rc));
	}
	if (got != (int64_t)f->size || more)
		return load_fail(err, -EINVAL,
				 "its size changed while it was read; "
				 "start again when it is complete");
	return 0;
}

void image_file_close(struct image_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
