/* SPDX-License-Identifier: MIT */
/*
 * user_timer - arms, checks, delivers and learns; see user_timer.h.
 *
 * Reference: SDM 3A "TSC-Deadline Mode"; Linux Documentation/virt/kvm/api.rst
 * "KVM_SET_MSRS", "KVM_X86_SET_MSR_FILTER" and devices/vcpu.rst
 * "KVM_VCPU_TSC_OFFSET". What to do at an edge follows KVM's own timer.
 *
 * Not modelled: LVTT, whose writes do not exit. Unless strict_lvtt is set
 * (canary.h), a deadline written while the timer is in another mode is armed
 * all the same and has no effect if it is still in that mode at expiry, as
 * KVM's own expiry has none then.
 */
#include "user_timer.h"

#include <errno.h>

#include "kick.h"
#include "kvm.h"
#include "probes.h"

int user_timer_init(struct user_timer *timer,
		    const struct user_timer_setup *setup,
		    const struct injector *injector)
{

	uint64_t offset_tsc;
	int ret;

	timer->setup = setup;
	timer->injector = *injector;
	timer->policy = setup->policy;
	ret = kvm_get_tsc_offset(injector->vcpu_fd, &offset_tsc);
	if (ret)
		return ret;
	guest_tsc_init(&timer->tsc, offset_tsc);
	lapic_timer_reset(&timer->model);
	tuner_init(&timer->tuner, setup->tuner, setup->target_q16,
		   setup->start_advance_tsc, 0, setup->policy.max_advance_tsc);
	arrivals_init(&timer->arrivals);
	return setup->source == USER_TIMER_TIMERFD
		       ? hosttimer_open(&timer->host)
		       : 0;
}

int user_timer_bind(struct user_timer *timer, struct kick *kick)
{
	if (timer->setup->source != USER_TIMER_POSIX)
		return 0;
	return hosttimer_open_signal(&timer->host, atomic_load(&kick->tid),
				     kick_signal_number(), kick);
}

void user_timer_free(struct user_timer *timer)
{
	hosttimer_close(&timer->host);
}

static uint64_t now_host_tsc(const struct user_timer *timer)
{
	return timer->setup->clock.read_tsc(timer->setup->clock.ctx);
}

static uint64_t wanted_advance_tsc(const struct user_timer *timer)
{
	switch (timer->setup->advance) {
	case USER_TIMER_ADVANCE_OFF:
		return 0;
	case USER_TIMER_ADVANCE_FIXED:
		return timer->setup->fixed_advance_tsc;
	case USER_TIMER_ADVANCE_AUTO:
		break;
	}
	return timer->tuner.advance_tsc;
}

/* Before a plan: the larger cost decides when to wake. */
static void take_costs(struct user_timer *timer)
{
	const struct user_timer_costs *costs = timer->setup->costs;
	uint64_t running_tsc, halted_tsc;

	if (!costs)
		return;
	running_tsc = atomic_load_explicit(&costs->tsc[USER_TIMER_RUNNING],
					   memory_order_relaxed);
	halted_tsc = atomic_load_explicit(&costs->tsc[USER_TIMER_HALTED],
					  memory_order_relaxed);
	timer->policy.entry_cost_tsc =
		running_tsc > halted_tsc ? running_tsc : halted_tsc;
}

/*
 * When the wait is to end: as long before the deadline as an entry from the
 * vCPU's present state costs. Never by more than was planned for, whatever
 * the main thread has published since.
 */
static int find_wait_end(struct user_timer *timer, uint64_t *end_host_tsc)
{
	const struct user_timer_costs *costs = timer->setup->costs;
	uint64_t planned_tsc =
		timer->plan.deadline_host_tsc - timer->plan.target_host_tsc;
	uint64_t cost_tsc = planned_tsc;
	bool halted;
	int ret = 0;

	timer->delivery.state = TRACE_STATE_UNKNOWN;
	if (costs && planned_tsc) {
		ret = kvm_is_halted(timer->injector.vcpu_fd, &halted);
		if (ret)
			return ret;
		timer->delivery.state =
			halted ? TRACE_STATE_HALTED : TRACE_STATE_RUNNING;
		cost_tsc = atomic_load_explicit(
			&costs->tsc[halted ? USER_TIMER_HALTED
					   : USER_TIMER_RUNNING],
			memory_order_relaxed);
		if (cost_tsc > planned_tsc)
			cost_tsc = planned_tsc;
	}
	*end_host_tsc = deadline_wait_end(&timer->plan, cost_tsc);
	return ret;
}

/* The ceiling, and what waiting for another state's entry may add to it. */
static int64_t max_spin_tsc(const struct user_timer *timer)
{
	return (int64_t)(timer->policy.max_advance_tsc +
			 (timer->plan.deadline_host_tsc -
			  timer->plan.target_host_tsc));
}

void user_timer_settle(struct user_timer *timer)
{
	struct user_timer_log *log = timer->log;
	const struct wait_stats *wait = &timer->arrivals.wait;

	if (!timer->unsettled)
		return;
	timer->unsettled = false;
	if (log && log->used < USER_TIMER_LOG_ROOM)
		log->spin_end_tsc[log->used++] =
			wait->end_host_tsc - timer->wait_end_host_tsc;
	if (timer->setup->advance == USER_TIMER_ADVANCE_OFF)
		timer->stats.remainders += wait->reads > 1;
	else
		arrivals_settle(&timer->arrivals);
}

/* What an arrival for a wait until end_host_tsc teaches. */
static void learn(struct user_timer *timer, uint64_t arrival_host_tsc,
		  uint64_t end_host_tsc, bool is_expiry)
{
	timer->wait_end_host_tsc = end_host_tsc;
	timer->unsettled = true;
	/* Past when it was armed: how late that is is the guest's affair. */
	if (timer->plan.past)
		return;
	if (timer->setup->advance == USER_TIMER_ADVANCE_OFF)
		return;
	arrivals_note(&timer->arrivals, arrival_host_tsc, end_host_tsc);
	if (is_expiry && timer->setup->advance == USER_TIMER_ADVANCE_AUTO)
		tuner_sample(
			&timer->tuner,
			tsc_diff(arrival_host_tsc, timer->plan.wake_host_tsc));
}

static int inject(struct user_timer *timer)
{
	struct injection injection;
	int ret;

	timer->delivery.by_kvm = true;
	timer->delivery.vector = 0;
	/* The canary is in KVM's timer and must not outlive the deadline. */
	if (timer->setup->strict_lvtt) {
		canary_forget(&timer->canary);
		return inject_by_expiry(&timer->injector);
	}
	ret = inject_deadline(&timer->injector, &injection);
	if (ret)
		return ret;
	timer->delivery.by_kvm = injection.may_be_held;
	timer->delivery.vector = injection.vector;
	if (injection.may_be_held)
		timer->stats.odd_deliveries++;
	else
		lapic_timer_injected(&timer->model);
	return 0;
}

/*
 * The deadline is due: hand it to KVM, then wait out what is left. The
 * callers have made sure that no more is left than the ceiling; is_expiry says
 * that the host timer is what brought them here. All that is to be learnt from
 * it is learnt before the wait: what comes after delays the guest.
 */
static int user_timer_deliver(struct user_timer *timer, bool is_expiry)
{
	uint64_t end_host_tsc, arrival_host_tsc;
	int ret;

	user_timer_settle(timer);
	ret = find_wait_end(timer, &end_host_tsc);
	if (ret)
		return ret;
	lapic_timer_expired(&timer->model);
	timer->stats.fires++;
	ret = inject(timer);
	if (ret)
		return ret;
	arrival_host_tsc = now_host_tsc(timer);
	/* The callers' ceiling once more: a thread that was moved to a CPU
	 * whose TSC is far behind must not spin until that one is there. */
	if (tsc_diff(end_host_tsc, arrival_host_tsc) > max_spin_tsc(timer))
		return -ETIME;
	timer->untold = true;
	timer->delivery.arrival_host_tsc = arrival_host_tsc;
	timer->delivery.advance_before_tsc = timer->tuner.advance_tsc;
	timer->delivery.is_expiry = is_expiry;
	learn(timer, arrival_host_tsc, end_host_tsc, is_expiry);
	if (wait_until(&timer->setup->clock, end_host_tsc,
		       &timer->arrivals.wait) == WAIT_REACHED)
		return 0;
	/* Its end says nothing. */
	timer->unsettled = false;
	return -ETIME;
}

static int host_disarm(struct user_timer *timer)
{
	if (!timer->host_armed)
		return 0;
	timer->host_armed = false;
	return hosttimer_disarm(&timer->host);
}

/* What only some runs do at an arm. */
static int arm_with_more(struct user_timer *timer, uint64_t arm_ns)
{
	int ret = 0;

	if (timer->setup->strict_lvtt)
		ret = canary_set(&timer->canary, timer->injector.vcpu_fd,
				 guest_from_host(now_host_tsc(timer),
						 timer->tsc.tsc_offset));
	if (!ret && timer->trace)
		user_timer_trace_arm(timer, arm_ns);
	return ret;
}

static int host_arm(struct user_timer *timer, uint64_t arm_ns)
{
	int ret = 0;

	if (timer->setup->arms_with_more)
		ret = arm_with_more(timer, arm_ns);
	if (ret)
		return ret;
	PROBE4(timer_arm, timer->injector.apic_id,
	       timer->plan.deadline_host_tsc, timer->plan.wake_host_tsc,
	       arm_ns);
	timer->host_armed = true;
	timer->stats.host_arms++;
	return hosttimer_arm(&timer->host, arm_ns);
}

/* An expiry or a deadline that came to nothing. */
static void note_drop(struct user_timer *timer, enum trace_drop reason)
{
	PROBE2(drop, timer->injector.apic_id, reason);
	if (timer->trace)
		user_timer_trace_drop(timer, reason);
}

/*
 * strict_lvtt: is an armed deadline void, because the timer was never in
 * deadline mode, or has left it since? Forgets it then.
 */
static int drop_if_void(struct user_timer *timer, bool *is_void)
{
	bool alive = true;
	int ret = 0;

	if (timer->setup->strict_lvtt)
		ret = canary_check(&timer->canary, timer->injector.vcpu_fd,
				   &alive);
	*is_void = !alive;
	if (ret || alive)
		return ret;
	timer->stats.dropped_by_mode++;
	note_drop(timer, TRACE_DROP_BY_MODE);
	lapic_timer_reset(&timer->model);
	canary_forget(&timer->canary);
	return host_disarm(timer);
}

/* Plans the armed deadline from now on, at an arm or after a TSC write. */
static int user_timer_plan(struct user_timer *timer)
{
	uint64_t now_tsc = now_host_tsc(timer);
	uint64_t arm_ns;
	int ret;

	timer->planned_host_tsc = now_tsc;
	take_costs(timer);
	if (deadline_plan(&timer->policy, timer->model.deadline_guest_tsc,
			  timer->tsc.tsc_offset, now_tsc,
			  wanted_advance_tsc(timer), &timer->plan,
			  &arm_ns) == DEADLINE_ARM) {
		if (timer->plan.advance_cut)
			timer->stats.advance_cut++;
		return host_arm(timer, arm_ns);
	}
	timer->stats.due_at_arm++;
	if (timer->model.deadline_guest_tsc <=
	    guest_from_host(now_tsc, timer->tsc.tsc_offset))
		timer->stats.past_at_arm++;
	ret = host_disarm(timer);
	return ret ? ret : user_timer_deliver(timer, false);
}

int user_timer_write_deadline(struct user_timer *timer, uint64_t guest_tsc)
{
	bool had_canary = timer->canary.deadline_guest_tsc != 0;
	struct lapic_timer_action action =
		lapic_timer_write(&timer->model, guest_tsc);
	int ret;

	user_timer_settle(timer);
	/* KVM would drop an expiry that it still holds back when its own timer
	 * is written; so the write that it does not see is passed on. */
	if (action.clear_latched ||
	    (had_canary && action.op == LAPIC_TIMER_DISARM)) {
		timer->stats.latches_cleared += action.clear_latched;
		canary_forget(&timer->canary);
		ret = kvm_set_msr(timer->injector.vcpu_fd,
				  MSR_IA32_TSC_DEADLINE, 0);
		if (ret)
			return ret;
	}
	if (action.op == LAPIC_TIMER_DISARM) {
		timer->stats.disarms++;
		note_drop(timer, TRACE_DROP_DISARMED);
		return host_disarm(timer);
	}
	timer->stats.arms++;
	return user_timer_plan(timer);
}

int user_timer_read_deadline(struct user_timer *timer, uint64_t *guest_tsc)
{
	bool counts = true;
	uint64_t held = 0;
	int ret = 0;

	timer->stats.reads++;
	/* Rare enough to look: outside deadline mode the register reads 0. */
	if (timer->model.state == LAPIC_TIMER_ARMED &&
	    timer->setup->strict_lvtt)
		ret = canary_check(&timer->canary, timer->injector.vcpu_fd,
				   &counts);
	else if (timer->model.state == LAPIC_TIMER_ARMED)
		ret = canary_look_at_lvtt(timer->injector.vcpu_fd, &counts);
	else if (lapic_timer_maybe_latched(&timer->model))
		ret = kvm_get_msr(timer->injector.vcpu_fd,
				  MSR_IA32_TSC_DEADLINE, &held);
	*guest_tsc = counts ? lapic_timer_read(&timer->model, held != 0) : 0;
	return ret;
}

int user_timer_resync(struct user_timer *timer)
{
	uint64_t offset_tsc;
	bool is_void;
	int ret = kvm_get_tsc_offset(timer->injector.vcpu_fd, &offset_tsc);

	if (ret)
		return ret;
	guest_tsc_set_offset(&timer->tsc, offset_tsc);
	if (timer->model.state != LAPIC_TIMER_ARMED)
		return 0;
	ret = drop_if_void(timer, &is_void);
	return ret || is_void ? ret : user_timer_plan(timer);
}

static int move_offset(struct user_timer *timer, uint64_t offset_tsc)
{
	int ret = kvm_set_tsc_offset(timer->injector.vcpu_fd, offset_tsc);

	/* A back end may take the new offset and keep the old one. */
	return ret ? ret : user_timer_resync(timer);
}

int user_timer_write_tsc(struct user_timer *timer, uint64_t guest_tsc)
{
	uint64_t offset_tsc =
		guest_tsc_write(&timer->tsc, guest_tsc, now_host_tsc(timer));

	/* Reads of TSC_ADJUST are KVM's; a host write of it moves no TSC. It
	 * fails where the guest has no such register, and then nothing reads
	 * it either. */
	kvm_set_msr(timer->injector.vcpu_fd, MSR_IA32_TSC_ADJUST,
		    timer->tsc.tsc_adjust);
	return move_offset(timer, offset_tsc);
}

int user_timer_write_tsc_adjust(struct user_timer *timer, uint64_t adjust)
{
	int ret = kvm_set_msr(timer->injector.vcpu_fd, MSR_IA32_TSC_ADJUST,
			      adjust);

	if (ret)
		return ret;
	return move_offset(timer, guest_tsc_write_adjust(&timer->tsc, adjust));
}

int user_timer_expired(struct user_timer *timer)
{
	uint64_t arm_ns;
	bool is_void;
	int ret;

	if (timer->model.state != LAPIC_TIMER_ARMED || !timer->host_armed) {
		timer->stats.stale++;
		note_drop(timer, TRACE_DROP_STALE);
		return 0;
	}
	ret = drop_if_void(timer, &is_void);
	if (ret || is_void)
		return ret;
	if (deadline_check(&timer->policy, &timer->plan, now_host_tsc(timer),
			   &arm_ns) == DEADLINE_ARM) {
		timer->stats.early_expiries++;
		note_drop(timer, TRACE_DROP_EARLY);
		return host_arm(timer, arm_ns);
	}
	timer->host_armed = false;
	return user_timer_deliver(timer, true);
}

int user_timer_poll(struct user_timer *timer)
{
	bool is_void;
	int ret;

	if (!timer->host_armed ||
	    !deadline_due(&timer->policy, &timer->plan, now_host_tsc(timer)))
		return 0;
	ret = drop_if_void(timer, &is_void);
	if (ret || is_void)
		return ret;
	timer->stats.due_at_poll++;
	ret = host_disarm(timer);
	if (!ret)
		ret = user_timer_deliver(timer, false);
	return ret ? ret : 1;
}

int user_timer_backstop(struct user_timer *timer, uint64_t *value)
{
	int ret = kvm_get_msr(timer->injector.vcpu_fd, MSR_IA32_TSC_DEADLINE,
			      value);

	if (ret)
		return ret;
	if (*value == 0 || *value == timer->canary.deadline_guest_tsc)
		return 0;
	return !(lapic_timer_maybe_latched(&timer->model) &&
		 *value == INJECT_DEADLINE_TSC);
}
