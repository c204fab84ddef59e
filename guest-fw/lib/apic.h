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

/*
 * Where CPUID offers x2APIC: apic_init leaves it alone from now on. Before the
 * first apic_init; boot CPU.
 */
void apic_keep_xapic(void);

/*
 * From xAPIC to x2APIC, on all CPUs: each calls enter, and does nothing more to
 * its APIC until all have and the boot CPU has called use. SDM 3A "x2APIC State
 * Transitions". There is no way back.
 */
void apic_x2apic_enter(void);
void apic_x2apic_use(void);
bool apic_in_x2apic_mode(void);

/* Whether CPUID.1:ECX[21] offers x2APIC. */
bool apic_has_x2apic(void);

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

/*
 * An interrupt to this or other processors, as SDM 3A "Interrupt Command
 * Register (ICR)" has it: a vector, a delivery mode, a way to choose. Returns
 * when it has been sent. The destination is an APIC id, or with
 * APIC_IPI_LOGICAL bits as logical ids have them; it means nothing with a
 * shorthand.
 */
#define APIC_IPI_LOWEST	  0x00100u
#define APIC_IPI_NMI	  0x00400u
#define APIC_IPI_LOGICAL  0x00800u
#define APIC_IPI_SELF	  0x40000u
#define APIC_IPI_ALL	  0x80000u
#define APIC_IPI_OTHERS	  0xc0000u
#define APIC_ID_BROADCAST (apic_in_x2apic_mode() ? 0xffffffffu : 0xffu)

void apic_send_ipi(uint32_t destination, uint32_t command);

/* The SELF IPI register, which x2APIC mode alone has. */
void apic_send_self(uint8_t vector);

/* This CPU's logical id. In x2APIC mode it is given: the cluster in the upper
 * half, one bit in the lower; else it is what was set, flat model, 8 bits. */
uint32_t apic_logical_id(void);
void apic_set_logical_id(uint8_t bits);

/* Inter-processor INIT and start-up. SDM 3A "MP Initialization". The page is
 * the start address divided by 4096. */
void apic_send_init(uint32_t to_apic_id);
void apic_send_startup(uint32_t to_apic_id, uint8_t page);

#endif
