/* SPDX-License-Identifier: MIT */
/*
 * registers - machine state at the first guest instruction.
 * Reference: loader.h (what each protocol promises); SDM 3A "Segment
 * Descriptors", "Control Registers". Application processors keep KVM's reset
 * state and wait for INIT.
 */
#include "registers.h"

#include "kvm.h"
#include "loader.h"

#define CR0_PE		    (1u << 0)
#define CR0_ET		    (1u << 4)
#define CR0_PG		    (1u << 31)
#define CR4_PAE		    (1u << 5)
#define EFER_LME	    (1u << 8)
#define EFER_LMA	    (1u << 10)

#define RFLAGS_RESERVED_ONE (1u << 1)

enum {
	SEGMENT_DATA = 0x3, /* read/write, accessed */
	SEGMENT_CODE = 0xb, /* execute/read, accessed */
	SEGMENT_BUSY_TSS = 0xb,
};

static struct kvm_segment flat_segment(uint16_t selector, uint8_t type,
				       int is_64bit_code)
{
	return (struct kvm_segment){
		.base = 0,
		.limit = 0xffffffff,
		.selector = selector,
		.type = type,
		.present = 1,
		.s = 1,
		.g = 1,
		.l = is_64bit_code ? 1 : 0,
		.db = is_64bit_code ? 0 : 1,
	};
}

int registers_set(int vcpu_fd, const struct boot_state *boot)
{
	int is_long = boot->mode == ENTRY_LONG64;
	struct kvm_regs regs = {
		.rip = boot->entry_gpa,
		.rsp = boot->rsp,
		.rax = boot->rax,
		.rbx = boot->rbx,
		.rsi = boot->rsi,
		.rdi = boot->rdi,
		.rflags = RFLAGS_RESERVED_ONE,
	};
	struct kvm_sregs sregs;
	int ret = kvm_vcpu_ioctl(vcpu_fd, KVM_GET_SREGS, &sregs);

	if (ret < 0)
		return ret;
	sregs.cs = flat_segment(boot->cs_selector, SEGMENT_CODE, is_long);
	sregs.ds = flat_segment(boot->ds_selector, SEGMENT_DATA, 0);
	sregs.es = sregs.fs = sregs.gs = sregs.ss = sregs.ds;
	sregs.tr = (struct kvm_segment){.selector = boot->tr_selector,
					.limit = 0x67,
					.type = SEGMENT_BUSY_TSS,
					.present = 1};
	sregs.ldt = (struct kvm_segment){.unusable = 1};
	sregs.gdt = (struct kvm_dtable){.base = boot->gdt_gpa,
					.limit = boot->gdt_limit};
	sregs.idt = (struct kvm_dtable){.base = 0, .limit = 0};
	sregs.cr0 = CR0_PE | CR0_ET | (is_long ? CR0_PG : 0);
	sregs.cr3 = boot->cr3_gpa;
	sregs.cr4 = is_long ? CR4_PAE : 0;
	sregs.efer = is_long ? EFER_LME | EFER_LMA : 0;
	ret = kvm_vcpu_ioctl(vcpu_fd, KVM_SET_SREGS, &sregs);
	if (ret < 0)
		return ret;
	return kvm_vcpu_ioctl(vcpu_fd, KVM_SET_REGS, &regs);
}
