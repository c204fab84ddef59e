/* SPDX-License-Identifier: MIT */
/*
 * bench_calibrate - which cells share a calibration, and making it.
 *
 * The VMs are those of a run (calibrate.h), so what they need of a process is
 * done here as `run` does it: the kick's signal, and the rung that holds.
 * Not modelled: costs that change from one round to the next.
 */
#include "bench_calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_child.h"
#include "kick.h"
#include "kvm.h"
#include "probe.h"

int bench_calibrations_init(struct bench_calibrations *all, size_t room)
{
	all->count = 0;
	all->items = calloc(room, sizeof(*all->items));
	return all->items ? 0 : -ENOMEM;
}

void bench_calibrations_free(struct bench_calibrations *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->items[i].key);
	free(all->items);
	*all = (struct bench_calibrations){0};
}

int bench_calibrations_add(struct bench_calibrations *all, size_t cell,
			   const struct config *config,
			   const struct bench_calibration **found)
{
	char *key;

	*found = NULL;
	if (!calibrate_is_wanted(config))
		return 0;
	key = calibrate_key(config);
	if (!key)
		return -ENOMEM;
	for (size_t i = 0; !*found && i < all->count; i++)
		if (!strcmp(all->items[i].key, key))
			*found = &all->items[i];
	if (*found) {
		free(key);
		return 0;
	}
	all->items[all->count] =
		(struct bench_calibration){.key = key, .cell = cell};
	*found = &all->items[all->count++];
	return 0;
}

static void wait_for_answers(struct calibrate *calibrate,
			     struct bench_signals *signals)
{
	calibrate_go(calibrate);
	while (!calibrate->done) {
		struct pollfd fds[] = {
			{.fd = calibrate->fd, .events = POLLIN},
			{.fd = signals->fd, .events = POLLIN},
		};

		if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
			continue;
		if (fds[1].revents && bench_signals_take(signals))
			return;
		if (fds[0].revents)
			calibrate_take(calibrate);
	}
}

static int measure(struct calibrate *calibrate, const struct config *config,
		   int kvm_fd, struct bench_signals *signals)
{
	enum timer_rung rung;
	char why[256];
	int ret;

	if (probe_missing_capability(kvm_fd) ||
	    probe_ladder(kvm_fd, &rung, why, sizeof(why)) != PROBE_INTERCEPTED)
		return 0;
	ret = kick_init_process();
	if (!ret)
		ret = calibrate_prepare(calibrate, config, rung);
	if (ret)
		return ret;
	wait_for_answers(calibrate, signals);
	calibrate_stop(calibrate);
	return 0;
}

int bench_calibration_measure(struct bench_calibration *item,
			      const struct config *config,
			      struct bench_signals *signals, char *err,
			      size_t err_size)
{
	int kvm_fd = kvm_open("/dev/kvm", err, err_size);
	int ret;

	item->measured = (struct calibrate){.fd = -1, .go_fd = -1};
	if (kvm_fd < 0)
		return 0;
	ret = measure(&item->measured, config, kvm_fd, signals);
	close(kvm_fd);
	if (ret)
		snprintf(err, err_size, "timer.vmentry_advance: %s",
			 strerror(-ret));
	return ret;
}

const char *bench_calibration_option(const struct bench_calibration *item,
				     char buf[BENCH_ENTRY_COST_SIZE])
{
	const struct entry_cost *cost;

	if (!item || !item->measured.done)
		return NULL;
	cost = item->measured.cost;
	snprintf(buf, BENCH_ENTRY_COST_SIZE,
		 "--entry-cost=%" PRIu64 ",%" PRIu64,
		 cost[CALIBRATE_RUNNING].result_tsc,
		 cost[CALIBRATE_HALTED].result_tsc);
	return buf;
}
