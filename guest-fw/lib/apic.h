/* SPDX-License-Identifier: MIT */
/*
 * apic - this CPU's local APIC, as x2APIC where CPUID offers it, else as the
 * memory-mapped xAPIC. Ring 0; each function acts on the calling CPU only.
 */
#ifndef GUEST_APIC_H
#define GUEST_APIC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Switches the APIC on (SPIV), masks both LINT pins, so that no 8259 can
 * interrupt, and the timer. Once per CPU, the boot CPU first. SDM 3A "Local
 * APIC State After It Has Been Software Disabled".
 */
void apic_init(void);

/* LINT0 takes the interrupts of an 8259, vector and all. SDM 3A "Local Vector
 * Table", delivery mode ExtINT. */
void apic_lint0_extint(void);

/* SPIV bit 8 alone. While it is clear no LVT entry can be unmasked. */
void apic_software_enable(bool on);

/* Whether CPUID.1:ECX[24] offers the TSC-deadline timer. */
bool apic_has_deadline_timer(void);

/*
 * Timer in TSC-deadline mode on VECTOR_TIMER, disarmed. SDM 3A "TSC-Deadline
 * Mode". A program that needs it checks apic_has_deadline_timer first.
 */
void apic_timer_deadline_mode(void);

/* Timer masked and disarmed. */
void apic_timer_mask(void);

/* Absolute guest TSC; 0 disarms. */
void apic_timer_arm(uint64_t deadline_guest_tsc);

/* IA32_TSC_DEADLINE: 0 once the deadline has been delivered. */
uint64_t apic_timer_read(void);

/*
 * The timer's LVT entry, whole: a vector and these. SDM 3A "Local Vector
 * Table". The write is complete before any later write of the deadline.
 */
#define APIC_LVTT_MASKED   0x10000u
#define APIC_LVTT_ONE_SHOT 0u
#define APIC_LVTT_PERIODIC 0x20000u
#define APIC_LVTT_DEADLINE 0x40000u
#define APIC_LVTT_RESERVED 0x60000u /* the fourth mode, which is none */

uint32_t apic_lvtt_read(void);
void apic_lvtt_write(uint32_t lvtt);

/*
 * The count of one-shot and periodic mode: initial count (written with
 * divisor 1; 0 stops it) and current count, both in cycles of the APIC's bus
 * clock, which is 1 GHz on KVM unless the VMM says otherwise. SDM 3A "APIC
 * Timer".
 */
void apic_count_write(uint32_t bus_cycles);
uint32_t apic_count_initial(void);
uint32_t apic_count_current(void);

/* Vectors whose class (bits 7:4) is not above that of tpr are held back. */
void apic_task_priority(uint8_t tpr);

/* IRR, ISR: has the vector been requested, is it being served? */
bool apic_requested(uint8_t vector);
bool apic_in_service(uint8_t vector);

/* From now on no interrupt is delivered to this CPU, whatever IF says: the
 * task priority is at its highest. SDM 3A "Task and Processor Priorities". */
void apic_hold_interrupts(void);

void apic_eoi(void);

uint32_t apic_id(void);

/* Gives this CPU another id, which may be somebody else's. Does nothing in
 * x2APIC mode, where ids cannot be changed. */
void apic_id_change(uint32_t id);

/* Inter-processor INIT and start-up. SDM 3A "MP Initialization". The page is
 * the start address divided by 4096. */
void apic_send_init(uint32_t to_apic_id);
void apic_send_startup(uint32_t to_apic_id, uint8_t page);

#endif
