/* SPDX-License-Identifier: MIT */
/*
 * The choices of a soak are within their bounds, reach all of them, repeat,
 * and are valid configs; its file is added up, continued and never half read.
 */
#define _GNU_SOURCE
#include "soak_file.h"
#include "soak_plan.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "tap.h"

enum {
	RUNS = 2000,
};

static const struct soak_limits limits = {SOAK_FIRES_MAX, 2};
static struct soak_choice choice;

START_TEST(test_soak_choice_repeats)
{
	struct soak_choice again;

	for (uint64_t run = 0; run < 20; run++) {
		memset(&choice, 0, sizeof(choice));
		memset(&again, 0, sizeof(again));
		soak_choose(&choice, 5, run, &limits);
		soak_choose(&again, 5, run, &limits);
		ck_assert_mem_eq(&choice, &again, sizeof(choice));
		soak_choose(&again, 5, run + 1, &limits);
		ck_assert_mem_ne(&choice, &again, sizeof(choice));
		soak_choose(&again, 6, run, &limits);
		ck_assert_mem_ne(&choice, &again, sizeof(choice));
	}
}
END_TEST

static const char *find_set(const char *key)
{
	for (int i = 0; i < SOAK_SETS; i++)
		if (!strncmp(choice.sets[i], key, strlen(key)))
			return choice.sets[i] + strlen(key);
	ck_abort_msg("no %s", key);
	return NULL;
}

START_TEST(test_soak_choices_keep_to_their_bounds)
{
	unsigned int period_us, fires, seed, vcpus;
	char wait[8], dist[8];

	for (uint64_t run = 0; run < RUNS; run++) {
		soak_choose(&choice, 1, run, &limits);
		tap_require(sscanf(find_set("boot-source.boot_args="),
				   "wait=%7s dist=%7s period_us=%u fires=%u "
				   "seed=%u",
				   wait, dist, &period_us, &fires, &seed) == 5);
		tap_require(period_us >= SOAK_PERIOD_MIN_US &&
			    period_us <= SOAK_PERIOD_MAX_US);
		tap_require(fires >= SOAK_FIRES_MIN && fires <= SOAK_FIRES_MAX);
		tap_require(fires * period_us <= SOAK_RUN_MAX_US);
		tap_require(sscanf(find_set("machine-config.vcpu_count="), "%u",
				   &vcpus) == 1);
		tap_require(vcpus >= 1 && vcpus <= SOAK_VCPUS_MAX);
		tap_require(choice.hogs <= limits.hogs_max);
	}
}
END_TEST

static const char *const reached[] = {
	"wait=spin",
	"wait=hlt",
	"dist=fixed",
	"dist=random",
	"vcpu_count=1",
	"vcpu_count=4",
	"timer.advance=off",
	"timer.advance=auto",
	"timer.advance=1",
	"timer.vmentry_advance=auto",
	"timer.vmentry_advance=off",
	"strict_lvtt=true",
	"strict_lvtt=false",
	/* Numbers that begin so: from one end of the range to the other. */
	"period_us=5",
	"period_us=49",
	"fires=2",
	"fires=49",
};

START_TEST(test_soak_choices_reach_everything)
{
	unsigned int count = 0;

	for (uint64_t run = 0; run < RUNS; run++) {
		soak_choose(&choice, 1, run, &limits);
		for (int i = 0; i < SOAK_SETS; i++)
			count += strstr(choice.sets[i], reached[_i]) != NULL;
	}
	ck_assert_uint_gt(count, 0);
}
END_TEST

START_TEST(test_soak_hogs_half_of_the_time)
{
	unsigned int with_hogs = 0, with_all = 0;

	for (uint64_t run = 0; run < RUNS; run++) {
		soak_choose(&choice, 1, run, &limits);
		with_hogs += choice.hogs > 0;
		with_all += choice.hogs == limits.hogs_max;
	}
	ck_assert_uint_gt(with_hogs, RUNS / 3);
	ck_assert_uint_lt(with_hogs, 2 * RUNS / 3);
	ck_assert_uint_gt(with_all, 0);
}
END_TEST

START_TEST(test_soak_fires_can_be_fewer)
{
	const struct soak_limits few = {SOAK_FIRES_MIN, 1};

	for (uint64_t run = 0; run < 50; run++) {
		soak_choose(&choice, 1, run, &few);
		ck_assert_ptr_nonnull(strstr(find_set("boot-source.boot_args="),
					     " fires=20 "));
	}
}
END_TEST

static char path[] = "/tmp/test-soak-XXXXXX";

static void make_file(const char *text)
{
	int fd = mkstemp(path);
	size_t len = strlen(text);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	ck_assert_int_eq(close(fd), 0);
}

START_TEST(test_soak_choices_are_valid)
{
	const char *sets[SOAK_SETS];
	struct config config;
	char err[256];

	make_file("{\"boot-source\":{\"kernel_image_path\":\"k\"}}");
	for (int i = 0; i < SOAK_SETS; i++)
		sets[i] = choice.sets[i];
	for (uint64_t run = 0; run < 200; run++) {
		soak_choose(&choice, 1, run, &limits);
		tap_require(!config_load(path, sets, SOAK_SETS, &config, err,
					 sizeof(err)));
		config_free(&config);
	}
	unlink(path);
}
END_TEST

static const char *one_set[] = {"a.b=c"};

static const struct soak_result results[] = {
	{.run = 0,
	 .seed = 7,
	 .sets = one_set,
	 .set_count = 1,
	 .compensated = true,
	 .ok = true,
	 .message = "",
	 .wall_ns = 1500000000,
	 .fires = 100,
	 .max_ns = 1234},
	{.run = 1,
	 .seed = 7,
	 .hogs = 2,
	 .status = 2,
	 .message = "two \"words\"\n",
	 .wall_ns = 1500000000,
	 .fires = 50,
	 .early = 1,
	 .lost = 2,
	 .doubled = 3,
	 .max_ns = -5},
};

static const char sums[] =
	"2 runs (1 compensated), 3 s, 150 fires: early 1, lost 2, doubled "
	"3; runs not ok 1; latest fire 1.2 us (run 0)";

static int open_file(struct soak_tally *tally, char *text, size_t size)
{
	int fd = soak_file_open(path, tally, text, size);

	if (fd >= 0)
		soak_tally_describe(tally, text, size);
	return fd;
}

START_TEST(test_soak_file_goes_on)
{
	struct soak_tally tally;
	char text[256];
	int fd;

	make_file("");
	unlink(path);
	fd = open_file(&tally, text, sizeof(text));
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(tally.runs, 0);
	ck_assert_int_eq(soak_file_append(fd, &results[0]), 0);
	close(fd);
	fd = open_file(&tally, text, sizeof(text));
	ck_assert_uint_eq(tally.runs, 1);
	ck_assert_int_eq(soak_file_append(fd, &results[1]), 0);
	/* In use. */
	ck_assert_int_eq(open_file(&tally, text, sizeof(text)), -EWOULDBLOCK);
	ck_assert_ptr_nonnull(strstr(text, "another soak"));
	close(fd);
	fd = open_file(&tally, text, sizeof(text));
	ck_assert_str_eq(text, sums);
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(test_soak_file_drops_an_unfinished_line)
{
	struct soak_tally tally;
	char text[256];
	off_t whole;
	int fd;

	make_file("");
	fd = open_file(&tally, text, sizeof(text));
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(soak_file_append(fd, &results[i]), 0);
	whole = lseek(fd, 0, SEEK_END);
	ck_assert_int_eq(write(fd, "{\"run\":2", 8), 8);
	close(fd);
	fd = open_file(&tally, text, sizeof(text));
	ck_assert_str_eq(text, sums);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), whole);
	close(fd);
	unlink(path);
}
END_TEST

static const char *const foreign[] = {
	"\n",
	"{}\n",
	"[1]\n",
	"text\n",
	("{\"run\":0,\"seed\":1,\"compensated\":true,\"ok\":1,\"status\":0,\"wall_ns\":1,\"fires\":1,"
	 "\"early\":0,\"lost\":0,\"doubled\":0,\"max_ns\":0}\n"),
};

START_TEST(test_soak_file_refuses_other_lines)
{
	struct soak_tally tally;
	char text[256];

	make_file(foreign[_i]);
	ck_assert_int_eq(open_file(&tally, text, sizeof(text)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(text, ":1: not a line of a soak"));
	unlink(path);
}
END_TEST

START_TEST(test_soak_file_cannot_be_made)
{
	struct soak_tally tally;
	char text[256];

	ck_assert_int_eq(
		soak_file_open("/nonexistent/f", &tally, text, sizeof(text)),
		-ENOENT);
	ck_assert_str_eq(text, "/nonexistent/f: No such file or directory");
}
END_TEST

START_TEST(test_soak_file_full)
{
	int fd = open("/dev/full", O_WRONLY);

	ck_assert_int_eq(soak_file_append(fd, &results[0]), -ENOSPC);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("soak");
	TCase *tc = tcase_create("soak");

	tcase_add_test(tc, test_soak_choice_repeats);
	tcase_add_test(tc, test_soak_choices_keep_to_their_bounds);
	tcase_add_loop_test(tc, test_soak_choices_reach_everything, 0,
			    sizeof(reached) / sizeof(reached[0]));
	tcase_add_test(tc, test_soak_hogs_half_of_the_time);
	tcase_add_test(tc, test_soak_fires_can_be_fewer);
	tcase_add_test(tc, test_soak_choices_are_valid);
	tcase_add_test(tc, test_soak_file_goes_on);
	tcase_add_test(tc, test_soak_file_drops_an_unfinished_line);
	tcase_add_loop_test(tc, test_soak_file_refuses_other_lines, 0,
			    sizeof(foreign) / sizeof(foreign[0]));
	tcase_add_test(tc, test_soak_file_cannot_be_made);
	tcase_add_test(tc, test_soak_file_full);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
