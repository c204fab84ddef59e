/* SPDX-License-Identifier: MIT */
/*
 * user_timer_trace - what a timer tells of itself: probes, and records for the
 * trace file. Reads, changes nothing but its own marks; see user_timer.h.
 */
#include <errno.h>

#include "probes.h"
#include "trace_format.h"
#include "trace_ring.h"
#include "user_timer.h"

static void put(const struct user_timer *timer, enum trace_event event,
		uint64_t host_tsc, uint8_t flags, uint32_t aux, uint64_t a,
		uint64_t b, uint64_t c)
{
	struct trace_record record = {
		.host_tsc = host_tsc,
		.event = (uint8_t)event,
		.flags = flags,
		.vcpu = (uint16_t)timer->injector.apic_id,
		.aux = aux,
		.args = {a, b, c},
	};

	trace_ring_put(timer->trace, &record);
}

static uint64_t now_host_tsc(const struct user_timer *timer)
{
	return timer->setup->clock.read_tsc(timer->setup->clock.ctx);
}

void user_timer_trace_arm(const struct user_timer *timer, uint64_t arm_ns)
{
	const struct deadline *plan = &timer->plan;

	put(timer, TRACE_TIMER_ARM, now_host_tsc(timer),
	    (plan->advance_cut ? TRACE_FLAG_CUT : 0) |
		    (plan->far ? TRACE_FLAG_FAR : 0),
	    0, plan->deadline_host_tsc, plan->wake_host_tsc, arm_ns);
}

void user_timer_trace_drop(const struct user_timer *timer,
			   enum trace_drop reason)
{
	uint64_t now_tsc = now_host_tsc(timer);

	put(timer, TRACE_DROP, now_tsc, 0, reason,
	    reason == TRACE_DROP_EARLY ? timer->plan.wake_host_tsc - now_tsc
				       : 0,
	    0, 0);
}

/* From the plan to the deadline. */
static uint64_t distance_tsc(const struct user_timer *timer)
{
	return timer->plan.past ? 0
				: timer->plan.deadline_host_tsc -
					  timer->planned_host_tsc;
}

static void put_delivery(const struct user_timer *timer)
{
	const struct user_timer_delivery *delivery = &timer->delivery;
	const struct deadline *plan = &timer->plan;
	const struct wait_stats *wait = &timer->arrivals.wait;
	uint64_t cost_tsc = delivery->arrival_host_tsc - plan->wake_host_tsc;

	put(timer, TRACE_INJECT, delivery->arrival_host_tsc,
	    delivery->by_kvm ? TRACE_FLAG_BY_KVM : 0, delivery->vector, 0, 0,
	    0);
	put(timer, TRACE_ARRIVE, delivery->arrival_host_tsc,
	    (uint8_t)(delivery->state |
		      (delivery->is_expiry ? TRACE_FLAG_EXPIRY : 0) |
		      (plan->advance_cut ? TRACE_FLAG_CUT : 0) |
		      (plan->past ? TRACE_FLAG_PAST : 0)),
	    0, cost_tsc, plan->advance_tsc, distance_tsc(timer));
	if (delivery->advance_before_tsc != timer->tuner.advance_tsc)
		put(timer, TRACE_TUNER, delivery->arrival_host_tsc, 0, 0,
		    cost_tsc, delivery->advance_before_tsc,
		    timer->tuner.advance_tsc);
	put(timer, TRACE_SPIN_END, wait->end_host_tsc, 0, 0,
	    timer->wait_end_host_tsc, wait->start_host_tsc, wait->reads);
}

void user_timer_tell(struct user_timer *timer, bool was_entered, int result,
		     uint32_t exit_reason)
{
	const struct user_timer_delivery *delivery = &timer->delivery;
	const struct deadline *plan = &timer->plan;
	const struct wait_stats *wait = &timer->arrivals.wait;
	uint32_t vcpu = timer->injector.apic_id;

	timer->untold = false;
	PROBE3(inject, vcpu, delivery->vector, delivery->by_kvm);
	PROBE6(arrive, vcpu,
	       tsc_diff(delivery->arrival_host_tsc, plan->wake_host_tsc),
	       plan->advance_tsc, distance_tsc(timer), delivery->state,
	       delivery->is_expiry);
	if (delivery->is_expiry)
		PROBE4(tuner, vcpu,
		       tsc_diff(delivery->arrival_host_tsc,
				plan->wake_host_tsc),
		       delivery->advance_before_tsc, timer->tuner.advance_tsc);
	PROBE3(spin_end, vcpu,
	       tsc_diff(wait->end_host_tsc, timer->wait_end_host_tsc),
	       wait->start_host_tsc);
	if (was_entered)
		PROBE3(entry, vcpu, wait->end_host_tsc, result);
	if (!timer->trace)
		return;
	put_delivery(timer);
	if (was_entered)
		put(timer, TRACE_ENTRY, wait->end_host_tsc,
		    result ? TRACE_FLAG_BY_KVM : 0,
		    result ? (uint32_t)-result : exit_reason,
		    now_host_tsc(timer), 0, 0);
}
