/* SPDX-License-Identifier: MIT */
/*
 * soak_file - the results of a soak: one JSON object a line, one line a run.
 * A soak that goes on with the same file goes on where the last one stopped.
 */
#ifndef TESTS_SOAK_FILE_H
#define TESTS_SOAK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run. Counts are sums over its vCPUs, warm-up included. */
struct soak_result {
	uint64_t run;	     /* from 0 */
	uint64_t seed;	     /* of the series */
	const char **sets;   /* written only */
	size_t set_count;    /* written only */
	uint32_t hogs;	     /* written only */
	bool compensated;    /* a calibration took an entry cost off */
	bool ok;	     /* status 0, all fires intercepted, none wrong */
	int status;	     /* exit status */
	const char *message; /* written only; "" if none */
	uint64_t wall_ns;
	uint64_t fires, early, lost, doubled;
	int64_t max_ns; /* latest fire after the warm-up; 0 if none */
};

struct soak_tally {
	uint64_t runs, not_ok, compensated;
	uint64_t fires, early, lost, doubled, wall_ns;
	int64_t worst_ns;
	uint64_t worst_run;
};

/* Adds a run to the sums. Pure. */
void soak_tally_add(struct soak_tally *tally, const struct soak_result *result);

/* The sums in one line, without a newline. Pure. */
void soak_tally_describe(const struct soak_tally *tally, char *buf,
			 size_t size);

/*
 * Opens or makes the file, for one soak at a time, sums up what is in it, and
 * drops an unfinished last line. Returns the descriptor, or -errno with one
 * line in err (-EINVAL: a line is not from here; -EWOULDBLOCK: in use).
 */
int soak_file_open(const char *path, struct soak_tally *tally, char *err,
		   size_t err_size);

/* Appends a line. 0 or -errno. */
int soak_file_append(int fd, const struct soak_result *result);

#endif
