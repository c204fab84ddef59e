/* SPDX-License-Identifier: MIT */
/*
 * dump - state dump. Reference: Linux Documentation/virt/kvm/api.rst
 * "KVM_GET_REGS", "KVM_GET_SREGS", "KVM_GET_LAPIC", "KVM_TRANSLATE"; SDM 3A
 * "Local APIC Register Address Map". Bounded: a fixed buffer for each vCPU.
 */
#include "dump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "kvm.h"
#include "vcpu.h"
#include "vm.h"

enum {
	CODE_BYTES = 16,
	/* Local APIC register offsets, in table order. */
	APIC_TPR = 0x80,
	APIC_SPIV = 0xf0,
	APIC_ISR = 0x100,
	APIC_IRR = 0x200,
	APIC_LVTT = 0x320,
	APIC_TMICT = 0x380,
	APIC_TMCCT = 0x390,
};

struct text {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void
text_add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n >= text->left)
		n = text->left ? (int)text->left - 1 : 0;
	text->at += n;
	text->left -= (size_t)n;
}

static void dump_code(struct vcpu *vcpu, struct text *text, uint64_t linear)
{
	struct kvm_translation translation = {.linear_address = linear};
	const uint8_t *code;

	if (kvm_vcpu_ioctl(vcpu->fd, KVM_TRANSLATE, &translation) < 0 ||
	    !translation.valid)
		return;
	code = ram_ptr(&vcpu->vm->ram, translation.physical_address,
		       CODE_BYTES);
	if (!code)
		return;
	text_add(text, "  code:");
	for (int i = 0; i < CODE_BYTES; i++)
		text_add(text, " %02x", code[i]);
	text_add(text, "\n");
}

static void dump_registers(struct vcpu *vcpu, struct text *text)
{
	struct kvm_regs r;
	struct kvm_sregs s;
	struct kvm_mp_state mp = {0};

	if (kvm_vcpu_ioctl(vcpu->fd, KVM_GET_MP_STATE, &mp) >= 0)
		text_add(text, "vCPU %" PRIu32 ": mp_state %" PRIu32 "\n",
			 vcpu->index, mp.mp_state);
	if (kvm_vcpu_ioctl(vcpu->fd, KVM_GET_REGS, &r) < 0 ||
	    kvm_vcpu_ioctl(vcpu->fd, KVM_GET_SREGS, &s) < 0)
		return;
	text_add(text,
		 "  rip %016llx rflags %08llx\n"
		 "  rax %016llx rbx %016llx rcx %016llx rdx %016llx\n"
		 "  rsi %016llx rdi %016llx rbp %016llx rsp %016llx\n"
		 "  r8  %016llx r9  %016llx r10 %016llx r11 %016llx\n"
		 "  r12 %016llx r13 %016llx r14 %016llx r15 %016llx\n",
		 r.rip, r.rflags, r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi,
		 r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14,
		 r.r15);
	text_add(text,
		 "  cs %04x base %llx l %u db %u  ss %04x  cr0 %llx cr2 %llx "
		 "cr3 %llx cr4 %llx efer %llx\n"
		 "  gdt %llx/%x idt %llx/%x apic_base %llx\n",
		 s.cs.selector, s.cs.base, s.cs.l, s.cs.db, s.ss.selector,
		 s.cr0, s.cr2, s.cr3, s.cr4, s.efer, s.gdt.base, s.gdt.limit,
		 s.idt.base, s.idt.limit, s.apic_base);
	dump_code(vcpu, text, s.cs.base + r.rip);
}

static uint32_t apic_register(const struct kvm_lapic_state *apic,
			      unsigned int offset)
{
	uint32_t value;

	memcpy(&value, &apic->regs[offset], sizeof(value));
	return value;
}

/* The 256 bits of IRR or ISR, as the vectors that are set. */
static void dump_vectors(struct text *text, const char *name,
			 const struct kvm_lapic_state *apic,
			 unsigned int offset)
{
	text_add(text, " %s", name);
	for (unsigned int v = 0; v < 256; v++)
		if (apic_register(apic, offset + v / 32 * 0x10) >> (v % 32) & 1)
			text_add(text, " %02x", v);
}

static void dump_apic(struct vcpu *vcpu, struct text *text)
{
	struct kvm_lapic_state apic;

	if (kvm_vcpu_ioctl(vcpu->fd, KVM_GET_LAPIC, &apic) < 0)
		return;
	text_add(text, "  apic: lvtt %x spiv %x tpr %x tmict %x tmcct %x",
		 apic_register(&apic, APIC_LVTT),
		 apic_register(&apic, APIC_SPIV),
		 apic_register(&apic, APIC_TPR),
		 apic_register(&apic, APIC_TMICT),
		 apic_register(&apic, APIC_TMCCT));
	dump_vectors(text, "irr", &apic, APIC_IRR);
	dump_vectors(text, "isr", &apic, APIC_ISR);
	text_add(text, "\n");
}

static void dump_timer(struct vcpu *vcpu, struct text *text)
{
	static const char *const states[] = {
		[LAPIC_TIMER_IDLE] = "idle",
		[LAPIC_TIMER_ARMED] = "armed",
		[LAPIC_TIMER_DELIVERED] = "delivered",
	};
	const struct user_timer *timer = &vcpu->timer;
	uint64_t guest_tsc =
		guest_from_host(clock_read_tsc(), timer->tsc.tsc_offset);

	if (!vcpu->vm->user_timer)
		return;
	text_add(text,
		 "  timer: %s deadline %" PRIx64 " guest tsc %" PRIx64
		 " arms %" PRIu64 " fires %" PRIu64 " advance %" PRIu64
		 " cycles\n",
		 states[timer->model.state], timer->model.deadline_guest_tsc,
		 guest_tsc, timer->stats.arms, timer->stats.fires,
		 timer->tuner.advance_tsc);
}

void dump_vcpu(struct vcpu *vcpu)
{
	struct text text = {vcpu->dump, sizeof(vcpu->dump)};

	vcpu->dump[0] = '\0';
	dump_registers(vcpu, &text);
	dump_apic(vcpu, &text);
	dump_timer(vcpu, &text);
}

void dump_print(struct vm *vm, FILE *out)
{
	char tail[CONSOLE_TAIL_SIZE];
	size_t n;

	for (uint32_t i = 0; i < vm->vcpu_count; i++)
		fputs(vm->vcpus[i].dump, out);
	n = console_tail(&vm->console, tail, sizeof(tail));
	if (!n)
		return;
	fprintf(out, "last console output:\n");
	/* A terminal must not take orders from a guest that went wrong. */
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)tail[i];

		if (c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f))
			fputc(c, out);
		else if (c != '\r')
			fputc('.', out);
	}
	if (tail[n - 1] != '\n')
		fputc('\n', out);
}
