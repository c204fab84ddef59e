/* SPDX-License-Identifier: MIT */
/*
 * device - a device for code under test to open by name, and never by its own:
 * tests run as root, with faults planted, and one that removes what it opened
 * must not find /dev/null.
 */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

/* Another name of the device, in buf. The descriptor stays open. */
static inline const char *device_path(const char *device, char buf[PATH_MAX])
{
	int fd = open(device, O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	snprintf(buf, PATH_MAX, "/proc/self/fd/%d", fd);
	return buf;
}

#endif
