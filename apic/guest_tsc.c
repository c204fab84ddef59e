/* SPDX-License-Identifier: MIT */
/*
 * The guest's TSC offset and IA32_TSC_ADJUST: a write of either moves both.
 * Reference: SDM 3B "Time-Stamp Counter Adjustment" (ed. 2023-06).
 * Not modelled: scaling; keeping several vCPUs in step (the guest's business,
 * as on hardware).
 *
 * The adjust register always reads back as the guest wrote it, even where the
 * host then leaves the offset alone: so does KVM's own.
 */
#include "guest_tsc.h"

void guest_tsc_init(struct guest_tsc *g, uint64_t tsc_offset)
{
	*g = (struct guest_tsc){.tsc_offset = tsc_offset};
}

uint64_t guest_tsc_write(struct guest_tsc *g, uint64_t value_guest_tsc,
			 uint64_t now_host_tsc)
{
	uint64_t wanted_offset = value_guest_tsc - now_host_tsc;

	g->tsc_adjust += wanted_offset - g->tsc_offset;
	return wanted_offset;
}

uint64_t guest_tsc_write_adjust(struct guest_tsc *g, uint64_t value)
{
	uint64_t wanted_offset = g->tsc_offset + (value - g->tsc_adjust);

	g->tsc_adjust = value;
	return wanted_offset;
}

void guest_tsc_set_offset(struct guest_tsc *g, uint64_t tsc_offset)
{
	g->tsc_offset = tsc_offset;
}
