/* SPDX-License-Identifier: MIT */
/*
 * end - why a run ended, once, and the exit status that says so.
 *
 * The first reason wins; whatever happens while the VM is being stopped is
 * not another reason, short of one that makes the first untrue. The table of
 * statuses is part of the user interface (README "Exit status", punctual(1)
 * EXIT STATUS); a test walks it.
 */
#ifndef VMM_END_H
#define VMM_END_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum exit_status {
	EXIT_STATUS_GUEST_MAX = 63, /* 0..63: the guest's own */
	EXIT_STATUS_USAGE = 64,
	EXIT_STATUS_INTERNAL = 70,
	EXIT_STATUS_OUTPUT = 74,
	EXIT_STATUS_CANNOT = 77, /* this host cannot run it; "skip" */
	EXIT_STATUS_CONFIG = 78,
	EXIT_STATUS_GUEST_RANGE = 119,
	EXIT_STATUS_TRIPLE_FAULT = 120,
	EXIT_STATUS_HALTED = 121,
	EXIT_STATUS_KVM = 122,
	EXIT_STATUS_NOT_INTERCEPTED = 123,
	EXIT_STATUS_TIME_LIMIT = 124,
	EXIT_STATUS_SIGNAL = 128, /* plus the signal's number */
};

enum end_kind {
	END_NONE,
	END_GUEST_EXIT, /* value: what the guest wrote, encoding applied */
	END_RESET,
	END_POWEROFF,
	END_TRIPLE_FAULT,
	END_HALTED,
	END_KVM, /* value: exit reason; detail says more */
	END_NOT_INTERCEPTED,
	END_TIME_LIMIT,
	END_SIGNAL, /* value: signal number */
	END_OUTPUT, /* value: errno */
	END_CANNOT, /* the host has no room for it */
	END_INTERNAL,
};

struct end {
	enum end_kind kind;
	uint64_t value;
	int vcpu; /* -1: no vCPU in particular */
	char detail[192];
	/* Claimed by the first caller of end_set; any thread. */
	atomic_flag claimed;
	/* Set once kind, value, vcpu and detail are complete; any thread. */
	atomic_bool published;
	int event_fd; /* eventfd that end_set makes readable */
};

/* Opens the event descriptor. 0 or -errno. Main thread. */
int end_init(struct end *end);
void end_free(struct end *end);

/*
 * Records the reason unless there is one already. detail may be a printf
 * format, at most 191 characters are kept. Any thread; never blocks.
 */
void end_set(struct end *end, enum end_kind kind, uint64_t value, int vcpu,
	     const char *detail, ...) __attribute__((format(printf, 5, 6)));

/*
 * The same, but replaces the reason there is: a look at the remains showed that
 * it cannot stand. Main thread, when no other is left.
 */
void end_overrule(struct end *end, enum end_kind kind, uint64_t value, int vcpu,
		  const char *detail, ...)
	__attribute__((format(printf, 5, 6)));

/* The process exit status for a published end. */
int end_status(const struct end *end);

/* A word for results ("guest-exit", "time-limit", ...). */
const char *end_name(enum end_kind kind);

#endif
