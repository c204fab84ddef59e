/* SPDX-License-Identifier: MIT */
/*
 * watch - the main thread while the guest runs: signals, the time limit,
 * halted guests, the console's input and its last bytes; and the orderly end.
 *
 * None of this is on the way of a timer interrupt. Every wait here is an
 * event, but for those on vCPU threads that are to end or to show themselves,
 * and on what the guest prints in answer to input.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "calibrate.h"
#include "config.h"
#include "dump.h"
#include "halted.h"
#include "kvm.h"
#include "monotonic.h"
#include "serial_in.h"
#include "terminal.h"
#include "trace.h"
#include "vm.h"

enum {
	JOIN_PATIENCE_MS = 20,
	DUMP_PATIENCE_MS = 1000,
	/* How long a reader that does not read may hold up a run that did
	 * not end by itself. */
	CONSOLE_PATIENCE_MS = 200,
	/* After input the guest's echo, which has no newline, is looked for
	 * so often, and so many times. */
	ECHO_MS = 10,
	ECHO_LOOKS = 50,
};

struct watch {
	int signal_fd, limit_fd, tick_fd, trace_fd;
	int clocks_fd; /* see clocks.h */
	sigset_t old_mask;
	struct halted_watch halted;
	struct serial_in input;
	int echo_looks;	       /* that are left */
	uint64_t echo_next_ns; /* not before: others wake us, too */
};

static int open_timer(uint64_t first_ms, uint64_t interval_ms)
{
	struct itimerspec spec = {
		.it_value = {.tv_sec = (time_t)(first_ms / 1000),
			     .tv_nsec = (long)(first_ms % 1000) * 1000000},
		.it_interval = {.tv_sec = (time_t)(interval_ms / 1000),
				.tv_nsec =
					(long)(interval_ms % 1000) * 1000000},
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && first_ms && timerfd_settime(fd, 0, &spec, NULL)) {
		close(fd);
		return -1;
	}
	return fd;
}

static enum serial_in_kind input_kind(const struct vm *vm)
{
	switch (vm->config->serial) {
	case SERIAL_STDIO:
		return serial_in_kind_of(STDIN_FILENO);
	case SERIAL_PTY:
		return SERIAL_IN_PTY;
	case SERIAL_OFF:
	case SERIAL_FILE:
		break;
	}
	return SERIAL_IN_NONE;
}

static int watch_open(struct watch *watch, struct vm *vm)
{
	int input_fd = vm->config->serial == SERIAL_PTY ? vm->console.fd
							: STDIN_FILENO;
	/* The last two only where a terminal is to be given back and taken. */
	static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,
				      SIGQUIT, SIGTSTP, SIGCONT};
	size_t count = sizeof(signals) / sizeof(signals[0]);
	struct sigaction action;
	sigset_t mask;

	if (input_kind(vm) != SERIAL_IN_TERMINAL)
		count -= 2;

	/* One that is ignored, as under nohup(1), stays so; blocked, it would
	 * be queued all the same. */
	sigemptyset(&mask);
	for (size_t i = 0; i < count; i++)
		if (sigaction(signals[i], NULL, &action) ||
		    action.sa_handler != SIG_IGN)
			sigaddset(&mask, signals[i]);
	/* Before the threads are made: they inherit the mask, so these reach
	 * the signalfd and nothing else. */
	pthread_sigmask(SIG_BLOCK, &mask, &watch->old_mask);
	watch->halted.ticks = 0;
	watch->echo_looks = 0;
	watch->echo_next_ns = 0;
	watch->input.room_fd = -1;
	watch->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	watch->limit_fd = open_timer(vm->config->timeout_ms, 0);
	watch->tick_fd = open_timer(HALTED_TICK_MS, HALTED_TICK_MS);
	watch->clocks_fd = open_timer(0, 0);
	watch->trace_fd =
		vm->trace ? open_timer(TRACE_DRAIN_MS, TRACE_DRAIN_MS) : -1;
	if (watch->signal_fd < 0 || watch->limit_fd < 0 || watch->tick_fd < 0 ||
	    watch->clocks_fd < 0 || (vm->trace && watch->trace_fd < 0))
		return -errno;
	bus_set_timer(&vm->bus, watch->clocks_fd);
	return serial_in_open(&watch->input, &vm->bus, input_kind(vm),
			      input_fd);
}

static void watch_close(struct watch *watch, struct vm *vm)
{
	serial_in_close(&watch->input);
	bus_set_timer(&vm->bus, -1);
	if (watch->clocks_fd >= 0)
		close(watch->clocks_fd);
	if (watch->signal_fd >= 0)
		close(watch->signal_fd);
	if (watch->limit_fd >= 0)
		close(watch->limit_fd);
	if (watch->tick_fd >= 0)
		close(watch->tick_fd);
	if (watch->trace_fd >= 0)
		close(watch->trace_fd);
	pthread_sigmask(SIG_SETMASK, &watch->old_mask, NULL);
}

static void pause_ms(long ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000};

	nanosleep(&ts, NULL);
}

/* SIGQUIT: show where everybody is, and go on. */
static void dump_while_running(struct vm *vm)
{
	unsigned long before[VCPU_COUNT_MAX];

	for (uint32_t i = 0; i < vm->vcpu_count; i++) {
		before[i] = atomic_load(&vm->vcpus[i].dumps);
		kick_send(&vm->vcpus[i].kick, KICK_DUMP);
	}
	for (uint32_t i = 0, waited_ms = 0; i < vm->vcpu_count; i++)
		while (atomic_load(&vm->vcpus[i].dumps) == before[i] &&
		       waited_ms < DUMP_PATIENCE_MS) {
			pause_ms(JOIN_PATIENCE_MS);
			waited_ms += JOIN_PATIENCE_MS;
		}
	dump_print(vm, stderr);
}

/* A shell moves jobs about: is the terminal ours, and as we need it? */
static void look_at_input(struct watch *watch)
{
	if (watch->input.kind == SERIAL_IN_TERMINAL)
		terminal_take(STDIN_FILENO);
	serial_in_look(&watch->input);
}

static void stop_for_shell(struct watch *watch)
{
	terminal_release();
	raise(SIGSTOP);
	look_at_input(watch);
}

static void take_signal(struct watch *watch, struct vm *vm)
{
	struct signalfd_siginfo info;

	if (read(watch->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGQUIT:
		dump_while_running(vm);
		break;
	case SIGTSTP:
		stop_for_shell(watch);
		break;
	case SIGCONT:
		look_at_input(watch);
		break;
	default:
		end_set(&vm->end, END_SIGNAL, info.ssi_signo, -1,
			"ended by signal %" PRIu32, info.ssi_signo);
		break;
	}
}

/* The calibration is there: from now on its costs are compensated. */
static void use_calibration(struct vm *vm)
{
	const struct calibrate *calibrate = vm->calibrate;

	/* A fixed value was checked by it, and is in force already. */
	if (vm->config->vmentry_advance.mode != TUNE_AUTO)
		return;
	atomic_store(&vm->costs.tsc[USER_TIMER_RUNNING],
		     calibrate->cost[CALIBRATE_RUNNING].result_tsc);
	atomic_store(&vm->costs.tsc[USER_TIMER_HALTED],
		     calibrate->cost[CALIBRATE_HALTED].result_tsc);
}

/* The host slept, or its clock is another one: what was measured may no
 * longer hold, so back to late, never early; and the TSC may have jumped. */
static void check_guard(struct vm *vm)
{
	if (!vm->user_timer || !guard_tripped(&vm->guard))
		return;
	for (int state = 0; state < USER_TIMER_STATES; state++)
		atomic_store(&vm->costs.tsc[state], 0);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		kick_send(&vm->vcpus[i].kick, KICK_RESYNC);
}

static void trace_tick(struct watch *watch, struct vm *vm)
{
	uint64_t expiries;

	if (read(watch->trace_fd, &expiries, sizeof(expiries)) > 0)
		trace_drain(vm->trace);
}

static void flush_console(struct vm *vm)
{
	int ret = console_flush(&vm->console);

	if (ret)
		end_set(&vm->end, END_OUTPUT, (uint64_t)-ret, -1, "console: %s",
			strerror(-ret));
}

static void run_clocks(struct watch *watch, struct vm *vm)
{
	uint64_t expiries;

	/* Armed anew in between: that expiry is to come. */
	if (read(watch->clocks_fd, &expiries, sizeof(expiries)) > 0)
		bus_timer_expired(&vm->bus);
}

static bool echo_is_due(struct watch *watch)
{
	uint64_t now_ns;

	if (!watch->echo_looks)
		return false;
	now_ns = monotonic_ns();
	if (now_ns < watch->echo_next_ns)
		return false;
	watch->echo_next_ns = now_ns + ECHO_MS * 1000000ull;
	watch->echo_looks--;
	return true;
}

static void take_input(struct watch *watch, struct vm *vm)
{
	watch->echo_looks = ECHO_LOOKS;
	switch (serial_in_read(&watch->input)) {
	case ESCAPE_NONE:
		break;
	case ESCAPE_HELP:
		fputs(escape_help, stderr);
		break;
	case ESCAPE_END:
		/* As if Ctrl-C had not been the guest's. */
		end_set(&vm->end, END_SIGNAL, SIGINT, -1, "ended by Ctrl-A x");
		break;
	}
}

static void tick(struct watch *watch, struct vm *vm)
{
	uint64_t expiries;

	if (read(watch->tick_fd, &expiries, sizeof(expiries)) < 0)
		return;
	check_guard(vm);
	flush_console(vm);
	look_at_input(watch);
	if (halted_tick(&watch->halted, vm))
		end_set(&vm->end, END_HALTED, 0, -1,
			"all %" PRIu32 " vCPUs are halted with interrupts off "
			"and nothing is pending",
			vm->vcpu_count);
}

static void watch_until_end(struct watch *watch, struct vm *vm)
{
	struct pollfd fds[] = {
		{.fd = vm->end.event_fd, .events = POLLIN},
		{.fd = watch->signal_fd, .events = POLLIN},
		{.fd = watch->limit_fd, .events = POLLIN},
		{.fd = watch->tick_fd, .events = POLLIN},
		{.fd = watch->trace_fd, .events = POLLIN},
		{.fd = -1, .events = POLLIN},
		{.fd = watch->input.room_fd, .events = POLLIN},
		{.fd = -1, .events = POLLIN},
		{.fd = watch->clocks_fd, .events = POLLIN},
	};

	for (;;) {
		/* A negative one is passed over by poll. */
		fds[5].fd = vm->calibrate ? vm->calibrate->fd : -1;
		fds[7].fd = serial_in_poll_fd(&watch->input);
		if (poll(fds, sizeof(fds) / sizeof(fds[0]),
			 watch->echo_looks ? ECHO_MS : -1) < 0)
			continue;
		if (echo_is_due(watch))
			flush_console(vm);
		if (fds[0].revents)
			return;
		if (fds[1].revents)
			take_signal(watch, vm);
		if (fds[2].revents)
			end_set(&vm->end, END_TIME_LIMIT, 0, -1,
				"time limit of %" PRIu64 " ms reached",
				vm->config->timeout_ms);
		if (fds[3].revents)
			tick(watch, vm);
		if (fds[4].revents)
			trace_tick(watch, vm);
		if (fds[5].revents && calibrate_take(vm->calibrate))
			use_calibration(vm);
		if (fds[6].revents)
			serial_in_take_room(&watch->input);
		if (fds[7].revents)
			take_input(watch, vm);
		if (fds[8].revents)
			run_clocks(watch, vm);
	}
}

/* After this no guest code runs and no thread but this one is left. */
static void stop_vcpus(struct vm *vm)
{
	struct timespec until;

	console_stop_waiting(&vm->console);
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		kick_send(&vm->vcpus[i].kick, KICK_STOP);
	for (uint32_t i = 0; i < vm->vcpu_count; i++) {
		struct vcpu *vcpu = &vm->vcpus[i];

		if (!vcpu->thread_started)
			continue;
		for (;;) {
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += JOIN_PATIENCE_MS * 1000000;
			if (until.tv_nsec >= 1000000000) {
				until.tv_nsec -= 1000000000;
				until.tv_sec++;
			}
			if (pthread_timedjoin_np(vcpu->thread, NULL, &until) !=
			    ETIMEDOUT)
				break;
			/* It may sit in a write to a full pipe. */
			kick_interrupt(&vcpu->kick);
		}
		vcpu->thread_started = false;
	}
}

/*
 * The last look for a timer that was never ours: a guest that took more fires
 * than we were given deadlines had them from KVM, and no figure of it stands.
 * Whoever does not report is caught while running, or had no deadline left
 * that would show.
 */
static void check_interception(struct vm *vm)
{
	uint64_t fires = lateness_fires(&vm->lateness), arms = 0;

	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		arms += vm->vcpus[i].timer.stats.arms;
	if (!vm->user_timer || fires <= arms)
		return;
	/* Their threads saw no reason for it. */
	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		dump_vcpu(&vm->vcpus[i]);
	end_overrule(&vm->end, END_NOT_INTERCEPTED, fires, -1,
		     "the guest reports %" PRIu64 " fires, of %" PRIu64
		     " deadlines that arrived here: writes of "
		     "IA32_TSC_DEADLINE go past the MSR filter (see "
		     "punctual probe)",
		     fires, arms);
}

static bool ended_by_itself(const struct vm *vm)
{
	return vm->end.kind == END_GUEST_EXIT || vm->end.kind == END_RESET ||
	       vm->end.kind == END_POWEROFF || vm->end.kind == END_HALTED;
}

/* A run that ended by itself waits for its reader, as long as it might have
 * lasted itself. */
static int console_patience(const struct vm *vm)
{
	uint64_t limit_ms = vm->config->timeout_ms;

	if (!ended_by_itself(vm))
		return CONSOLE_PATIENCE_MS;
	return limit_ms ? (int)limit_ms : -1;
}

static int start_threads(struct vm *vm, int *status, char *err, size_t err_size)
{
	int ret = 0;

	if (vm->user_timer && vm->timer_setup.source == USER_TIMER_TIMERFD) {
		ret = timer_thread_start(&vm->timer_thread,
					 vm->config->timer_affinity);
		if (ret) {
			snprintf(err, err_size,
				 "timer.timer_affinity or its thread: %s",
				 strerror(-ret));
			*status = EXIT_STATUS_CANNOT;
			return ret;
		}
	}
	for (uint32_t i = 0; !ret && i < vm->vcpu_count; i++) {
		ret = vcpu_start(&vm->vcpus[i]);
		if (ret)
			snprintf(err, err_size,
				 "machine-config.cpu_affinity[%" PRIu32
				 "] or its thread: %s",
				 i,
				 ret == -ENXIO || ret == -EINVAL
					 ? "these CPUs are not all there"
					 : strerror(-ret));
	}
	*status = EXIT_STATUS_CANNOT;
	return ret;
}

int vm_run(struct vm *vm, int *status, char *err, size_t err_size)
{
	struct watch watch;
	int ret = watch_open(&watch, vm);

	*status = EXIT_STATUS_CANNOT;
	if (ret) {
		snprintf(err, err_size, "signalfd, timerfd or eventfd: %s",
			 strerror(-ret));
		watch_close(&watch, vm);
		return ret;
	}
	if (vm->calibrate && vm->calibrate->done)
		use_calibration(vm);
	guard_init(&vm->guard);
	look_at_input(&watch);
	ret = start_threads(vm, status, err, err_size);
	if (ret)
		end_set(&vm->end, END_INTERNAL, 0, -1, "%s", err);
	watch_until_end(&watch, vm);
	stop_vcpus(vm);
	timer_thread_stop(&vm->timer_thread);
	terminal_release();
	check_interception(vm);
	vm->input_dropped = watch.input.dropped;
	watch_close(&watch, vm);
	vm->console_error = console_close(&vm->console, console_patience(vm));
	return ret;
}
