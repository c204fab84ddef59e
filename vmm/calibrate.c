/* SPDX-License-Identifier: MIT */
/*
 * calibrate - throw-away VMs, their answers, and what they come to.
 *
 * A starter is forked before this process has threads, and forks the VMs when
 * it gets the word. Each makes a VM of its own, runs the guest, and writes one
 * answer of a fixed size, below PIPE_BUF and therefore whole, to the common
 * pipe. One that fails says nothing, and then nothing is compensated.
 *
 * The cost of a fire is the guest's sample (handler minus deadline) less the
 * end of our wait (also as distance from the deadline, since these VMs
 * compensate nothing): both are ends of one interval on one TSC.
 */
#define _GNU_SOURCE
#include "calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "end.h"
#include "jsonw.h"
#include "kvm.h"
#include "monotonic.h"
#include "vm.h"

enum {
	MEM_SIZE_MIB = 4,
	TIMEOUT_MS = 2000,
	/* As far ahead as most hosts need to arrive in time; arriving late
	 * spoils no sample. */
	ADVANCE_NS = 100000,
	KEY_SIZE_MAX = 1 << 22,
};

/*
 * Mean distance of the deadlines, for each VM another one. The entry is cheaper
 * for a vCPU that KVM had not put to sleep yet (halt polling, for 200 us at the
 * most by default), and may be dearer after a longer rest: both must be seen.
 * Running vCPUs, which spin through them, would do with less; but where all VMs
 * share a CPU, those with long distances are alone in the end, and what they
 * see is what makes the result worth something.
 */
static const unsigned int period_us[CALIBRATE_VMS] = {100, 150,	 200,  300,
						      500, 1000, 2000, 3000};

/* The guest's image, from calibrate_image.S. */
extern const unsigned char calibrate_image[];
extern const unsigned char calibrate_image_end[];

struct answer {
	uint64_t wall_ns; /* since the word to go */
	uint32_t counts[CALIBRATE_STATES];
	int64_t samples[CALIBRATE_STATES][CALIBRATE_FIRES];
};

/* The loader takes a path; this one is a file without a name. */
static int open_image(char *path, size_t size)
{
	size_t len = (size_t)(calibrate_image_end - calibrate_image);
	int fd = memfd_create("calibrate.elf", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, calibrate_image, len) != (ssize_t)len) {
		close(fd);
		return -EIO;
	}
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return 0;
}

/* The real run's config with everything that shapes the path into the guest
 * as it is, and the rest as small as it can be. */
static void make_config(struct config *config, const struct config *real,
			char *path, char *boot_args)
{
	*config = *real;
	config->kernel_image_path = path;
	config->initrd_path = NULL;
	config->boot_args = boot_args;
	config->protocol = BOOT_PVH;
	config->vcpu_count = 1;
	config->mem_size_mib = MEM_SIZE_MIB;
	config->test_device = false;
	config->advance = (struct tune_value){TUNE_FIXED, ADVANCE_NS};
	config->vmentry_advance = (struct tune_value){TUNE_OFF, 0};
	config->allow_early = false;
	/* Not 1: near deadlines would be delivered in the guest's own write,
	 * and it would never halt. */
	config->max_spin_share = 0.5;
	config->serial = SERIAL_OFF;
	config->serial_path = NULL;
	config->timeout_ms = TIMEOUT_MS;
	config->exit_port = (struct optional_value){true, 0xf4};
	config->marker_port = (struct optional_value){false, 0};
	config->exit_encoding = EXIT_RAW;
	config->stats_path = NULL;
}

bool calibrate_is_wanted(const struct config *config)
{
	return config->mode == TIMER_USERSPACE &&
	       config->vmentry_advance.mode != TUNE_OFF && !config->allow_early;
}

char *calibrate_key(const struct config *real)
{
	char empty[] = "";
	struct config config;
	struct jsonw w;
	const char *text;
	char *key;
	size_t len;

	make_config(&config, real, empty, empty);
	jsonw_init(&w, 0, KEY_SIZE_MAX);
	jsonw_object_begin(&w, NULL);
	config_write_effective(&config, &w);
	jsonw_object_end(&w);
	text = jsonw_text(&w, &len);
	key = text ? strdup(text) : NULL;
	jsonw_free(&w);
	return key;
}

struct child {
	struct answer answer;
	struct user_timer_log log;
	uint32_t taken; /* fires of the log that belong to earlier reports */
};

/* A series is complete: its samples and the spins of the same fires. */
static void take_series(struct vcpu *vcpu, const struct lateness_result *result,
			void *context)
{
	struct child *child = context;
	const struct lateness_report *report = &result->report;
	uint32_t from = child->taken + report->warmup;
	uint32_t count = report->count - report->warmup;
	int state = report->wait == LATENESS_WAIT_HLT ? CALIBRATE_HALTED
						      : CALIBRATE_RUNNING;

	user_timer_settle(&vcpu->timer);
	/* One fire lost or too many, and the pairs do not match. */
	if (child->log.used - child->taken == report->count &&
	    count == CALIBRATE_FIRES) {
		for (uint32_t i = 0; i < count; i++)
			child->answer.samples[state][i] =
				result->samples[report->warmup + i] -
				(int64_t)child->log.spin_end_tsc[from + i];
		child->answer.counts[state] = count;
	}
	child->taken = child->log.used;
}

static bool run_child_vm(struct child *child, int index,
			 const struct config *real, enum timer_rung rung)
{
	struct config config;
	struct vm vm;
	char path[32], boot_args[96], err[256];
	int kvm_fd, status;
	bool ok;

	if (open_image(path, sizeof(path)))
		return false;
	kvm_fd = kvm_open("/dev/kvm", err, sizeof(err));
	if (kvm_fd < 0)
		return false;
	snprintf(boot_args, sizeof(boot_args),
		 "fires=%d warmup=%d period_us=%u seed=%d", CALIBRATE_FIRES,
		 CALIBRATE_WARMUP, period_us[index], index);
	make_config(&config, real, path, boot_args);
	if (vm_create(&vm, &config, kvm_fd, rung, &status, err, sizeof(err)))
		return false;
	vm.vcpus[0].timer.log = &child->log;
	vm.report_taken = take_series;
	vm.report_context = child;
	ok = !vm_run(&vm, &status, err, sizeof(err)) &&
	     end_status(&vm.end) == 0;
	vm_destroy(&vm);
	return ok;
}

__attribute__((noreturn)) static void child_main(int fd, int index,
						 const struct config *real,
						 enum timer_rung rung,
						 uint64_t go_ns)
{
	struct child *child = calloc(1, sizeof(*child));
	struct answer answer;
	bool ok;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ok = child && run_child_vm(child, index, real, rung);
	if (ok) {
		answer = child->answer;
		answer.wall_ns = monotonic_ns() - go_ns;
		ok = write(fd, &answer, sizeof(answer)) ==
		     (ssize_t)sizeof(answer);
	}
	_exit(ok ? 0 : 1);
}

/* Waits for the word to go; has no threads, so that it may fork. */
__attribute__((noreturn)) static void starter_main(int go_fd, int fd,
						   const struct config *config,
						   enum timer_rung rung)
{
	uint64_t go_ns;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go_fd, &byte, sizeof(byte)) != sizeof(byte))
		_exit(0);
	go_ns = monotonic_ns();
	for (int i = 0; i < CALIBRATE_VMS; i++)
		if (fork() == 0)
			child_main(fd, i, config, rung, go_ns);
	close(fd);
	while (wait(NULL) >= 0 || errno == EINTR)
		continue;
	_exit(0);
}

int calibrate_prepare(struct calibrate *calibrate, const struct config *config,
		      enum timer_rung rung)
{
	int answers[2], go[2], ret;

	memset(calibrate, 0, sizeof(*calibrate));
	calibrate->fd = -1;
	if (pipe2(answers, O_CLOEXEC))
		return -errno;
	if (pipe2(go, O_CLOEXEC)) {
		ret = -errno;
		goto out_answers;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	calibrate->starter = fork();
	if (calibrate->starter < 0) {
		ret = -errno;
		goto out_go;
	}
	/* Both sides, since either may be first: a group of their own. */
	setpgid(calibrate->starter, 0);
	if (calibrate->starter == 0) {
		close(answers[0]);
		close(go[1]);
		starter_main(go[0], answers[1], config, rung);
	}
	close(answers[1]);
	close(go[0]);
	calibrate->fd = answers[0];
	calibrate->go_fd = go[1];
	return 0;

out_go:
	close(go[0]);
	close(go[1]);
out_answers:
	close(answers[0]);
	close(answers[1]);
	return ret;
}

void calibrate_give(struct calibrate *calibrate,
		    const uint64_t result_tsc[CALIBRATE_STATES])
{
	memset(calibrate, 0, sizeof(*calibrate));
	calibrate->fd = -1;
	calibrate->go_fd = -1;
	calibrate->given = true;
	calibrate->done = true;
	for (int state = 0; state < CALIBRATE_STATES; state++)
		calibrate->cost[state].result_tsc = result_tsc[state];
}

void calibrate_go(const struct calibrate *calibrate)
{
	if (calibrate->go_fd < 0)
		return;
	/* A pipe whose reader is gone has had its byte: nothing to do. */
	if (write(calibrate->go_fd, "g", 1) < 0)
		return;
}

/* The starter and, since this process is their subreaper, its VMs: nothing of
 * a run is left when it ends. */
static void reap(struct calibrate *calibrate)
{
	while (waitpid(-calibrate->starter, NULL, 0) > 0 || errno == EINTR)
		continue;
	close(calibrate->fd);
	calibrate->fd = -1;
}

static void add_answer(struct calibrate *calibrate, const struct answer *answer)
{
	for (int state = 0; state < CALIBRATE_STATES; state++) {
		memcpy(&calibrate->samples[state][calibrate->counts[state]],
		       answer->samples[state],
		       answer->counts[state] * sizeof(int64_t));
		calibrate->counts[state] += answer->counts[state];
	}
	calibrate->answered++;
	if (answer->wall_ns > calibrate->wall_ns)
		calibrate->wall_ns = answer->wall_ns;
}

bool calibrate_take(struct calibrate *calibrate)
{
	struct answer answer;
	ssize_t n = read(calibrate->fd, &answer, sizeof(answer));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (n == (ssize_t)sizeof(answer) &&
	    calibrate->answered < CALIBRATE_VMS) {
		add_answer(calibrate, &answer);
		return false; /* the end of the pipe tells of the last one */
	}
	reap(calibrate);
	for (int state = 0; state < CALIBRATE_STATES; state++) {
		entry_cost_judge(&calibrate->cost[state],
				 calibrate->samples[state],
				 calibrate->counts[state]);
		/* The VM that did not answer may be the fast one. */
		if (calibrate->counts[state] < CALIBRATE_ROOM)
			calibrate->cost[state].result_tsc = 0;
	}
	calibrate->done = true;
	return true;
}

void calibrate_wait(struct calibrate *calibrate)
{
	calibrate_go(calibrate);
	while (!calibrate->done)
		calibrate_take(calibrate);
}

void calibrate_stop(struct calibrate *calibrate)
{
	if (calibrate->go_fd >= 0)
		close(calibrate->go_fd);
	calibrate->go_fd = -1;
	if (calibrate->fd < 0)
		return;
	kill(-calibrate->starter, SIGKILL);
	reap(calibrate);
}

static void write_cost(struct jsonw *w, const char *name,
		       const struct entry_cost *cost, bool given)
{
	jsonw_object_begin(w, name);
	if (!given) {
		jsonw_u64(w, "samples", cost->samples);
		jsonw_u64(w, "min_tsc", cost->min_tsc);
		jsonw_u64(w, "p10_tsc", cost->p10_tsc);
		jsonw_u64(w, "p50_tsc", cost->p50_tsc);
		jsonw_u64(w, "max_tsc", cost->max_tsc);
		jsonw_u64(w, "margin_tsc", cost->margin_tsc);
	}
	jsonw_u64(w, "result_tsc", cost->result_tsc);
	jsonw_object_end(w);
}

void calibrate_write(const struct calibrate *calibrate, const char *name,
		     struct jsonw *w)
{
	static const char *const names[] = {"running", "halted"};

	jsonw_object_begin(w, name);
	jsonw_bool(w, "given", calibrate->given);
	jsonw_bool(w, "done", calibrate->done);
	if (!calibrate->given) {
		jsonw_u64(w, "vms", CALIBRATE_VMS);
		jsonw_u64(w, "vms_answered", calibrate->answered);
		jsonw_u64(w, "wall_ns", calibrate->wall_ns);
	}
	for (int state = 0; state < CALIBRATE_STATES; state++)
		write_cost(w, names[state], &calibrate->cost[state],
			   calibrate->given);
	jsonw_object_end(w);
}
