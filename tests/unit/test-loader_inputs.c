/* SPDX-License-Identifier: MIT */
/*
 * What a load takes besides the image's contents: command lines at their
 * limits, initrds, and files that are not what they should be.
 */
#define _GNU_SOURCE
#include "loader.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "load_case.h"
#include "tap.h"

#define MIB LOAD_CASE_MIB

/* Load with len bytes of arguments; how it ended. */
static int run_args(struct load_case *c, enum boot_protocol asked, size_t len)
{
	struct elf_build b;
	char *args = malloc(len + 1);
	int rc;

	ck_assert_ptr_nonnull(args);
	memset(args, 'a', len);
	args[len] = '\0';
	if (len)
		args[len - 1] = 'z';
	c->req.boot_args = args;
	load_case_offer(&b, true, true);
	rc = load_case_run_offer(c, &b, true, asked);
	if (!rc) {
		const char *seen = ram_ptr(&c->ram, c->state.cmdline_gpa, 4096);
		size_t seen_len = strlen(seen);

		ck_assert_uint_ge(seen_len, len);
		ck_assert_str_eq(seen + seen_len - len, args);
	}
	c->req.boot_args = NULL;
	elf_build_free(&b);
	free(args);
	return rc;
}

START_TEST(test_loader_command_line_is_whole_or_an_error)
{
	static const struct {
		enum boot_protocol asked;
		size_t max;
	} limits[] = {
		{BOOT_PVH, 2047},
		{BOOT_ELF64, 4095},
		/* The name takes its part: see below. */
		{BOOT_MULTIBOOT, 4095},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		size_t max = limits[i].max;
		char says[64];
		struct load_case c;

		load_case_begin(&c);
		ck_assert_int_eq(run_args(&c, limits[i].asked, 0), 0);
		if (limits[i].asked == BOOT_MULTIBOOT)
			max -= strlen(strrchr(c.image_path, '/') + 1) + 1;
		ck_assert_int_eq(run_args(&c, limits[i].asked, 1), 0);
		ck_assert_int_eq(run_args(&c, limits[i].asked, max - 1), 0);
		ck_assert_int_eq(run_args(&c, limits[i].asked, max), 0);
		/* The page behind it is not the command line's. */
		ck_assert_int_eq(run_args(&c, limits[i].asked, max + 1),
				 -EINVAL);
		snprintf(says, sizeof(says),
			 "boot_args has %zu bytes; at most %zu fit", max + 1,
			 max);
		LOAD_CASE_SAYS(&c, says);
		ck_assert_int_eq(run_args(&c, limits[i].asked, 100000),
				 -EINVAL);
		load_case_end(&c);
	}
}
END_TEST

START_TEST(test_loader_command_line_takes_printable_ascii_only)
{
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	load_case_offer(&b, true, true);
	for (int byte = 1; byte < 256; byte++) {
		const char args[] = {'a', (char)byte, 'b', 0};
		int rc;

		c.req.boot_args = args;
		rc = load_case_run_offer(&c, &b, false, BOOT_PVH);
		if (byte >= 0x20 && byte <= 0x7e) {
			ck_assert_int_eq(rc, 0);
			ck_assert_str_eq(
				ram_ptr(&c.ram, c.state.cmdline_gpa, 4), args);
		} else {
			ck_assert_int_eq(rc, -EINVAL);
			LOAD_CASE_SAYS(&c,
				       "at offset 1 is not printable ASCII");
		}
	}
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

/* A multiboot guest finds the image's name first, always as one word. */
START_TEST(test_loader_multiboot_name_is_one_word)
{
	char dir[] = P_tmpdir "/loader-XXXXXX";
	char path[64];
	struct elf_build b;
	struct load_case c;
	int fd;

	load_case_begin(&c);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/my k\xc3\xa9rnel.elf", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	load_case_offer(&b, false, false);
	elf_build_multiboot(b.bytes + 0x400, 0, NULL);
	ck_assert_int_eq(write(fd, b.bytes, b.size), (ssize_t)b.size);
	close(fd);
	c.req.image_path = path;
	ck_assert_msg(load_case_run(&c) == 0, "%s", c.err);
	ck_assert_str_eq(ram_ptr(&c.ram, c.state.cmdline_gpa, 64),
			 "my_k__rnel.elf");
	c.req.boot_args = "wait=spin fires=20";
	ck_assert_msg(load_case_run(&c) == 0, "%s", c.err);
	ck_assert_str_eq(ram_ptr(&c.ram, c.state.cmdline_gpa, 64),
			 "my_k__rnel.elf wait=spin fires=20");
	unlink(path);
	rmdir(dir);
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_initrd_goes_to_the_top)
{
	uint8_t initrd[0x1801];
	struct load_case c;

	for (size_t i = 0; i < sizeof(initrd); i++)
		initrd[i] = elf_build_fill(i);
	for (int asked = BOOT_ELF64; asked <= BOOT_MULTIBOOT; asked++) {
		struct elf_build b;

		load_case_begin(&c);
		load_case_dirty(&c, 8 * MIB - 0x4000, 0x4000);
		load_case_initrd(&c, initrd, sizeof(initrd));
		load_case_offer(&b, true, true);
		ck_assert_msg(load_case_run_offer(&c, &b, true,
						  (enum boot_protocol)asked) ==
				      0,
			      "%s", c.err);
		ck_assert_uint_eq(c.state.initrd_gpa, 8 * MIB - 0x2000);
		ck_assert_uint_eq(c.state.initrd_size, sizeof(initrd));
		ck_assert_int_eq(memcmp(ram_ptr(&c.ram, c.state.initrd_gpa,
						sizeof(initrd)),
					initrd, sizeof(initrd)),
				 0);
		ck_assert(load_case_all(&c, 8 * MIB - 0x4000, 0x2000,
					LOAD_CASE_PATTERN));
		elf_build_free(&b);
		load_case_end(&c);
	}
}
END_TEST

START_TEST(test_loader_initrd_that_does_not_fit)
{
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	load_case_offer(&b, true, true);
	load_case_initrd(&c, NULL, 0);
	ck_assert_int_eq(ftruncate(c.initrd_fd, 6 * MIB - 0x1000), 0);
	ck_assert_msg(load_case_run_offer(&c, &b, false, BOOT_AUTO) == 0, "%s",
		      c.err);
	ck_assert_uint_eq(c.state.initrd_gpa, 2 * MIB + 0x1000);
	ck_assert_int_eq(ftruncate(c.initrd_fd, 6 * MIB - 0xfff), 0);
	ck_assert_int_eq(load_case_run_offer(&c, &b, false, BOOT_AUTO),
			 -EINVAL);
	/* The initrd is at fault, not the image. */
	ck_assert_int_eq(strncmp(c.err, c.initrd_path, strlen(c.initrd_path)),
			 0);
	LOAD_CASE_SAYS(&c, "finds no room");
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_bad_initrd_files)
{
	struct elf_build b;
	struct load_case c;

	load_case_begin(&c);
	load_case_offer(&b, true, true);
	load_case_initrd(&c, NULL, 0);
	ck_assert_int_eq(load_case_run_offer(&c, &b, false, BOOT_AUTO),
			 -EINVAL);
	LOAD_CASE_SAYS(&c, "the file is empty");
	c.req.initrd_path = "/nonexistent/initrd";
	ck_assert_int_eq(load_case_run_offer(&c, &b, false, BOOT_AUTO),
			 -ENOENT);
	LOAD_CASE_SAYS(&c,
		       "/nonexistent/initrd: cannot be opened: No such file");
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_files_that_are_no_images)
{
	char dir[] = P_tmpdir "/loader-XXXXXX";
	char fifo[64];
	struct load_case c;

	load_case_begin(&c);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	c.req.image_path = dir;
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "not a regular file");
	/* Nobody writes to it; the loader must not wait for somebody. */
	c.req.image_path = fifo;
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "not a regular file");
	c.req.image_path = "/dev/zero";
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	c.req.image_path = "";
	ck_assert_int_eq(load_case_run(&c), -ENOENT);
	unlink(fifo);
	rmdir(dir);

	load_case_image(&c, NULL, 0);
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "the file is empty");
	ck_assert_int_eq(ftruncate(c.image_fd, LOADER_IMAGE_MAX + 1), 0);
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "at most 536870912 are taken");
	load_case_image(&c, "#!/bin/sh\n", 10);
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "no way to boot it");
	for (size_t size = 1; size < 4; size++) {
		load_case_image(&c, ELFMAG, size);
		ck_assert_int_eq(load_case_run(&c), -EINVAL);
	}
	load_case_end(&c);
}
END_TEST

START_TEST(test_loader_error_is_cut_at_its_buffer)
{
	struct load_case c;
	char err[8] = "zzzzzzz";

	load_case_begin(&c);
	c.req.image_path = "/nonexistent";
	ck_assert_int_eq(loader_load(&c.req, &c.ram, &c.state, err, 5),
			 -ENOENT);
	ck_assert_str_eq(err, "/non");
	ck_assert_str_eq(err + 5, "zz");
	load_case_end(&c);
}
END_TEST

/* What libelf itself refuses: more sections, which nobody here looks at, than
 * there can be. It is the file that is wrong, not that there is no memory. */
START_TEST(test_loader_inputs_too_many_sections)
{
	const uint64_t offset = 0x1e00;
	struct elf_build b;
	struct load_case c;

	load_case_init(&c, 8 * LOAD_CASE_MIB);
	elf_build_init(&b, true);
	elf_build_load(&b, 0x200000, 0x1000, 0x200, 0x200);
	b.entry = 0x200000;
	elf_build_write(&b);
	/* With e_shnum 0 their number is in the first section header. */
	memset(b.bytes + offset, 0xff, sizeof(Elf64_Shdr));
	memcpy(b.bytes + offsetof(Elf64_Ehdr, e_shoff), &offset,
	       sizeof(offset));
	load_case_image(&c, b.bytes, b.size);
	errno = ENOMEM; /* of somebody before */
	ck_assert_int_eq(load_case_run(&c), -EINVAL);
	LOAD_CASE_SAYS(&c, "ELF header not readable: ");
	elf_build_free(&b);
	load_case_end(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loader_inputs");
	TCase *tc = tcase_create("loader_inputs");

	tcase_add_test(tc, test_loader_command_line_is_whole_or_an_error);
	tcase_add_test(tc, test_loader_command_line_takes_printable_ascii_only);
	tcase_add_test(tc, test_loader_multiboot_name_is_one_word);
	tcase_add_test(tc, test_loader_initrd_goes_to_the_top);
	tcase_add_test(tc, test_loader_initrd_that_does_not_fit);
	tcase_add_test(tc, test_loader_bad_initrd_files);
	tcase_add_test(tc, test_loader_files_that_are_no_images);
	tcase_add_test(tc, test_loader_inputs_too_many_sections);
	tcase_add_test(tc, test_loader_error_is_cut_at_its_buffer);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
