/* SPDX-License-Identifier: MIT */
/*
 * lvtt - what becomes of a TSC-deadline expiry, by the local APIC's registers.
 *
 * Pure. Reference: SDM 3A "Local Vector Table", "Spurious-Interrupt Vector
 * Register", "TSC-Deadline Mode"; registers as in the APIC page (xAPIC).
 * Not modelled: priorities, IRR and ISR, which come after the timer.
 */
#ifndef APIC_LVTT_H
#define APIC_LVTT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LVTT_APIC_PAGE_BYTES = 0x400, /* as much as KVM_GET_LAPIC gives */
};

/* Is the timer in TSC-deadline mode? */
bool lvtt_is_deadline_mode(const uint8_t page[LVTT_APIC_PAGE_BYTES]);

/*
 * Does an expiry now become an ordinary fixed interrupt for the APIC with that
 * id, with *vector? False for all that is out of the ordinary: another mode,
 * masked, software-disabled, a vector below 16, or an id that the guest has
 * changed.
 */
bool lvtt_delivers(const uint8_t page[LVTT_APIC_PAGE_BYTES], uint32_t apic_id,
		   uint8_t *vector);

#endif
