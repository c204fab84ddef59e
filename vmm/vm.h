/* SPDX-License-Identifier: MIT */
/*
 * vm - one virtual machine: memory, vCPUs, devices, timer thread.
 *
 * Lock order: bus.irqs.routes_lock, then bus.lock. bus.lock and console.lock
 * are leaves and never held together. The vCPU threads take no lock on the way
 * of a timer interrupt.
 */
#ifndef VMM_VM_H
#define VMM_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "console.h"
#include "end.h"
#include "guard.h"
#include "lateness.h"
#include "loader.h"
#include "markers.h"
#include "memory.h"
#include "probe.h"
#include "timer_thread.h"
#include "user_timer.h"
#include "vcpu.h"

struct calibrate;
struct config;
struct kvm_cpuid2;
struct trace;

struct vm {
	/* Set once, before the vCPU threads start. */
	const struct config *config;
	int kvm_fd; /* the caller's */
	int fd;
	struct guest_ram ram;
	struct boot_state boot;
	uint32_t tsc_khz;
	enum timer_rung rung;
	bool user_timer; /* IA32_TSC_DEADLINE is punctual's */
	struct user_timer_setup timer_setup;
	struct timer_thread timer_thread; /* started with timerfds only */
	/* Called after a report was taken, on its vCPU's thread; NULL: not.
	 * A calibration reads each series as it comes. */
	void (*report_taken)(struct vcpu *vcpu,
			     const struct lateness_result *result,
			     void *context);
	void *report_context;
	/* A calibration beside the run; NULL: none. Main thread, but for the
	 * word to go. */
	struct calibrate *calibrate;
	struct user_timer_costs costs;
	struct trace *trace; /* NULL: none; main thread */
	struct guard guard;
	int console_error;	/* -errno of the last flush; main thread */
	uint64_t input_dropped; /* bytes typed in vain; main thread */
	struct vcpu *vcpus;
	uint32_t vcpu_count; /* created so far */

	/* Each with its own rule, see their headers. */
	struct bus bus;
	struct console console;
	struct end end;
	struct lateness_store lateness;
	struct markers markers; /* its start is for the caller to set */
};

/*
 * Makes the VM down to loaded registers; no guest code runs yet. rung is
 * RUNG_KERNEL, or what probe_ladder found. 0, or
 * -errno with one line in err and the status to end with in *status
 * (EXIT_STATUS_CANNOT, _CONFIG, _OUTPUT or _INTERNAL). Main thread.
 */
int vm_create(struct vm *vm, const struct config *config, int kvm_fd,
	      enum timer_rung rung, int *status, char *err, size_t err_size);
void vm_destroy(struct vm *vm);

/*
 * Starts all threads, watches over them until the run ends (vm->end says
 * why) and joins them. 0, or -errno when a thread could not be started, with
 * status and err as vm_create. Main thread; signals SIGINT, SIGTERM, SIGHUP
 * and SIGQUIT are taken over for the time of the call, and on a terminal
 * SIGTSTP and SIGCONT too, beside what terminal_take() does.
 */
int vm_run(struct vm *vm, int *status, char *err, size_t err_size);

/* The steps that the interception probe shares with the real VM, so that
 * what it finds holds for it: split irqchip, and what the rung takes. Returns
 * the VM's descriptor or -errno with one line in err. */
int vm_create_fd(int kvm_fd, enum timer_rung rung, char *err, size_t err_size);

/* How long a halted vCPU of the VM polls at most, in ns, whatever the host's
 * own setting. 0, or -errno with one line in err; -EOPNOTSUPP where there is no
 * KVM_CAP_HALT_POLL. Before the first vCPU runs. */
int vm_set_halt_poll(int vm_fd, uint64_t ns, char *err, size_t err_size);

#endif
