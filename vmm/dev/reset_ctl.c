/* SPDX-License-Identifier: MIT */
/*
 * The reset control register: a rising bit 2 resets the machine.
 * Reference: Intel 82371SB (PIIX3) data sheet, "Reset Control Register".
 * Not modelled: soft against hard reset, the full power cycle.
 */
#include "reset_ctl.h"

#define RESET_CTL_HARD	0x02u /* kind of the reset to come */
#define RESET_CTL_START 0x04u /* on its rising edge */
#define RESET_CTL_FULL	0x08u

void reset_ctl_reset(struct reset_ctl *r)
{
	*r = (struct reset_ctl){.value = 0};
}

uint8_t reset_ctl_read(const struct reset_ctl *r)
{
	return r->value;
}

bool reset_ctl_write(struct reset_ctl *r, uint8_t value)
{
	bool started = r->value & RESET_CTL_START;

	r->value = value & (RESET_CTL_HARD | RESET_CTL_START | RESET_CTL_FULL);
	return !started && (value & RESET_CTL_START);
}
