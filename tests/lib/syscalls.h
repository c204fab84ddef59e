/* SPDX-License-Identifier: MIT */
/*
 * syscalls - counts the system calls of a program, thread by thread, by
 * ptrace(2): what `strace -f -c` would say, by thread and with no strace.
 *
 * For tests only. One thread, one program at a time. A counted program runs
 * many times slower.
 */
#ifndef TESTS_SYSCALLS_H
#define TESTS_SYSCALLS_H

#include <stdint.h>
#include <sys/types.h>

enum {
	SYSCALLS_THREADS_MAX = 16,
	SYSCALLS_NUMBERS = 512, /* higher ones count in `all` only */
};

struct syscalls_thread {
	pid_t tid;
	uint64_t all;
	uint64_t by_number[SYSCALLS_NUMBERS];
	uint64_t watched; /* see syscalls_count */
};

struct syscalls {
	unsigned int threads; /* that ever were */
	struct syscalls_thread thread[SYSCALLS_THREADS_MAX];
	int wait_status; /* of the program, as waitpid(2) gives it */
};

/*
 * Runs argv[0] (a path) with standard output to /dev/null and counts every
 * call entered, from the exec on. A call whose number and second argument are
 * as given is counted in `watched`, too: one request of ioctl(2), say.
 * Returns 0; -errno where ptrace is refused, -E2BIG for too many threads.
 */
int syscalls_count(const char *const *argv, uint64_t watched_number,
		   uint64_t watched_arg1, struct syscalls *counts);

/* The thread with most watched calls. */
const struct syscalls_thread *syscalls_busiest(const struct syscalls *counts);

#endif
