/* SPDX-License-Identifier: MIT */
/*
 * platform - what the firmware tables say about the machine, once.
 *
 * ACPI and MP tables describe the same interrupt wiring to different guests;
 * both are made from this. Local APIC ids are vCPU numbers.
 */
#ifndef VMM_PLATFORM_H
#define VMM_PLATFORM_H

#include <stdint.h>

#define PLATFORM_CPUS_MAX	 64
#define PLATFORM_LAPIC_GPA	 UINT32_C(0xfee00000)
#define PLATFORM_LAPIC_VERSION	 0x14 /* as KVM's local APIC says */
#define PLATFORM_IOAPIC_GPA	 UINT32_C(0xfec00000)
#define PLATFORM_IOAPIC_ID	 0 /* as its register says after power-on */
#define PLATFORM_IOAPIC_VERSION	 0x20

/* ISA interrupts: 0-15 go to the pin of their number, but for the timer,
 * whose place on pin 0 the first 8259 has. 2 is the second 8259. */
#define PLATFORM_ISA_IRQS	 16
#define PLATFORM_IRQ_TIMER	 0
#define PLATFORM_PIN_TIMER	 2
#define PLATFORM_PIN_PIC	 0 /* the output of the 8259s */
#define PLATFORM_IRQ_SLAVE	 2
#define PLATFORM_IRQ_SCI	 9

/* Polarity and trigger as both kinds of table encode them ("MPS INTI Flags").
 * 0 is the bus's own: active high and edge on ISA. */
#define PLATFORM_INTI_ISA	 0x0000
#define PLATFORM_INTI_HIGH_LEVEL 0x000d /* the SCI */

#endif
