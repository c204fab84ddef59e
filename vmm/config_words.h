/* SPDX-License-Identifier: MIT */
/* config_words - one word of the guest's command line, set by name. */
#ifndef VMM_CONFIG_WORDS_H
#define VMM_CONFIG_WORDS_H

#include <stddef.h>

/*
 * Puts WORD=VALUE, given as one assignment, into *words, a string on the
 * heap: in place of the first WORD=..., the others of that name removed, or
 * else at the end. Words are what spaces separate; everything else stays as
 * it is. Returns 0; -EINVAL if WORD is empty or either is not printable
 * ASCII without spaces; -ENOTSUP if there is a quote in *words, where a space
 * may be inside of a word; -ENOMEM. *words is unchanged on error.
 */
int config_words_set(char **words, const char *assignment);

#endif
