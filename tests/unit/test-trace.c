/* SPDX-License-Identifier: MIT */
/*
 * A trace file from its opening to its end, and read back: what is lost is
 * counted, and a file that was cut, altered or made up is refused at the byte.
 */
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "device.h"
#include "tap.h"
#include "trace_file.h"
#include "vm.h"

enum {
	HEADER = sizeof(struct trace_header),
	RECORD = sizeof(struct trace_record),
};

static struct trace trace;
static struct vm vm;
static struct vcpu vcpus[2];
static struct config config;
static struct trace_file file;
static char path[64], err[256];

static void setup(void)
{
	int fd;

	strcpy(path, "/tmp/punctual-trace.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	vm.config = &config;
	vm.vcpus = vcpus;
	vm.vcpu_count = 2;
	vm.tsc_khz = 2000000;
	ck_assert_int_eq(user_timer_setup_init(&vm.timer_setup, 2000000,
					       USER_TIMER_ADVANCE_AUTO, 0,
					       400000, 0.25, 0),
			 0);
	user_timer_setup_tuner(&vm.timer_setup, TUNER_QUANTILE, 0.99);
	err[0] = '\0';
}

static void teardown(void)
{
	trace_file_free(&file);
	unlink(path);
}

static void start(uint32_t events)
{
	ck_assert_int_eq(trace_open(&trace, path, events, err, sizeof(err)), 0);
	ck_assert_int_eq(trace_start(&trace, &vm, err, sizeof(err)), 0);
}

static void put(struct trace_ring *ring, enum trace_event event,
		uint64_t host_tsc)
{
	trace_ring_put(ring, &(struct trace_record){.host_tsc = host_tsc,
						    .event = (uint8_t)event});
}

static uint64_t finish(void)
{
	uint64_t lost;

	ck_assert_int_eq(trace_finish(&trace, &lost, err, sizeof(err)), 0);
	ck_assert_int_eq(trace_close(&trace, err, sizeof(err)), 0);
	return lost;
}

/* The smallest file with three records in it. */
static void make_file(void)
{
	start(TRACE_ALL_EVENTS);
	put(vcpus[0].timer.trace, TRACE_ARRIVE, 3000);
	put(vcpus[1].timer.trace, TRACE_DROP, 2000);
	put(vm.timer_thread.trace, TRACE_TIMER_EXPIRE, 2000);
	ck_assert_uint_eq(finish(), 0);
}

static void patch(off_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes, size, offset), (ssize_t)size);
	close(fd);
}

/* Refused, with that offset in the line, and so many good records. */
static void check_refused(const char *offset, size_t count)
{
	ck_assert_int_lt(trace_file_load(&file, path, err, sizeof(err)), 0);
	ck_assert_msg(strstr(err, offset) != NULL, "%s: not \"%s\"", err,
		      offset);
	ck_assert_ptr_null(strchr(err, '\n'));
	ck_assert_uint_eq(file.count, count);
	trace_file_free(&file);
}

START_TEST(test_trace_none)
{
	uint64_t lost = 1;

	ck_assert_int_eq(trace_open(&trace, NULL, 0, err, sizeof(err)), 0);
	ck_assert_int_eq(trace_start(&trace, &vm, err, sizeof(err)), 0);
	ck_assert_ptr_null(vm.trace);
	ck_assert_ptr_null(vcpus[0].timer.trace);
	trace_drain(&trace);
	ck_assert_int_eq(trace_finish(&trace, &lost, err, sizeof(err)), 0);
	ck_assert_uint_eq(lost, 0);
	ck_assert_int_eq(trace_close(&trace, err, sizeof(err)), 0);
}
END_TEST

START_TEST(test_trace_round)
{
	const struct trace_record **sorted;

	make_file();
	ck_assert_int_eq(trace_file_load(&file, path, err, sizeof(err)), 0);
	ck_assert_uint_eq(file.count, 3);
	ck_assert_uint_eq(file.header->vcpu_count, 2);
	ck_assert_uint_eq(file.header->tsc_khz, 2000000);
	ck_assert_uint_eq(file.header->spin_share_q16, 16384);
	ck_assert_uint_eq(file.header->target_q16, 64881);
	ck_assert_uint_eq(file.header->tuner, TUNER_QUANTILE);
	ck_assert_uint_eq(file.header->max_advance_tsc, 800000);
	ck_assert_uint_eq(file.header->start_advance_tsc, 2000);
	ck_assert_uint_eq(file.end.args[0], 3);
	ck_assert_uint_eq(file.end.args[1] + file.end.args[2], 0);
	sorted = trace_file_sort(&file);
	ck_assert_uint_eq(sorted[0]->event, TRACE_DROP);
	ck_assert_uint_eq(sorted[1]->event, TRACE_TIMER_EXPIRE);
	ck_assert_uint_eq(sorted[2]->event, TRACE_ARRIVE);
	free(sorted);
}
END_TEST

/* More than a ring holds is lost and told; drained in time it is not. */
START_TEST(test_trace_ring_full_is_told)
{
	start(TRACE_ALL_EVENTS);
	for (unsigned int i = 0; i < TRACE_RING_ROOM; i++)
		put(vcpus[1].timer.trace, TRACE_ARRIVE, i);
	trace_drain(&trace);
	for (unsigned int i = 0; i < TRACE_RING_ROOM + 5; i++)
		put(vcpus[1].timer.trace, TRACE_ARRIVE, i);
	ck_assert_uint_eq(finish(), 5);
	ck_assert_int_eq(trace_file_load(&file, path, err, sizeof(err)), 0);
	ck_assert_uint_eq(file.count, 2 * TRACE_RING_ROOM);
	ck_assert_uint_eq(file.end.args[1], 5);
}
END_TEST

START_TEST(test_trace_file_full_is_told)
{
	struct stat st;

	start(TRACE_ALL_EVENTS);
	trace.room = 1500;
	for (unsigned int i = 0; i < 1600; i++)
		put(vcpus[0].timer.trace, TRACE_ARRIVE, i);
	ck_assert_uint_eq(finish(), 100);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, HEADER + 1501 * RECORD);
	ck_assert_int_eq(trace_file_load(&file, path, err, sizeof(err)), 0);
	ck_assert_uint_eq(file.count, 1500);
	ck_assert_uint_eq(file.end.args[2], 100);
}
END_TEST

START_TEST(test_trace_file_max)
{
	start(TRACE_ALL_EVENTS);
	ck_assert_uint_le(HEADER + (trace.room + 1) * RECORD, TRACE_FILE_MAX);
	ck_assert_uint_gt(HEADER + (trace.room + 2) * RECORD, TRACE_FILE_MAX);
	finish();
}
END_TEST

START_TEST(test_trace_not_writable)
{
	char full[PATH_MAX];
	uint64_t lost;

	ck_assert_int_eq(trace_open(&trace, "/no/such/dir/t", TRACE_ALL_EVENTS,
				    err, sizeof(err)),
			 -ENOENT);
	ck_assert_ptr_nonnull(strstr(err, "/no/such/dir/t"));
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(
		trace_open(&trace, path, TRACE_ALL_EVENTS, err, sizeof(err)),
		-EINVAL);
	ck_assert_int_eq(trace_open(&trace, device_path("/dev/full", full),
				    TRACE_ALL_EVENTS, err, sizeof(err)),
			 0);
	ck_assert_int_eq(trace_start(&trace, &vm, err, sizeof(err)), 0);
	put(vcpus[0].timer.trace, TRACE_ARRIVE, 1);
	ck_assert_int_eq(trace_finish(&trace, &lost, err, sizeof(err)),
			 -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err, ": No space left"));
	ck_assert_int_eq(trace_close(&trace, err, sizeof(err)), 0);
}
END_TEST

START_TEST(test_trace_no_terminal)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(grantpt(terminal), 0);
	ck_assert_int_eq(unlockpt(terminal), 0);
	ck_assert_int_eq(trace_open(&trace, ptsname(terminal), TRACE_ALL_EVENTS,
				    err, sizeof(err)),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(err, "a terminal"));
	close(terminal);
}
END_TEST

START_TEST(test_trace_file_cut)
{
	make_file();
	ck_assert_int_eq(truncate(path, HEADER + 4 * RECORD - 1), 0);
	check_refused("offset 200: the file ends within a record", 3);
	ck_assert_int_eq(truncate(path, HEADER + 3 * RECORD), 0);
	check_refused("offset 200: the last record is missing", 3);
	ck_assert_int_eq(truncate(path, HEADER + 1), 0);
	check_refused("offset 80: the file ends within a record", 0);
	ck_assert_int_eq(truncate(path, HEADER), 0);
	check_refused("offset 80: the last record is missing", 0);
	ck_assert_int_eq(truncate(path, HEADER - 1), 0);
	check_refused("offset 79", 0);
	ck_assert_int_eq(truncate(path, 0), 0);
	check_refused("empty", 0);
}
END_TEST

START_TEST(test_trace_file_hostile)
{
	const uint64_t many = UINT64_MAX;
	const uint8_t event = TRACE_EVENTS;

	make_file();
	patch(HEADER + 4 * RECORD, "x", 1);
	check_refused("offset 240: something after", 3);
	make_file();
	patch(HEADER + 3 * RECORD + 16, &many, sizeof(many));
	check_refused("offset 200: not so many", 3);
	patch(HEADER + RECORD + 8, &event, sizeof(event));
	check_refused("offset 120: no such event", 1);
	patch(HEADER + 10, "\x02", 1);
	check_refused("offset 80: no such vCPU", 0);
	patch(40, &many, sizeof(many));
	check_refused("offset 0", 0);
}
END_TEST

/* Any single byte may be anything: refused or taken, nothing else. */
START_TEST(test_trace_file_any_byte)
{
	uint8_t good[HEADER + 4 * RECORD];
	FILE *stream;

	make_file();
	stream = fopen(path, "re");
	ck_assert_uint_eq(fread(good, 1, sizeof(good), stream), sizeof(good));
	fclose(stream);
	for (size_t i = 0; i < sizeof(good); i++) {
		uint8_t other = (uint8_t)~good[i];
		const struct trace_record **sorted;

		patch((off_t)i, &other, 1);
		trace_file_load(&file, path, err, sizeof(err));
		sorted = trace_file_sort(&file);
		tap_require(sorted && file.count <= 3);
		free(sorted);
		trace_file_free(&file);
		patch((off_t)i, &good[i], 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace");
	TCase *tc = tcase_create("trace");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_trace_none);
	tcase_add_test(tc, test_trace_round);
	tcase_add_test(tc, test_trace_ring_full_is_told);
	tcase_add_test(tc, test_trace_file_full_is_told);
	tcase_add_test(tc, test_trace_file_max);
	tcase_add_test(tc, test_trace_not_writable);
	tcase_add_test(tc, test_trace_no_terminal);
	tcase_add_test(tc, test_trace_file_cut);
	tcase_add_test(tc, test_trace_file_hostile);
	tcase_add_test(tc, test_trace_file_any_byte);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
