/* SPDX-License-Identifier: MIT */
/* The run loop of a vCPU that INTR of the 8259s is wired to. See vcpu_case.h.
 */
#include "vcpu_case.h"

/* Vectors from 0x30, nothing masked. */
static void setup_8259(uint8_t icw4)
{
	const uint8_t words[] = {0x30, 0x04, icw4, 0x00};

	bus_init(&vm.bus, -1, NULL);
	vm.bus.irqs.target = (struct irqs_target){
		.vm_fd = -1, .kick = &vcpu.kick, .intr = &vcpu.intr};
	bus_out(&vm.bus, 0x20, 1, 0x11);
	for (size_t i = 0; i < sizeof(words); i++)
		bus_out(&vm.bus, 0x21, 1, words[i]);
	ck_assert(!atomic_load(&vcpu.intr));
}

/* INTR gets the vCPU out. The guest cannot take it: KVM is to tell when; then
 * it gets it, once, and the next when the guest ended that one. */
START_TEST(test_vcpu_takes_intr)
{
	static const struct step steps[] = {
		{.ret = -EINTR, .irq = 4}, {.ready = true}, {.ends = true}};

	setup_8259(0x01);
	run_script(steps, 3, "prpprxiprx");
	ck_assert_uint_eq(injected, 0x34);
	ck_assert_uint_eq(vcpu.stats.requests, 1);
	ck_assert(!windows[0]);
	ck_assert(windows[1]);
	ck_assert(!windows[2]);
	ck_assert_uint_eq(vm.bus.irqs.extints, 1);
}
END_TEST

/* One at a time: two wait, and there is a turn without KVM_RUN between. */
START_TEST(test_vcpu_takes_intr_once)
{
	static const struct step steps[] = {{.ready = true}, {.ends = true}};

	setup_8259(0x03);
	raise_irq(4);
	raise_irq(6);
	atomic_store(&vcpu.kick.word, KICK_LOOK);
	run_page.ready_for_interrupt_injection = 1;
	run_script(steps, 2, "iplbprxiprx");
	ck_assert_uint_eq(injected, 0x36);
	ck_assert(windows[0]);
	ck_assert(!windows[1]);
	ck_assert_uint_eq(vm.bus.irqs.extints, 2);
}
END_TEST

/* KVM hears of the second one as the first goes in. */
START_TEST(test_vcpu_intr_more)
{
	static const struct step steps[] = {{.ready = true}, {.ends = true}};

	setup_8259(0x03);
	raise_irq(4);
	raise_irq(6);
	atomic_store(&vcpu.kick.word, 0);
	run_page.ready_for_interrupt_injection = 1;
	run_script(steps, 2, "iprxiprx");
	ck_assert(windows[0]);
	ck_assert(!windows[1]);
}
END_TEST

START_TEST(test_vcpu_intr_refused)
{
	setup_8259(0x01);
	raise_irq(4);
	ck_assert_int_eq(end_init(&vm.end), 0);
	run_page.ready_for_interrupt_injection = 1;
	interrupt_error = -EINVAL;
	run_script(NULL, 0, "i");
	ck_assert_int_eq(vm.end.kind, END_KVM);
	ck_assert_ptr_nonnull(strstr(vm.end.detail, "KVM_INTERRUPT"));
	end_free(&vm.end);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vcpu_intr");
	TCase *tc = tcase_create("intr");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_vcpu_takes_intr);
	tcase_add_test(tc, test_vcpu_takes_intr_once);
	tcase_add_test(tc, test_vcpu_intr_more);
	tcase_add_test(tc, test_vcpu_intr_refused);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
