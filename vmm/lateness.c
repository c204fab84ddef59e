/* SPDX-License-Identifier: MIT */
/*
 * lateness - copies the guest's reports, and turns them into percentiles.
 *
 * Reference: guest-fw/report.h. Percentiles are nearest rank, computed by
 * timer/percentile.c, the same code that the guest prints with. Warm-up
 * samples are left out of the percentiles, never out of `early`.
 */
#include "lateness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "hist_json.h"
#include "jsonw.h"
#include "memory.h"
#include "percentile.h"

void lateness_init(struct lateness_store *store)
{
	memset(store, 0, sizeof(*store));
	pthread_mutex_init(&store->lock, NULL);
}

void lateness_free(struct lateness_store *store)
{
	for (unsigned int i = 0; i < LATENESS_CPUS_MAX; i++)
		free(store->results[i].samples);
	memset(store->results, 0, sizeof(store->results));
	pthread_mutex_destroy(&store->lock);
}

/* The report is the guest's memory and may change while it is read: decide
 * on the copy only. */
static int copy_report(const struct guest_ram *ram, uint32_t gpa,
		       uint32_t vcpu_count, struct lateness_report *report,
		       int64_t **samples)
{
	const void *at = ram_ptr(ram, gpa, sizeof(*report));
	size_t bytes;

	if (!at)
		return -EINVAL;
	memcpy(report, at, sizeof(*report));
	if (report->magic != LATENESS_REPORT_MAGIC ||
	    report->version != LATENESS_REPORT_VERSION ||
	    report->sample_size != sizeof(int64_t) ||
	    report->cpu >= vcpu_count || report->cpu >= LATENESS_CPUS_MAX ||
	    report->count > LATENESS_SAMPLES_MAX ||
	    report->warmup > report->count)
		return -EINVAL;
	*samples = NULL;
	if (!report->count)
		return 0;
	bytes = report->count * sizeof(int64_t);
	at = ram_ptr(ram, report->samples_gpa, bytes);
	if (!at)
		return -EINVAL;
	*samples = malloc(bytes);
	if (!*samples)
		return -ENOMEM;
	memcpy(*samples, at, bytes);
	return 0;
}

int lateness_accept(struct lateness_store *store, const struct guest_ram *ram,
		    uint32_t gpa, uint32_t vcpu_count, uint32_t *cpu)
{
	struct lateness_report report;
	int64_t *samples = NULL;
	int ret = copy_report(ram, gpa, vcpu_count, &report, &samples);

	pthread_mutex_lock(&store->lock);
	if (ret == -EINVAL)
		store->refused++;
	if (!ret) {
		struct lateness_result *result = &store->results[report.cpu];

		free(result->samples);
		result->present = true;
		result->report = report;
		result->samples = samples;
		*cpu = report.cpu;
	}
	pthread_mutex_unlock(&store->lock);
	return ret;
}

/* Signed cycles to ns, towards zero; only for display, so a double does. What
 * a guest made up may be beyond any int64_t. */
static int64_t to_ns(int64_t tsc, uint32_t tsc_khz)
{
	double ns = tsc_khz ? (double)tsc * 1e6 / tsc_khz : 0;

	if (ns >= (double)INT64_MAX)
		return INT64_MAX;
	return ns <= (double)INT64_MIN ? INT64_MIN : (int64_t)ns;
}

static void write_one(struct jsonw *w, const char *name, int64_t value_tsc,
		      uint32_t tsc_khz)
{
	char ns_name[32];

	jsonw_i64(w, name, value_tsc);
	memcpy(ns_name, name, strlen(name) + 1);
	memcpy(ns_name + strlen(name) - strlen("tsc"), "ns", sizeof("ns"));
	jsonw_i64(w, ns_name, to_ns(value_tsc, tsc_khz));
}

static void write_percentiles(struct jsonw *w, int64_t *samples, size_t n,
			      uint32_t tsc_khz)
{
	static const struct {
		const char *name;
		uint32_t num, den;
	} ranks[] = {
		{"min_tsc", 0, 1},	  {"p50_tsc", 1, 2},
		{"p90_tsc", 9, 10},	  {"p99_tsc", 99, 100},
		{"p99_9_tsc", 999, 1000}, {"max_tsc", 1, 1},
	};

	jsonw_u64(w, "samples", n);
	if (!n)
		return;
	percentile_sort(samples, n);
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		write_one(w, ranks[i].name,
			  percentile_nearest_rank(samples, n, ranks[i].num,
						  ranks[i].den),
			  tsc_khz);
}

static void write_counts(struct jsonw *w, const struct lateness_report *r)
{
	jsonw_u64(w, "fires", r->count);
	jsonw_u64(w, "warmup", r->warmup);
	jsonw_u64(w, "early", r->early);
	jsonw_u64(w, "lost", r->lost);
	jsonw_u64(w, "doubled", r->doubled);
	jsonw_u64(w, "loop_turns", r->loop_turns);
	jsonw_u64(w, "wait_tsc", r->wait_tsc);
}

static void write_samples(struct jsonw *w, const struct lateness_result *r)
{
	jsonw_array_begin(w, "samples_tsc");
	for (uint32_t i = 0; i < r->report.count; i++)
		jsonw_i64(w, NULL, r->samples[i]);
	jsonw_array_end(w);
}

static void write_cpu(struct jsonw *w, const struct lateness_result *r,
		      int64_t *scratch, uint32_t tsc_khz, bool with_samples)
{
	uint32_t n = r->report.count - r->report.warmup;

	jsonw_object_begin(w, NULL);
	jsonw_u64(w, "cpu", r->report.cpu);
	write_counts(w, &r->report);
	jsonw_u64(w, "period_tsc", r->report.period_tsc);
	if (n)
		memcpy(scratch, r->samples + r->report.warmup,
		       n * sizeof(*scratch));
	write_percentiles(w, scratch, n, tsc_khz);
	if (with_samples)
		write_samples(w, r);
	jsonw_object_end(w);
}

/* A sum that wrapped could hide early fires. */
static void add_saturating(uint32_t *sum, uint32_t value)
{
	*sum = value > UINT32_MAX - *sum ? UINT32_MAX : *sum + value;
}

/* All CPUs in one pool: what a user asks first. */
static size_t pool(const struct lateness_store *store, int64_t *out,
		   struct lateness_report *sum)
{
	size_t n = 0;

	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < LATENESS_CPUS_MAX; i++) {
		const struct lateness_result *r = &store->results[i];
		uint32_t from = r->report.warmup;

		if (!r->present)
			continue;
		sum->count += r->report.count;
		sum->warmup += from;
		add_saturating(&sum->early, r->report.early);
		add_saturating(&sum->lost, r->report.lost);
		add_saturating(&sum->doubled, r->report.doubled);
		sum->loop_turns += r->report.loop_turns;
		sum->wait_tsc += r->report.wait_tsc;
		if (r->report.count > from)
			memcpy(out + n, r->samples + from,
			       (r->report.count - from) * sizeof(*out));
		n += r->report.count - from;
	}
	return n;
}

/* A fire that was early has no place in a histogram of what is late. */
static void write_histogram(struct jsonw *w, const int64_t *samples, size_t n)
{
	uint64_t below_zero = 0;
	struct hist hist;

	hist_init(&hist);
	for (size_t i = 0; i < n; i++) {
		if (samples[i] < 0)
			below_zero++;
		else
			hist_add(&hist, (uint64_t)samples[i]);
	}
	jsonw_u64(w, "below_zero", below_zero);
	hist_json_write(w, "histogram_tsc", &hist);
}

int lateness_write(struct lateness_store *store, uint32_t tsc_khz,
		   bool with_samples, struct jsonw *w)
{
	struct lateness_report sum;
	uint64_t fires = lateness_fires(store);
	int64_t *scratch = malloc((fires ? fires : 1) * sizeof(*scratch));
	size_t n;

	if (!scratch)
		return -ENOMEM;
	jsonw_array_begin(w, "lateness");
	for (unsigned int i = 0; i < LATENESS_CPUS_MAX; i++)
		if (store->results[i].present)
			write_cpu(w, &store->results[i], scratch, tsc_khz,
				  with_samples);
	jsonw_array_end(w);
	jsonw_object_begin(w, "lateness_all");
	n = pool(store, scratch, &sum);
	write_counts(w, &sum);
	write_percentiles(w, scratch, n, tsc_khz);
	write_histogram(w, scratch, n);
	jsonw_object_end(w);
	jsonw_u64(w, "lateness_refused", store->refused);
	free(scratch);
	return 0;
}

uint64_t lateness_fires(const struct lateness_store *store)
{
	uint64_t fires = 0;

	for (unsigned int i = 0; i < LATENESS_CPUS_MAX; i++)
		fires += store->results[i].report.count;
	return fires;
}
