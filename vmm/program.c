/* SPDX-License-Identifier: MIT */
/* program - looks through the PATH. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool program_is_there(const char *name)
{
	const char *at = getenv("PATH");
	char path[4096];

	while (at && *at) {
		size_t len = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, name);
		if (!access(path, X_OK))
			return true;
		at += len;
		at += *at == ':';
	}
	return false;
}
