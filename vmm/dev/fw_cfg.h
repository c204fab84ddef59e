/* SPDX-License-Identifier: MIT */
/*
 * fw_cfg - the configuration device of QEMU's PC, as its test suites ask it:
 * how much RAM, how many processors.
 *
 * Pure: no I/O, no locks; the owner serialises calls. An access has the width
 * that the guest gave it, for a selector is one write of 16 bits; wider ones
 * are taken in parts, see fw_cfg_read.
 * Reference: QEMU docs/specs/fw_cfg "x86 Register Locations", "Selector
 * (Control) Register", "Data Register", "Firmware Configuration Items"; where
 * that leaves it open, QEMU 7.2 as a guest sees it. Not modelled: the DMA
 * interface, which item ID does not promise, writes of data, which QEMU ignores
 * too, and files: the directory is empty.
 *
 *   0x510  selector  16 bits, written
 *   0x511  data       8 bits, read: the item's next byte
 */
#ifndef DEV_FW_CFG_H
#define DEV_FW_CFG_H

#include <stdint.h>

#define FW_CFG_PORT	 0x510u
#define FW_CFG_WINDOW	 2u

/* Items that are not empty; numbers are little-endian. */
#define FW_CFG_SIGNATURE 0x00u /* "QEMU" */
#define FW_CFG_ID	 0x01u /* 32 bits: 1, the traditional interface */
#define FW_CFG_RAM_SIZE	 0x03u /* 64 bits: bytes below and above 4 GiB */
#define FW_CFG_NB_CPUS	 0x05u /* 16 bits */
#define FW_CFG_MAX_CPUS	 0x0fu /* 16 bits: the highest APIC id, plus 1 */

struct fw_cfg {
	/* Set once. */
	uint64_t ram_bytes;
	uint16_t cpus; /* their APIC ids are 0 to cpus - 1 */
	/* Registers. */
	uint16_t key;
	unsigned int offset; /* of the next byte, at most the item's size */
};

/* State after power-on: the signature is selected. */
void fw_cfg_reset(struct fw_cfg *f, uint64_t ram_bytes, uint16_t cpus);

/*
 * Guest reads size bytes, 1 to 4, from offset on, 0 to FW_CFG_WINDOW - 1.
 * Returns how many of them are answered, in the low bytes of *value, 1, 2 or 4;
 * the others are another access. A byte of either port is data; 0 behind the
 * item's end, and of an item that is not there. 16 and 32 bits from the
 * selector on are 0, and take no byte away.
 */
unsigned int fw_cfg_read(struct fw_cfg *f, unsigned int offset,
			 unsigned int size, uint32_t *value);

/* The same for a write: 16 bits of the selector select, 32 bits and a single
 * byte of either port do nothing. */
unsigned int fw_cfg_write(struct fw_cfg *f, unsigned int offset,
			  unsigned int size, uint32_t value);

#endif
