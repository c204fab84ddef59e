/* SPDX-License-Identifier: MIT */
/*
 * layout - numbers that C and assembly must agree on: selectors, vectors,
 * the AP trampoline's place, and the offsets of struct irqwait (checked by
 * _Static_assert in cpu.c).
 *
 * The selectors are in the order most x86-64 kernels use (user data below
 * user code), because a software KVM back end may expect just that order.
 */
#ifndef GUEST_LAYOUT_H
#define GUEST_LAYOUT_H

#define SEL_KERNEL_CODE32   0x08
#define SEL_KERNEL_CODE	    0x10
#define SEL_KERNEL_DATA	    0x18
#define SEL_USER_DATA	    0x2b
#define SEL_USER_CODE	    0x33
#define SEL_TSS_FIRST	    0x40 /* one 16-byte descriptor per CPU */

#define CPUS_MAX	    64

#define GDT_BYTES	    (SEL_TSS_FIRST + CPUS_MAX * 16)

#define VECTOR_UD	    6
#define VECTOR_IRQ_FIRST    0x20 /* below are the exceptions */
#define VECTOR_TIMER	    0x40
#define VECTOR_SPURIOUS	    0xff

/* Exception entries are code of a fixed stride. */
#define TRAP_STUBS	    32
#define TRAP_STUB_BYTES	    16

/* So are the entries of the interrupts, from VECTOR_IRQ_FIRST to 0xff. */
#define IRQ_STUBS	    (0x100 - VECTOR_IRQ_FIRST)
#define IRQ_STUB_BYTES	    16

/* Page number = SIPI vector; below 640 KiB, free once boot data is copied. */
#define TRAMPOLINE_GPA	    0x8000

#define IRQWAIT_KERNEL_RSP  0
#define IRQWAIT_USER_RSP    8
#define IRQWAIT_LIMIT_TSC   16
#define IRQWAIT_HANDLER_TSC 24
#define IRQWAIT_LOOP_TURNS  32
#define IRQWAIT_VECTOR	    40

#endif
