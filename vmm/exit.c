/* SPDX-License-Identifier: MIT */
/*
 * exit - decodes the exits of KVM_RUN.
 *
 * Reference: Linux Documentation/virt/kvm/api.rst "The kvm_run structure".
 * RIP is never touched: KVM completes an access when the vCPU is entered
 * again, and an interrupt injected meanwhile lands after the instruction.
 */
#include "exit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calibrate.h"
#include "config.h"
#include "kvm.h"
#include "monotonic.h"
#include "vcpu.h"
#include "vm.h"

enum {
	BACKSTOP_INTERVAL_US = 10000,
};

/* The QEMU device of that name: exit(value * 2 + 1), of which a process's
 * status is the low byte. */
static uint64_t encode_exit(const struct vm *vm, uint32_t value)
{
	if (vm->config->exit_encoding == EXIT_ISA_DEBUG)
		return (uint8_t)(value << 1 | 1);
	return value;
}

static bool act(struct vcpu *vcpu, struct bus_action action)
{
	struct vm *vm = vcpu->vm;
	int index = (int)vcpu->index;
	uint32_t cpu;
	int ret;

	switch (action.kind) {
	case BUS_NONE:
		return true;
	case BUS_CONSOLE:
		ret = console_put(&vm->console, (uint8_t)action.value);
		if (!ret)
			return true;
		end_set(&vm->end, END_OUTPUT, (uint64_t)-ret, index,
			"console: %s", strerror(-ret));
		return false;
	case BUS_EXIT:
		/* A guest that ends well must not hide a timer that was never
		 * ours. */
		if (!exit_backstop(vcpu, true))
			end_set(&vm->end, END_GUEST_EXIT,
				encode_exit(vm, action.value), index,
				"the guest wrote %" PRIu32 " to the exit port",
				action.value);
		return false;
	case BUS_MARKER:
		markers_add(&vm->markers, monotonic_ns(), action.value,
			    vcpu->index);
		return true;
	case BUS_RESET:
		if (!exit_backstop(vcpu, true))
			end_set(&vm->end, END_RESET, 0, index,
				"the guest asked for a reset");
		return false;
	case BUS_POWEROFF:
		if (!exit_backstop(vcpu, true))
			end_set(&vm->end, END_POWEROFF, 0, index,
				"the guest powered off");
		return false;
	case BUS_FLUSH:
		ret = ram_drop_translation(&vm->ram, action.value);
		if (ret == -EFAULT)
			vcpu->stats.flushes_refused++;
		if (!ret || ret == -EFAULT)
			return true;
		end_set(&vm->end, END_INTERNAL, (uint64_t)-ret, index,
			"mprotect of the page at 0x%" PRIx32 ": %s",
			action.value, strerror(-ret));
		return false;
	case BUS_LATENESS:
		/* A report that does not hold together is counted; running
		 * out of memory for it is the host's fault, not fatal. */
		if (!lateness_accept(&vm->lateness, &vm->ram, action.value,
				     vm->vcpu_count, &cpu) &&
		    vm->report_taken)
			vm->report_taken(vcpu, &vm->lateness.results[cpu],
					 vm->report_context);
		return true;
	}
	return true;
}

static uint32_t load_value(const uint8_t *data, unsigned int size)
{
	uint32_t value = 0;

	memcpy(&value, data, size <= sizeof(value) ? size : sizeof(value));
	return value;
}

/* String instructions come as several items of one size; KVM bounds them to
 * what fits into the run page. */
static bool exit_io(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	uint8_t *data = (uint8_t *)run + run->io.data_offset;
	unsigned int size = run->io.size;

	for (uint32_t i = 0; i < run->io.count; i++, data += size) {
		if (run->io.direction == KVM_EXIT_IO_IN) {
			uint32_t value =
				bus_in(&vcpu->vm->bus, run->io.port, size);

			memcpy(data, &value, size);
		} else if (!act(vcpu, bus_out(&vcpu->vm->bus, run->io.port,
					      size, load_value(data, size)))) {
			return false;
		}
	}
	return true;
}

/* The first write tells that the filter works, and that the guest will want
 * to have its timer on time. */
static void note_timer_use(struct vcpu *vcpu)
{
	if (atomic_load_explicit(&vcpu->timer_seen, memory_order_relaxed))
		return;
	atomic_store_explicit(&vcpu->timer_seen, true, memory_order_relaxed);
	if (vcpu->vm->calibrate)
		calibrate_go(vcpu->vm->calibrate);
}

static bool exit_wrmsr(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	int ret;

	run->msr.error = 0;
	switch (run->msr.index) {
	case MSR_IA32_TSC_DEADLINE:
		note_timer_use(vcpu);
		ret = user_timer_write_deadline(&vcpu->timer, run->msr.data);
		break;
	case MSR_IA32_TSC:
		vcpu->stats.tsc_writes++;
		ret = user_timer_write_tsc(&vcpu->timer, run->msr.data);
		break;
	case MSR_IA32_TSC_ADJUST:
		vcpu->stats.tsc_writes++;
		ret = user_timer_write_tsc_adjust(&vcpu->timer, run->msr.data);
		if (ret != -EINVAL)
			break;
		/* The guest has no such register. */
		ret = 0;
		/* fall through */
	default:
		run->msr.error = 1;
		vcpu->stats.msr_refused++;
		return true;
	}
	if (!ret)
		return true;
	exit_timer_failed(vcpu, ret);
	return false;
}

static bool exit_rdmsr(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	uint64_t value;
	int ret;

	if (run->msr.index != MSR_IA32_TSC_DEADLINE) {
		run->msr.error = 1;
		vcpu->stats.msr_refused++;
		return true;
	}
	ret = user_timer_read_deadline(&vcpu->timer, &value);
	if (ret) {
		exit_timer_failed(vcpu, ret);
		return false;
	}
	run->msr.error = 0;
	run->msr.data = value;
	return true;
}

static void end_internal_error(struct vcpu *vcpu)
{
	const struct kvm_run *run = vcpu->run;
	uint32_t suberror = run->internal.suberror;
	const char *what = suberror == KVM_INTERNAL_ERROR_EMULATION
				   ? "an instruction that KVM cannot emulate"
				   : "see linux/kvm.h, KVM_INTERNAL_ERROR_*";

	end_set(&vcpu->vm->end, END_KVM, KVM_EXIT_INTERNAL_ERROR,
		(int)vcpu->index,
		"KVM internal error, suberror %" PRIu32 ": %s", suberror, what);
}

static void end_fail_entry(struct vcpu *vcpu)
{
	uint64_t reason = vcpu->run->fail_entry.hardware_entry_failure_reason;

	end_set(&vcpu->vm->end, END_KVM, KVM_EXIT_FAIL_ENTRY, (int)vcpu->index,
		"the processor refused to enter the guest, reason 0x%" PRIx64,
		reason);
}

static void count_exit(struct vcpu *vcpu)
{
	uint32_t reason = vcpu->run->exit_reason;

	if (reason < VCPU_EXIT_REASONS)
		vcpu->stats.exits[reason]++;
	else
		vcpu->stats.exits_other++;
}

bool exit_handle(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;

	count_exit(vcpu);
	switch (run->exit_reason) {
	/* The timer first: it is the one that is waited for. */
	case KVM_EXIT_X86_WRMSR:
		return exit_wrmsr(vcpu);
	case KVM_EXIT_X86_RDMSR:
		return exit_rdmsr(vcpu);
	case KVM_EXIT_IO:
		return exit_io(vcpu) && !exit_backstop(vcpu, false);
	case KVM_EXIT_MMIO:
		bus_mmio(&vcpu->vm->bus, run->mmio.phys_addr,
			 run->mmio.is_write, run->mmio.data, run->mmio.len);
		return !exit_backstop(vcpu, false);
	case KVM_EXIT_IOAPIC_EOI:
		bus_eoi(&vcpu->vm->bus, run->eoi.vector);
		return true;
	case KVM_EXIT_IRQ_WINDOW_OPEN:
		/* The next turn injects, or asks again. */
		run->request_interrupt_window = 0;
		return true;
	case KVM_EXIT_INTR:
		return true;
	case KVM_EXIT_SHUTDOWN:
		end_set(&vcpu->vm->end, END_TRIPLE_FAULT, 0, (int)vcpu->index,
			"vCPU %" PRIu32 " met a triple fault", vcpu->index);
		return false;
	case KVM_EXIT_INTERNAL_ERROR:
		end_internal_error(vcpu);
		return false;
	case KVM_EXIT_FAIL_ENTRY:
		end_fail_entry(vcpu);
		return false;
	default:
		end_set(&vcpu->vm->end, END_KVM, run->exit_reason,
			(int)vcpu->index,
			"KVM exit reason %" PRIu32
			", which nothing here asks for",
			run->exit_reason);
		return false;
	}
}

void exit_run_failed(struct vcpu *vcpu, int error)
{
	end_set(&vcpu->vm->end, END_KVM, 0, (int)vcpu->index, "KVM_RUN: %s",
		strerror(-error));
}

void exit_timer_failed(struct vcpu *vcpu, int error)
{
	if (error == -ETIME)
		end_set(&vcpu->vm->end, END_INTERNAL, 0, (int)vcpu->index,
			"the host's TSC stands still or steps back");
	else
		end_set(&vcpu->vm->end, END_KVM, 0, (int)vcpu->index,
			"timer of vCPU %" PRIu32 ": %s", vcpu->index,
			strerror(-error));
}

bool exit_backstop(struct vcpu *vcpu, bool now)
{
	struct vm *vm = vcpu->vm;
	uint64_t now_host_tsc, value;
	int ret;

	if (!vm->user_timer)
		return false;
	now_host_tsc = clock_read_tsc();
	if (!now && now_host_tsc < vcpu->backstop_next_tsc)
		return false;
	vcpu->backstop_next_tsc =
		now_host_tsc + ns_to_tsc_floor(&vm->timer_setup.scale,
					       BACKSTOP_INTERVAL_US * 1000ull);
	vcpu->stats.backstop_checks++;
	ret = user_timer_backstop(&vcpu->timer, &value);
	if (ret < 0) {
		exit_timer_failed(vcpu, ret);
		return true;
	}
	if (!ret)
		return false;
	end_set(&vm->end, END_NOT_INTERCEPTED, value, (int)vcpu->index,
		"KVM's own timer holds deadline 0x%" PRIx64 " on vCPU %" PRIu32
		": writes of IA32_TSC_DEADLINE go past "
		"the MSR filter (see punctual probe)",
		value, vcpu->index);
	return true;
}

bool exit_wants_dump(const struct vm *vm)
{
	if (!atomic_load_explicit(&vm->end.published, memory_order_acquire))
		return false;
	switch (vm->end.kind) {
	case END_TRIPLE_FAULT:
	case END_KVM:
	case END_NOT_INTERCEPTED:
	case END_TIME_LIMIT:
	case END_INTERNAL:
		return true;
	default:
		return false;
	}
}
