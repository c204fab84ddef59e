/* SPDX-License-Identifier: MIT */
/*
 * power - the ways a guest ends. Ring 0, any CPU; none returns.
 */
#ifndef GUEST_POWER_H
#define GUEST_POWER_H

#include <stdint.h>

/* Statuses the firmware gives by itself; a guest's own verdicts are below. */
#define STATUS_USAGE	  60 /* the command line makes no sense */
#define STATUS_AP_LOST	  61 /* an application processor did not start */
#define STATUS_NO_TIMER	  62 /* CPUID offers no TSC-deadline timer */
#define STATUS_FATAL_TRAP 63 /* an exception nobody expected */

/*
 * Writes status to the exit port 0xf4: one byte if it fits into one, else 32
 * bits, so that the other side sees the very number. Under a VMM that reads
 * it raw that is the status; QEMU's isa-debug-exit ends with 2 * status + 1.
 * If the machine goes on, resets it.
 */
__attribute__((noreturn)) void power_exit(uint32_t status);

/* Pulses the reset line through the keyboard controller (port 0x64, 0xfe). */
__attribute__((noreturn)) void power_reset_8042(void);

/* Hard reset through the reset control register at port 0xcf9. */
__attribute__((noreturn)) void power_reset_cf9(void);

/* Soft off through the PM1a control register at port 0x604, SLP_TYP 5. */
__attribute__((noreturn)) void power_off(void);

/* Shuts the CPU down: an exception with no way to deliver any. */
__attribute__((noreturn)) void power_triple_fault(void);

#endif
