/* SPDX-License-Identifier: MIT */
/*
 * hello - the smallest useful guest: says hello and ends as it is told.
 *
 * One word of the command line chooses the end; without one it exits with
 * status=N (default 0; -1 and numbers up to 2^32-1 are passed on as they
 * are, to see what the VMM makes of a status out of range):
 *   hang  loops, interrupts off        halt  cli; hlt for ever
 *   stihlt  sti; hlt, no timer armed   stihlt-timer  a deadline every 10 ms
 *   triple  triple fault               fault  #UD: the firmware's status 63
 *   once  takes ten interrupts and stays 20 ms in each, interrupts off and
 *         nothing done that a VMM could see; a second delivery is status 63
 *   reset, reset=8042  port 0x64       reset=cf9  port 0xcf9
 *   flood  text without end            poweroff  port 0x604
 * markers=N writes 2 to N+1 to the marker port.
 * cpus=N starts N-1 more CPUs, which halt with interrupts off.
 */
#include "apic.h"
#include "arch.h"
#include "boot.h"
#include "console.h"
#include "cpu.h"
#include "power.h"
#include "report.h"
#include "smp.h"
#include "layout.h"
#include "string.h"
#include "tsc_khz.h"
#include "words.h"

#include <stdbool.h>
#include <stddef.h>

#define TICK_MS		 10
#define ONCE_TICKS	 10
#define TICK_UNKNOWN_TSC 20000000ull /* where nobody tells the frequency */

static void end_hang(void)
{
	for (;;)
		cpu_relax();
}

static void end_halt(void)
{
	cpu_halt_forever();
}

static void end_stihlt(void)
{
	apic_init();
	irqwait_hlt(cpu_irqwait(0));
}

/* TSC ticks of TICK_MS; sets up the timer. */
static uint64_t tick_start(void)
{
	const char *source;
	uint64_t tick_tsc = tsc_khz_from_host(&source) * (uint64_t)TICK_MS;

	if (!apic_has_deadline_timer()) {
		console_puts("hello: CPUID offers no TSC-deadline timer\n");
		power_exit(STATUS_NO_TIMER);
	}
	if (!tick_tsc)
		tick_tsc = TICK_UNKNOWN_TSC;
	apic_init();
	apic_timer_deadline_mode();
	return tick_tsc;
}

static void end_stihlt_timer(void)
{
	uint64_t tick_tsc = tick_start();

	for (;;) {
		apic_timer_arm(tsc_read() + tick_tsc);
		irqwait_hlt(cpu_irqwait(0));
		apic_eoi();
	}
}

/* An interrupt is delivered once, however late its end is signalled, and
 * whatever the host does meanwhile. */
static void end_once(void)
{
	uint64_t tick_tsc = tick_start();
	struct irqwait *w = cpu_irqwait(0);

	for (unsigned n = 0; n < ONCE_TICKS; n++) {
		apic_timer_arm(tsc_read() + tick_tsc);
		w->limit_tsc = UINT64_MAX;
		irqwait_spin_kernel(w);
		while (tsc_read() - w->handler_tsc < 2 * tick_tsc)
			;
		apic_eoi();
	}
	power_exit(0);
}

static void end_fault(void)
{
	__asm__ volatile("ud2");
}

static void end_flood(void)
{
	for (uint64_t line = 0;; line++)
		console_printf("hello: flood, line %llu\n",
			       (unsigned long long)line);
}

static const struct {
	const char *word;
	void (*end)(void);
} ends[] = {
	{"hang", end_hang},	 {"halt", end_halt},
	{"stihlt", end_stihlt},	 {"stihlt-timer", end_stihlt_timer},
	{"once", end_once},	 {"triple", power_triple_fault},
	{"fault", end_fault},	 {"flood", end_flood},
	{"poweroff", power_off},
};

static uint32_t status_by_words(void)
{
	const char *value = words_get("status");

	if (value && !strcmp(value, "-1"))
		return UINT32_MAX;
	return (uint32_t)words_u64("status", 0, UINT32_MAX, 0);
}

/* The chosen end, or NULL for an exit with a status. */
static void (*end_by_words(void))(void)
{
	static const char *const resets[] = {"", "8042", "cf9", NULL};
	void (*end)(void) = NULL;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!words_flag(ends[i].word))
			continue;
		if (end)
			words_refuse(ends[i].word, "one end is enough");
		end = ends[i].end;
	}
	if (words_get("reset"))
		end = words_choice("reset", resets, 0) == 2 ? power_reset_cf9
							    : power_reset_8042;
	return end;
}

static void ap_does_nothing(unsigned index)
{
	(void)index;
}

void guest_main(void)
{
	uint32_t status = status_by_words();
	void (*end)(void) = end_by_words();
	unsigned cpus = (unsigned)words_u64("cpus", 1, CPUS_MAX, 1);
	unsigned markers = (unsigned)words_u64("markers", 0, 1000, 0);

	words_end();
	for (unsigned i = 0; i < markers; i++)
		port_out32(MARKER_PORT, MARKER_C + 1 + i);
	console_printf("hello: booted by %s, command line \"%s\"\n",
		       boot_protocol(), boot_command_line());
	if (cpus > 1) {
		apic_init();
		smp_start(cpus, ap_does_nothing);
		console_printf("hello: %u CPUs\n", cpus);
	}
	if (end)
		end();
	power_exit(status);
}
