/* SPDX-License-Identifier: MIT */
/*
 * bench_hist - a histogram as the list of its buckets.
 * What is read came through a process of ours from a guest's samples; it is
 * checked as if it had come from anywhere.
 */
#include "bench_hist.h"

#include <errno.h>
#include <stdlib.h>

#include "hist.h"
#include "hist_json.h"
#include "json.h"

static int read_member(const struct json_doc *doc, const struct json_node *from,
		       const char *path, uint64_t *out)
{
	const struct json_node *node = json_get(doc, from, path);

	return node && !json_u64(doc, node, out) ? 0 : -EINVAL;
}

/* [low, high, count], above the bucket before it. */
static int read_bucket(const struct json_doc *doc, const struct json_node *node,
		       struct bench_hist *hist)
{
	struct bench_hist_bucket *bucket = &hist->buckets[hist->used];
	uint64_t low, high;

	if (node->type != JSON_ARRAY || node->children != 3 ||
	    read_member(doc, node, "[0]", &low) ||
	    read_member(doc, node, "[1]", &high) ||
	    read_member(doc, node, "[2]", &bucket->count) || !bucket->count)
		return -EINVAL;
	bucket->index = hist_index(low);
	if (hist_low(bucket->index) != low || hist_high(bucket->index) != high)
		return -EINVAL;
	if (hist->used && bucket[-1].index >= bucket->index)
		return -EINVAL;
	hist->used++;
	return 0;
}

static int read_buckets(const struct json_doc *doc,
			const struct json_node *node, struct bench_hist *hist)
{
	const struct json_node *at;
	uint64_t sum = 0;

	if (node->children > HIST_BUCKETS)
		return -EINVAL;
	hist->buckets = calloc(node->children + 1, sizeof(*hist->buckets));
	if (!hist->buckets)
		return -ENOMEM;
	for (at = json_first(doc, node); at; at = json_next(doc, at))
		if (read_bucket(doc, at, hist) ||
		    __builtin_add_overflow(
			    sum, hist->buckets[hist->used - 1].count, &sum))
			return -EINVAL;
	return sum == hist->count ? 0 : -EINVAL;
}

/* Are the extremes in the outermost buckets? */
static int check_range(const struct bench_hist *hist)
{
	if (!hist->count)
		return 0;
	if (hist_index(hist->min_tsc) != hist->buckets[0].index ||
	    hist_index(hist->max_tsc) != hist->buckets[hist->used - 1].index ||
	    hist->min_tsc > hist->max_tsc)
		return -EINVAL;
	return 0;
}

int bench_hist_read(const struct json_doc *doc, const struct json_node *node,
		    struct bench_hist *hist)
{
	const struct json_node *buckets = json_member(doc, node, "buckets");
	int ret;

	*hist = (struct bench_hist){0};
	if (!buckets || buckets->type != JSON_ARRAY ||
	    read_member(doc, node, "count", &hist->count) ||
	    (hist->count && (read_member(doc, node, "min", &hist->min_tsc) ||
			     read_member(doc, node, "max", &hist->max_tsc))))
		return -EINVAL;
	ret = read_buckets(doc, buckets, hist);
	if (!ret)
		ret = check_range(hist);
	if (ret)
		bench_hist_free(hist);
	return ret;
}

void bench_hist_free(struct bench_hist *hist)
{
	free(hist->buckets);
	*hist = (struct bench_hist){0};
}

void bench_hist_add(const struct bench_hist *hist, struct hist *sum)
{
	if (!hist->count)
		return;
	sum->count += hist->count;
	if (hist->min_tsc < sum->min)
		sum->min = hist->min_tsc;
	if (hist->max_tsc > sum->max)
		sum->max = hist->max_tsc;
	for (size_t i = 0; i < hist->used; i++)
		sum->bucket[hist->buckets[i].index] += hist->buckets[i].count;
}

void bench_hist_write(const struct bench_hist *hist, const char *name,
		      struct jsonw *w)
{
	struct hist sum;

	hist_init(&sum);
	bench_hist_add(hist, &sum);
	hist_json_write(w, name, &sum);
}
