// SPDX-License-Identifier: MIT
/*
 * config_words - editing a command line of WORD=VALUE words.
 *
 * A benchmark varies one word and leaves the rest of the line to the config.
 * Not modelled: quotes, which each kind of guest reads in its own way.
 */
#include "config_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char *text;
	size_t len;
};

static void append(struct line *line, const char *s, size_t len)
{
	memcpy(line->text + line->len, s, len);
	line->len += len;
}

static bool is_word(const char *s)
{
	for (; *s; s++) {
		if (*s <= ' ' || *s > '~')
			return false;
	}
	return true;
}

int config_words_set(char **words, const char *assignment)
{
	size_t name_len = strcspn(assignment, "=") + 1; /* with the '=' */
	const char *at = *words;
	struct line line = {0};
	bool is_placed = false;

	if (!strchr(assignment, '=') || name_len == 1 || !is_word(assignment))
		return -EINVAL;
	if (strchr(*words, '"'))
		return -ENOTSUP;
	line.text = malloc(strlen(*words) + strlen(assignment) + 2);
	if (!line.text)
		return -ENOMEM;
	while (*at) {
		size_t space = strspn(at, " ");
		size_t word = strcspn(at + space, " ");
		bool is_named = !strncmp(at + space, assignment, name_len);

		if (!is_named) {
			append(&line, at, space + word);
		} else if (!is_placed) {
			append(&line, at, space);
			append(&line, assignment, strlen(assignment));
			is_placed = true;
		}
		at += space + word;
	}
	if (!is_placed) {
		if (line.len && line.text[line.len - 1] != ' ')
			append(&line, " ", 1);
		append(&line, assignment, strlen(assignment));
	}
	line.text[line.len] = '\0';
	free(*words);
	*words = line.text;
	return 0;
}
