/* SPDX-License-Identifier: MIT */
/*
 * cpu - task state segments, the interrupt descriptor table, fatal traps.
 * Reference: SDM 3A "64-Bit Mode Task Management", "64-Bit Mode IDT",
 * "Interrupt Stack Table". Double faults and NMIs have a stack of their own;
 * everything else from ring 3 comes in on trap_stack, never on the stack of
 * the C code that entered ring 3. Not modelled: returning from an exception.
 */
#include "cpu.h"

#include "arch.h"
#include "console.h"
#include "layout.h"
#include "power.h"

#include <stdbool.h>
#include <stddef.h>

_Static_assert(offsetof(struct irqwait, kernel_rsp) == IRQWAIT_KERNEL_RSP,
	       "layout");
_Static_assert(offsetof(struct irqwait, user_rsp) == IRQWAIT_USER_RSP,
	       "layout");
_Static_assert(offsetof(struct irqwait, limit_tsc) == IRQWAIT_LIMIT_TSC,
	       "layout");
_Static_assert(offsetof(struct irqwait, handler_tsc) == IRQWAIT_HANDLER_TSC,
	       "layout");
_Static_assert(offsetof(struct irqwait, loop_turns) == IRQWAIT_LOOP_TURNS,
	       "layout");
_Static_assert(offsetof(struct irqwait, vector) == IRQWAIT_VECTOR, "layout");

#define VECTOR_NMI	   2
#define VECTOR_DF	   8
#define IST_FATAL	   1
#define GATE_INTERRUPT	   0x8e00 /* present, ring 0, clears IF */
#define TSS_TYPE_AVAILABLE 0x89

struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3;
	uint16_t io_map_base;
} __attribute__((packed));

struct gate {
	uint16_t offset_low;
	uint16_t selector;
	uint16_t flags;
	uint16_t offset_middle;
	uint32_t offset_high;
	uint32_t reserved;
};

static struct cpu {
	uint8_t stack[CPU_STACK_BYTES];
	uint8_t trap_stack[4096];
	uint8_t fatal_stack[4096];
	uint8_t user_stack[4096];
	struct tss tss;
	struct irqwait wait;
} __attribute__((aligned(64))) cpus[CPUS_MAX];

static struct gate idt[256] __attribute__((aligned(16)));

extern uint64_t gdt[];
extern const char trap_stubs[], trap_ud[], trap_spurious[], irq_stubs[];
extern const char trap_nmi[];

/* Counted in traps.S. */
extern uint32_t cpu_nmis[CPUS_MAX];
uint32_t cpu_nmis[CPUS_MAX];

/* What an exception stub leaves on the stack. */
struct trap_frame {
	uint64_t vector;
	uint64_t error;
	uint64_t rip, cs, rflags, rsp, ss;
};

/* Called from traps.S; no header, since nobody else may. */
__attribute__((noreturn)) void cpu_fatal_trap(const struct trap_frame *f);

void cpu_fatal_trap(const struct trap_frame *f)
{
	uint64_t cr2;

	__asm__ volatile("movq %%cr2, %0" : "=r"(cr2));
	console_printf("\nguest: exception %u at %02x:%016llx, error %llx, "
		       "rsp %llx, rflags %llx, cr2 %llx\n",
		       (unsigned)f->vector, (unsigned)f->cs,
		       (unsigned long long)f->rip, (unsigned long long)f->error,
		       (unsigned long long)f->rsp,
		       (unsigned long long)f->rflags, (unsigned long long)cr2);
	power_exit(STATUS_FATAL_TRAP);
}

static void idt_set(unsigned vector, const char *entry, unsigned ist)
{
	uint64_t offset = (uintptr_t)entry;

	idt[vector] = (struct gate){
		.offset_low = (uint16_t)offset,
		.selector = SEL_KERNEL_CODE,
		.flags = (uint16_t)(GATE_INTERRUPT | ist),
		.offset_middle = (uint16_t)(offset >> 16),
		.offset_high = (uint32_t)(offset >> 32),
	};
}

void cpu_take_vector(uint8_t vector)
{
	idt_set(vector,
		irq_stubs + (vector - VECTOR_IRQ_FIRST) * IRQ_STUB_BYTES, 0);
}

void cpu_take_nmis(void)
{
	idt_set(VECTOR_NMI, trap_nmi, IST_FATAL);
}

unsigned cpu_nmi_count(unsigned index)
{
	return __atomic_load_n(&cpu_nmis[index], __ATOMIC_ACQUIRE);
}

static void idt_init(void)
{
	for (unsigned v = 0; v < TRAP_STUBS; v++)
		idt_set(v, trap_stubs + v * TRAP_STUB_BYTES, 0);
	idt_set(VECTOR_NMI, trap_stubs + VECTOR_NMI * TRAP_STUB_BYTES,
		IST_FATAL);
	idt_set(VECTOR_DF, trap_stubs + VECTOR_DF * TRAP_STUB_BYTES, IST_FATAL);
	idt_set(VECTOR_UD, trap_ud, 0);
	cpu_take_vector(VECTOR_TIMER);
	idt_set(VECTOR_SPURIOUS, trap_spurious, 0);
}

static uint64_t stack_top(uint8_t *stack, size_t bytes)
{
	return (uintptr_t)(stack + bytes);
}

static void tss_load(struct cpu *cpu, unsigned index)
{
	uint64_t base = (uintptr_t)&cpu->tss;
	uint64_t *descriptor = &gdt[SEL_TSS_FIRST / 8 + index * 2];
	uint16_t selector = (uint16_t)(SEL_TSS_FIRST + index * 16);

	descriptor[0] = (sizeof(cpu->tss) - 1) | (base & 0xffffff) << 16 |
			(uint64_t)TSS_TYPE_AVAILABLE << 40 |
			(base >> 24 & 0xff) << 56;
	descriptor[1] = base >> 32;
	__asm__ volatile("ltr %0" : : "r"(selector) : "memory");
}

void cpu_init(unsigned index)
{
	struct cpu *cpu = &cpus[index];
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) idt_pointer = {
		.limit = sizeof(idt) - 1,
		.base = (uintptr_t)idt,
	};

	if (index == 0)
		idt_init();
	cpu->tss.rsp[0] = stack_top(cpu->trap_stack, sizeof(cpu->trap_stack));
	cpu->tss.ist[IST_FATAL - 1] =
		stack_top(cpu->fatal_stack, sizeof(cpu->fatal_stack));
	cpu->tss.io_map_base = sizeof(cpu->tss);
	cpu->wait.user_rsp =
		stack_top(cpu->user_stack, sizeof(cpu->user_stack));
	__asm__ volatile("lidt %0" : : "m"(idt_pointer));
	tss_load(cpu, index);
}

struct irqwait *cpu_irqwait(unsigned index)
{
	return &cpus[index].wait;
}

void *cpu_stack_top(unsigned index)
{
	return cpus[index].stack + CPU_STACK_BYTES;
}
