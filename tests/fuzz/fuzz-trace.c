/* SPDX-License-Identifier: MIT */
/*
 * fuzz-trace - a hostile trace file, printed and replayed.
 *
 * The input is the file; or, if its first byte is odd, changes to the header
 * and the records of one that is right.
 *
 * Rules: what is wrong is told in one line; what is there is as many records as
 * fit the bytes, each of a vCPU and an event that exist; sorted they are the
 * same records, in order; each is one line of printable text; and the replay's
 * counts and percentiles are in order.
 */
#define _GNU_SOURCE /* memfd_create */
#include "trace_file.h"

#include <errno.h>
#include <string.h>

#include "fuzz_file.h"
#include "tsc.h"
#include "tune_report.h"

enum {
	FILE_MAX = 4096,
	RECORDS_MAX = 40,
};

static struct fuzz_file file;

static void put_header(uint8_t *bytes)
{
	struct trace_header header = {
		.version = TRACE_VERSION,
		.header_size = sizeof(header),
		.record_size = sizeof(struct trace_record),
		.vcpu_count = 2,
		.tsc_khz = 400000,
		.events = TRACE_ALL_EVENTS,
		.spin_share_q16 = 16384,
		.target_q16 = 64881,
		.advance = 2,
		.tuner = 1,
		.max_advance_tsc = 160000,
		.start_advance_tsc = 1000,
	};

	memcpy(header.magic, TRACE_MAGIC, sizeof(header.magic));
	memcpy(bytes, &header, sizeof(header));
}

/* Of any event, with arguments that are likely to make sense. */
static struct trace_record take_record(struct fuzz_input *in)
{
	struct trace_record record = {
		.host_tsc = 1000000 + fuzz_any_size(in, 63),
		.event = fuzz_u8(in) % 16,
		.vcpu = fuzz_u8(in) % 2,
	};

	if (record.event > TRACE_DROP)
		record.event = TRACE_ARRIVE;
	if (record.event == TRACE_ARRIVE)
		record.flags = fuzz_u8(in) & (3 | TRACE_FLAG_EXPIRY |
					      TRACE_FLAG_CUT | TRACE_FLAG_PAST);
	if (record.event == TRACE_DROP || record.event == TRACE_KICK)
		record.aux = fuzz_u8(in) % 4;
	for (size_t i = 0; i < 3; i++)
		record.args[i] = fuzz_any_size(in, 64);
	return record;
}

/* A file that may be right, with some changes. */
static size_t make_file(struct fuzz_input *in, uint8_t *bytes)
{
	struct trace_record record, end = {.event = TRACE_END};
	unsigned int count = fuzz_u8(in) % RECORDS_MAX;
	unsigned int changes = fuzz_u8(in) % 4;
	size_t size = sizeof(struct trace_header);

	put_header(bytes);
	for (unsigned int i = 0; i < count; i++) {
		record = take_record(in);
		memcpy(bytes + size, &record, sizeof(record));
		size += sizeof(record);
	}
	end.args[0] = count;
	memcpy(bytes + size, &end, sizeof(end));
	size += sizeof(end);
	while (changes--) {
		size_t at = fuzz_u16(in) % size;

		bytes[at] = fuzz_u8(in);
	}
	return size;
}

static void check_line(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	FUZZ_CHECK(len && len < size);
	for (size_t i = 0; i < len; i++)
		FUZZ_CHECK(text[i] >= ' ' && text[i] <= '~');
}

static void check_records(const struct trace_file *f)
{
	const struct trace_record **sorted = trace_file_sort(f);
	struct tsc_scale scale;
	char text[256];

	FUZZ_CHECK(sorted);
	FUZZ_CHECK(!tsc_scale_init(&scale, f->header->tsc_khz));
	for (size_t i = 0; i < f->count; i++) {
		const struct trace_record *record = &f->records[i];

		FUZZ_CHECK(record->event > TRACE_END &&
			   record->event < TRACE_EVENTS);
		FUZZ_CHECK(record->vcpu < f->header->vcpu_count);
		FUZZ_CHECK(!i ||
			   sorted[i - 1]->host_tsc <= sorted[i]->host_tsc);
		FUZZ_CHECK(sorted[i] >= f->records &&
			   sorted[i] < f->records + f->count);
		memset(text, 1, sizeof(text));
		trace_record_text(sorted[i], sorted[0]->host_tsc, &scale, text,
				  sizeof(text));
		check_line(text, sizeof(text));
	}
	free(sorted);
}

static void check_replay(const struct trace_file *f, uint32_t vcpu)
{
	struct tune_samples samples;
	struct tune_points points;
	char *text = NULL;
	size_t len = 0, states = 0;
	FILE *out;

	FUZZ_CHECK(!tune_samples_take(&samples, f, vcpu));
	FUZZ_CHECK(samples.count + samples.left_out <= f->count);
	for (size_t i = 0; i < TRACE_STATES; i++)
		states += samples.by_state[i];
	FUZZ_CHECK(states == samples.count);
	if (samples.count) {
		out = open_memstream(&text, &len);
		FUZZ_CHECK(out);
		tune_report_print(out, "t", f->header, &samples, &points);
		FUZZ_CHECK(!fclose(out) && len);
		free(text);
		for (size_t i = 0; i < TUNE_POLICIES; i++)
			FUZZ_CHECK(!(points.policy[i].spin_us < 0) &&
				   !(points.policy[i].late_p99_us < 0));
	}
	tune_samples_free(&samples);
}

static void check_sim(const struct trace_file *f)
{
	struct tune_samples samples;
	struct tune_sim sim = {
		.policy = {.max_advance_tsc = f->header->max_advance_tsc,
			   .spin_share_q16 = f->header->spin_share_q16},
		.start_advance_tsc = 1000,
		.warmup = 2,
		.group = TUNE_ALL_GROUPS,
		.way = TUNE_WAY_QUANTILE,
		.q16 = 64881,
	};
	struct tune_result r;

	FUZZ_CHECK(!tune_samples_take(&samples, f, 0));
	tune_sim_run(&sim, samples.fires, samples.count, samples.room, &r);
	FUZZ_CHECK(r.fires + r.warmup_fires == samples.count);
	FUZZ_CHECK(r.in_time <= r.fires && r.warmup_in_time <= r.warmup_fires);
	FUZZ_CHECK(r.late_p50_tsc <= r.late_p90_tsc &&
		   r.late_p90_tsc <= r.late_p99_tsc &&
		   r.late_p99_tsc <= r.late_max_tsc);
	FUZZ_CHECK(r.advance_tsc <= f->header->max_advance_tsc);
	tune_samples_free(&samples);
}

static void check_file(size_t size)
{
	struct trace_file f;
	char err[512] = "";
	int ret = trace_file_load(&f, file.path, err, sizeof(err));

	if (ret) {
		FUZZ_CHECK(ret == -EINVAL);
		check_line(err, sizeof(err));
	}
	if (f.records) {
		FUZZ_CHECK(sizeof(struct trace_header) +
				   f.count * sizeof(struct trace_record) <=
			   size);
		check_records(&f);
	}
	if (!ret) {
		FUZZ_CHECK(f.has_end && f.end.args[0] == f.count);
		check_replay(&f, 0);
		check_sim(&f);
	}
	trace_file_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_open(data, size);
	uint8_t bytes[FILE_MAX];

	if (fuzz_u8(&in) & 1) {
		size = make_file(&in, bytes);
	} else {
		size = (size_t)(in.end - in.at);
		if (size > FILE_MAX)
			size = FILE_MAX;
		if (size)
			memcpy(bytes, in.at, size);
	}
	fuzz_file_set(&file, bytes, size);
	check_file(size);
	return 0;
}
