/* SPDX-License-Identifier: MIT */
/*
 * tty - a terminal for tests: both sides of a pseudo-terminal, in the state a
 * shell leaves it in. What fails, fails the test at hand.
 */
#ifndef TESTS_TTY_H
#define TESTS_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct tty {
	int screen; /* who types and reads */
	int line;   /* what the program has as its terminal */
	char name[64];
	struct termios before;
};

/* Whether there are any here. */
bool tty_possible(void);

void tty_open(struct tty *tty);
void tty_close(struct tty *tty);

/* Types, and waits until it has got through to the line. */
void tty_type(const struct tty *tty, const char *keys, size_t count);

/* Whether the line's settings are those of tty_open. */
bool tty_is_as_before(const struct tty *tty);
bool tty_is_raw(const struct tty *tty);

/* In a child: a session of its own, the line its terminal and its standard
 * input. */
bool tty_become_controlling(const struct tty *tty);

#endif
