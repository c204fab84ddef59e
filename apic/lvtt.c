/* SPDX-License-Identifier: MIT */
/*
 * lvtt - see lvtt.h.
 */
#include "lvtt.h"

enum {
	APIC_ID = 0x20,
	APIC_SPIV = 0xf0,
	APIC_LVTT = 0x320,

	APIC_ID_SHIFT = 24,
	APIC_ID_BROADCAST = 0xff,
	SPIV_ENABLE = 1 << 8,
	LVTT_MASKED = 1 << 16,
	LVTT_MODE_MASK = 3 << 17,
	LVTT_MODE_DEADLINE = 2 << 17,
	LVTT_VECTOR_MASK = 0xff,
	VECTOR_MIN = 16, /* the lower ones are exceptions */
};

static uint32_t reg(const uint8_t *page, unsigned int offset)
{
	return page[offset] | (uint32_t)page[offset + 1] << 8 |
	       (uint32_t)page[offset + 2] << 16 |
	       (uint32_t)page[offset + 3] << 24;
}

bool lvtt_is_deadline_mode(const uint8_t page[LVTT_APIC_PAGE_BYTES])
{
	return (reg(page, APIC_LVTT) & LVTT_MODE_MASK) == LVTT_MODE_DEADLINE;
}

bool lvtt_delivers(const uint8_t page[LVTT_APIC_PAGE_BYTES], uint32_t apic_id,
		   uint8_t *vector)
{
	uint32_t lvtt = reg(page, APIC_LVTT);

	*vector = (uint8_t)(lvtt & LVTT_VECTOR_MASK);
	return lvtt_is_deadline_mode(page) && !(lvtt & LVTT_MASKED) &&
	       *vector >= VECTOR_MIN && (reg(page, APIC_SPIV) & SPIV_ENABLE) &&
	       reg(page, APIC_ID) >> APIC_ID_SHIFT == apic_id &&
	       apic_id < APIC_ID_BROADCAST;
}
