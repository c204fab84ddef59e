/* SPDX-License-Identifier: MIT */
/*
 * console - text out of the first serial port, polled.
 *
 * Any CPU may call, but nothing keeps two CPUs apart: by convention only the
 * boot CPU prints, and the others only to report a fatal exception.
 */
#ifndef GUEST_CONSOLE_H
#define GUEST_CONSOLE_H

/* 115200 8N1, no interrupts, FIFOs on. */
void console_init(void);

/* A newline goes out as it is, without CR: scripts read this console. */
void console_puts(const char *text);

/*
 * printf's %s %c %d %u %x %%, with the flag 0, a width, and l or ll. No
 * precision, no left alignment, no floating point.
 */
__attribute__((format(printf, 1, 2))) void console_printf(const char *format,
							  ...);

#endif
