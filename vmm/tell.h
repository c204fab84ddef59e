/* SPDX-License-Identifier: MIT */
/*
 * tell - what `run` has to say on standard error about a guest, before and
 * after it ran. Main thread, while no vCPU thread runs.
 */
#ifndef VMM_TELL_H
#define VMM_TELL_H

struct options;
struct vm;

/* What a user at a keyboard must know before. */
void tell_console(const struct options *options, const struct vm *vm);

/* How it ended, with the state of the machine where that helps; what it asked
 * for in vain, once; and, if verbose, its markers. */
void tell_end(const struct options *options, struct vm *vm);

#endif
