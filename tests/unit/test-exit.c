/* SPDX-License-Identifier: MIT */
/*
 * The decoding of exits: which register, which value, what the guest is told,
 * and which end of the run it is. Devices, console and end are the real ones;
 * the timer is a record of what it was asked.
 */
#include "exit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/kvm.h>

#include "calibrate.h"
#include "config.h"
#include "monotonic.h"
#include "tap.h"
#include "vcpu.h"
#include "vm.h"

#define EXIT_PORT 0xf4
#define COM1_PORT 0x3f8
#define NO_PORT	  0x2345

static union {
	struct kvm_run run;
	uint8_t bytes[8192];
} page;

static struct config config;
static struct vm vm;
static struct vcpu vcpu;
static struct calibrate calibrate;

/* The last call of user_timer.h, and what it returns. */
static char called; /* d deadline, t TSC, a TSC_ADJUST, r read */
static uint64_t called_with;
static int timer_error, backstop_answer;
static unsigned int backstops, goes;

static int timer_call(struct user_timer *timer, char name, uint64_t value)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	called = name;
	called_with = value;
	return timer_error;
}

int user_timer_write_deadline(struct user_timer *timer, uint64_t guest_tsc)
{
	return timer_call(timer, 'd', guest_tsc);
}

int user_timer_write_tsc(struct user_timer *timer, uint64_t guest_tsc)
{
	return timer_call(timer, 't', guest_tsc);
}

int user_timer_write_tsc_adjust(struct user_timer *timer, uint64_t adjust)
{
	return timer_call(timer, 'a', adjust);
}

int user_timer_read_deadline(struct user_timer *timer, uint64_t *guest_tsc)
{
	*guest_tsc = 0x123456789abc;
	return timer_call(timer, 'r', 0);
}

int user_timer_backstop(struct user_timer *timer, uint64_t *value)
{
	ck_assert_ptr_eq(timer, &vcpu.timer);
	backstops++;
	*value = 0x77;
	return backstop_answer;
}

void calibrate_go(const struct calibrate *c)
{
	ck_assert_ptr_eq(c, &calibrate);
	goes++;
}

static void setup(void)
{
	vm.config = &config;
	vm.user_timer = true;
	ck_assert_int_eq(tsc_scale_init(&vm.timer_setup.scale, 2000000), 0);
	bus_init(&vm.bus, EXIT_PORT, NULL);
	console_init(&vm.console, -1);
	ck_assert_int_eq(end_init(&vm.end), 0);
	vcpu.vm = &vm;
	vcpu.run = &page.run;
	/* Not before its time. */
	vcpu.backstop_next_tsc = UINT64_MAX;
}

static bool exit_as(uint32_t reason)
{
	page.run.exit_reason = reason;
	return exit_handle(&vcpu);
}

static bool wrmsr(uint32_t index, uint64_t value)
{
	called = 0;
	page.run.msr.index = index;
	page.run.msr.data = value;
	page.run.msr.error = 1;
	return exit_as(KVM_EXIT_X86_WRMSR);
}

static bool rdmsr(uint32_t index)
{
	called = 0;
	page.run.msr.index = index;
	page.run.msr.data = 0xdead;
	page.run.msr.error = 1;
	return exit_as(KVM_EXIT_X86_RDMSR);
}

static bool io(bool in, uint16_t port, unsigned int size, unsigned int count,
	       const void *data)
{
	page.run.io.direction = in ? KVM_EXIT_IO_IN : KVM_EXIT_IO_OUT;
	page.run.io.port = port;
	page.run.io.size = (uint8_t)size;
	page.run.io.count = count;
	page.run.io.data_offset = 4096;
	memcpy(&page.bytes[4096], data, (size_t)size * count);
	return exit_as(KVM_EXIT_IO);
}

static void check_end(enum end_kind kind)
{
	ck_assert_int_eq(vm.end.kind, kind);
	ck_assert(kind == END_NONE || atomic_load(&vm.end.published));
}

START_TEST(test_exit_wrmsr)
{
	static const struct {
		uint32_t index;
		char call;
	} table[] = {{0x6e0, 'd'}, {0x10, 't'}, {0x3b, 'a'}};

	for (uint64_t value = 0; value < 3; value++) {
		ck_assert(wrmsr(table[_i].index, value - 1));
		ck_assert_int_eq(called, table[_i].call);
		ck_assert_uint_eq(called_with, value - 1);
		ck_assert_uint_eq(page.run.msr.error, 0);
	}
	ck_assert_uint_eq(vcpu.stats.tsc_writes, _i ? 3 : 0);
	ck_assert_uint_eq(vcpu.stats.exits[KVM_EXIT_X86_WRMSR], 3);
	ck_assert_uint_eq(vcpu.stats.msr_refused, 0);
	/* Deadlines alone say that the filter works. */
	ck_assert_int_eq(atomic_load(&vcpu.timer_seen), _i == 0);
}
END_TEST

START_TEST(test_exit_first_deadline_starts_the_calibration)
{
	vm.calibrate = &calibrate;
	ck_assert(wrmsr(0x10, 5));
	ck_assert_uint_eq(goes, 0);
	ck_assert(wrmsr(0x6e0, 5));
	ck_assert(wrmsr(0x6e0, 6));
	ck_assert_uint_eq(goes, 1);
}
END_TEST

START_TEST(test_exit_rdmsr)
{
	ck_assert(rdmsr(0x6e0));
	ck_assert_int_eq(called, 'r');
	ck_assert_uint_eq(page.run.msr.error, 0);
	ck_assert_uint_eq(page.run.msr.data, 0x123456789abc);
	ck_assert_uint_eq(vcpu.stats.msr_refused, 0);
}
END_TEST

/* #GP, counted, and the guest goes on. */
START_TEST(test_exit_other_msr)
{
	ck_assert(wrmsr(0x6e1, 1));
	ck_assert_int_eq(called, 0);
	ck_assert_uint_eq(page.run.msr.error, 1);
	ck_assert(rdmsr(0x10));
	ck_assert_int_eq(called, 0);
	ck_assert_uint_eq(page.run.msr.error, 1);
	ck_assert_uint_eq(vcpu.stats.msr_refused, 2);
	/* A vCPU without the register. */
	timer_error = -EINVAL;
	ck_assert(wrmsr(0x3b, 1));
	ck_assert_uint_eq(page.run.msr.error, 1);
	ck_assert_uint_eq(vcpu.stats.msr_refused, 3);
	check_end(END_NONE);
}
END_TEST

START_TEST(test_exit_timer_fails)
{
	static const uint32_t written[] = {0x6e0, 0x10, 0x3b};

	/* An ioctl that fails is KVM's fault, a TSC that does is not. */
	timer_error = _i % 2 ? -EIO : -ETIME;
	ck_assert(_i < 3 ? !wrmsr(written[_i], 1) : !rdmsr(0x6e0));
	check_end(_i % 2 ? END_KVM : END_INTERNAL);
}
END_TEST

START_TEST(test_exit_string_instructions)
{
	uint8_t zeros[12] = {0};

	ck_assert(io(false, COM1_PORT, 1, 3, "abc"));
	ck_assert_uint_eq(vm.console.bytes, 3);
	ck_assert_int_eq(memcmp(vm.console.tail, "abc", 3), 0);
	ck_assert(io(true, NO_PORT, 2, 3, zeros));
	ck_assert_int_eq(memcmp(&page.bytes[4096],
				"\xff\xff\xff\xff\xff\xff\0\0\0\0\0", 12),
			 0);
	ck_assert_uint_eq(vm.bus.unclaimed_in, 6);
}
END_TEST

static const uint32_t status_words[] = {5};

START_TEST(test_exit_port)
{
	ck_assert(!io(false, EXIT_PORT, 4, 1, status_words));
	check_end(END_GUEST_EXIT);
	ck_assert_uint_eq(vm.end.value, 5);
}
END_TEST

/* What is left in a process's status of QEMU's exit(value * 2 + 1). */
static const struct {
	unsigned int size;
	uint32_t value;
	uint64_t status;
} debug_exits[] = {
	{4, 0, 1},	    {4, 5, 11},	    {1, 0x10, 0x21},
	{2, 0x10, 0x21},    {4, 31, 63},    {4, 32, 65},
	{1, 0x7f, 0xff},    {1, 0x80, 1},   {1, 0xff, 0xff},
	{2, 0xff05, 11},    {2, 0x0180, 1}, {4, 0xffffffff, 0xff},
	{4, 0x80000001, 3},
};

START_TEST(test_exit_isa_debug)
{
	config.exit_encoding = EXIT_ISA_DEBUG;
	ck_assert(!io(false, EXIT_PORT, debug_exits[_i].size, 1,
		      &debug_exits[_i].value));
	check_end(END_GUEST_EXIT);
	ck_assert_uint_eq(vm.end.value, debug_exits[_i].status);
}
END_TEST

/* A page of RAM, then what is none; the guest goes on. */
START_TEST(test_exit_flush)
{
	static const uint32_t pages[] = {0x1234, 0xfee00000, 0x100000};

	ck_assert_int_eq(ram_alloc(&vm.ram, 0x100000), 0);
	ck_assert_int_eq(bus_add_test_ports(&vm.bus, 0x100000, 1), 0);
	vm.ram.regions[0].host[0x1234] = 0x5a;
	ck_assert(io(false, 0xe4, 4, 1, pages));
	ck_assert_uint_eq(vcpu.stats.flushes_refused, 0);
	ck_assert(io(false, 0xe4, 4, 3, pages));
	ck_assert_uint_eq(vcpu.stats.flushes_refused, 2);
	ck_assert_int_eq(vm.end.kind, END_NONE);
	ck_assert_uint_eq(vm.ram.regions[0].host[0x1234]++, 0x5a);
	ram_free(&vm.ram);
}
END_TEST

/* The page may be read-only now: nothing that a guest can live with. */
START_TEST(test_exit_flush_fails)
{
	static const uint32_t zero;

	ck_assert_int_eq(ram_alloc(&vm.ram, 0x100000), 0);
	ck_assert_int_eq(bus_add_test_ports(&vm.bus, 0x100000, 1), 0);
	munmap(vm.ram.regions[0].host, 0x100000);
	ck_assert(!io(false, 0xe4, 4, 1, &zero));
	check_end(END_INTERNAL);
	ck_assert_uint_eq(vm.end.value, ENOMEM);
	ck_assert_uint_eq(vcpu.stats.flushes_refused, 0);
}
END_TEST

/* The guest goes on; a string instruction is as many markers. */
START_TEST(test_exit_marker)
{
	vm.bus.marker_port = 0xf8;
	vm.markers.start_ns = monotonic_ns();
	vcpu.index = 3;
	ck_assert(io(false, 0xf8, 1, 2, "\x07\x08"));
	ck_assert_int_eq(vm.end.kind, END_NONE);
	ck_assert_uint_eq(markers_kept(&vm.markers), 2);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_uint_eq(vm.markers.kept[i].value, 7 + i);
		ck_assert_uint_eq(vm.markers.kept[i].vcpu, 3);
		ck_assert_uint_lt(vm.markers.kept[i].since_start_ns,
				  UINT64_C(60000000000));
	}
}
END_TEST

START_TEST(test_exit_reset)
{
	ck_assert(!io(false, 0x64, 1, 1, "\xfe"));
	check_end(END_RESET);
}
END_TEST

START_TEST(test_exit_poweroff)
{
	ck_assert(io(false, 0x604, 2, 1, "\x01\x14"));
	ck_assert(!io(false, 0x604, 2, 1, "\x01\x34"));
	check_end(END_POWEROFF);
	ck_assert_str_eq(vm.end.detail, "the guest powered off");
}
END_TEST

/* A good end does not hide a timer that was KVM's own all along. */
START_TEST(test_exit_not_intercepted)
{
	backstop_answer = 1;
	if (_i == 2)
		ck_assert(!io(false, 0x604, 2, 1, "\x01\x34"));
	else if (_i)
		ck_assert(!io(false, 0x64, 1, 1, "\xfe"));
	else
		ck_assert(!io(false, EXIT_PORT, 4, 1, status_words));
	check_end(END_NOT_INTERCEPTED);
	ck_assert_uint_eq(vm.end.value, 0x77);
}
END_TEST

/* On the way, it is looked at now and then. */
START_TEST(test_exit_backstop_now_and_then)
{
	uint64_t before = clock_read_tsc();

	ck_assert(io(true, NO_PORT, 1, 1, "x"));
	ck_assert_uint_eq(backstops, 0);
	vcpu.backstop_next_tsc = before;
	ck_assert(io(true, NO_PORT, 1, 1, "x"));
	ck_assert_uint_eq(backstops, 1);
	ck_assert_uint_eq(vcpu.stats.backstop_checks, 1);
	/* 10 ms at 2 GHz. */
	ck_assert_uint_ge(vcpu.backstop_next_tsc, before + 20000000);
	ck_assert_uint_le(vcpu.backstop_next_tsc, clock_read_tsc() + 20000000);
	vcpu.backstop_next_tsc = before;
	backstop_answer = 1;
	if (_i)
		ck_assert(!exit_as(KVM_EXIT_MMIO));
	else
		ck_assert(!io(true, NO_PORT, 1, 1, "x"));
	check_end(END_NOT_INTERCEPTED);
}
END_TEST

START_TEST(test_exit_backstop_cannot_look)
{
	backstop_answer = -EBADF;
	ck_assert(exit_backstop(&vcpu, true));
	check_end(END_KVM);
}
END_TEST

/* KVM's timer is KVM's business in mode "kernel". */
START_TEST(test_exit_no_backstop_without_user_timer)
{
	vm.user_timer = false;
	backstop_answer = 1;
	ck_assert(!exit_backstop(&vcpu, true));
	ck_assert(!io(false, EXIT_PORT, 4, 1, status_words));
	check_end(END_GUEST_EXIT);
	ck_assert_uint_eq(backstops, 0);
}
END_TEST

START_TEST(test_exit_mmio)
{
	page.run.mmio.len = 4;
	page.run.mmio.is_write = 0;
	ck_assert(exit_as(KVM_EXIT_MMIO));
	ck_assert_int_eq(memcmp(page.run.mmio.data, "\xff\xff\xff\xff\0", 5),
			 0);
	ck_assert_uint_eq(vm.bus.unclaimed_mmio, 1);
}
END_TEST

/* An end goes to the I/O APIC, whose level pin may then interrupt anew. */
START_TEST(test_exit_eoi)
{
	uint64_t *entry = &vm.bus.irqs.ioapic.entries[9];

	*entry = 0xc059; /* level, waits for the end */
	page.run.eoi.vector = 0x58;
	ck_assert(exit_as(KVM_EXIT_IOAPIC_EOI));
	ck_assert_uint_eq(*entry, 0xc059);
	page.run.eoi.vector = 0x59;
	ck_assert(exit_as(KVM_EXIT_IOAPIC_EOI));
	ck_assert_uint_eq(*entry, 0x8059);
	ck_assert_uint_eq(vm.bus.irqs.eoi_exits, 2);
}
END_TEST

/* Else it would come again and again. */
START_TEST(test_exit_interrupt_window)
{
	page.run.request_interrupt_window = 1;
	ck_assert(exit_as(KVM_EXIT_IRQ_WINDOW_OPEN));
	ck_assert_uint_eq(page.run.request_interrupt_window, 0);
}
END_TEST

/* The address decides. */
START_TEST(test_exit_mmio_ioapic)
{
	page.run.mmio.phys_addr = 0xfec00000;
	page.run.mmio.len = 4;
	page.run.mmio.is_write = true;
	page.run.mmio.data[0] = 0x01;
	ck_assert(exit_as(KVM_EXIT_MMIO));
	page.run.mmio.phys_addr = 0xfec00010;
	page.run.mmio.is_write = false;
	ck_assert(exit_as(KVM_EXIT_MMIO));
	ck_assert_uint_eq(page.run.mmio.data[0], 0x20);
	ck_assert_uint_eq(page.run.mmio.data[2], 23);
	ck_assert_uint_eq(vm.bus.unclaimed_mmio, 0);
}
END_TEST

START_TEST(test_exit_reasons)
{
	static const struct {
		uint32_t reason;
		enum end_kind end;
	} table[] = {
		{KVM_EXIT_INTR, END_NONE},
		{KVM_EXIT_IRQ_WINDOW_OPEN, END_NONE},
		{KVM_EXIT_IOAPIC_EOI, END_NONE},
		{KVM_EXIT_SHUTDOWN, END_TRIPLE_FAULT},
		{KVM_EXIT_INTERNAL_ERROR, END_KVM},
		{KVM_EXIT_FAIL_ENTRY, END_KVM},
		{KVM_EXIT_HYPERCALL, END_KVM},
		{4000, END_KVM},
	};

	ck_assert_int_eq(exit_as(table[_i].reason), table[_i].end == END_NONE);
	check_end(table[_i].end);
	ck_assert_uint_eq(vcpu.stats.exits_other, table[_i].reason == 4000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exit");
	TCase *tc = tcase_create("exit");

	tcase_add_test(tc, test_exit_eoi);
	tcase_add_test(tc, test_exit_interrupt_window);
	tcase_add_test(tc, test_exit_mmio_ioapic);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_exit_wrmsr, 0, 3);
	tcase_add_test(tc, test_exit_first_deadline_starts_the_calibration);
	tcase_add_test(tc, test_exit_rdmsr);
	tcase_add_test(tc, test_exit_other_msr);
	tcase_add_loop_test(tc, test_exit_timer_fails, 0, 4);
	tcase_add_test(tc, test_exit_string_instructions);
	tcase_add_test(tc, test_exit_port);
	tcase_add_loop_test(tc, test_exit_isa_debug, 0,
			    sizeof(debug_exits) / sizeof(debug_exits[0]));
	tcase_add_test(tc, test_exit_flush);
	tcase_add_test(tc, test_exit_flush_fails);
	tcase_add_test(tc, test_exit_marker);
	tcase_add_test(tc, test_exit_reset);
	tcase_add_test(tc, test_exit_poweroff);
	tcase_add_loop_test(tc, test_exit_not_intercepted, 0, 3);
	tcase_add_loop_test(tc, test_exit_backstop_now_and_then, 0, 2);
	tcase_add_test(tc, test_exit_backstop_cannot_look);
	tcase_add_test(tc, test_exit_no_backstop_without_user_timer);
	tcase_add_test(tc, test_exit_mmio);
	tcase_add_loop_test(tc, test_exit_reasons, 0, 8);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
