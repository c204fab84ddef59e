/* SPDX-License-Identifier: MIT */
/*
 * results - what happened, as JSON. The schema is configs/result.schema.json;
 * a test validates a real document against it. Times carry their unit in the
 * name: _tsc is host TSC cycles, but under "lateness", where the guest read
 * its own TSC; the two tick alike.
 */
#include "results.h"

#include <inttypes.h>
#include <stdio.h>

#include "calibrate.h"
#include "config.h"
#include "hist_json.h"
#include "host.h"
#include "jsonw.h"
#include "kvm.h"
#include "vm.h"

#ifndef PUNCTUAL_VERSION
#error "the build passes PUNCTUAL_VERSION"
#endif

static const struct {
	uint32_t reason;
	const char *name;
} exit_names[] = {
	{KVM_EXIT_IO, "io"},
	{KVM_EXIT_MMIO, "mmio"},
	{KVM_EXIT_INTR, "intr"},
	{KVM_EXIT_HLT, "hlt"},
	{KVM_EXIT_IRQ_WINDOW_OPEN, "irq_window"},
	{KVM_EXIT_SHUTDOWN, "shutdown"},
	{KVM_EXIT_FAIL_ENTRY, "fail_entry"},
	{KVM_EXIT_INTERNAL_ERROR, "internal_error"},
	{KVM_EXIT_IOAPIC_EOI, "ioapic_eoi"},
	{KVM_EXIT_X86_RDMSR, "rdmsr"},
	{KVM_EXIT_X86_WRMSR, "wrmsr"},
};

static void write_exits(struct jsonw *w, const struct vcpu_stats *stats)
{
	uint64_t other = stats->exits_other;
	size_t n = sizeof(exit_names) / sizeof(exit_names[0]);

	for (uint32_t i = 0; i < VCPU_EXIT_REASONS; i++)
		other += stats->exits[i];
	jsonw_object_begin(w, "exits");
	for (size_t i = 0; i < n; i++) {
		jsonw_u64(w, exit_names[i].name,
			  stats->exits[exit_names[i].reason]);
		other -= stats->exits[exit_names[i].reason];
	}
	jsonw_u64(w, "other", other);
	jsonw_u64(w, "interrupted", stats->interrupted);
	jsonw_u64(w, "not_started", stats->not_started);
	jsonw_object_end(w);
}

static void write_tuner(struct jsonw *w, const struct tuner *tuner)
{
	jsonw_object_begin(w, "tuner");
	jsonw_u64(w, "advance_tsc", tuner->advance_tsc);
	jsonw_u64(w, "min_tsc", tuner->min_tsc);
	jsonw_u64(w, "max_tsc", tuner->max_tsc);
	jsonw_u64(w, "samples", tuner->samples);
	jsonw_u64(w, "ignored_small", tuner->ignored_small);
	jsonw_u64(w, "limited_spike", tuner->limited_spike);
	jsonw_u64(w, "sped_up", tuner->sped_up);
	jsonw_u64(w, "cut_down", tuner->cut_down);
	jsonw_u64(w, "clamped_low", tuner->clamped_low);
	jsonw_u64(w, "clamped_high", tuner->clamped_high);
	/* After sample 1, 2, 4, 8, ... */
	jsonw_array_begin(w, "trajectory_tsc");
	for (unsigned int i = 0; i < tuner->trajectory_len; i++)
		jsonw_u64(w, NULL, tuner->trajectory_tsc[i]);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

static void write_timer(struct jsonw *w, const struct user_timer *timer)
{
	const struct user_timer_stats *s = &timer->stats;
	const struct arrivals *arrivals = &timer->arrivals;

	jsonw_object_begin(w, "timer");
	jsonw_u64(w, "arms", s->arms);
	jsonw_u64(w, "disarms", s->disarms);
	jsonw_u64(w, "reads", s->reads);
	jsonw_u64(w, "host_arms", s->host_arms);
	jsonw_u64(w, "due_at_arm", s->due_at_arm);
	jsonw_u64(w, "past_at_arm", s->past_at_arm);
	jsonw_u64(w, "due_at_poll", s->due_at_poll);
	jsonw_u64(w, "fires", s->fires);
	jsonw_u64(w, "stale", s->stale);
	jsonw_u64(w, "early_expiries", s->early_expiries);
	jsonw_u64(w, "advance_cut", s->advance_cut);
	jsonw_u64(w, "odd_deliveries", s->odd_deliveries);
	jsonw_u64(w, "latches_cleared", s->latches_cleared);
	jsonw_u64(w, "dropped_by_mode", s->dropped_by_mode);
	jsonw_u64(w, "arrived_in_time", arrivals->in_time);
	jsonw_u64(w, "arrived_late", arrivals->late);
	jsonw_u64(w, "max_late_tsc", arrivals->max_late_tsc);
	jsonw_u64(w, "spins", arrivals->spins);
	jsonw_u64(w, "spin_tsc", arrivals->spin_tsc);
	jsonw_u64(w, "max_spin_tsc", arrivals->max_spin_tsc);
	jsonw_u64(w, "remainders", s->remainders);
	jsonw_i64(w, "tsc_offset", (int64_t)timer->tsc.tsc_offset);
	hist_json_write(w, "arrived_late_tsc", &arrivals->late_tsc);
	hist_json_write(w, "spin_end_tsc", &arrivals->spin_end_tsc);
	if (timer->setup->advance == USER_TIMER_ADVANCE_AUTO)
		write_tuner(w, &timer->tuner);
	jsonw_object_end(w);
}

static void write_vcpu(struct jsonw *w, const struct vm *vm, struct vcpu *vcpu)
{
	jsonw_object_begin(w, NULL);
	jsonw_u64(w, "index", vcpu->index);
	write_exits(w, &vcpu->stats);
	jsonw_u64(w, "msr_refused", vcpu->stats.msr_refused);
	jsonw_u64(w, "tsc_writes", vcpu->stats.tsc_writes);
	jsonw_u64(w, "kicks_served", vcpu->stats.requests);
	jsonw_u64(w, "kick_signals", atomic_load(&vcpu->kick.signals));
	jsonw_u64(w, "timer_signals", atomic_load(&vcpu->kick.expiries));
	jsonw_u64(w, "backstop_checks", vcpu->stats.backstop_checks);
	jsonw_u64(w, "flushes_refused", vcpu->stats.flushes_refused);
	if (vm->user_timer)
		write_timer(w, &vcpu->timer);
	jsonw_object_end(w);
}

static void write_end(struct jsonw *w, const struct vm *vm, int status)
{
	const struct end *end = &vm->end;

	jsonw_object_begin(w, "end");
	jsonw_string(w, "kind", end_name(end->kind));
	jsonw_i64(w, "status", status);
	jsonw_u64(w, "value", end->value);
	jsonw_i64(w, "vcpu", end->vcpu);
	jsonw_string(w, "detail", end->detail);
	jsonw_object_end(w);
}

static void write_host(struct jsonw *w, const struct results_context *context)
{
	jsonw_object_begin(w, "host");
	host_write(context->before, w);
	jsonw_u64(w, "steal_ticks_during_run",
		  context->after->steal_ticks - context->before->steal_ticks);
	jsonw_object_end(w);
}

static void write_bus(struct jsonw *w, const struct vm *vm)
{
	const struct irqs *irqs = &vm->bus.irqs;

	jsonw_object_begin(w, "bus");
	jsonw_u64(w, "unclaimed_in", vm->bus.unclaimed_in);
	jsonw_u64(w, "unclaimed_out", vm->bus.unclaimed_out);
	jsonw_u64(w, "unclaimed_mmio", vm->bus.unclaimed_mmio);
	jsonw_u64(w, "console_bytes", vm->console.bytes);
	jsonw_u64(w, "console_dropped", vm->console.dropped);
	jsonw_u64(w, "input_bytes", vm->bus.com1.taken);
	jsonw_u64(w, "input_dropped", vm->input_dropped);
	jsonw_u64(w, "msis", atomic_load(&irqs->msis));
	jsonw_u64(w, "msis_refused", atomic_load(&irqs->msis_refused));
	jsonw_u64(w, "extint_messages", atomic_load(&irqs->extint_messages));
	jsonw_u64(w, "extints", irqs->extints);
	jsonw_u64(w, "eoi_exits", irqs->eoi_exits);
	jsonw_u64(w, "route_updates", atomic_load(&irqs->route_updates));
	jsonw_object_end(w);
}

static const char *policy_name(const struct timer_thread *tt)
{
	if (!tt->was_started)
		return "none";
	switch (tt->policy) {
	case SCHED_FIFO:
		return "fifo";
	case SCHED_RR:
		return "rr";
	default:
		return "other";
	}
}

/* With timerfds; there is none with POSIX timers. */
static void write_timer_thread(struct jsonw *w, const struct timer_thread *tt)
{
	jsonw_object_begin(w, "timer_thread");
	jsonw_string(w, "policy", policy_name(tt));
	jsonw_u64(w, "priority", (uint64_t)tt->priority);
	jsonw_u64(w, "wakeups", tt->wakeups);
	jsonw_u64(w, "expiries", tt->expiries);
	jsonw_object_end(w);
}

int results_write(struct vm *vm, const struct results_context *context,
		  struct jsonw *w)
{
	int ret;

	jsonw_object_begin(w, NULL);
	jsonw_string(w, "schema", "punctual-result-1");
	jsonw_string(w, "version", PUNCTUAL_VERSION);
	jsonw_string(w, "command", "run");
	write_end(w, vm, context->status);
	jsonw_string(w, "timer_mode", vm->user_timer ? "userspace" : "kernel");
	jsonw_string(w, "rung", context->rung);
	jsonw_bool(w, "tsc_allowed_unstable", context->tsc_allowed_unstable);
	jsonw_bool(w, "early_allowed", context->early_allowed);
	jsonw_object_begin(w, "memory");
	jsonw_bool(w, "prefaulted", context->residence.is_prefaulted);
	jsonw_bool(w, "locked", context->residence.is_locked);
	jsonw_object_end(w);
	jsonw_object_begin(w, "config");
	config_write_effective(vm->config, w);
	jsonw_object_end(w);
	write_host(w, context);
	jsonw_u64(w, "tsc_khz", vm->tsc_khz);
	jsonw_u64(w, "wall_ns", context->wall_ns);
	jsonw_u64(w, "user_cpu_ns", context->user_cpu_ns);
	jsonw_u64(w, "system_cpu_ns", context->system_cpu_ns);
	if (vm->user_timer) {
		jsonw_u64(w, "entry_cost_tsc",
			  vm->timer_setup.policy.entry_cost_tsc);
		write_timer_thread(w, &vm->timer_thread);
	}
	if (vm->calibrate) {
		calibrate_write(vm->calibrate, "calibration", w);
		jsonw_u64(w, "calibration_dropped", vm->guard.trips);
	}
	write_bus(w, vm);
	markers_write(&vm->markers, w);
	jsonw_array_begin(w, "vcpus");
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		write_vcpu(w, vm, &vm->vcpus[i]);
	jsonw_array_end(w);
	ret = lateness_write(&vm->lateness, vm->tsc_khz, context->with_samples,
			     w);
	jsonw_object_end(w);
	return ret ? ret : jsonw_error(w);
}
