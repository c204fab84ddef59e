/* SPDX-License-Identifier: MIT */
/*
 * reset_ctl - the chipset's reset control register at port 0xcf9.
 *
 * Pure: no I/O, no locks; the owner serialises calls and hands over byte
 * accesses to 0xcf9 only (a dword at 0xcf8 is PCI configuration).
 * Reference: Intel 82371SB (PIIX3) data sheet, "Reset Control Register".
 * Not modelled: the difference between soft and hard reset.
 */
#ifndef DEV_RESET_CTL_H
#define DEV_RESET_CTL_H

#include <stdbool.h>
#include <stdint.h>

#define RESET_CTL_PORT 0xcf9u

struct reset_ctl {
	uint8_t value; /* as the guest reads it back */
};

/* State after power-on. */
void reset_ctl_reset(struct reset_ctl *r);

/* Guest reads the register. */
uint8_t reset_ctl_read(const struct reset_ctl *r);

/* Guest writes the register. True: it asks for a reset. */
bool reset_ctl_write(struct reset_ctl *r, uint8_t value);

#endif
