/* SPDX-License-Identifier: MIT */
/*
 * The state dump, from registers that the test gives in KVM's place. The
 * layout is for people; what is checked is that what they need is in it, that
 * a guest cannot make it grow or talk to a terminal, and that an answer that
 * KVM does not give costs its line only.
 */
#define _GNU_SOURCE
#include "dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kvm.h"
#include "tap.h"
#include "vcpu.h"
#include "vm.h"

#define VCPU_FD	 42
#define CODE_GPA 0x5000u

static struct vm vm;
static struct vcpu vcpu;
static struct kvm_lapic_state apic;
static struct kvm_translation translation;
static unsigned long failing;
static char *printed;

/* In the place of vmm/kvm.c. */
int kvm_do_ioctl(int fd, unsigned long request, void *arg)
{
	struct kvm_sregs *sregs = arg;
	struct kvm_regs *regs = arg;

	ck_assert_int_eq(fd, VCPU_FD);
	if (request == failing)
		return -EINVAL;
	switch (request) {
	case KVM_GET_MP_STATE:
		((struct kvm_mp_state *)arg)->mp_state = KVM_MP_STATE_HALTED;
		return 0;
	case KVM_GET_REGS:
		memset(regs, 0, sizeof(*regs));
		regs->rip = 0x1234;
		regs->rflags = 0x246;
		regs->r15 = 0xfedcba9876543210;
		return 0;
	case KVM_GET_SREGS:
		memset(sregs, 0, sizeof(*sregs));
		sregs->cs.selector = 0x10;
		sregs->cs.base = 0xffff0000;
		sregs->cr2 = 0xdeadbeef;
		return 0;
	case KVM_GET_LAPIC:
		memcpy(arg, &apic, sizeof(apic));
		return 0;
	case KVM_TRANSLATE:
		ck_assert_uint_eq(
			((struct kvm_translation *)arg)->linear_address,
			0xffff1234);
		memcpy(arg, &translation, sizeof(translation));
		return 0;
	default:
		return -ENOTTY;
	}
}

static void set_apic(unsigned int offset, uint32_t value)
{
	memcpy(&apic.regs[offset], &value, sizeof(value));
}

static void setup(void)
{
	ck_assert_int_eq(ram_alloc(&vm.ram, 1 << 20), 0);
	for (uint8_t i = 0; i < 20; i++)
		*(uint8_t *)ram_ptr(&vm.ram, CODE_GPA + i, 1) =
			(uint8_t)(0xa0 + i);
	console_init(&vm.console, -1);
	vm.vcpus = &vcpu;
	vm.vcpu_count = 1;
	vcpu.vm = &vm;
	vcpu.fd = VCPU_FD;
	vcpu.index = 7;
	translation.valid = 1;
	translation.physical_address = CODE_GPA;
}

static void teardown(void)
{
	console_close(&vm.console, 0);
	ram_free(&vm.ram);
	free(printed);
}

static void has(const char *text)
{
	ck_assert_msg(strstr(vcpu.dump, text) != NULL, "no \"%s\" in: %s", text,
		      vcpu.dump);
}

static void has_not(const char *text)
{
	ck_assert_msg(!strstr(vcpu.dump, text), "\"%s\" in: %s", text,
		      vcpu.dump);
}

START_TEST(test_dump_registers)
{
	dump_vcpu(&vcpu);
	has("vCPU 7: mp_state 3\n");
	has("rip 0000000000001234 rflags 00000246");
	has("r15 fedcba9876543210");
	has("cs 0010 base ffff0000");
	has("cr2 deadbeef");
	has("code: a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa ab ac ad ae af\n");
}
END_TEST

START_TEST(test_dump_no_code)
{
	translation.valid = 0;
	dump_vcpu(&vcpu);
	has_not("code:");
	translation.valid = 1;
	translation.physical_address = (1 << 20) - 15;
	dump_vcpu(&vcpu);
	has_not("code:");
	translation.physical_address = UINT64_MAX;
	dump_vcpu(&vcpu);
	has_not("code:");
	failing = KVM_TRANSLATE;
	dump_vcpu(&vcpu);
	has_not("code:");
	has("cs 0010");
}
END_TEST

START_TEST(test_dump_apic)
{
	set_apic(0x320, 0x400ef);
	set_apic(0xf0, 0x1ff);
	set_apic(0x80, 0x20);
	/* Vectors 0x10, 0x3f and 0xff; in service 0x40. */
	set_apic(0x200, 1u << 16);
	set_apic(0x210, 1u << 31);
	set_apic(0x270, 1u << 31);
	set_apic(0x120, 1);
	dump_vcpu(&vcpu);
	has("lvtt 400ef spiv 1ff tpr 20");
	has(" irr 10 3f ff");
	has(" isr 40\n");
}
END_TEST

START_TEST(test_dump_timer)
{
	dump_vcpu(&vcpu);
	has_not("timer:");
	vm.user_timer = true;
	vcpu.timer.model.state = LAPIC_TIMER_ARMED;
	vcpu.timer.model.deadline_guest_tsc = 0xabcdef;
	vcpu.timer.stats.arms = 12;
	vcpu.timer.stats.fires = 11;
	dump_vcpu(&vcpu);
	has("timer: armed deadline abcdef");
	has("arms 12 fires 11");
}
END_TEST

/* Whatever KVM does not give is left out, and nothing else. */
START_TEST(test_dump_partly)
{
	failing = KVM_GET_LAPIC;
	dump_vcpu(&vcpu);
	has("rip");
	has_not("apic:");
	failing = KVM_GET_REGS;
	dump_vcpu(&vcpu);
	has("mp_state");
	has_not("rip");
	has("apic:");
	failing = KVM_GET_MP_STATE;
	dump_vcpu(&vcpu);
	has_not("mp_state");
	has("rip");
}
END_TEST

/* All vectors set is more than there is room for. */
START_TEST(test_dump_is_bounded)
{
	memset(apic.regs, 0xff, sizeof(apic.regs));
	vm.user_timer = true;
	memset(vcpu.dump, 'x', sizeof(vcpu.dump));
	dump_vcpu(&vcpu);
	ck_assert_uint_lt(strlen(vcpu.dump), sizeof(vcpu.dump));
	has(" irr 00 01 02");
}
END_TEST

static void check_print(const char *expected)
{
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	ck_assert_ptr_nonnull(out);
	dump_print(&vm, out);
	fclose(out);
	ck_assert_str_eq(printed, expected);
}

static void put(const char *text)
{
	for (; *text; text++)
		console_put(&vm.console, (uint8_t)*text);
}

START_TEST(test_dump_print_quiet_guest)
{
	strcpy(vcpu.dump, "registers\n");
	check_print("registers\n");
}
END_TEST

/* The tail of the console, made harmless. */
START_TEST(test_dump_print_console)
{
	strcpy(vcpu.dump, "registers\n");
	put("panic:\tbad \x1b[2J\x07\xff\x7f\r\nend");
	check_print("registers\n"
		    "last console output:\n"
		    "panic:\tbad .[2J...\nend\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump");
	TCase *tc = tcase_create("dump");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_dump_registers);
	tcase_add_test(tc, test_dump_no_code);
	tcase_add_test(tc, test_dump_apic);
	tcase_add_test(tc, test_dump_timer);
	tcase_add_test(tc, test_dump_partly);
	tcase_add_test(tc, test_dump_is_bounded);
	tcase_add_test(tc, test_dump_print_quiet_guest);
	tcase_add_test(tc, test_dump_print_console);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
