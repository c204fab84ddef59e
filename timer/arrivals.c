/* SPDX-License-Identifier: MIT */
/*
 * arrivals - see arrivals.h.
 */
#include "arrivals.h"

#include "tsc.h"

void arrivals_init(struct arrivals *arrivals)
{
	*arrivals = (struct arrivals){.in_time = 0};
	hist_init(&arrivals->late_tsc);
	hist_init(&arrivals->spin_end_tsc);
}

void arrivals_note(struct arrivals *arrivals, uint64_t arrival_host_tsc,
		   uint64_t target_host_tsc)
{
	int64_t late_tsc = tsc_diff(arrival_host_tsc, target_host_tsc);

	arrivals->target_host_tsc = target_host_tsc;
	arrivals->in_time_now = late_tsc <= 0;
	if (arrivals->in_time_now) {
		arrivals->in_time++;
		return;
	}
	arrivals->late++;
	hist_add(&arrivals->late_tsc, (uint64_t)late_tsc);
	if ((uint64_t)late_tsc > arrivals->max_late_tsc)
		arrivals->max_late_tsc = (uint64_t)late_tsc;
}

void arrivals_settle(struct arrivals *arrivals)
{
	uint64_t spin_tsc =
		arrivals->wait.end_host_tsc - arrivals->wait.start_host_tsc;

	if (!arrivals->in_time_now)
		return;
	arrivals->in_time_now = false;
	arrivals->spins++;
	arrivals->spin_tsc += spin_tsc;
	if (spin_tsc > arrivals->max_spin_tsc)
		arrivals->max_spin_tsc = spin_tsc;
	hist_add(&arrivals->spin_end_tsc,
		 arrivals->wait.end_host_tsc - arrivals->target_host_tsc);
}
