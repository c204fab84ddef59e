/* SPDX-License-Identifier: MIT */
/*
 * bench_sample - the members of a result that a benchmark compares.
 *
 * The document comes from a process of our own, but its lateness was written
 * by a guest: any number may stand there, so sums saturate.
 * Not looked at: single CPUs of the guest; lateness_all pools them.
 */
#include "bench_sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_hist.h"
#include "json.h"

#define SCHEMA "punctual-result-1"

struct reader {
	const struct json_doc *doc;
	const struct json_node *root;
	char *err;
	size_t err_size;
};

static int fail(const struct reader *r, const char *path, const char *what)
{
	snprintf(r->err, r->err_size, "result: %s: %s", path, what);
	return -EINVAL;
}

static int read_u64(const struct reader *r, const char *path, uint64_t *out)
{
	const struct json_node *node = json_get(r->doc, r->root, path);

	if (!node)
		return fail(r, path, "missing");
	if (json_u64(r->doc, node, out))
		return fail(r, path, "not a count");
	return 0;
}

static int read_i64(const struct reader *r, const char *path, int64_t *out)
{
	const struct json_node *node = json_get(r->doc, r->root, path);

	if (!node)
		return fail(r, path, "missing");
	if (json_i64(r->doc, node, out))
		return fail(r, path, "not an integer");
	return 0;
}

static bool is_text(const struct reader *r, const char *path, const char *s)
{
	const struct json_node *node = json_get(r->doc, r->root, path);

	return node && json_equals(r->doc, node, s);
}

static int read_rung(const struct reader *r, struct bench_sample *sample)
{
	const struct json_node *node = json_get(r->doc, r->root, "rung");
	char *rung;
	int ret = node ? json_string(r->doc, node, &rung) : -EINVAL;

	if (ret) {
		fail(r, "rung",
		     ret == -EINVAL ? "not a string" : strerror(-ret));
		return ret;
	}
	snprintf(sample->rung, sizeof(sample->rung), "%s", rung);
	free(rung);
	return 0;
}

static int read_mode(const struct reader *r, struct bench_sample *sample)
{
	const struct json_node *node;
	int64_t status;
	int ret;

	sample->is_userspace = is_text(r, "timer_mode", "userspace");
	if (!sample->is_userspace && !is_text(r, "timer_mode", "kernel"))
		return fail(r, "timer_mode", "neither userspace nor kernel");
	node = json_get(r->doc, r->root, "tsc_allowed_unstable");
	if (!node || json_bool(r->doc, node, &sample->is_unstable))
		return fail(r, "tsc_allowed_unstable", "not a boolean");
	node = json_get(r->doc, r->root, "early_allowed");
	if (!node || json_bool(r->doc, node, &sample->is_early_allowed))
		return fail(r, "early_allowed", "not a boolean");
	node = json_get(r->doc, r->root, "memory.prefaulted");
	if (!node || json_bool(r->doc, node, &sample->is_prefaulted))
		return fail(r, "memory.prefaulted", "not a boolean");
	node = json_get(r->doc, r->root, "memory.locked");
	if (!node || json_bool(r->doc, node, &sample->is_locked))
		return fail(r, "memory.locked", "not a boolean");
	ret = read_i64(r, "end.status", &status);
	if (!ret && (status < 0 || status > 255))
		ret = fail(r, "end.status", "not an exit status");
	if (!ret)
		sample->status = (int)status;
	return ret ? ret : read_rung(r, sample);
}

static int read_counts(const struct reader *r, struct bench_sample *sample)
{
	const struct {
		const char *path;
		uint64_t *out;
	} members[] = {
		{"tsc_khz", &sample->tsc_khz},
		{"user_cpu_ns", &sample->user_cpu_ns},
		{"system_cpu_ns", &sample->system_cpu_ns},
		{"host.steal_ticks_during_run", &sample->steal_ticks},
		{"lateness_all.samples", &sample->samples},
		{"lateness_all.fires", &sample->fires},
		{"lateness_all.warmup", &sample->warmup},
		{"lateness_all.below_zero", &sample->below_zero},
		{"lateness_all.early", &sample->early},
		{"lateness_all.lost", &sample->lost},
		{"lateness_all.doubled", &sample->doubled},
		{"lateness_all.loop_turns", &sample->loop_turns},
		{"lateness_all.wait_tsc", &sample->wait_tsc},
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(members) / sizeof(members[0]);
	     i++)
		ret = read_u64(r, members[i].path, members[i].out);
	return ret;
}

static int read_percentiles(const struct reader *r, struct bench_sample *sample)
{
	int ret = read_i64(r, "lateness_all.p50_tsc", &sample->p50_tsc);

	if (!ret)
		ret = read_i64(r, "lateness_all.p50_ns", &sample->p50_ns);
	if (!ret)
		ret = read_i64(r, "lateness_all.p99_tsc", &sample->p99_tsc);
	if (!ret)
		ret = read_i64(r, "lateness_all.p99_ns", &sample->p99_ns);
	return ret;
}

static int read_arms(const struct reader *r, struct bench_sample *sample)
{
	const struct json_node *vcpus = json_get(r->doc, r->root, "vcpus");
	const struct json_node *vcpu;
	uint64_t arms;

	if (!vcpus || vcpus->type != JSON_ARRAY)
		return fail(r, "vcpus", "not an array");
	for (vcpu = json_first(r->doc, vcpus); vcpu;
	     vcpu = json_next(r->doc, vcpu)) {
		const struct json_node *node =
			json_get(r->doc, vcpu, "timer.arms");

		if (!node || json_u64(r->doc, node, &arms))
			return fail(r, "vcpus[].timer.arms", "not a count");
		if (__builtin_add_overflow(sample->arms, arms, &sample->arms))
			sample->arms = UINT64_MAX;
	}
	return 0;
}

static int read_hist(const struct reader *r, struct bench_hist *hist)
{
	static const char path[] = "lateness_all.histogram_tsc";
	const struct json_node *node = json_get(r->doc, r->root, path);
	int ret = node ? bench_hist_read(r->doc, node, hist) : -EINVAL;

	if (ret == -EINVAL)
		fail(r, path, "not a histogram");
	else if (ret)
		fail(r, path, strerror(-ret));
	return ret;
}

static int read_all(const struct reader *r, struct bench_sample *sample,
		    struct bench_hist *hist)
{
	int ret;

	if (!is_text(r, "schema", SCHEMA))
		return fail(r, "schema", "not " SCHEMA);
	ret = read_mode(r, sample);
	if (!ret)
		ret = read_counts(r, sample);
	if (!ret && sample->samples)
		ret = read_percentiles(r, sample);
	if (!ret && sample->is_userspace)
		ret = read_arms(r, sample);
	if (!ret && hist)
		ret = read_hist(r, hist);
	return ret;
}

int bench_sample_read(const char *json, size_t len, struct bench_sample *sample,
		      struct bench_hist *hist, char *err, size_t err_size)
{
	struct json_doc doc;
	struct reader r = {.doc = &doc, .err = err, .err_size = err_size};
	int ret = json_parse(&doc, "result", json, len, BENCH_SAMPLE_JSON_MAX,
			     err, err_size);

	*sample = (struct bench_sample){0};
	if (ret)
		return ret;
	r.root = json_root(&doc);
	ret = read_all(&r, sample, hist);
	json_free(&doc);
	return ret;
}

bool bench_sample_cpu_per_fire(const struct bench_sample *sample, int64_t *ns)
{
	uint64_t cpu_ns;

	if (!sample->fires ||
	    __builtin_add_overflow(sample->user_cpu_ns, sample->system_cpu_ns,
				   &cpu_ns))
		return false;
	cpu_ns /= sample->fires;
	*ns = cpu_ns > INT64_MAX ? INT64_MAX : (int64_t)cpu_ns;
	return true;
}

bool bench_sample_is_intercepted(const struct bench_sample *sample)
{
	return !sample->is_userspace || sample->arms >= sample->fires;
}
