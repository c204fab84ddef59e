/* SPDX-License-Identifier: MIT */
/*
 * words - command line parser, see words.h.
 * Not modelled: quoting; a value cannot hold a space.
 */
#include "words.h"

#include "console.h"
#include "power.h"
#include "string.h"

#define WORDS_MAX 64

static struct word {
	const char *name;
	const char *value; /* "" for a bare word */
	bool asked_for;
} words[WORDS_MAX];
static unsigned words_count;

void words_refuse(const char *name, const char *what)
{
	console_printf("command line: %s: %s\n", name, what);
	power_exit(STATUS_USAGE);
}

static bool word_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static bool word_is_image_path(const char *word)
{
	return strchr(word, '/') || word_ends_with(word, ".elf") ||
	       word_ends_with(word, ".elf64");
}

static char *word_cut(char **rest)
{
	char *start = *rest;

	while (*start == ' ')
		start++;
	if (!*start)
		return NULL;
	*rest = start;
	while (**rest && **rest != ' ')
		++*rest;
	if (**rest)
		*(*rest)++ = '\0';
	return start;
}

static void words_add(char *text)
{
	static char no_value[] = "";
	char *value = strchr(text, '=');

	if (words_count == WORDS_MAX)
		words_refuse(text, "too many words");
	if (value)
		*value++ = '\0';
	else
		value = no_value;
	for (unsigned i = 0; i < words_count; i++) {
		if (!strcmp(words[i].name, text))
			words_refuse(text, "given twice");
	}
	words[words_count++] = (struct word){.name = text, .value = value};
}

void words_init(char *text)
{
	char *word = word_cut(&text);

	if (word && word_is_image_path(word))
		word = word_cut(&text);
	for (; word; word = word_cut(&text))
		words_add(word);
}

const char *words_get(const char *name)
{
	for (unsigned i = 0; i < words_count; i++) {
		if (!strcmp(words[i].name, name)) {
			words[i].asked_for = true;
			return words[i].value;
		}
	}
	return NULL;
}

bool words_flag(const char *name)
{
	const char *value = words_get(name);

	if (value && *value)
		words_refuse(name, "takes no value");
	return value;
}

uint64_t words_u64(const char *name, uint64_t min, uint64_t max,
		   uint64_t fallback)
{
	const char *digit = words_get(name);
	uint64_t value = 0;

	if (!digit)
		return fallback;
	if (!*digit)
		words_refuse(name, "needs a number");
	for (; *digit; digit++) {
		if (*digit < '0' || *digit > '9')
			words_refuse(name, "not a decimal number");
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (unsigned)(*digit - '0'),
					   &value))
			words_refuse(name, "number too large");
	}
	if (value < min || value > max) {
		console_printf("command line: %s: %llu is outside %llu..%llu\n",
			       name, (unsigned long long)value,
			       (unsigned long long)min,
			       (unsigned long long)max);
		power_exit(STATUS_USAGE);
	}
	return value;
}

unsigned words_choice(const char *name, const char *const *choices,
		      unsigned fallback)
{
	const char *value = words_get(name);

	if (!value)
		return fallback;
	for (unsigned i = 0; choices[i]; i++) {
		if (!strcmp(value, choices[i]))
			return i;
	}
	console_printf("command line: %s: one of", name);
	for (unsigned i = 0; choices[i]; i++)
		console_printf(" %s", choices[i]);
	console_printf(" expected, not \"%s\"\n", value);
	power_exit(STATUS_USAGE);
}

void words_end(void)
{
	for (unsigned i = 0; i < words_count; i++) {
		if (!words[i].asked_for)
			words_refuse(words[i].name, "unknown word");
	}
}
