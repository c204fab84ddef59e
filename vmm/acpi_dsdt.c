/* SPDX-License-Identifier: MIT */
/*
 * The DSDT's AML, assembled by hand: four objects do not need a compiler. As
 * ASL:
 *
 *   Name (_S5, Package () { 5, 5, Zero, Zero })
 *   Scope (_SB) {
 *     Device (COM1) {
 *       Name (_HID, EisaId ("PNP0501"))
 *       Name (_UID, One)
 *       Name (_CRS, ResourceTemplate () {
 *         IO (Decode16, 0x3f8, 0x3f8, 1, 8)  IRQNoFlags () { 4 } })
 *     }
 *     Device (RTC0) {
 *       Name (_HID, EisaId ("PNP0B00"))
 *       Name (_CRS, ResourceTemplate () {
 *         IO (Decode16, 0x70, 0x70, 1, 2)    IRQNoFlags () { 8 } })
 *     }
 *   }
 *
 * Reference: ACPI Specification 6.4 "ACPI Machine Language (AML)
 * Specification", "Small Resource Data Type". Not described: processors,
 * buttons, thermal zones, anything on a bus that is not ISA.
 */
#include "acpi.h"

#include "acpi_pm.h"

#define AML_ZERO	0x00
#define AML_ONE		0x01
#define AML_NAME	0x08
#define AML_BYTE	0x0a
#define AML_DWORD	0x0c
#define AML_SCOPE	0x10
#define AML_BUFFER	0x11
#define AML_PACKAGE	0x12
#define AML_EXT		0x5b
#define AML_EXT_DEVICE	0x82

/* A length counts itself. One byte below 64, else two: the low four bits and
 * the number of bytes that follow, then the rest. */
#define PKG1(length)	(length)
#define PKG2(length)	(0x40 | ((length)&0xf)), ((length) >> 4)

#define WORD(value)	((value)&0xff), ((value) >> 8)

#define RES_IO		0x47 /* I/O range, seven bytes follow */
#define RES_IO_DECODE16 0x01
#define RES_IRQ		0x22	   /* a mask of lines: edge, active high */
#define RES_END		0x79, 0x00 /* no checksum */

/* One range and one line, as the value of _CRS. */
#define CRS_SIZE	13
#define CRS_NAME	(5 + 1 + CRS_BUFFER)
#define CRS_BUFFER	(1 + 2 + CRS_SIZE)
#define CRS(port, size, irq)                                                  \
	AML_NAME, '_', 'C', 'R', 'S', AML_BUFFER, PKG1(CRS_BUFFER), AML_BYTE, \
		CRS_SIZE, RES_IO, RES_IO_DECODE16, WORD(port), WORD(port), 1, \
		(size), RES_IRQ, WORD(1 << (irq)), RES_END

/* A compressed EISA id: three letters of five bits, four hex digits. */
#define HID_NAME 10
#define HID_PNP(high, low) \
	AML_NAME, '_', 'H', 'I', 'D', AML_DWORD, 0x41, 0xd0, (high), (low)

#define UID_NAME 6
#define COM1	 (1 + 4 + HID_NAME + UID_NAME + CRS_NAME)
#define RTC0	 (1 + 4 + HID_NAME + CRS_NAME)
#define SCOPE	 (2 + 4 + 2 + COM1 + 2 + RTC0)

/* clang-format off */
static const uint8_t dsdt_aml[] = {
	AML_NAME, '_', 'S', '5', '_', AML_PACKAGE, PKG1(8), 4,
		AML_BYTE, ACPI_PM_SLEEP_S5, AML_BYTE, ACPI_PM_SLEEP_S5,
		AML_ZERO, AML_ZERO,
	AML_SCOPE, PKG2(SCOPE), '_', 'S', 'B', '_',
		AML_EXT, AML_EXT_DEVICE, PKG1(COM1), 'C', 'O', 'M', '1',
			HID_PNP(0x05, 0x01),
			AML_NAME, '_', 'U', 'I', 'D', AML_ONE,
			CRS(0x3f8, 8, 4),
		AML_EXT, AML_EXT_DEVICE, PKG1(RTC0), 'R', 'T', 'C', '0',
			HID_PNP(0x0b, 0x00),
			CRS(0x70, 2, 8),
};
/* clang-format on */

_Static_assert(COM1 < 64 && RTC0 < 64, "lengths of one byte");
_Static_assert(SCOPE >= 64, "length of two bytes");
_Static_assert(sizeof(dsdt_aml) == 14 + 1 + SCOPE, "all lengths add up");

const uint8_t *acpi_dsdt_aml(uint32_t *size)
{
	*size = sizeof(dsdt_aml);
	return dsdt_aml;
}
