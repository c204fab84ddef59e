/* SPDX-License-Identifier: MIT */
/*
 * irq - do the interrupts of devices come, as often as they should, and no
 * more often? One word says which:
 *   ioapic  COM1 and interval timer by the I/O APIC, edge and level
 *   pic     the same by the 8259s and LINT0
 *   smi     a pin in delivery mode SMI: system management mode has no memory
 *   nmi     in mode NMI
 *   input   the same of a processor that has halted, interrupts off, when the
 *           serial port receives something
 *   init    in mode INIT, to the second CPU: it starts anew when it is told to
 *   extint  the 8259s by a pin in mode ExtINT instead of LINT0: nothing comes
 * Each step prints what it counted; status 1 if one is not as it should be. The
 * dots are the bytes that made an interrupt.
 */
#include "apic.h"
#include "arch.h"
#include "boot.h"
#include "console.h"
#include "cpu.h"
#include "irq_chips.h"
#include "power.h"
#include "smp.h"
#include "tsc_khz.h"
#include "words.h"

#include <stdbool.h>
#include <stddef.h>

#define VECTOR_FIRST 0x60 /* of the 8259s, and what the pins use */
#define COUNT	     20
#define REDELIVERIES 5
#define PIT_TICKS    2387 /* 2 ms */
#define QUIET_MS     20
#define LIMIT_MS     10000
#define DEFAULT_KHZ  1000000u /* where nobody tells the frequency */

static uint64_t khz;
static bool failed;

/* What a step returns instead of a count if something else went wrong: an
 * interrupt too many at its end, or remote IRR. */
#define WRONG 999999u

static void check(bool good, const char *what, unsigned n, unsigned expected)
{
	console_printf("irq: %s: %u", what, n);
	if (!good)
		console_printf(", and should be %u", expected);
	console_puts("\n");
	failed |= !good;
}

static void check_count(const char *what, unsigned n, unsigned expected)
{
	check(n == expected, what, n, expected);
}

/* True: this one came, in time. */
static bool comes_within(unsigned ms, uint8_t vector)
{
	struct irqwait *w = cpu_irqwait(0);

	w->limit_tsc = tsc_read() + ms * khz;
	return irqwait_spin_kernel(w) && w->vector == vector;
}

/* How interrupts come, and how they are ended. */
struct route {
	const char *name;
	void (*set_up)(unsigned irq, bool level);
	void (*end)(void);
	void (*off)(unsigned irq);
};

static unsigned pin_of(unsigned irq)
{
	return irq == IRQ_TIMER ? PIN_TIMER : irq;
}

static void ioapic_set_up(unsigned irq, bool level)
{
	ioapic_set(pin_of(irq), (uint8_t)apic_id(),
		   (VECTOR_FIRST + irq) | (level ? ENTRY_LEVEL : 0));
}

static void ioapic_off(unsigned irq)
{
	ioapic_set(pin_of(irq), 0, ENTRY_MASKED);
}

static void pic_set_up(unsigned irq, bool level)
{
	pic_init(VECTOR_FIRST, irq, level);
}

static void pic_off(unsigned irq)
{
	(void)irq;
	pic_mask_all();
}

static const struct route by_ioapic = {"ioapic", ioapic_set_up, apic_eoi,
				       ioapic_off};
static const struct route by_pic = {"pic", pic_set_up, pic_eoi, pic_off};

static bool com1_comes(void)
{
	return comes_within(LIMIT_MS, VECTOR_FIRST + IRQ_COM1);
}

static bool com1_is_quiet(void)
{
	return !comes_within(QUIET_MS, VECTOR_FIRST + IRQ_COM1);
}

/* A byte after each interrupt makes the next one, whether the driver asks the
 * chip what it is about (asks) or knows. Then the line stays up: no more. */
static unsigned com1_edges(const struct route *r, bool asks)
{
	unsigned n = 0;
	bool quiet;

	r->set_up(IRQ_COM1, false);
	uart_irq_on();
	while (n <= COUNT && com1_comes()) {
		n++;
		if (asks && !uart_tell())
			break;
		r->end();
		if (n <= COUNT)
			uart_send('.');
	}
	quiet = com1_is_quiet();
	r->off(IRQ_COM1);
	uart_irq_off();
	return quiet ? n : WRONG;
}

/* The line stays up over some ends, each of which brings the interrupt back,
 * until the chip is asked. */
static unsigned com1_levels(const struct route *r)
{
	bool is_ioapic = r == &by_ioapic, quiet, held = true;
	unsigned n = 0;

	r->set_up(IRQ_COM1, true);
	uart_irq_on();
	while (n <= REDELIVERIES && com1_comes()) {
		n++;
		held = held && (!is_ioapic || ioapic_remote_irr(PIN_COM1));
		if (n > REDELIVERIES)
			uart_tell();
		r->end();
	}
	quiet = com1_is_quiet();
	held = held && !(is_ioapic && ioapic_remote_irr(PIN_COM1));
	r->off(IRQ_COM1);
	uart_irq_off();
	return quiet && held ? n : WRONG;
}

/* A driver masks the pin, ends the interrupt, and unmasks when it is done: if
 * the line is up then, it comes again. */
static unsigned com1_masked(void)
{
	unsigned n = 0;

	ioapic_set_up(IRQ_COM1, true);
	uart_irq_on();
	n += com1_comes();
	ioapic_mask(PIN_COM1, true);
	if (!ioapic_remote_irr(PIN_COM1))
		n = WRONG;
	apic_eoi();
	if (ioapic_remote_irr(PIN_COM1) || !com1_is_quiet())
		n = WRONG;
	ioapic_mask(PIN_COM1, false);
	n += com1_comes();
	uart_tell();
	apic_eoi();
	n += !com1_is_quiet();
	ioapic_off(IRQ_COM1);
	uart_irq_off();
	return n;
}

static void timer_one_shot(const struct route *r)
{
	const uint64_t start_tsc = tsc_read();
	uint64_t took_us;
	unsigned n = 0;

	r->set_up(IRQ_TIMER, false);
	pit_one_shot(PIT_TICKS);
	while (comes_within(n ? QUIET_MS : LIMIT_MS,
			    VECTOR_FIRST + IRQ_TIMER)) {
		n++;
		took_us =
			(cpu_irqwait(0)->handler_tsc - start_tsc) * 1000 / khz;
		r->end();
		check(took_us >= 1980, "timer, one shot, us", (unsigned)took_us,
		      2000);
	}
	pit_stop();
	r->off(IRQ_TIMER);
	check_count("timer, one shot", n, 1);
}

/* The processor halts. To choose the mode takes the output up, which may be a
 * first interrupt at once; the others are a period apart at least. */
static void timer_rate(const struct route *r)
{
	const uint64_t start_tsc = tsc_read();
	uint64_t took_us;

	r->set_up(IRQ_TIMER, false);
	pit_rate(PIT_TICKS);
	for (unsigned n = 0; n < COUNT; n++) {
		irqwait_hlt(cpu_irqwait(0));
		if (cpu_irqwait(0)->vector != VECTOR_FIRST + IRQ_TIMER)
			check_count("timer, vector", cpu_irqwait(0)->vector,
				    VECTOR_FIRST + IRQ_TIMER);
		r->end();
	}
	took_us = (tsc_read() - start_tsc) * 1000 / khz;
	pit_stop();
	/* One may have come since. */
	if (comes_within(QUIET_MS, VECTOR_FIRST + IRQ_TIMER))
		r->end();
	check_count("timer, stopped",
		    comes_within(QUIET_MS, VECTOR_FIRST + IRQ_TIMER), 0);
	r->off(IRQ_TIMER);
	check(took_us >= (COUNT - 1) * 1980, "timer, rate, us",
	      (unsigned)took_us, (COUNT - 1) * 2000);
}

static void run_route(const struct route *r)
{
	unsigned n;

	n = com1_edges(r, true);
	check_count("COM1, edges", n, COUNT + 1);
	n = com1_edges(r, false);
	check_count("COM1, edges of a driver that does not ask", n, COUNT + 1);
	n = com1_levels(r);
	check_count("COM1, level", n, REDELIVERIES + 1);
	timer_one_shot(r);
	timer_rate(r);
}

static void run_ioapic(void)
{
	unsigned n;

	run_route(&by_ioapic);
	n = com1_masked();
	check_count("COM1, level, masked in between", n, 2);
	ioapic_set(PIN_COM1, (uint8_t)apic_id(),
		   (VECTOR_FIRST + IRQ_COM1) | ENTRY_LOWEST);
	uart_irq_on();
	n = com1_comes();
	apic_eoi();
	uart_irq_off();
	check_count("COM1, lowest priority", n, 1);
}

static void run_pic(void)
{
	apic_lint0_extint();
	run_route(&by_pic);
}

/* COM1's pin sends one message in this mode. */
static void send_in_mode(uint32_t mode, uint8_t to_apic_id)
{
	ioapic_set(PIN_COM1, to_apic_id, VECTOR_FIRST | mode);
	uart_irq_on();
	uart_irq_off();
	ioapic_off(IRQ_COM1);
}

/* Nothing is left to tell of it: the processor is gone. */
static void run_smi(void)
{
	send_in_mode(ENTRY_SMI, (uint8_t)apic_id());
	check_count("SMI", 0, 1);
}

static void run_nmi(void)
{
	cpu_take_nmis();
	send_in_mode(ENTRY_NMI, (uint8_t)apic_id());
	check_count("NMI", cpu_nmi_count(0), 1);
}

static void run_input(void)
{
	cpu_take_nmis();
	ioapic_set(PIN_COM1, (uint8_t)apic_id(), ENTRY_NMI);
	uart_irq_on_input();
	__asm__ volatile("cli\n\thlt" : : : "memory");
	ioapic_off(IRQ_COM1);
	check_count("NMI", cpu_nmi_count(0), 1);
}

static unsigned starts;

static void ap_counts(unsigned index)
{
	(void)index;
	__atomic_fetch_add(&starts, 1, __ATOMIC_RELAXED);
}

/* A CPU that had no INIT ignores what smp_resume sends. */
static void run_init(void)
{
	smp_start(2, ap_counts);
	send_in_mode(ENTRY_INIT, 1);
	smp_resume(1, ap_counts);
	while (__atomic_load_n(&starts, __ATOMIC_RELAXED) < 2)
		cpu_relax();
	check_count("INIT, starts", starts, 2);
}

static void run_extint(void)
{
	bool comes;

	pic_init(VECTOR_FIRST, IRQ_COM1, false);
	ioapic_set(PIN_PIC, (uint8_t)apic_id(), ENTRY_EXTINT);
	uart_irq_on();
	comes = comes_within(QUIET_MS, VECTOR_FIRST + IRQ_COM1);
	uart_irq_off();
	check_count("ExtINT", comes, 0);
}

static const struct {
	const char *word;
	void (*run)(void);
} runs[] = {
	{"ioapic", run_ioapic}, {"pic", run_pic},     {"smi", run_smi},
	{"nmi", run_nmi},	{"input", run_input}, {"init", run_init},
	{"extint", run_extint},
};

void guest_main(void)
{
	void (*run)(void) = NULL;
	const char *source;

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		if (words_flag(runs[i].word))
			run = runs[i].run;
	words_end();
	if (!run)
		words_refuse("(none)", "which of them? see irq.c");
	khz = tsc_khz_from_host(&source);
	if (!khz)
		khz = DEFAULT_KHZ;
	apic_init();
	cpu_take_vector(VECTOR_FIRST + IRQ_TIMER);
	cpu_take_vector(VECTOR_FIRST + IRQ_COM1);
	run();
	power_exit(failed);
}
