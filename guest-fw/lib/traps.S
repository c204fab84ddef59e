/* SPDX-License-Identifier: MIT */
/*
 * traps - exception and interrupt entries, and the waits of irqwait.h.
 *
 * Reference: SDM 3A "Interrupt and Exception Handling", "64-Bit Mode Stack
 * Frame". Not handled: nothing here ever returns to interrupted code, but for
 * the spurious vector and NMIs that are counted; every exception ends the run (cpu.c).
 */
#include "layout.h"

#define RFLAGS_IF   0x200
#define RFLAGS_USER 0x202 /* IF and the bit that is always set */

	.text
	.code64

/* Saves what the C ABI wants kept and the stack to come back to. */
.macro WAIT_ENTER
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rdi, %r15
	movq	%rsp, IRQWAIT_KERNEL_RSP(%r15)
.endm

/* To ring 3 at \target, on the CPU's user stack. Keeps all but RSP. */
.macro ENTER_USER target
	pushq	$SEL_USER_DATA
	pushq	IRQWAIT_USER_RSP(%r15)
	pushq	$RFLAGS_USER
	pushq	$SEL_USER_CODE
	pushq	$\target
	iretq
.endm

/* Counts turns in R8 until the TSC passes R9, then falls through. */
.macro SPIN
1:	incq	%r8
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	cmpq	%r9, %rax
	jb	1b
.endm

	.globl	irqwait_spin_user
irqwait_spin_user:
	WAIT_ENTER
	xorl	%r8d, %r8d
	movq	IRQWAIT_LIMIT_TSC(%r15), %r9
	ENTER_USER spin_in_user
spin_in_user:
	SPIN
user_gave_up:
	ud2

	.globl	irqwait_spin_kernel
irqwait_spin_kernel:
	WAIT_ENTER
	xorl	%r8d, %r8d
	movq	IRQWAIT_LIMIT_TSC(%r15), %r9
	sti
	SPIN
	cli
	jmp	wait_gave_up

	.globl	irqwait_hlt
irqwait_hlt:
	WAIT_ENTER
	xorl	%r8d, %r8d
1:	sti
	hlt
	jmp	1b

	.globl	irqwait_call_user
irqwait_call_user:
	WAIT_ENTER
	movq	%rsi, %rax
	movq	%rdx, %rdi
	movq	%rcx, %rsi
	ENTER_USER call_in_user
call_in_user:
	call	*%rax
user_call_done:
	ud2

	.balign	IRQ_STUB_BYTES
	.globl	irq_stubs
irq_stubs:
	.set	vector, VECTOR_IRQ_FIRST
	.rept	IRQ_STUBS
	.balign	IRQ_STUB_BYTES
	rdtsc
	movl	$vector, %ecx
	jmp	irq_taken
	.set	vector, vector + 1
	.endr

/* Above the stub's code: RIP, CS, RFLAGS. An interrupt that came with IF clear
 * found C code in the place of a wait, and R15 is not what it is in a wait. */
irq_taken:
	testl	$RFLAGS_IF, 16(%rsp)
	jz	irq_while_off
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, IRQWAIT_HANDLER_TSC(%r15)
	movl	%ecx, IRQWAIT_VECTOR(%r15)
	movl	$1, %eax
	jmp	wait_leave
wait_gave_up:
	xorl	%eax, %eax
wait_leave:
	movq	%r8, IRQWAIT_LOOP_TURNS(%r15)
wait_leave_quietly:
	movq	IRQWAIT_KERNEL_RSP(%r15), %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret

	.globl	trap_spurious
trap_spurious:
	iretq

/* Nobody else writes this CPU's count; which CPU it is its task register says.
 * On a stack of its own: any code may be interrupted, and goes on. */
	.globl	trap_nmi
trap_nmi:
	pushq	%rax
	str	%eax
	subl	$SEL_TSS_FIRST, %eax
	shrl	$2, %eax
	incl	cpu_nmis(%rax)
	popq	%rax
	iretq

/* #UD pushes no error code: RIP is on top. */
	.globl	trap_ud
trap_ud:
	cmpq	$user_gave_up, (%rsp)
	je	wait_gave_up
	cmpq	$user_call_done, (%rsp)
	je	wait_leave_quietly
	pushq	$0
	pushq	$VECTOR_UD
	jmp	trap_fatal

/* Vectors 8, 10-14, 17, 21, 29 and 30 push an error code. */
#define PUSHES_ERROR_CODE 0x60227d00

	.balign	TRAP_STUB_BYTES
	.globl	trap_stubs
trap_stubs:
	.set	vector, 0
	.rept	TRAP_STUBS
	.balign	TRAP_STUB_BYTES
	.if	((PUSHES_ERROR_CODE >> vector) & 1) == 0
	pushq	$0
	.endif
	pushq	$vector
	jmp	trap_fatal
	.set	vector, vector + 1
	.endr

irq_while_off:
	pushq	$0
	pushq	%rcx
trap_fatal:
	movq	%rsp, %rdi
	andq	$-16, %rsp
	call	cpu_fatal_trap
	ud2

	.section .note.GNU-stack, "", @progbits
