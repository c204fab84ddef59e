/* SPDX-License-Identifier: MIT */
/*
 * syscalls - a tracer that only counts; see syscalls.h.
 *
 * Reference: ptrace(2), "Syscall-stops" and PTRACE_GET_SYSCALL_INFO (Linux
 * 5.3). Signals are passed on as they come. Not here: calls of children that
 * are processes; they end the count with -E2BIG or are counted as threads.
 */
#define _GNU_SOURCE
#include "syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ptrace.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)

#define OPTIONS                                                            \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | \
	 PTRACE_O_TRACEEXEC)

static void child_main(const char *const *argv)
{
	int null_fd = open("/dev/null", O_RDWR);

	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
	    dup2(null_fd, STDOUT_FILENO) < 0 ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(127);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	raise(SIGSTOP);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static struct syscalls_thread *thread_of(struct syscalls *counts, pid_t tid)
{
	struct syscalls_thread *thread;

	for (unsigned int i = 0; i < counts->threads; i++)
		if (counts->thread[i].tid == tid)
			return &counts->thread[i];
	if (counts->threads == SYSCALLS_THREADS_MAX)
		return NULL;
	thread = &counts->thread[counts->threads++];
	thread->tid = tid;
	return thread;
}

/* Counts if the stop is the entry of a call. */
static int note_stop(struct syscalls *counts, pid_t tid, uint64_t number,
		     uint64_t arg1)
{
	struct syscalls_thread *thread = thread_of(counts, tid);
	struct ptrace_syscall_info info;

	if (!thread)
		return -E2BIG;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) < 0)
		return errno == ESRCH ? 0 : -errno;
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return 0;
	thread->all++;
	if (info.entry.nr < SYSCALLS_NUMBERS)
		thread->by_number[info.entry.nr]++;
	if (info.entry.nr == number && info.entry.args[1] == arg1)
		thread->watched++;
	return 0;
}

/* What to hand back to the thread that stopped: its signal, or 0. */
static int signal_to_pass(int status)
{
	int signal_number = WSTOPSIG(status);

	/* Stops of ptrace's own: calls, clone and exec, a new thread's first.
	 */
	if (signal_number == SYSCALL_STOP || status >> 16 ||
	    signal_number == SIGSTOP)
		return 0;
	return signal_number;
}

static int follow(pid_t program, struct syscalls *counts, uint64_t number,
		  uint64_t arg1)
{
	int status, ret = 0;

	for (;;) {
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0)
			return ret ? ret : -errno;
		if (!WIFSTOPPED(status)) {
			if (tid != program)
				continue;
			counts->wait_status = status;
			return ret;
		}
		if (!ret && WSTOPSIG(status) == SYSCALL_STOP)
			ret = note_stop(counts, tid, number, arg1);
		if (ret)
			kill(program, SIGKILL);
		ptrace(PTRACE_SYSCALL, tid, NULL,
		       (void *)(intptr_t)signal_to_pass(status));
	}
}

int syscalls_count(const char *const *argv, uint64_t watched_number,
		   uint64_t watched_arg1, struct syscalls *counts)
{
	pid_t program = fork();
	int status;

	memset(counts, 0, sizeof(*counts));
	if (program < 0)
		return -errno;
	if (program == 0)
		child_main(argv);
	if (waitpid(program, &status, 0) < 0)
		return -errno;
	if (!WIFSTOPPED(status))
		return -EPERM;
	if (ptrace(PTRACE_SETOPTIONS, program, NULL,
		   (void *)(uintptr_t)(OPTIONS)) ||
	    ptrace(PTRACE_SYSCALL, program, NULL, NULL)) {
		int ret = -errno;

		kill(program, SIGKILL);
		waitpid(program, &status, 0);
		return ret;
	}
	return follow(program, counts, watched_number, watched_arg1);
}

const struct syscalls_thread *syscalls_busiest(const struct syscalls *counts)
{
	const struct syscalls_thread *busiest = &counts->thread[0];

	for (unsigned int i = 1; i < counts->threads; i++)
		if (counts->thread[i].watched > busiest->watched)
			busiest = &counts->thread[i];
	return busiest;
}
