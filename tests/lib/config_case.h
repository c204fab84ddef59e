/* SPDX-License-Identifier: MIT */
/*
 * config_case - load a config from a text and see what comes of it.
 */
#ifndef TESTS_CONFIG_CASE_H
#define TESTS_CONFIG_CASE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

static char err[1024];

/* Loads text from a file DIR/c.json with up to two overrides; "DIR/" is taken
 * out of the message and out of paths. */
static inline int load(const char *text, const char *set0, const char *set1,
		       struct config *config)
{
	const char *const sets[] = {set0, set1};
	char dir[] = "/tmp/test-config-XXXXXX", path[64], *found;
	size_t dir_len = strlen(dir) + 1;
	FILE *stream;
	int ret;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/c.json", dir);
	stream = fopen(path, "w");
	ck_assert_ptr_nonnull(stream);
	fputs(text, stream);
	fclose(stream);
	err[0] = '\0';
	ret = config_load(path, sets,
			  set1	 ? 2
			  : set0 ? 1
				 : 0,
			  config, err, sizeof(err));
	unlink(path);
	rmdir(dir);
	found = strstr(err, path);
	if (found)
		memmove(found, found + dir_len, strlen(found + dir_len) + 1);
	found = ret ? NULL : config->kernel_image_path;
	if (found && !strncmp(found, path, dir_len))
		memmove(found, found + dir_len, strlen(found + dir_len) + 1);
	return ret;
}

#define IMAGE		      "{\"boot-source\":{\"kernel_image_path\":\"k.elf\"}"
#define WITH(section, member) IMAGE ",\"" section "\":{" member "}}"

#endif
