/* SPDX-License-Identifier: MIT */
/* FNV-1a against published values, and files. */
#include "image_hash.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

START_TEST(test_image_hash_published_values)
{
	ck_assert(image_hash_bytes("", 0) == UINT64_C(0xcbf29ce484222325));
	ck_assert(image_hash_bytes("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	ck_assert(image_hash_bytes("foobar", 6) ==
		  UINT64_C(0x85944171f73967e8));
}
END_TEST

START_TEST(test_image_hash_of_a_file)
{
	char path[] = "/tmp/image_hash-XXXXXX";
	int fd = mkstemp(path);
	uint64_t hash;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "foobar", 6), 6);
	close(fd);
	ck_assert_int_eq(image_hash(path, &hash), 0);
	ck_assert(hash == UINT64_C(0x85944171f73967e8));
	unlink(path);
	ck_assert_int_eq(image_hash(path, &hash), -ENOENT);
	ck_assert_int_eq(image_hash("/tmp", &hash), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image_hash");
	TCase *tc = tcase_create("image_hash");

	tcase_add_test(tc, test_image_hash_published_values);
	tcase_add_test(tc, test_image_hash_of_a_file);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
