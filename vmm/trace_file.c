/* SPDX-License-Identifier: MIT */
/*
 * trace_file - loads and checks; see trace_file.h. A run that was killed
 * leaves a file without its end, which is told, after what is there.
 */
#include "trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image_file.h"
#include "load_plan.h"
#include "trace.h"
#include "tsc.h"

static int fail(const char *path, uint64_t offset, const char *what, char *err,
		size_t err_size)
{
	snprintf(err, err_size, "%s: offset %" PRIu64 ": %s", path, offset,
		 what);
	return -EINVAL;
}

static int read_bytes(struct trace_file *file, const char *path, size_t *size,
		      char *err, size_t err_size)
{
	struct image_file image;
	struct load_error why;
	int ret = image_file_open(&image, path, TRACE_FILE_MAX, &why);

	if (!ret) {
		*size = (size_t)image.size;
		file->bytes = malloc(*size);
		if (file->bytes)
			ret = image_file_read(&image, file->bytes, &why);
		else
			ret = load_fail(&why, -ENOMEM, "out of memory");
	}
	image_file_close(&image);
	if (ret)
		snprintf(err, err_size, "%s: %s", path, why.text);
	return ret;
}

static int check_records(struct trace_file *file, const char *path, size_t size,
			 char *err, size_t err_size)
{
	const size_t record_size = sizeof(struct trace_record);
	size_t offset = sizeof(*file->header);
	const char *fault;

	for (; size - offset >= record_size; offset += record_size) {
		const struct trace_record *record = &file->records[file->count];

		fault = trace_record_fault(record, file->header->vcpu_count);
		if (fault)
			return fail(path, offset, fault, err, err_size);
		if (record->event == TRACE_END) {
			file->has_end = true;
			file->end = *record;
			offset += record_size;
			break;
		}
		file->count++;
	}
	if (!file->has_end)
		return fail(path, offset,
			    size == offset
				    ? "the last record is missing: the run was "
				      "killed, or the file is cut"
				    : "the file ends within a record",
			    err, err_size);
	if (size != offset)
		return fail(path, offset, "something after the last record",
			    err, err_size);
	if (file->end.args[0] != file->count)
		return fail(path, offset - record_size,
			    "not so many records as it says", err, err_size);
	return 0;
}

int trace_file_load(struct trace_file *file, const char *path, char *err,
		    size_t err_size)
{
	const char *fault;
	size_t size = 0;
	int ret;

	memset(file, 0, sizeof(*file));
	ret = read_bytes(file, path, &size, err, err_size);
	if (ret)
		return ret;
	if (size < sizeof(*file->header))
		return fail(path, size, "the file ends within its header", err,
			    err_size);
	file->header = (const struct trace_header *)(const void *)file->bytes;
	fault = trace_header_fault(file->header);
	if (fault)
		return fail(path, 0, fault, err, err_size);
	file->records =
		(const struct trace_record
			 *)(const void *)(file->bytes + sizeof(*file->header));
	return check_records(file, path, size, err, err_size);
}

void trace_file_free(struct trace_file *file)
{
	free(file->bytes);
	memset(file, 0, sizeof(*file));
}

static int by_instant(const void *left, const void *right)
{
	const struct trace_record *a =
		*(const struct trace_record *const *)left;
	const struct trace_record *b =
		*(const struct trace_record *const *)right;

	if (a->host_tsc != b->host_tsc)
		return a->host_tsc < b->host_tsc ? -1 : 1;
	return a < b ? -1 : a > b;
}

const struct trace_record **trace_file_sort(const struct trace_file *file)
{
	const struct trace_record **sorted =
		malloc((file->count + 1) * sizeof(*sorted));

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < file->count; i++)
		sorted[i] = &file->records[i];
	qsort(sorted, file->count, sizeof(*sorted), by_instant);
	return sorted;
}
