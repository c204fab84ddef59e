/* SPDX-License-Identifier: MIT */
/*
 * Proves, with the guest `irq`, that what a line asks for comes as often as it
 * should: edge and level by the I/O APIC and by the 8259s, to a processor that
 * runs and one that halts, with either timer; and what becomes of the other
 * delivery modes. What punctual counted is what the guest says it took.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doc.h"
#include "end.h"
#include "env.h"
#include "kvm.h"

enum {
	/* Of guest-fw/irq.c. */
	EDGES = 21,
	LEVELS = 6,
	TIMER_ONCE = 1,
	TIMER_RATE = 20,
	MASKED_TWICE = 2,
	LOWEST = 1,
	/* A period of the timer that began after the last one was seen. */
	TIMER_LATE = 4,
};

static const char *const modes[] = {"timer.mode=kernel",
				    "timer.mode=userspace"};

static struct env env;

/* Runs it; false if this host has no such mode. */
static bool run_irq(const char *word, const char *mode, int status,
		    const char *says, struct json_doc *doc)
{
	char path[PATH_MAX], option[PATH_MAX + 16];
	struct run run;

	if (strstr(mode, "userspace") && !env.userspace)
		return false;
	snprintf(option, sizeof(option), "--json=%s",
		 env_path(&env, "irq.json", path));
	env_guest(&env, &run, "irq.elf", word,
		  SETS(mode, "machine-config.vcpu_count=2", option,
		       env.allow_unstable ? "timer.unstable_tsc=allow" : NULL));
	env_expect_status(&run, status);
	ck_assert_msg(strstr(run.out.text, says), "%s: no \"%s\"", run.out.text,
		      says);
	run_free(&run);
	doc_load(doc, path);
	return true;
}

static void check_between(uint64_t value, uint64_t low, uint64_t high)
{
	ck_assert_uint_ge(value, low);
	ck_assert_uint_le(value, high);
}

START_TEST(test_irq_ioapic)
{
	const unsigned int sent = 2 * EDGES + LEVELS + TIMER_ONCE + TIMER_RATE +
				  MASKED_TWICE + LOWEST;
	struct json_doc doc;

	if (!run_irq("ioapic", modes[_i], 0, "masked in between: 2\n", &doc))
		return;
	ck_assert_uint_eq(doc_u64(&doc, "bus.eoi_exits"),
			  LEVELS + MASKED_TWICE);
	check_between(doc_u64(&doc, "bus.msis"), sent, sent + TIMER_LATE);
	ck_assert_uint_eq(doc_u64(&doc, "bus.msis_refused"), 0);
	ck_assert_uint_eq(doc_u64(&doc, "bus.extints"), 0);
	json_free(&doc);
}
END_TEST

START_TEST(test_irq_pic)
{
	const unsigned int sent = 2 * EDGES + LEVELS + TIMER_ONCE + TIMER_RATE;
	struct json_doc doc;

	if (!run_irq("pic", modes[_i], 0, "timer, rate", &doc))
		return;
	check_between(doc_u64(&doc, "bus.extints"), sent, sent + TIMER_LATE);
	ck_assert_uint_eq(doc_u64(&doc, "bus.msis"), 0);
	ck_assert_uint_eq(doc_u64(&doc, "bus.eoi_exits"), 0);
	json_free(&doc);
}
END_TEST

/* KVM takes these from an MSI as the pins of a chip send them. */
START_TEST(test_irq_nmi)
{
	struct json_doc doc;

	if (!run_irq("nmi", modes[_i], 0, "NMI: 1\n", &doc))
		return;
	ck_assert_uint_eq(doc_u64(&doc, "bus.msis"), 1);
	json_free(&doc);
}
END_TEST

static bool use_stdin(void *arg)
{
	return dup2(*(int *)arg, STDIN_FILENO) == STDIN_FILENO;
}

/* All vCPUs halt with interrupts off, and are waited for all the same: a
 * device may send an NMI. Three seconds are enough to be given up. */
START_TEST(test_irq_waits_for_an_nmi)
{
	struct run run;
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	env_start_with(&env, &run, -1, use_stdin, &fds[0], "irq.elf", "input",
		       SETS(env_any_mode(&env)));
	close(fds[0]);
	ck_assert(!run_await_out(&run, "NMI", 3000));
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	env_finish(&env, &run);
	env_expect_status(&run, 0);
	ck_assert_ptr_nonnull(strstr(run.out.text, "NMI: 1\n"));
	close(fds[1]);
	run_free(&run);
}
END_TEST

START_TEST(test_irq_init)
{
	struct json_doc doc;

	if (!run_irq("init", modes[_i], 0, "INIT, starts: 2\n", &doc))
		return;
	ck_assert_uint_eq(doc_u64(&doc, "bus.msis"), 1);
	json_free(&doc);
}
END_TEST

/* KVM has no way for these, which is told once. */
START_TEST(test_irq_extint)
{
	struct run run;

	env_guest(&env, &run, "irq.elf", "extint", SETS(env_any_mode(&env)));
	env_expect_status(&run, 0);
	ck_assert_ptr_nonnull(strstr(run.out.text, "ExtINT: 0\n"));
	env_expect_complaint(&run, "asked 1 times for an interrupt of "
				   "delivery mode ExtINT");
	run_free(&run);
}
END_TEST

static bool host_has_smm(void)
{
	char err[256];
	int fd = kvm_open("/dev/kvm", err, sizeof(err));
	bool has = kvm_check_extension(fd, KVM_CAP_X86_SMM);

	close(fd);
	return has;
}

/* KVM has a second address space for that mode, which is empty here: no
 * firmware ran that could have put a handler there. */
START_TEST(test_irq_smi)
{
	struct json_doc doc;

	if (!host_has_smm() ||
	    !run_irq("smi", modes[_i], EXIT_STATUS_KVM, "", &doc))
		return;
	ck_assert_uint_eq(doc_u64(&doc, "bus.msis"), 1);
	json_free(&doc);
}
END_TEST

static Suite *irq_suite(void)
{
	Suite *suite = suite_create("irq");
	TCase *tcase = env_case(suite, "irq");

	tcase_add_loop_test(tcase, test_irq_ioapic, 0, 2);
	tcase_add_loop_test(tcase, test_irq_pic, 0, 2);
	tcase_add_loop_test(tcase, test_irq_nmi, 0, 2);
	tcase_add_test(tcase, test_irq_waits_for_an_nmi);
	tcase_add_loop_test(tcase, test_irq_init, 0, 2);
	tcase_add_loop_test(tcase, test_irq_smi, 0, 2);
	tcase_add_test(tcase, test_irq_extint);
	return suite;
}

int main(void)
{
	return env_run(&env, irq_suite);
}
