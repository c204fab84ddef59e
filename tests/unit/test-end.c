/* SPDX-License-Identifier: MIT */
/*
 * Why a run ended: the first reason stays, and each kind of end has an exit
 * status of its own. The statuses are literal here: users script them.
 */
#include "end.h"

#include <poll.h>
#include <string.h>

#include "tap.h"

static struct end end;

static void setup(void)
{
	ck_assert_int_eq(end_init(&end), 0);
}

static void teardown(void)
{
	end_free(&end);
}

static bool is_signalled(void)
{
	struct pollfd pfd = {.fd = end.event_fd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 1;
}

START_TEST(test_end_none_yet)
{
	ck_assert_int_eq(end.kind, END_NONE);
	ck_assert(!atomic_load(&end.published));
	ck_assert(!is_signalled());
}
END_TEST

START_TEST(test_end_first_reason_wins)
{
	end_set(&end, END_GUEST_EXIT, 7, 3, "status %d", 7);
	ck_assert(atomic_load(&end.published));
	ck_assert(is_signalled());
	end_set(&end, END_TIME_LIMIT, 1, -1, "time limit");
	end_set(&end, END_SIGNAL, 15, -1, "signal");
	ck_assert_int_eq(end.kind, END_GUEST_EXIT);
	ck_assert_uint_eq(end.value, 7);
	ck_assert_int_eq(end.vcpu, 3);
	ck_assert_str_eq(end.detail, "status 7");
	ck_assert_int_eq(end_status(&end), 7);
	ck_assert(is_signalled());
}
END_TEST

START_TEST(test_end_overruled)
{
	end_set(&end, END_GUEST_EXIT, 0, 0, "status 0");
	end_overrule(&end, END_NOT_INTERCEPTED, 20, -1, "%d fires", 20);
	ck_assert_int_eq(end.kind, END_NOT_INTERCEPTED);
	ck_assert_uint_eq(end.value, 20);
	ck_assert_int_eq(end.vcpu, -1);
	ck_assert_str_eq(end.detail, "20 fires");
	ck_assert_int_eq(end_status(&end), EXIT_STATUS_NOT_INTERCEPTED);
	ck_assert(is_signalled());
}
END_TEST

START_TEST(test_end_long_detail_is_cut)
{
	char text[400];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	end_set(&end, END_KVM, 0, 0, "%s", text);
	ck_assert_uint_eq(strlen(end.detail), 191);
}
END_TEST

START_TEST(test_end_freed_twice)
{
	end_free(&end);
	end_free(&end);
	ck_assert_int_eq(end.event_fd, -1);
}
END_TEST

static int status_of(enum end_kind kind, uint64_t value)
{
	end.kind = kind;
	end.value = value;
	return end_status(&end);
}

START_TEST(test_end_guest_statuses)
{
	for (uint64_t value = 0; value <= 63; value++)
		tap_require(status_of(END_GUEST_EXIT, value) == (int)value);
	ck_assert_int_eq(status_of(END_GUEST_EXIT, 64), 119);
	ck_assert_int_eq(status_of(END_GUEST_EXIT, 124), 119);
	ck_assert_int_eq(status_of(END_GUEST_EXIT, 256), 119);
	ck_assert_int_eq(status_of(END_GUEST_EXIT, UINT32_MAX), 119);
	ck_assert_int_eq(status_of(END_GUEST_EXIT, UINT64_C(1) << 32), 119);
}
END_TEST

static const struct {
	enum end_kind kind;
	int status;
	const char *name;
} kinds[] = {
	{END_RESET, 0, "reset"},
	{END_POWEROFF, 0, "poweroff"},
	{END_TRIPLE_FAULT, 120, "triple-fault"},
	{END_HALTED, 121, "halted"},
	{END_KVM, 122, "kvm-error"},
	{END_NOT_INTERCEPTED, 123, "timer-not-intercepted"},
	{END_CANNOT, 77, "host-cannot"},
	{END_TIME_LIMIT, 124, "time-limit"},
	{END_OUTPUT, 74, "output-error"},
	{END_INTERNAL, 70, "internal-error"},
	{END_GUEST_EXIT, 5, "guest-exit"},
	{END_SIGNAL, 133, "signal"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

START_TEST(test_end_status_and_name_of_each_kind)
{
	ck_assert_int_eq(status_of(kinds[_i].kind, 5), kinds[_i].status);
	ck_assert_str_eq(end_name(kinds[_i].kind), kinds[_i].name);
}
END_TEST

/* All kinds are in the table, no two share a name, and only the two ends of a
 * guest that is done share a status. */
START_TEST(test_end_kinds_are_told_apart)
{
	ck_assert_uint_eq(KINDS, END_INTERNAL);
	for (size_t i = 0; i < KINDS; i++)
		for (size_t j = 0; j < i; j++) {
			tap_require(kinds[i].kind != kinds[j].kind);
			tap_require(kinds[i].status != kinds[j].status ||
				    (kinds[i].kind == END_POWEROFF &&
				     kinds[j].kind == END_RESET));
			tap_require(strcmp(kinds[i].name, kinds[j].name));
		}
	ck_assert_str_eq(end_name(END_NONE), "none");
	/* A run that ended without a reason is a defect. */
	ck_assert_int_eq(status_of(END_NONE, 0), 70);
}
END_TEST

/* Statuses that no end of a run gives, but the program: none is a guest's,
 * none is another's, and none is a signal's. */
START_TEST(test_end_other_statuses)
{
	static const int others[] = {EXIT_STATUS_USAGE, EXIT_STATUS_CONFIG,
				     EXIT_STATUS_GUEST_RANGE};

	ck_assert_int_eq(EXIT_STATUS_USAGE, 64);
	ck_assert_int_eq(EXIT_STATUS_CANNOT, 77);
	ck_assert_int_eq(EXIT_STATUS_CONFIG, 78);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		tap_require(others[i] > 63 && others[i] < 128);
		for (size_t j = 0; j < KINDS; j++)
			tap_require(others[i] != kinds[j].status);
		for (size_t j = 0; j < i; j++)
			tap_require(others[i] != others[j]);
	}
}
END_TEST

START_TEST(test_end_signals)
{
	for (uint64_t n = 1; n <= 64; n++)
		tap_require(status_of(END_SIGNAL, n) == 128 + (int)n);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("end");
	TCase *tc = tcase_create("end");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_end_none_yet);
	tcase_add_test(tc, test_end_first_reason_wins);
	tcase_add_test(tc, test_end_overruled);
	tcase_add_test(tc, test_end_long_detail_is_cut);
	tcase_add_test(tc, test_end_freed_twice);
	tcase_add_test(tc, test_end_guest_statuses);
	tcase_add_loop_test(tc, test_end_status_and_name_of_each_kind, 0,
			    KINDS);
	tcase_add_test(tc, test_end_kinds_are_told_apart);
	tcase_add_test(tc, test_end_other_statuses);
	tcase_add_test(tc, test_end_signals);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
