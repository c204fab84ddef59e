/* SPDX-License-Identifier: MIT */
/*
 * end - first reason wins, and its exit status.
 * The numbers leave room on both sides: 0..63 are the guest's, 64..78 follow
 * sysexits(3), 77 is what automake and meson take for "skipped", 124 is what
 * timeout(1) uses, 128 + n is the shell's.
 */
#include "end.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

int end_init(struct end *end)
{
	end->kind = END_NONE;
	end->vcpu = -1;
	end->detail[0] = '\0';
	atomic_flag_clear(&end->claimed);
	atomic_init(&end->published, false);
	end->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return end->event_fd < 0 ? -errno : 0;
}

void end_free(struct end *end)
{
	if (end->event_fd >= 0)
		close(end->event_fd);
	end->event_fd = -1;
}

static void __attribute__((format(printf, 5, 0)))
fill(struct end *end, enum end_kind kind, uint64_t value, int vcpu,
     const char *detail, va_list args)
{
	end->kind = kind;
	end->value = value;
	end->vcpu = vcpu;
	vsnprintf(end->detail, sizeof(end->detail), detail, args);
}

void end_set(struct end *end, enum end_kind kind, uint64_t value, int vcpu,
	     const char *detail, ...)
{
	const uint64_t one = 1;
	va_list args;

	if (atomic_flag_test_and_set(&end->claimed))
		return;
	va_start(args, detail);
	fill(end, kind, value, vcpu, detail, args);
	va_end(args);
	atomic_store_explicit(&end->published, true, memory_order_release);
	/* An eventfd that holds 0 takes one; the only writer is this call. */
	if (write(end->event_fd, &one, sizeof(one)) < 0)
		return;
}

void end_overrule(struct end *end, enum end_kind kind, uint64_t value, int vcpu,
		  const char *detail, ...)
{
	va_list args;

	va_start(args, detail);
	fill(end, kind, value, vcpu, detail, args);
	va_end(args);
}

int end_status(const struct end *end)
{
	switch (end->kind) {
	case END_GUEST_EXIT:
		return end->value <= EXIT_STATUS_GUEST_MAX
			       ? (int)end->value
			       : EXIT_STATUS_GUEST_RANGE;
	case END_RESET:
	case END_POWEROFF:
		return 0;
	case END_TRIPLE_FAULT:
		return EXIT_STATUS_TRIPLE_FAULT;
	case END_HALTED:
		return EXIT_STATUS_HALTED;
	case END_KVM:
		return EXIT_STATUS_KVM;
	case END_NOT_INTERCEPTED:
		return EXIT_STATUS_NOT_INTERCEPTED;
	case END_TIME_LIMIT:
		return EXIT_STATUS_TIME_LIMIT;
	case END_SIGNAL:
		return EXIT_STATUS_SIGNAL + (int)end->value;
	case END_OUTPUT:
		return EXIT_STATUS_OUTPUT;
	case END_CANNOT:
		return EXIT_STATUS_CANNOT;
	case END_NONE:
	case END_INTERNAL:
		break;
	}
	return EXIT_STATUS_INTERNAL;
}

const char *end_name(enum end_kind kind)
{
	static const char *const names[] = {
		[END_NONE] = "none",
		[END_GUEST_EXIT] = "guest-exit",
		[END_RESET] = "reset",
		[END_POWEROFF] = "poweroff",
		[END_TRIPLE_FAULT] = "triple-fault",
		[END_HALTED] = "halted",
		[END_KVM] = "kvm-error",
		[END_NOT_INTERCEPTED] = "timer-not-intercepted",
		[END_TIME_LIMIT] = "time-limit",
		[END_SIGNAL] = "signal",
		[END_OUTPUT] = "output-error",
		[END_CANNOT] = "host-cannot",
		[END_INTERNAL] = "internal-error",
	};

	return names[kind];
}
