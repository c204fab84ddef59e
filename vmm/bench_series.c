/* SPDX-License-Identifier: MIT */
/*
 * bench_series - a run's samples in their order.
 * Not modelled: other CPUs of the guest than the first; a time line of all in
 * one would be a cloud.
 */
#include "bench_series.h"

#include <errno.h>
#include <stdlib.h>

#include "bench_sample.h"
#include "json.h"

static int read_samples(const struct json_doc *doc,
			const struct json_node *samples,
			struct bench_series *series)
{
	const struct json_node *at;

	series->lateness_tsc =
		calloc(samples->children, sizeof(*series->lateness_tsc));
	if (!series->lateness_tsc)
		return -ENOMEM;
	for (at = json_first(doc, samples); at; at = json_next(doc, at))
		if (json_i64(doc, at, &series->lateness_tsc[series->count++]))
			return -EINVAL;
	return 0;
}

static int read_all(const struct json_doc *doc, struct bench_series *series)
{
	const struct json_node *root = json_root(doc);
	const struct json_node *samples =
		json_get(doc, root, "lateness[0].samples_tsc");
	const struct json_node *warmup =
		json_get(doc, root, "lateness[0].warmup");
	uint64_t first;
	int ret;

	if (!samples || samples->type != JSON_ARRAY || !samples->children ||
	    !warmup || json_u64(doc, warmup, &first))
		return -EINVAL;
	ret = read_samples(doc, samples, series);
	series->warmup = first < series->count ? first : series->count;
	return ret;
}

int bench_series_read(const char *json, size_t len, struct bench_series *series)
{
	struct json_doc doc;
	char err[128];
	int ret = json_parse(&doc, NULL, json, len, BENCH_SAMPLE_JSON_MAX, err,
			     sizeof(err));

	*series = (struct bench_series){0};
	if (ret)
		return ret;
	ret = read_all(&doc, series);
	json_free(&doc);
	if (ret)
		bench_series_free(series);
	return ret;
}

void bench_series_free(struct bench_series *series)
{
	free(series->lateness_tsc);
	*series = (struct bench_series){0};
}
