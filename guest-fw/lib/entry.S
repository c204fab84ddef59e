/* SPDX-License-Identifier: MIT */
/*
 * entry - from a boot protocol or a SIPI to 64-bit C code.
 *
 * The image carries a multiboot 1 header (Multiboot Specification 0.6.96,
 * "OS image format") and a PVH note (Xen "x86/HVM direct boot ABI",
 * XEN_ELFNOTE_PHYS32_ENTRY). Both enter in 32-bit protected mode with flat
 * segments, paging off and the information structure in EBX.
 *
 * The page tables are data, not code: writing 2048 entries costs nothing at
 * link time but milliseconds where ring-0 code is interpreted. All pages are
 * user-accessible, since the waits and the sorting run in ring 3.
 */
#include "layout.h"

#define MULTIBOOT_HEADER_MAGIC 0x1BADB002
#define MULTIBOOT_HEADER_FLAGS 0x00000002 /* memory information, please */

#define XEN_ELFNOTE_PHYS32_ENTRY 18

#define MSR_EFER     0xC0000080
#define EFER_LME_BIT 8

#define CR4_PAE	    0x20
#define CR0_PE	    0x1
#define CR0_RUNTIME 0x80050033 /* PG AM WP NE ET MP PE */

	.section .multiboot, "a", @progbits
	.balign	4
	.long	MULTIBOOT_HEADER_MAGIC
	.long	MULTIBOOT_HEADER_FLAGS
	.long	-(MULTIBOOT_HEADER_MAGIC + MULTIBOOT_HEADER_FLAGS)

	.section .note.pvh, "a", @note
	.balign	4
	.long	4
	.long	4
	.long	XEN_ELFNOTE_PHYS32_ENTRY
	.asciz	"Xen"
	.long	entry_pvh

/* In: 32-bit protected mode, GDT loaded. Jumps to 64-bit \target, DS..GS null.
 * Changes EAX, ECX, EDX. */
.macro ENTER_LONG_MODE target
	movl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$page_pml4, %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	btsl	$EFER_LME_BIT, %eax
	wrmsr
	movl	$CR0_RUNTIME, %eax
	movl	%eax, %cr0
	ljmp	$SEL_KERNEL_CODE, $\target
.endm

.macro LOAD_DATA_SEGMENTS
	xorl	%eax, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %fs
	movl	%eax, %gs
	movl	$SEL_KERNEL_DATA, %eax
	movl	%eax, %ss
.endm

	.section .text.entry, "ax", @progbits
	.code32
	.globl	entry_multiboot
entry_multiboot:
	movl	%eax, %edi
	jmp	entry_common
entry_pvh:
	/* EAX says nothing under PVH: it must not look like multiboot. */
	xorl	%edi, %edi
entry_common:
	cli
	cld
	movl	%ebx, %esi
	lgdt	gdt_pointer
	ENTER_LONG_MODE entry_long
entry_ap:
	movl	$SEL_KERNEL_DATA, %eax
	movl	%eax, %ds
	ENTER_LONG_MODE entry_ap_long

	.code64
entry_long:
	LOAD_DATA_SEGMENTS
	movl	$boot_stack_top, %esp
	/* EDI, ESI: their upper halves are undefined after the mode switch. */
	movl	%edi, %edi
	movl	%esi, %esi
	call	boot_main
	ud2
entry_ap_long:
	LOAD_DATA_SEGMENTS
	movq	smp_ap_stack_top, %rsp
	call	smp_ap_main
	ud2

/* Copied to TRAMPOLINE_GPA; a SIPI starts it in real mode, CS base there. */
	.globl	trampoline_start, trampoline_end
	.code16
trampoline_start:
	cli
	cld
	movw	%cs, %ax
	movw	%ax, %ds
	lgdtl	trampoline_gdt_pointer - trampoline_start
	movl	%cr0, %eax
	orl	$CR0_PE, %eax
	movl	%eax, %cr0
	ljmpl	$SEL_KERNEL_CODE32, $entry_ap
	.balign	4
trampoline_gdt_pointer:
	.word	GDT_BYTES - 1
	.long	gdt
trampoline_end:

	.section .data
	.balign	4
	.word	0
gdt_pointer:
	.word	GDT_BYTES - 1
	.long	gdt

/* Accessed bits are set so that no segment load writes here. */
	.balign	16
	.globl	gdt
gdt:
	.quad	0
	.quad	0x00cf9b000000ffff /* 32-bit code, ring 0 */
	.quad	0x00af9b000000ffff /* 64-bit code, ring 0 */
	.quad	0x00cf93000000ffff /* data, ring 0 */
	.quad	0
	.quad	0x00cff3000000ffff /* data, ring 3 */
	.quad	0x00affb000000ffff /* 64-bit code, ring 3 */
	.quad	0
	.fill	CPUS_MAX * 2, 8, 0 /* TSS descriptors, by cpu_init */

/* First 4 GiB, one to one, 2 MiB pages, accessed and dirty set; the last
 * GiB holds the local APIC and is uncached. */
#define PAGE_TABLE  0x27 /* P RW US A */
#define PAGE_2M	    0xe7 /* P RW US A D PS */
#define PAGE_2M_DEV 0xff /* as above, PWT PCD */

	.balign	4096
page_pml4:
	.quad	page_pdpt + PAGE_TABLE
	.fill	511, 8, 0
page_pdpt:
	.quad	page_directories + 0x0000 + PAGE_TABLE
	.quad	page_directories + 0x1000 + PAGE_TABLE
	.quad	page_directories + 0x2000 + PAGE_TABLE
	.quad	page_directories + 0x3000 + PAGE_TABLE
	.fill	508, 8, 0
page_directories:
	.set	page_gpa, 0
	.rept	3 * 512
	.quad	page_gpa + PAGE_2M
	.set	page_gpa, page_gpa + 0x200000
	.endr
	.rept	512
	.quad	page_gpa + PAGE_2M_DEV
	.set	page_gpa, page_gpa + 0x200000
	.endr

	.section .bss
	.balign	16
	.skip	8192
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
