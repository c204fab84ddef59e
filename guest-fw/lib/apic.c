/* SPDX-License-Identifier: MIT */
/*
 * apic - local APIC access, see apic.h.
 * Reference: SDM 3A "Local APIC Register Address Map", "x2APIC Register
 * Address Space", "Interrupt Command Register (ICR)".
 * Not modelled: error status, the cluster model of xAPIC mode, divisors of the
 * count.
 */
#include "apic.h"

#include "arch.h"
#include "layout.h"

/* Offsets of the memory-mapped form; an x2APIC MSR is 0x800 + offset / 16. */
#define APIC_ID		 0x020
#define APIC_TPR	 0x080
#define TPR_ALL		 0xf0
#define APIC_EOI	 0x0b0
#define APIC_LDR	 0x0d0
#define APIC_DFR	 0x0e0
#define DFR_FLAT	 0xffffffff
#define APIC_SPIV	 0x0f0
#define SPIV_ENABLE	 0x100
#define APIC_ISR	 0x100 /* 8 registers, 32 vectors each */
#define APIC_IRR	 0x200
#define APIC_ICR	 0x300
#define ICR_INIT	 0x500
#define ICR_STARTUP	 0x600
#define ICR_ASSERT	 0x4000
#define ICR_BUSY	 0x1000
#define APIC_ICR2	 0x310
#define APIC_LVTT	 0x320
#define APIC_LVT0	 0x350
#define APIC_LVT1	 0x360
#define LVT_EXTINT	 0x00700
#define LVT_MASKED	 0x10000
#define APIC_TMICT	 0x380
#define APIC_TMCCT	 0x390
#define APIC_TDCR	 0x3e0
#define TDCR_DIVIDE_BY_1 0xb
#define APIC_SELF_IPI	 0x3f0

#define MSR_X2APIC_BASE	 0x800

/* Set by the boot CPU before any other runs, then only read. */
static bool apic_is_x2apic, apic_keeps_xapic;
static volatile uint32_t *apic_page;

static uint32_t apic_read(unsigned reg)
{
	if (apic_is_x2apic)
		return (uint32_t)msr_read(MSR_X2APIC_BASE + reg / 16);
	return apic_page[reg / sizeof(*apic_page)];
}

static void apic_write(unsigned reg, uint32_t value)
{
	if (apic_is_x2apic)
		msr_write(MSR_X2APIC_BASE + reg / 16, value);
	else
		apic_page[reg / sizeof(*apic_page)] = value;
}

void apic_init(void)
{
	uint64_t base = msr_read(MSR_IA32_APIC_BASE) | APIC_BASE_EN;

	if (!apic_keeps_xapic)
		apic_is_x2apic = apic_has_x2apic();
	if (apic_is_x2apic)
		base |= APIC_BASE_EXTD;
	else
		apic_page = (volatile uint32_t *)(uintptr_t)(base & 0xfffff000);
	msr_write(MSR_IA32_APIC_BASE, base);
	apic_software_enable(true);
	apic_write(APIC_LVT0, LVT_MASKED);
	apic_write(APIC_LVT1, LVT_MASKED);
	apic_write(APIC_LVTT, LVT_MASKED);
}

void apic_keep_xapic(void)
{
	apic_keeps_xapic = true;
}

void apic_x2apic_enter(void)
{
	msr_write(MSR_IA32_APIC_BASE,
		  msr_read(MSR_IA32_APIC_BASE) | APIC_BASE_EXTD);
}

void apic_x2apic_use(void)
{
	__atomic_store_n(&apic_is_x2apic, true, __ATOMIC_RELEASE);
}

bool apic_in_x2apic_mode(void)
{
	return __atomic_load_n(&apic_is_x2apic, __ATOMIC_ACQUIRE);
}

bool apic_has_x2apic(void)
{
	return cpuid(1, 0).ecx & CPUID_1_ECX_X2APIC;
}

void apic_lint0_extint(void)
{
	apic_write(APIC_LVT0, LVT_EXTINT);
}

void apic_software_enable(bool on)
{
	apic_write(APIC_SPIV, (on ? SPIV_ENABLE : 0) | VECTOR_SPURIOUS);
}

bool apic_has_deadline_timer(void)
{
	return cpuid(1, 0).ecx & CPUID_1_ECX_TSC_DEADLINE;
}

void apic_timer_deadline_mode(void)
{
	apic_lvtt_write(APIC_LVTT_DEADLINE | VECTOR_TIMER);
	apic_timer_arm(0);
}

void apic_timer_mask(void)
{
	apic_timer_arm(0);
	apic_write(APIC_LVTT,
		   APIC_LVTT_DEADLINE | APIC_LVTT_MASKED | VECTOR_TIMER);
}

void apic_timer_arm(uint64_t deadline_guest_tsc)
{
	msr_write(MSR_IA32_TSC_DEADLINE, deadline_guest_tsc);
}

uint64_t apic_timer_read(void)
{
	return msr_read(MSR_IA32_TSC_DEADLINE);
}

uint32_t apic_lvtt_read(void)
{
	return apic_read(APIC_LVTT);
}

void apic_lvtt_write(uint32_t lvtt)
{
	apic_write(APIC_LVTT, lvtt);
	/* A memory-mapped LVTT write must not be passed by an MSR write that
	 * follows it; to read it back orders them. */
	apic_read(APIC_LVTT);
}

void apic_count_write(uint32_t bus_cycles)
{
	apic_write(APIC_TDCR, TDCR_DIVIDE_BY_1);
	apic_write(APIC_TMICT, bus_cycles);
}

uint32_t apic_count_initial(void)
{
	return apic_read(APIC_TMICT);
}

uint32_t apic_count_current(void)
{
	return apic_read(APIC_TMCCT);
}

void apic_task_priority(uint8_t tpr)
{
	apic_write(APIC_TPR, tpr);
}

void apic_hold_interrupts(void)
{
	apic_task_priority(TPR_ALL);
}

/* One bit a vector, in eight registers 16 bytes apart. */
static bool apic_vector_bit(unsigned reg, uint8_t vector)
{
	return apic_read(reg + vector / 32 * 16) >> (vector % 32) & 1;
}

bool apic_requested(uint8_t vector)
{
	return apic_vector_bit(APIC_IRR, vector);
}

bool apic_in_service(uint8_t vector)
{
	return apic_vector_bit(APIC_ISR, vector);
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

uint32_t apic_id(void)
{
	uint32_t id = apic_read(APIC_ID);

	return apic_is_x2apic ? id : id >> 24;
}

void apic_id_change(uint32_t id)
{
	if (!apic_is_x2apic)
		apic_write(APIC_ID, id << 24);
}

void apic_send_ipi(uint32_t destination, uint32_t command)
{
	if (apic_is_x2apic) {
		msr_write(MSR_X2APIC_BASE + APIC_ICR / 16,
			  (uint64_t)destination << 32 | command | ICR_ASSERT);
		return;
	}
	apic_write(APIC_ICR2, destination << 24);
	apic_write(APIC_ICR, command | ICR_ASSERT);
	while (apic_read(APIC_ICR) & ICR_BUSY)
		cpu_relax();
}

void apic_send_self(uint8_t vector)
{
	apic_write(APIC_SELF_IPI, vector);
}

uint32_t apic_logical_id(void)
{
	uint32_t id = apic_read(APIC_LDR);

	return apic_is_x2apic ? id : id >> 24;
}

void apic_set_logical_id(uint8_t bits)
{
	apic_write(APIC_DFR, DFR_FLAT);
	apic_write(APIC_LDR, (uint32_t)bits << 24);
}

void apic_send_init(uint32_t to_apic_id)
{
	apic_send_ipi(to_apic_id, ICR_INIT);
}

void apic_send_startup(uint32_t to_apic_id, uint8_t page)
{
	apic_send_ipi(to_apic_id, ICR_STARTUP | page);
}
