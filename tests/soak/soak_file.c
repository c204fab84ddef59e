/* SPDX-License-Identifier: MIT */
/*
 * soak_file - reading lines back, adding them up, appending one.
 *
 * A line is written by one write(2), so that a soak that is killed leaves at
 * most its last line unfinished; that run did not happen.
 */
#define _GNU_SOURCE
#include "soak_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "json.h"
#include "jsonw.h"

enum {
	LINE_SIZE_MAX = 1 << 16,
};

void soak_tally_add(struct soak_tally *tally, const struct soak_result *result)
{
	tally->runs++;
	tally->not_ok += !result->ok;
	tally->compensated += result->compensated;
	tally->fires += result->fires;
	tally->early += result->early;
	tally->lost += result->lost;
	tally->doubled += result->doubled;
	tally->wall_ns += result->wall_ns;
	if (result->max_ns > tally->worst_ns) {
		tally->worst_ns = result->max_ns;
		tally->worst_run = result->run;
	}
}

void soak_tally_describe(const struct soak_tally *tally, char *buf, size_t size)
{
	snprintf(buf, size,
		 "%" PRIu64 " runs (%" PRIu64 " compensated), %" PRIu64
		 " s, %" PRIu64 " fires: early %" PRIu64 ", lost %" PRIu64
		 ", doubled %" PRIu64 "; runs not ok %" PRIu64
		 "; latest fire %.1f us (run %" PRIu64 ")",
		 tally->runs, tally->compensated, tally->wall_ns / 1000000000,
		 tally->fires, tally->early, tally->lost, tally->doubled,
		 tally->not_ok, (double)tally->worst_ns / 1e3,
		 tally->worst_run);
}

static int read_line(const char *line, size_t len, struct soak_result *result)
{
	struct json_doc doc;
	const struct json_node *root;
	int64_t status;
	char err[8];
	int ret = json_parse(&doc, NULL, line, len, LINE_SIZE_MAX, err,
			     sizeof(err));

	if (ret)
		return ret;
	root = json_root(&doc);

#define MEMBER(type, name, out)            \
	(!json_member(&doc, root, name) || \
	 json_##type(&doc, json_member(&doc, root, name), out))
	if (MEMBER(u64, "run", &result->run) ||
	    MEMBER(u64, "seed", &result->seed) ||
	    MEMBER(bool, "ok", &result->ok) ||
	    MEMBER(bool, "compensated", &result->compensated) ||
	    MEMBER(i64, "status", &status) ||
	    MEMBER(u64, "wall_ns", &result->wall_ns) ||
	    MEMBER(u64, "fires", &result->fires) ||
	    MEMBER(u64, "early", &result->early) ||
	    MEMBER(u64, "lost", &result->lost) ||
	    MEMBER(u64, "doubled", &result->doubled) ||
	    MEMBER(i64, "max_ns", &result->max_ns))
		ret = -EINVAL;
	else
		result->status = (int)status;
#undef MEMBER
	json_free(&doc);
	return ret;
}

/* *whole: how many bytes the complete lines have. */
static int read_lines(FILE *stream, const char *path, struct soak_tally *tally,
		      off_t *whole, char *err, size_t err_size)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ret = 0;

	while (!ret && (len = getline(&line, &room, stream)) > 0 &&
	       line[len - 1] == '\n') {
		struct soak_result result = {0};

		ret = read_line(line, (size_t)len, &result);
		if (ret)
			snprintf(err, err_size,
				 "%s:%" PRIu64 ": not a line of a soak", path,
				 tally->runs + 1);
		soak_tally_add(tally, &result);
		*whole += len;
	}
	free(line);
	if (!ret && ferror(stream)) {
		snprintf(err, err_size, "%s: cannot be read", path);
		ret = -EIO;
	}
	return ret;
}

int soak_file_open(const char *path, struct soak_tally *tally, char *err,
		   size_t err_size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	FILE *stream;
	off_t whole = 0;
	int ret;

	*tally = (struct soak_tally){0};
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB)) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path,
			 ret == -EWOULDBLOCK ? "another soak writes it"
					     : strerror(-ret));
		goto out;
	}
	stream = fopen(path, "re");
	if (!stream) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path, strerror(-ret));
		goto out;
	}
	ret = read_lines(stream, path, tally, &whole, err, err_size);
	fclose(stream);
	if (!ret && lseek(fd, 0, SEEK_END) > whole && ftruncate(fd, whole)) {
		ret = -errno;
		snprintf(err, err_size, "%s: %s", path, strerror(-ret));
	}
	if (!ret)
		return fd;
out:
	if (fd >= 0)
		close(fd);
	return ret;
}

static void write_result(struct jsonw *w, const struct soak_result *result)
{
	jsonw_object_begin(w, NULL);
	jsonw_u64(w, "run", result->run);
	jsonw_u64(w, "seed", result->seed);
	jsonw_bool(w, "ok", result->ok);
	jsonw_bool(w, "compensated", result->compensated);
	jsonw_i64(w, "status", result->status);
	jsonw_string(w, "message", result->message);
	jsonw_u64(w, "hogs", result->hogs);
	jsonw_u64(w, "wall_ns", result->wall_ns);
	jsonw_u64(w, "fires", result->fires);
	jsonw_u64(w, "early", result->early);
	jsonw_u64(w, "lost", result->lost);
	jsonw_u64(w, "doubled", result->doubled);
	jsonw_i64(w, "max_ns", result->max_ns);
	jsonw_array_begin(w, "sets");
	for (size_t i = 0; i < result->set_count; i++)
		jsonw_string(w, NULL, result->sets[i]);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

int soak_file_append(int fd, const struct soak_result *result)
{
	struct jsonw w;
	const char *text;
	char *line = NULL;
	size_t len;
	int n = -1, ret;

	jsonw_init(&w, 0, LINE_SIZE_MAX - 1);
	write_result(&w, result);
	text = jsonw_text(&w, &len);
	if (text)
		n = asprintf(&line, "%s\n", text);
	ret = n < 0 ? -ENOMEM : 0;
	errno = 0;
	if (!ret && write(fd, line, (size_t)n) != n)
		ret = errno ? -errno : -EIO;
	free(line);
	jsonw_free(&w);
	return ret;
}
