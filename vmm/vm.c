/* SPDX-License-Identifier: MIT */
/*
 * vm - puts a VM together, in one readable order, and takes it apart.
 *
 * Reference: Linux Documentation/virt/kvm/api.rst "KVM_CREATE_VM",
 * "KVM_SET_USER_MEMORY_REGION", "KVM_CAP_SPLIT_IRQCHIP",
 * "KVM_CAP_HALT_POLL", "KVM_CAP_X86_USER_SPACE_MSR", "KVM_X86_SET_MSR_FILTER".
 * The VM never gets a TSC rate of its own (KVM_SET_TSC_KHZ): guest TSC is
 * host TSC plus an offset, everywhere in this program.
 */
#define _GNU_SOURCE
#include "vm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "guest_cpuid.h"
#include "ioapic.h"
#include "kvm.h"
#include "registers.h"

/* Three pages below 4 GiB, which Intel hosts need to run real mode
 * ("KVM_SET_TSS_ADDR"), and one for the identity map. No RAM there. */
#define TSS_ADDRESS	     0xfffbd000ul
#define IDENTITY_MAP_ADDRESS 0xfffbc000ul

/* Diverts IA32_TSC_DEADLINE both ways, and writes of what moves the TSC. */
static int set_msr_filter(int vm_fd)
{
	uint8_t deny = 0;
	struct kvm_msr_filter filter = {
		.flags = KVM_MSR_FILTER_DEFAULT_ALLOW,
		.ranges =
			{
				{.flags = KVM_MSR_FILTER_READ |
					  KVM_MSR_FILTER_WRITE,
				 .nmsrs = 1,
				 .base = MSR_IA32_TSC_DEADLINE,
				 .bitmap = &deny},
				{.flags = KVM_MSR_FILTER_WRITE,
				 .nmsrs = 1,
				 .base = MSR_IA32_TSC,
				 .bitmap = &deny},
				{.flags = KVM_MSR_FILTER_WRITE,
				 .nmsrs = 1,
				 .base = MSR_IA32_TSC_ADJUST,
				 .bitmap = &deny},
			},
	};
	int ret = kvm_enable_cap(vm_fd, KVM_CAP_X86_USER_SPACE_MSR,
				 KVM_MSR_EXIT_REASON_FILTER);

	return ret < 0 ? ret
		       : kvm_vm_ioctl(vm_fd, KVM_X86_SET_MSR_FILTER, &filter);
}

int vm_create_fd(int kvm_fd, enum timer_rung rung, char *err, size_t err_size)
{
	uint64_t identity_map = IDENTITY_MAP_ADDRESS;
	int fd = kvm_do_ioctl_value(kvm_fd, KVM_CREATE_VM, 0);
	const char *step = "KVM_CREATE_VM";
	int ret = fd;

	if (fd < 0)
		goto fail;
	step = "KVM_SET_IDENTITY_MAP_ADDR";
	ret = kvm_vm_ioctl(fd, KVM_SET_IDENTITY_MAP_ADDR, &identity_map);
	if (ret < 0)
		goto out_close;
	step = "KVM_SET_TSS_ADDR";
	ret = kvm_do_ioctl_value(fd, KVM_SET_TSS_ADDR, TSS_ADDRESS);
	if (ret < 0)
		goto out_close;
	step = "KVM_CAP_SPLIT_IRQCHIP";
	ret = kvm_enable_cap(fd, KVM_CAP_SPLIT_IRQCHIP, IOAPIC_PINS);
	if (ret < 0)
		goto out_close;
	if (rung == RUNG_KERNEL)
		return fd;
	/* Never on a VM whose timer is KVM's: it would lose the preemption
	 * timer too, and be a weaker thing to compare with. */
	step = "KVM_CAP_X86_DISABLE_EXITS";
	if (rung == RUNG_SPLIT_MWAIT)
		ret = kvm_enable_cap(fd, KVM_CAP_X86_DISABLE_EXITS,
				     KVM_X86_DISABLE_EXITS_MWAIT);
	if (ret < 0)
		goto out_close;
	step = "MSR filter on IA32_TSC_DEADLINE";
	ret = set_msr_filter(fd);
	if (ret >= 0)
		return fd;
out_close:
	close(fd);
fail:
	snprintf(err, err_size, "%s: %s (kernel too old, or no limit left?)",
		 step, strerror(-ret));
	return ret;
}

int vm_set_halt_poll(int vm_fd, uint64_t ns, char *err, size_t err_size)
{
	int ret =
		kvm_check_extension(vm_fd, KVM_CAP_HALT_POLL) ? 0 : -EOPNOTSUPP;

	if (!ret)
		ret = kvm_enable_cap(vm_fd, KVM_CAP_HALT_POLL, ns);
	if (ret >= 0)
		return 0;
	snprintf(err, err_size,
		 "timer.halt_poll_ns: KVM_CAP_HALT_POLL: %s (needs Linux 5.10; "
		 "null leaves it as the host is set)",
		 strerror(-ret));
	return ret;
}

static int set_memory(struct vm *vm, char *err, size_t err_size)
{
	for (unsigned int i = 0; i < vm->ram.count; i++) {
		struct kvm_userspace_memory_region slot = {
			.slot = i,
			.guest_phys_addr = vm->ram.regions[i].gpa,
			.memory_size = vm->ram.regions[i].size,
			.userspace_addr = (uintptr_t)vm->ram.regions[i].host,
		};
		int ret =
			kvm_vm_ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &slot);

		if (ret < 0) {
			snprintf(err, err_size,
				 "KVM_SET_USER_MEMORY_REGION: %s",
				 strerror(-ret));
			return ret;
		}
	}
	return 0;
}

static int set_cpuid(struct vm *vm, struct vcpu *vcpu,
		     const struct kvm_cpuid2 *supported)
{
	struct guest_cpuid_request request = {
		.vcpu_count = vm->config->vcpu_count,
		.tsc_khz = vm->tsc_khz,
		.hide = vm->config->hide_cpuid,
		.hide_count = vm->config->hide_cpuid_count,
	};
	struct kvm_cpuid2 *table = malloc(guest_cpuid_table_size());
	int ret;

	if (!table)
		return -ENOMEM;
	memcpy(table, supported, guest_cpuid_table_size());
	guest_cpuid_for_vcpu(table, vcpu->index, &request);
	ret = kvm_vcpu_ioctl(vcpu->fd, KVM_SET_CPUID2, table);
	free(table);
	return ret;
}

static int setup_user_timer(struct vm *vm, char *err, size_t err_size)
{
	static const enum user_timer_advance advance_of[] = {
		[TUNE_OFF] = USER_TIMER_ADVANCE_OFF,
		[TUNE_FIXED] = USER_TIMER_ADVANCE_FIXED,
		[TUNE_AUTO] = USER_TIMER_ADVANCE_AUTO,
	};
	static const enum tuner_kind tuner_of[] = {
		[TUNER_CHOICE_STEP] = TUNER_STEP,
		[TUNER_CHOICE_QUANTILE] = TUNER_QUANTILE,
	};
	static const enum user_timer_source source_of[] = {
		[TIMER_SOURCE_TIMERFD] = USER_TIMER_TIMERFD,
		[TIMER_SOURCE_POSIX] = USER_TIMER_POSIX,
	};
	const struct config *config = vm->config;
	int ret = user_timer_setup_init(
		&vm->timer_setup, vm->tsc_khz, advance_of[config->advance.mode],
		config->advance.ns, config->max_advance_ns,
		config->max_spin_share, config->vmentry_advance.ns);

	vm->timer_setup.source = source_of[config->source];
	if (config->vmentry_advance.mode != TUNE_OFF)
		vm->timer_setup.costs = &vm->costs;
	for (int state = 0; state < USER_TIMER_STATES; state++)
		atomic_init(&vm->costs.tsc[state],
			    vm->timer_setup.policy.entry_cost_tsc);
	user_timer_setup_tuner(&vm->timer_setup, tuner_of[config->tuner],
			       config->target_quantile);
	if (config->strict_lvtt)
		user_timer_setup_strict(&vm->timer_setup);
	if (ret)
		snprintf(err, err_size,
			 "KVM_GET_TSC_KHZ: %" PRIu32 " kHz is out of range",
			 vm->tsc_khz);
	return ret;
}

static int setup_vcpu(struct vm *vm, struct vcpu *vcpu,
		      const struct kvm_cpuid2 *supported, char *err,
		      size_t err_size)
{
	struct injector injector = {.vm_fd = vm->fd,
				    .vcpu_fd = vcpu->fd,
				    .apic_id = vcpu->index,
				    .is_alone = vm->config->vcpu_count == 1,
				    .run = vcpu->run};
	const char *step = "KVM_SET_CPUID2";
	int ret = set_cpuid(vm, vcpu, supported);

	/* Paravirtual features that CPUID does not show really fail then; a
	 * kernel without the capability (before 5.10) cannot run us anyway. */
	if (ret >= 0) {
		step = "KVM_CAP_ENFORCE_PV_FEATURE_CPUID";
		ret = kvm_enable_cap(vcpu->fd, KVM_CAP_ENFORCE_PV_FEATURE_CPUID,
				     1);
	}
	if (ret >= 0 && vcpu->index == 0) {
		step = "setting the registers";
		ret = registers_set(vcpu->fd, &vm->boot);
	}
	if (ret >= 0 && vm->user_timer) {
		step = "KVM_VCPU_TSC_OFFSET (Linux 5.16 or later)";
		ret = user_timer_init(&vcpu->timer, &vm->timer_setup,
				      &injector);
		if (!ret && vm->timer_setup.source == USER_TIMER_TIMERFD)
			ret = timer_thread_add(&vm->timer_thread,
					       vcpu->timer.host.fd,
					       &vcpu->kick);
	}
	if (ret < 0)
		snprintf(err, err_size, "vCPU %" PRIu32 ": %s: %s", vcpu->index,
			 step, strerror(-ret));
	return ret < 0 ? ret : 0;
}

static int create_vcpus(struct vm *vm, char *err, size_t err_size)
{
	struct kvm_cpuid2 *supported;
	int ret, khz;

	vm->vcpus = calloc(vm->config->vcpu_count, sizeof(*vm->vcpus));
	ret = vm->vcpus ? guest_cpuid_supported(vm->kvm_fd, &supported)
			: -ENOMEM;
	if (ret) {
		snprintf(err, err_size, "KVM_GET_SUPPORTED_CPUID: %s",
			 strerror(-ret));
		return ret;
	}
	while (!ret && vm->vcpu_count < vm->config->vcpu_count) {
		ret = vcpu_create(&vm->vcpus[vm->vcpu_count], vm,
				  vm->vcpu_count, err, err_size);
		if (ret)
			break;
		vm->vcpu_count++;
		if (vm->vcpu_count == 1) {
			khz = kvm_do_ioctl_value(vm->vcpus[0].fd,
						 KVM_GET_TSC_KHZ, 0);
			vm->tsc_khz = khz > 0 ? (uint32_t)khz : 0;
			ret = setup_user_timer(vm, err, err_size);
		}
		if (!ret)
			ret = setup_vcpu(vm, &vm->vcpus[vm->vcpu_count - 1],
					 supported, err, err_size);
	}
	free(supported);
	return ret;
}

static int open_console(struct vm *vm, char *err, size_t err_size)
{
	int ret = 0;

	switch (vm->config->serial) {
	case SERIAL_STDIO:
		console_init(&vm->console, STDOUT_FILENO);
		break;
	case SERIAL_OFF:
		console_init(&vm->console, -1);
		break;
	case SERIAL_PTY:
		ret = console_init_pty(&vm->console);
		if (ret)
			snprintf(err, err_size,
				 "console.serial: pty: %s (is /dev/pts "
				 "mounted?)",
				 strerror(-ret));
		break;
	case SERIAL_FILE:
		ret = console_init_file(&vm->console, vm->config->serial_path);
		if (ret)
			snprintf(err, err_size, "console.serial: %s: %s",
				 vm->config->serial_path, strerror(-ret));
		break;
	}
	return ret;
}

static int load_image(struct vm *vm, char *err, size_t err_size)
{
	struct loader_request request = {
		.image_path = vm->config->kernel_image_path,
		.initrd_path = vm->config->initrd_path,
		.boot_args = vm->config->boot_args,
		.cpus = vm->config->vcpu_count,
		.protocol = vm->config->protocol,
	};

	return loader_load(&request, &vm->ram, &vm->boot, err, err_size);
}

/* INTR of the 8259s goes to the first vCPU. */
static int connect_bus(struct vm *vm, char *err, size_t err_size)
{
	const struct irqs_target target = {
		.vm_fd = vm->fd,
		.kick = &vm->vcpus[0].kick,
		.intr = &vm->vcpus[0].intr,
		.end = &vm->end,
	};
	uint64_t low_bytes = 0, high_bytes = 0;
	int ret;

	for (unsigned int i = 0; i < vm->ram.count; i++)
		if (vm->ram.regions[i].gpa < RAM_HIGH_START)
			low_bytes += vm->ram.regions[i].size;
		else
			high_bytes += vm->ram.regions[i].size;
	bus_connect(&vm->bus, low_bytes, high_bytes, &target);
	if (!vm->config->test_device)
		return 0;
	ret = bus_add_test_ports(&vm->bus, low_bytes + high_bytes,
				 vm->vcpu_count);
	if (ret)
		snprintf(err, err_size, "machine-config.test_device: %s",
			 strerror(-ret));
	return ret;
}

static int port_number(const struct optional_value *port)
{
	return port->is_given ? (int)port->value : -1;
}

int vm_create(struct vm *vm, const struct config *config, int kvm_fd,
	      enum timer_rung rung, int *status, char *err, size_t err_size)
{
	int ret;

	memset(vm, 0, sizeof(*vm));
	vm->config = config;
	vm->kvm_fd = kvm_fd;
	vm->fd = -1;
	vm->rung = rung;
	vm->user_timer = rung != RUNG_KERNEL;
	bus_init(&vm->bus, port_number(&config->exit_port), NULL);
	vm->bus.marker_port = port_number(&config->marker_port);
	lateness_init(&vm->lateness);

	*status = EXIT_STATUS_OUTPUT;
	ret = open_console(vm, err, err_size);
	if (ret)
		goto out_bus;
	*status = EXIT_STATUS_CANNOT;
	ret = ram_alloc(&vm->ram, config->mem_size_mib << 20);
	if (ret) {
		snprintf(err, err_size, "%" PRIu64 " MiB of guest memory: %s",
			 config->mem_size_mib, strerror(-ret));
		goto out_console;
	}
	*status = EXIT_STATUS_CONFIG;
	ret = load_image(vm, err, err_size);
	if (ret)
		goto out_ram;
	*status = EXIT_STATUS_CANNOT;
	ret = end_init(&vm->end);
	if (!ret)
		ret = timer_thread_init(&vm->timer_thread);
	if (ret) {
		snprintf(err, err_size, "eventfd or epoll: %s", strerror(-ret));
		goto out_end;
	}
	vm->fd = vm_create_fd(kvm_fd, rung, err, err_size);
	ret = vm->fd < 0 ? vm->fd : 0;
	if (!ret && config->halt_poll_ns.is_given)
		ret = vm_set_halt_poll(vm->fd, config->halt_poll_ns.value, err,
				       err_size);
	if (!ret)
		ret = set_memory(vm, err, err_size);
	if (!ret)
		ret = create_vcpus(vm, err, err_size);
	if (!ret)
		ret = connect_bus(vm, err, err_size);
	if (!ret)
		return 0;
	vm_destroy(vm);
	return ret;

out_end:
	end_free(&vm->end);
out_ram:
	ram_free(&vm->ram);
out_console:
	console_close(&vm->console, 0);
out_bus:
	lateness_free(&vm->lateness);
	bus_destroy(&vm->bus);
	return ret;
}

void vm_destroy(struct vm *vm)
{
	timer_thread_destroy(&vm->timer_thread);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		vcpu_destroy(&vm->vcpus[i]);
	free(vm->vcpus);
	if (vm->fd >= 0)
		close(vm->fd);
	ram_free(&vm->ram);
	console_close(&vm->console, 0);
	end_free(&vm->end);
	lateness_free(&vm->lateness);
	bus_destroy(&vm->bus);
}
