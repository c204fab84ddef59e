/* SPDX-License-Identifier: MIT */
/* The run loop of a vCPU: in which order it does what. See vcpu_case.h. */
#include "vcpu_case.h"

START_TEST(test_vcpu_polls_before_every_entry)
{
	static const struct step steps[] = {{0}, {0}, {.ends = true}};

	run_script(steps, 3, "prxprxprx");
	ck_assert(!running_at_exit);
	ck_assert_uint_eq(vcpu.stats.requests, 0);
}
END_TEST

/* The way into the guest is no shorter than after an expiry. */
START_TEST(test_vcpu_delivery_by_poll_takes_a_turn)
{
	static const struct step steps[] = {{.ends = true}};

	poll_deliveries = 1;
	run_script(steps, 1, "pprx");
}
END_TEST

/* Nothing is told on the way into the guest, and all of it once it is back. */
START_TEST(test_vcpu_tells_after_the_run)
{
	static const struct step steps[] = {
		{.ret = -EINTR, .kicks = KICK_DUE}, {0}, {.ends = true}};

	deliveries_untold = true;
	run_page.exit_reason = KVM_EXIT_X86_WRMSR;
	run_script(steps, 3, "preprtxprx");
	ck_assert_int_eq(told_result, 0);
	ck_assert_uint_eq(told_exit_reason, KVM_EXIT_X86_WRMSR);
}
END_TEST

START_TEST(test_vcpu_tells_of_a_run_that_failed)
{
	static const struct step steps[] = {{.ret = -EINTR}, {.ends = true}};

	deliveries_untold = true;
	poll_deliveries = 1;
	run_script(steps, 2, "pprtprx");
	ck_assert_int_eq(told_result, -EINTR);
}
END_TEST

/* Stopped between a delivery and the guest. */
START_TEST(test_vcpu_tells_without_a_run)
{
	static const struct step steps[] = {
		{.ret = -EINTR, .kicks = KICK_DUE | KICK_STOP}};

	deliveries_untold = true;
	run_script(steps, 1, "preu");
}
END_TEST

/* The timer is the kernel's: there is nothing to poll. */
START_TEST(test_vcpu_without_user_timer)
{
	static const struct step steps[] = {{0}, {.ends = true}};

	vm.user_timer = false;
	run_script(steps, 2, "rxrx");
}
END_TEST

/* exit_reason is stale after EINTR, so no exit is handled; the expiry is
 * served before anything else, without a poll that would take it. */
START_TEST(test_vcpu_kicked_out)
{
	static const struct step steps[] = {{.ret = -EINTR, .kicks = KICK_DUE},
					    {.ends = true}};

	run_script(steps, 2, "preprx");
	ck_assert_uint_eq(vcpu.stats.interrupted, 1);
	ck_assert_uint_eq(vcpu.stats.requests, 1);
	ck_assert_uint_eq(run_page.immediate_exit, 0);
}
END_TEST

START_TEST(test_vcpu_kicked_while_out)
{
	static const struct step steps[] = {{.kicks_at_exit = KICK_DUE},
					    {.ends = true}};

	run_script(steps, 2, "prxeprx");
	ck_assert_uint_eq(vcpu.kick.signals, 0);
}
END_TEST

/* Another kick is no reason to put the poll off. */
START_TEST(test_vcpu_polls_with_other_kicks_on_hand)
{
	static const struct step steps[] = {{.kicks_at_exit = KICK_LOOK},
					    {.ends = true}};

	run_script(steps, 2, "prxplbprx");
	ck_assert_uint_eq(atomic_load(&vcpu.looks), 1);
}
END_TEST

START_TEST(test_vcpu_serves_all_that_was_asked)
{
	static const struct step steps[] = {
		{.ret = -EINTR,
		 .kicks = KICK_DUE | KICK_LOOK | KICK_DUMP | KICK_STOP}};

	run_script(steps, 1, "predlb");
	ck_assert_uint_eq(atomic_load(&vcpu.looks), 1);
	ck_assert_uint_eq(atomic_load(&vcpu.dumps), 1);
}
END_TEST

START_TEST(test_vcpu_stops_before_it_runs)
{
	atomic_store(&vcpu.kick.word, KICK_STOP);
	run_script(NULL, 0, "p");
}
END_TEST

START_TEST(test_vcpu_not_started_yet)
{
	static const struct step steps[] = {{.ret = -EAGAIN}, {.ends = true}};

	run_script(steps, 2, "prprx");
	ck_assert_uint_eq(vcpu.stats.not_started, 1);
	ck_assert_uint_eq(vcpu.stats.interrupted, 0);
}
END_TEST

START_TEST(test_vcpu_run_fails)
{
	static const struct step steps[] = {{.ret = -EFAULT}};

	run_script(steps, 1, "prR");
	ck_assert_int_eq(failed_error, -EFAULT);
}
END_TEST

START_TEST(test_vcpu_poll_fails)
{
	poll_error = -EIO;
	run_script(NULL, 0, "pT");
	ck_assert_int_eq(failed_error, -EIO);
}
END_TEST

START_TEST(test_vcpu_resync_fails)
{
	resync_error = -ENXIO;
	atomic_store(&vcpu.kick.word, KICK_RESYNC | KICK_DUE | KICK_DUMP);
	run_script(NULL, 0, "esT");
	ck_assert_int_eq(failed_error, -ENXIO);
}
END_TEST

START_TEST(test_vcpu_expiry_fails)
{
	expired_error = -EIO;
	atomic_store(&vcpu.kick.word, KICK_DUE | KICK_DUMP);
	run_script(NULL, 0, "eT");
	ck_assert_int_eq(failed_error, -EIO);
}
END_TEST

/* Not a deadline could be kept: the guest does not start. */
START_TEST(test_vcpu_bind_fails)
{
	ck_assert_int_eq(end_init(&vm.end), 0);
	bind_error = -EAGAIN;
	run_script(NULL, 0, "");
	ck_assert_int_eq(end_status(&vm.end), EXIT_STATUS_CANNOT);
	ck_assert_ptr_nonnull(strstr(vm.end.detail, "ulimit -i"));
	end_free(&vm.end);
}
END_TEST

START_TEST(test_vcpu_dumps_at_a_bad_end)
{
	static const struct step steps[] = {{.ends = true}};

	wants_dump = true;
	run_script(steps, 1, "prxd");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vcpu");
	TCase *tc = tcase_create("loop");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_vcpu_polls_before_every_entry);
	tcase_add_test(tc, test_vcpu_delivery_by_poll_takes_a_turn);
	tcase_add_test(tc, test_vcpu_tells_after_the_run);
	tcase_add_test(tc, test_vcpu_tells_of_a_run_that_failed);
	tcase_add_test(tc, test_vcpu_tells_without_a_run);
	tcase_add_test(tc, test_vcpu_without_user_timer);
	tcase_add_test(tc, test_vcpu_kicked_out);
	tcase_add_test(tc, test_vcpu_kicked_while_out);
	tcase_add_test(tc, test_vcpu_polls_with_other_kicks_on_hand);
	tcase_add_test(tc, test_vcpu_serves_all_that_was_asked);
	tcase_add_test(tc, test_vcpu_stops_before_it_runs);
	tcase_add_test(tc, test_vcpu_not_started_yet);
	tcase_add_test(tc, test_vcpu_run_fails);
	tcase_add_test(tc, test_vcpu_bind_fails);
	tcase_add_test(tc, test_vcpu_poll_fails);
	tcase_add_test(tc, test_vcpu_expiry_fails);
	tcase_add_test(tc, test_vcpu_resync_fails);
	tcase_add_test(tc, test_vcpu_dumps_at_a_bad_end);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
