/* SPDX-License-Identifier: MIT */
/*
 * arch - the instructions C has no words for. All ring 0, but tsc_read.
 * Reference: SDM 2 "Instruction Set Reference"; MSR names from SDM 4.
 */
#ifndef GUEST_ARCH_H
#define GUEST_ARCH_H

#include <stdint.h>

#define MSR_IA32_TSC		 0x10
#define MSR_IA32_APIC_BASE	 0x1b
#define APIC_BASE_EXTD		 (1u << 10)
#define APIC_BASE_EN		 (1u << 11)
#define MSR_IA32_TSC_ADJUST	 0x3b
#define MSR_IA32_TSC_DEADLINE	 0x6e0

#define CPUID_1_ECX_X2APIC	 (1u << 21)
#define CPUID_1_ECX_TSC_DEADLINE (1u << 24)
#define CPUID_1_ECX_HYPERVISOR	 (1u << 31)
#define CPUID_1_EDX_HTT		 (1u << 28)
#define CPUID_7_EBX_TSC_ADJUST	 (1u << 1)

struct cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_regs r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

/* Guest TSC. */
static inline uint64_t tsc_read(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t msr_read(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static inline void msr_write(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr"
			 :
			 : "c"(msr), "a"((uint32_t)value),
			   "d"((uint32_t)(value >> 32))
			 : "memory");
}

static inline uint8_t port_in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void port_out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline void port_out16(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline void port_out32(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/* Halts for ever with interrupts off. */
static inline __attribute__((noreturn)) void cpu_halt_forever(void)
{
	for (;;)
		__asm__ volatile("cli\n\thlt" : : : "memory");
}

#endif
