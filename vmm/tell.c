/* SPDX-License-Identifier: MIT */
/* tell - see tell.h. */
#include "tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "config.h"
#include "dump.h"
#include "end.h"
#include "escape.h"
#include "exit.h"
#include "options.h"
#include "pty.h"
#include "terminal.h"
#include "vm.h"

void tell_console(const struct options *options, const struct vm *vm)
{
	char name[64];

	if (vm->config->serial == SERIAL_PTY &&
	    !pty_name(vm->console.fd, name, sizeof(name)))
		complain("console.serial: %s", name);
	if (vm->config->serial == SERIAL_STDIO && !options->quiet &&
	    isatty(STDIN_FILENO) && terminal_in_foreground(STDIN_FILENO))
		fputs(escape_help, stderr);
}

/* What the guest asked of its devices and did not get, once. */
static void tell_refused(const struct vm *vm)
{
	uint64_t count = atomic_load(&vm->bus.irqs.extint_messages);

	if (count)
		complain("the guest asked %" PRIu64
			 " times for an interrupt of delivery mode ExtINT from "
			 "a pin of the I/O APIC, which KVM has no way for: the "
			 "8259s interrupt by LINT0",
			 count);
}

static void tell_markers(const struct vm *vm)
{
	const struct markers *markers = &vm->markers;
	unsigned int kept = markers_kept(markers);

	for (unsigned int i = 0; i < kept; i++)
		complain("marker %" PRIu32 " of vCPU %" PRIu32 " after %" PRIu64
			 " ns",
			 markers->kept[i].value, markers->kept[i].vcpu,
			 markers->kept[i].since_start_ns);
}

static void explain(const struct options *options, struct vm *vm)
{
	int status = end_status(&vm->end);

	/* A guest that ended with a status of its own has said it all. */
	if (status <= EXIT_STATUS_GUEST_MAX) {
		if (options->verbose)
			complain("%s", vm->end.detail);
		return;
	}
	complain("%s", vm->end.detail);
	if (exit_wants_dump(vm))
		dump_print(vm, stderr);
}

void tell_end(const struct options *options, struct vm *vm)
{
	if (options->verbose)
		tell_markers(vm);
	explain(options, vm);
	if (!options->quiet)
		tell_refused(vm);
}
