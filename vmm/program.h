/* SPDX-License-Identifier: MIT */
/* program - optional programs that ours may start. */
#ifndef VMM_PROGRAM_H
#define VMM_PROGRAM_H

#include <stdbool.h>

/* Is one of that name in the PATH? Asked before the work, so that what will be
 * missing is known at once. Main thread. */
bool program_is_there(const char *name);

#endif
