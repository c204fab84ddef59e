/* SPDX-License-Identifier: MIT */
/*
 * Files that change between being opened and being read.
 */
#define _GNU_SOURCE
#include "image_file.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>

#include "load_case.h"
#include "load_plan.h"
#include "tap.h"

/* A file of 100 bytes, open for writing as fd and for the loader as f. */
static int open_pair(struct image_file *f)
{
	char content[100];
	char path[64];
	struct load_error err;
	int fd;

	memset(content, 'c', sizeof(content));
	fd = load_case_file(content, sizeof(content), path, sizeof(path));
	ck_assert_int_eq(image_file_open(f, path, 100, &err), 0);
	ck_assert_uint_eq(f->size, 100);
	return fd;
}

START_TEST(test_image_file_reads_all_of_it)
{
	struct image_file f;
	struct load_error err;
	char got[102] = {0};
	int fd = open_pair(&f);

	ck_assert_int_eq(image_file_read(&f, got, &err), 0);
	ck_assert_uint_eq(strlen(got), 100);
	ck_assert_uint_eq(strspn(got, "c"), 100);
	/* Reading does not move anything: twice is the same. */
	ck_assert_int_eq(image_file_read(&f, got, &err), 0);
	image_file_close(&f);
	ck_assert_int_eq(f.fd, -1);
	image_file_close(&f);
	close(fd);
}
END_TEST

START_TEST(test_image_file_that_changes_its_size_is_refused)
{
	static const off_t sizes[] = {0, 99, 101, 5000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct image_file f;
		struct load_error err;
		char got[101];
		int fd = open_pair(&f);

		got[100] = 'e';
		ck_assert_int_eq(ftruncate(fd, sizes[i]), 0);
		ck_assert_int_eq(image_file_read(&f, got, &err), -EINVAL);
		ck_assert_ptr_nonnull(strstr(err.text, "changed while"));
		ck_assert_int_eq(got[100], 'e');
		image_file_close(&f);
		close(fd);
	}
}
END_TEST

START_TEST(test_image_file_limit_is_inclusive)
{
	struct image_file f;
	struct load_error err;
	char path[64];
	int fd = open_pair(&f);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	image_file_close(&f);
	ck_assert_int_eq(image_file_open(&f, path, 99, &err), -EINVAL);
	ck_assert_int_eq(f.fd, -1);
	ck_assert_str_eq(err.text, "100 bytes long; at most 99 are taken");
	close(fd);
}
END_TEST

START_TEST(test_image_file_read_error_is_reported)
{
	struct image_file f = {.size = 1};
	struct load_error err;
	char got;

	f.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(f.fd, 0);
	ck_assert_int_eq(image_file_read(&f, &got, &err), -EBADF);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot be read: "));
	image_file_close(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image_file");
	TCase *tc = tcase_create("image_file");

	tcase_add_test(tc, test_image_file_reads_all_of_it);
	tcase_add_test(tc, test_image_file_that_changes_its_size_is_refused);
	tcase_add_test(tc, test_image_file_limit_is_inclusive);
	tcase_add_test(tc, test_image_file_read_error_is_reported);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
