/* SPDX-License-Identifier: MIT */
/*
 * fw_cfg - see fw_cfg.h. An item is made when a byte of it is read: none is
 * longer than eight.
 */
#include "fw_cfg.h"

#include <assert.h>

enum {
	ITEM_MAX = 8,
	SELECTOR_SIZE = 2,
	WIDEST = 4, /* refused as a whole */
	VERSION_TRADITIONAL = 1,
};

/* Bits of a key. Bit 15, for items of one architecture, makes another key of
 * it: PC has none of those that are asked for here. */
#define KEY_WRITE_CHANNEL 0x4000u /* was for writes; names the same item */

static unsigned int put_le(uint8_t item[ITEM_MAX], unsigned int size,
			   uint64_t value)
{
	for (unsigned int i = 0; i < size; i++)
		item[i] = (uint8_t)(value >> (8 * i));
	return size;
}

/* The selected item's bytes; returns how many there are. */
static unsigned int fw_cfg_item(const struct fw_cfg *f, uint8_t item[ITEM_MAX])
{
	/* The first letter is the low byte. */
	static const uint32_t signature = 0x554d4551; /* "QEMU" */

	switch (f->key & ~KEY_WRITE_CHANNEL) {
	case FW_CFG_SIGNATURE:
		return put_le(item, 4, signature);
	case FW_CFG_ID:
		return put_le(item, 4, VERSION_TRADITIONAL);
	case FW_CFG_RAM_SIZE:
		return put_le(item, 8, f->ram_bytes);
	case FW_CFG_NB_CPUS:
	case FW_CFG_MAX_CPUS:
		return put_le(item, 2, f->cpus);
	default:
		return 0;
	}
}

void fw_cfg_reset(struct fw_cfg *f, uint64_t ram_bytes, uint16_t cpus)
{
	*f = (struct fw_cfg){
		.ram_bytes = ram_bytes, .cpus = cpus, .key = FW_CFG_SIGNATURE};
}

/* Of so many bytes from offset on, how many QEMU takes for one access. */
static unsigned int width(unsigned int offset, unsigned int size)
{
	assert(offset < FW_CFG_WINDOW && size >= 1 && size <= WIDEST);
	if (offset || size < SELECTOR_SIZE)
		return 1;
	return size == WIDEST ? WIDEST : SELECTOR_SIZE;
}

unsigned int fw_cfg_read(struct fw_cfg *f, unsigned int offset,
			 unsigned int size, uint32_t *value)
{
	unsigned int taken = width(offset, size);
	uint8_t item[ITEM_MAX];

	*value = 0;
	if (taken == 1 && f->offset < fw_cfg_item(f, item))
		*value = item[f->offset++];
	return taken;
}

unsigned int fw_cfg_write(struct fw_cfg *f, unsigned int offset,
			  unsigned int size, uint32_t value)
{
	unsigned int taken = width(offset, size);

	if (taken == SELECTOR_SIZE) {
		f->key = (uint16_t)value;
		f->offset = 0;
	}
	return taken;
}
