/* SPDX-License-Identifier: MIT */
/*
 * cmd_run - `punctual run`: config, checks of the host, VM, results.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "calibrate.h"
#include "commands.h"
#include "config.h"
#include "end.h"
#include "exit.h"
#include "host.h"
#include "jsonw.h"
#include "kick.h"
#include "kvm.h"
#include "monotonic.h"
#include "options.h"
#include "output.h"
#include "probe.h"
#include "results.h"
#include "tell.h"
#include "trace.h"
#include "vm.h"

#define KVM_PATH "/dev/kvm"

enum {
	RESULT_SIZE_MAX = 256 << 20, /* 64 vCPUs with raw samples */
};

struct run {
	const struct options *options;
	struct config config;
	struct output stats, json;
	struct trace trace;
	struct host_info before, after;
	struct calibrate calibrate;
	enum timer_rung rung;
	char err[512];
	struct ram_residence residence;
	uint64_t prefault_cpu_ns; /* system time that it took */
};

static int open_outputs(struct run *run)
{
	const char *stats = run->config.stats_path;
	const char *json = run->options->json_path;
	bool to_stdout =
		(stats && !strcmp(stats, "-")) || (json && !strcmp(json, "-"));

	if (to_stdout && run->config.serial == SERIAL_STDIO) {
		snprintf(run->err, sizeof(run->err),
			 "results and the guest's console both on stdout: give "
			 "--json=FILE, or set console.serial to off or "
			 "file:PATH");
		return EXIT_STATUS_CONFIG;
	}
	if (output_open(&run->stats, stats, run->err, sizeof(run->err)) ||
	    output_open(&run->json, json, run->err, sizeof(run->err)) ||
	    trace_open(&run->trace, run->options->trace_path,
		       run->options->trace_events, run->err, sizeof(run->err)))
		return EXIT_STATUS_OUTPUT;
	return 0;
}

/* Can this host keep deadlines in userspace? 0 or the status to end with. */
static int check_host(struct run *run, int kvm_fd)
{
	const char *missing = probe_missing_capability(kvm_fd);
	char why[256];

	if (missing) {
		snprintf(run->err, sizeof(run->err),
			 "%s: not supported (kernel too old?)", missing);
		return EXIT_STATUS_CANNOT;
	}
	run->rung = RUNG_KERNEL;
	if (run->config.mode == TIMER_KERNEL)
		return 0;
	if (!host_tsc_is_stable(&run->before) &&
	    run->config.unstable_tsc == TSC_REFUSE_UNSTABLE) {
		snprintf(run->err, sizeof(run->err),
			 "the host's clocksource is \"%s\", not tsc, so its "
			 "TSC may be unstable: timer.unstable_tsc=allow runs "
			 "all the same and marks the result",
			 run->before.clocksource);
		return EXIT_STATUS_CANNOT;
	}
	if (probe_ladder(kvm_fd, &run->rung, why, sizeof(why)) ==
	    PROBE_INTERCEPTED)
		return 0;
	snprintf(run->err, sizeof(run->err), "timer.mode userspace: %s; %s",
		 why, probe_remedy());
	return EXIT_STATUS_CANNOT;
}

static uint64_t timeval_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

static int write_results(struct run *run, struct vm *vm, uint64_t wall_ns,
			 int status)
{
	struct rusage usage;
	struct results_context context = {
		.before = &run->before,
		.after = &run->after,
		.wall_ns = wall_ns,
		.status = status,
		.rung = probe_rung_name(vm->rung),
		.with_samples = run->options->samples,
		.tsc_allowed_unstable =
			vm->user_timer && !host_tsc_is_stable(&run->before),
		.early_allowed = vm->user_timer && run->config.allow_early,
		.residence = run->residence,
	};
	struct jsonw w;
	const char *text;
	size_t len;
	int ret;

	if (!run->stats.path && !run->json.path)
		return status;
	getrusage(RUSAGE_SELF, &usage);
	context.user_cpu_ns = timeval_ns(usage.ru_utime);
	context.system_cpu_ns =
		timeval_ns(usage.ru_stime) - run->prefault_cpu_ns;
	jsonw_init(&w, 2, RESULT_SIZE_MAX);
	ret = results_write(vm, &context, &w);
	if (!ret) {
		text = jsonw_text(&w, &len);
		ret = output_write(&run->stats, text, len, run->err,
				   sizeof(run->err));
		if (!ret)
			ret = output_write(&run->json, text, len, run->err,
					   sizeof(run->err));
	} else {
		snprintf(run->err, sizeof(run->err), "results: %s",
			 strerror(-ret));
	}
	jsonw_free(&w);
	if (!ret)
		return status;
	complain("%s", run->err);
	return EXIT_STATUS_OUTPUT;
}

/* 0 or -errno. */
static int prepare_calibration(struct run *run)
{
	if (!run->options->has_entry_cost)
		return calibrate_prepare(&run->calibrate, &run->config,
					 run->rung);
	calibrate_give(&run->calibrate, run->options->entry_cost_tsc);
	return 0;
}

/*
 * A fixed vmentry_advance above what was measured here is an early fire to
 * come. The guest does not start before that is known.
 */
static int check_fixed_cost(struct run *run, const struct vm *vm)
{
	uint64_t cost_tsc = vm->timer_setup.policy.entry_cost_tsc;
	const struct entry_cost *cost = run->calibrate.cost;

	if (run->config.vmentry_advance.mode != TUNE_FIXED)
		return 0;
	calibrate_wait(&run->calibrate);
	if (entry_cost_covers(cost, CALIBRATE_STATES, cost_tsc))
		return 0;
	complain("timer.vmentry_advance: %" PRIu64 " ns are %" PRIu64
		 " cycles, but an entry was measured to allow %" PRIu64
		 " (running) and %" PRIu64 " (halted): the timer would be "
		 "early (lower it, or set timer.allow_early, which marks the "
		 "result)",
		 run->config.vmentry_advance.ns, cost_tsc,
		 cost[CALIBRATE_RUNNING].result_tsc,
		 cost[CALIBRATE_HALTED].result_tsc);
	return EXIT_STATUS_CONFIG;
}

/* What the guest printed last could not be written: that hides a good end,
 * never a bad one. */
static int judge_console(const struct vm *vm, int status)
{
	if (!vm->console_error || status > EXIT_STATUS_GUEST_MAX)
		return status;
	complain("console: %s", strerror(-vm->console_error));
	return EXIT_STATUS_OUTPUT;
}

/* Half of what there is at most: a guest may be larger than it ever uses. What
 * it costs is not the guest's, and is taken off the CPU time. */
static void prefault(struct run *run, const struct vm *vm)
{
	struct rusage before, after;

	if (!run->options->prefault)
		return;
	getrusage(RUSAGE_THREAD, &before);
	run->residence =
		ram_make_resident(&vm->ram, host_available_bytes() / 2);
	getrusage(RUSAGE_THREAD, &after);
	run->prefault_cpu_ns =
		timeval_ns(after.ru_stime) - timeval_ns(before.ru_stime);
}

/* The run is over: the rest of its trace. */
static int finish_trace(struct run *run, int status)
{
	uint64_t lost;

	if (trace_finish(&run->trace, &lost, run->err, sizeof(run->err))) {
		complain("%s", run->err);
		return EXIT_STATUS_OUTPUT;
	}
	if (lost)
		complain("--trace: %" PRIu64 " records are not in %s: a ring "
			 "or the file was full (--trace-events keeps only "
			 "some)",
			 lost, run->options->trace_path);
	return status;
}

static int run_vm(struct run *run, int kvm_fd)
{
	struct vm vm;
	uint64_t start_ns;
	int status, ret;
	bool calibrates;

	calibrates = calibrate_is_wanted(&run->config);
	if (calibrates && prepare_calibration(run)) {
		complain("timer.vmentry_advance: cannot fork");
		return EXIT_STATUS_CANNOT;
	}
	ret = vm_create(&vm, &run->config, kvm_fd, run->rung, &status, run->err,
			sizeof(run->err));
	if (ret) {
		complain("%s", run->err);
		if (calibrates)
			calibrate_stop(&run->calibrate);
		return status;
	}
	vm.calibrate = calibrates ? &run->calibrate : NULL;
	vm.markers.start_ns = run->options->start_ns;
	status = calibrates ? check_fixed_cost(run, &vm) : 0;
	if (!status &&
	    trace_start(&run->trace, &vm, run->err, sizeof(run->err))) {
		complain("%s", run->err);
		status = EXIT_STATUS_CANNOT;
	}
	if (status) {
		if (calibrates)
			calibrate_stop(&run->calibrate);
		vm_destroy(&vm);
		return status;
	}
	if (run->options->verbose)
		complain("timer rung: %s", probe_rung_name(vm.rung));
	prefault(run, &vm);
	tell_console(run->options, &vm);
	start_ns = monotonic_ns();
	ret = vm_run(&vm, &status, run->err, sizeof(run->err));
	if (calibrates)
		calibrate_stop(&run->calibrate);
	if (ret) {
		complain("%s", run->err);
	} else {
		host_read(&run->after);
		status = write_results(run, &vm, monotonic_ns() - start_ns,
				       end_status(&vm.end));
		tell_end(run->options, &vm);
		status = judge_console(&vm, status);
	}
	status = finish_trace(run, status);
	vm_destroy(&vm);
	return status;
}

static int run_checked(struct run *run)
{
	int status = open_outputs(run);
	int kvm_fd;

	if (status) {
		complain("%s", run->err);
		return status;
	}
	kvm_fd = kvm_open(KVM_PATH, run->err, sizeof(run->err));
	if (kvm_fd < 0) {
		complain("%s", run->err);
		return EXIT_STATUS_CANNOT;
	}
	host_read(&run->before);
	status = check_host(run, kvm_fd);
	if (status)
		complain("%s", run->err);
	else
		status = run_vm(run, kvm_fd);
	close(kvm_fd);
	return status;
}

int command_run(const struct options *options)
{
	struct run run = {
		.options = options,
		.stats = {.fd = -1},
		.json = {.fd = -1},
		.trace = {.output = {.fd = -1}},
	};
	int status;

	if (config_load(options->configs[0], options->sets, options->set_count,
			&run.config, run.err, sizeof(run.err))) {
		complain("%s", run.err);
		return EXIT_STATUS_CONFIG;
	}
	if (options->has_entry_cost && !calibrate_is_wanted(&run.config)) {
		complain("--entry-cost: with timer.mode kernel, "
			 "timer.vmentry_advance off or timer.allow_early "
			 "nothing would use it");
		status = EXIT_STATUS_USAGE;
	} else if (options->trace_path && run.config.mode == TIMER_KERNEL) {
		complain("--trace: with timer.mode kernel there is nothing to "
			 "record");
		status = EXIT_STATUS_USAGE;
	} else if (kick_init_process()) {
		complain("sigaction: %s", strerror(errno));
		status = EXIT_STATUS_INTERNAL;
	} else {
		status = run_checked(&run);
	}
	if (output_close(&run.stats, run.err, sizeof(run.err)) ||
	    output_close(&run.json, run.err, sizeof(run.err)) ||
	    trace_close(&run.trace, run.err, sizeof(run.err))) {
		complain("%s", run.err);
		status = EXIT_STATUS_OUTPUT;
	}
	config_free(&run.config);
	return status;
}
