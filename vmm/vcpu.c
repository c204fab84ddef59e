/* SPDX-License-Identifier: MIT */
/*
 * vcpu - creation of a vCPU and its run loop.
 *
 * Reference: Linux Documentation/virt/kvm/api.rst "KVM_CREATE_VCPU",
 * "KVM_RUN". The loop is the whole life of the thread: serve what was asked,
 * deliver what is due, enter the guest, handle the exit.
 */
#define _GNU_SOURCE
#include "vcpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "affinity.h"
#include "config.h"
#include "dump.h"
#include "exit.h"
#include "halted.h"
#include "kvm.h"
#include "vm.h"

int vcpu_create(struct vcpu *vcpu, struct vm *vm, uint32_t index, char *err,
		size_t err_size)
{
	int size = kvm_do_ioctl_value(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	void *run;

	memset(vcpu, 0, sizeof(*vcpu));
	vcpu->vm = vm;
	vcpu->index = index;
	vcpu->kick.vcpu = index;
	vcpu->fd = kvm_do_ioctl_value(vm->fd, KVM_CREATE_VCPU, index);
	if (vcpu->fd < 0) {
		snprintf(err, err_size, "KVM_CREATE_VCPU %u: %s", index,
			 strerror(-vcpu->fd));
		return vcpu->fd;
	}
	run = size < 0 ? MAP_FAILED
		       : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			      MAP_SHARED, vcpu->fd, 0);
	if (run == MAP_FAILED) {
		int ret = size < 0 ? size : -errno;

		snprintf(err, err_size, "mmap of vCPU %u: %s", index,
			 strerror(-ret));
		close(vcpu->fd);
		return ret;
	}
	vcpu->run = run;
	vcpu->run_size = (size_t)size;
	return 0;
}

void vcpu_destroy(struct vcpu *vcpu)
{
	if (vcpu->vm->user_timer)
		user_timer_free(&vcpu->timer);
	munmap(vcpu->run, vcpu->run_size);
	close(vcpu->fd);
}

/* Everything that a kick can ask for. False: the loop ends. */
static bool vcpu_serve(struct vcpu *vcpu, uint32_t requests)
{
	int ret;

	vcpu->stats.requests++;
	if (requests & KICK_DUE) {
		ret = user_timer_expired(&vcpu->timer);
		if (ret) {
			exit_timer_failed(vcpu, ret);
			return false;
		}
	}
	if (requests & KICK_RESYNC) {
		ret = user_timer_resync(&vcpu->timer);
		if (ret) {
			exit_timer_failed(vcpu, ret);
			return false;
		}
	}
	if (requests & KICK_DUMP) {
		dump_vcpu(vcpu);
		atomic_fetch_add(&vcpu->dumps, 1);
	}
	if (requests & KICK_LOOK) {
		halted_look(vcpu);
		exit_backstop(vcpu, true);
		atomic_fetch_add(&vcpu->looks, 1);
	}
	return !(requests & KICK_STOP);
}

/* The 8259s ask: gives KVM their interrupt if the guest can take it, else KVM
 * tells when it can. ready_for_interrupt_injection is of the last KVM_RUN. */
static bool vcpu_take_intr(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	struct kvm_interrupt interrupt = {.irq = 0};
	uint8_t vector;
	bool more;
	int ret;

	if (!run->ready_for_interrupt_injection) {
		run->request_interrupt_window = 1;
		return true;
	}
	if (!bus_intack(&vcpu->vm->bus, &vector, &more))
		return true;
	interrupt.irq = vector;
	ret = kvm_vcpu_ioctl(vcpu->fd, KVM_INTERRUPT, &interrupt);
	if (ret < 0) {
		end_set(&vcpu->vm->end, END_KVM, 0, (int)vcpu->index,
			"KVM_INTERRUPT: %s", strerror(-ret));
		return false;
	}
	/* One at a time, also if KVM_RUN does not come next. */
	run->ready_for_interrupt_injection = 0;
	run->request_interrupt_window = more;
	return true;
}

/* One turn of the loop. False: the vCPU is done. */
static bool vcpu_turn(struct vcpu *vcpu)
{
	uint32_t requests;
	int ret;

	if (atomic_load_explicit(&vcpu->intr, memory_order_relaxed) &&
	    !vcpu_take_intr(vcpu))
		return false;
	/* With a kick on hand the expiry itself comes next. */
	if (vcpu->vm->user_timer && !(kick_pending(&vcpu->kick) & KICK_DUE)) {
		ret = user_timer_poll(&vcpu->timer);
		if (ret < 0) {
			exit_timer_failed(vcpu, ret);
			return false;
		}
		/* Another turn, as after an expiry that was served: the way
		 * from here into the guest is what calibration measures, and
		 * a shorter one would be early. */
		if (ret)
			return true;
	}
	requests = kick_enter(&vcpu->kick);
	if (requests)
		return vcpu_serve(vcpu, requests);
	ret = kvm_run(vcpu->fd);
	kick_leave(&vcpu->kick);
	if (vcpu->timer.untold)
		user_timer_tell(&vcpu->timer, true, ret,
				vcpu->run->exit_reason);
	if (!ret)
		return exit_handle(vcpu);
	switch (ret) {
	case -EINTR:
		/* A kick. exit_reason may be that of an earlier exit. */
		vcpu->stats.interrupted++;
		return true;
	case -EAGAIN:
		/* An application processor that got INIT but no SIPI yet. */
		vcpu->stats.not_started++;
		return true;
	default:
		exit_run_failed(vcpu, ret);
		return false;
	}
}

static bool vcpu_bind_timer(struct vcpu *vcpu)
{
	int ret = vcpu->vm->user_timer
			  ? user_timer_bind(&vcpu->timer, &vcpu->kick)
			  : 0;

	if (ret)
		end_set(&vcpu->vm->end, END_CANNOT, 0, (int)vcpu->index,
			"timer.source posix: timer_create: %s (raise ulimit "
			"-i, or use timerfd)",
			strerror(-ret));
	return !ret;
}

static void *vcpu_main(void *arg)
{
	struct vcpu *vcpu = arg;

	kick_bind(&vcpu->kick, &vcpu->run->immediate_exit);
	if (vcpu_bind_timer(vcpu))
		while (vcpu_turn(vcpu))
			continue;
	if (vcpu->timer.untold)
		user_timer_tell(&vcpu->timer, false, 0, 0);
	if (vcpu->vm->user_timer)
		user_timer_settle(&vcpu->timer);
	/* The registers as they are now, should somebody want to see them. */
	if (exit_wants_dump(vcpu->vm))
		dump_vcpu(vcpu);
	atomic_store(&vcpu->ended, true);
	return NULL;
}

int vcpu_start(struct vcpu *vcpu)
{
	const cpu_set_t *cpus = vcpu->vm->config->cpu_affinity;
	int ret = affinity_thread_create(&vcpu->thread,
					 cpus ? &cpus[vcpu->index] : NULL,
					 vcpu_main, vcpu);

	vcpu->thread_started = !ret;
	return ret;
}
