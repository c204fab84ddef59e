/* SPDX-License-Identifier: MIT */
/*
 * boot - what the boot protocol told, in one form for both protocols.
 */
#ifndef GUEST_BOOT_H
#define GUEST_BOOT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The program, one per image. Boot CPU, ring 0, IF clear, console, interrupt
 * table and words (words.h) ready. To return is to exit with status 0.
 */
void guest_main(void);

/* The command line as it came, whole. */
const char *boot_command_line(void);

/* "pvh" or "multiboot". */
const char *boot_protocol(void);

/* Where the ACPI tables begin; 0 if the protocol, or who followed it, does not
 * say. */
uint64_t boot_rsdp_gpa(void);

/*
 * Memory after the image, aligned to 4096 bytes, never given back and not
 * zeroed; NULL if the RAM region the image lies in has no such room left.
 * All of it lies below 3 GiB.
 */
void *boot_alloc(size_t bytes);

#endif
