/* SPDX-License-Identifier: MIT */
/*
 * testdev - finds the devices of machine-config.test_device as a test kernel
 * for QEMU uses them, by real instructions of each width; or, with the word
 * "none", finds none of them. What fw_cfg says is printed for others to judge.
 * Status 1 if something is not as it should be.
 */
#include "apic.h"
#include "arch.h"
#include "boot.h"
#include "console.h"
#include "cpu.h"
#include "irq_chips.h"
#include "power.h"
#include "tsc_khz.h"
#include "words.h"

#include <stdbool.h>

#define PORT_REGISTER  0xe0
#define PORT_FLUSH     0xe4
#define PORT_BYTES     0xe8
#define PORT_SELECTOR  0x510
#define PORT_DATA      0x511
#define PORT_LINES     0x2000
#define MEMORY	       0xff000000ul
#define MEMORY_SIZE    0x10000ul
#define NOT_RAM	       0xfee00000u /* the local APIC's page */

#define KEY_SIGNATURE  0x00
#define KEY_RAM_SIZE   0x03
#define KEY_NB_CPUS    0x05
#define KEY_NOT_THERE  0x20

#define VECTOR_OF(pin) (0x60 + (pin))
#define PIN_FREE       11
#define PIN_NOT_ISA    23
#define EDGES	       10
#define PAGES	       8
#define PAGE_SIZE      4096
#define LIMIT_MS       10000
#define QUIET_MS       20
#define DEFAULT_KHZ    1000000u /* where nobody tells the frequency */

static bool failed;
static uint64_t khz;
static __attribute__((aligned(PAGE_SIZE))) uint8_t pages[PAGES][PAGE_SIZE];

static inline uint16_t port_in16(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline uint32_t port_in32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void check(const char *what, uint64_t found, uint64_t expected)
{
	console_printf("testdev: %s: 0x%llx", what, (unsigned long long)found);
	if (found != expected) {
		console_printf(", and should be 0x%llx",
			       (unsigned long long)expected);
		failed = true;
	}
	console_puts("\n");
}

static void check_register(void)
{
	port_out32(PORT_REGISTER, 0x44332211);
	check("register, 32 bits", port_in32(PORT_REGISTER), 0x44332211);
	port_out16(PORT_REGISTER + 1, 0xbbaa);
	check("register, 16 bits", port_in16(PORT_REGISTER + 1), 0xbbaa);
	port_out8(PORT_REGISTER + 3, 0xcc);
	check("register, 8 bits", port_in8(PORT_REGISTER + 3), 0xcc);
	check("register, again", port_in32(PORT_BYTES), 0xccbbaa11);
}

static void check_memory(void)
{
	volatile uint8_t *first = (volatile uint8_t *)MEMORY;
	volatile uint64_t *last =
		(volatile uint64_t *)(MEMORY + MEMORY_SIZE - 8);

	*last = 0x8877665544332211;
	*first = 0x5a;
	check("memory, 64 bits", *last, 0x8877665544332211);
	check("memory, 8 bits", *first, 0x5a);
	check("memory, behind", *(volatile uint32_t *)(last + 1), 0xffffffff);
}

/* Contents stay; the stack's page, and what is no RAM, too. */
static void check_flush(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < PAGES; i++) {
		volatile uint8_t *page = pages[i];

		page[0] = (uint8_t)(i + 1);
		page[PAGE_SIZE - 1] = (uint8_t)(i + 2);
		/* Identity-mapped. */
		port_out32(PORT_FLUSH, (uint32_t)(uintptr_t)&page[i * 7]);
		kept += page[0] == i + 1 && page[PAGE_SIZE - 1] == i + 2;
		page[0]++;
		kept += page[0] == i + 2;
	}
	check("flush, pages read and written", kept, 2 * PAGES);
	port_out32(PORT_FLUSH, (uint32_t)(uintptr_t)__builtin_frame_address(0));
	port_out32(PORT_FLUSH, NOT_RAM);
}

static uint64_t item(uint16_t key, unsigned bytes)
{
	uint64_t value = 0;

	port_out16(PORT_SELECTOR, key);
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)port_in8(PORT_DATA) << 8 * i;
	return value;
}

static void check_fw_cfg(void)
{
	check("fw_cfg, signature", item(KEY_SIGNATURE, 8), 0x554d4551);
	check("fw_cfg, nothing", item(KEY_NOT_THERE, 8), 0);
	console_printf("testdev: RAM %llu CPUs %llu\n",
		       (unsigned long long)item(KEY_RAM_SIZE, 8),
		       (unsigned long long)item(KEY_NB_CPUS, 2));
}

static bool comes_within(unsigned ms, uint8_t vector)
{
	struct irqwait *w = cpu_irqwait(0);

	w->limit_tsc = tsc_read() + ms * khz;
	return irqwait_spin_kernel(w) && w->vector == vector;
}

/* A rise is one interrupt; a line that stays up is none more. */
static void check_line(unsigned pin)
{
	const uint16_t port = (uint16_t)(PORT_LINES + pin);
	unsigned n = 0;

	cpu_take_vector((uint8_t)VECTOR_OF(pin));
	ioapic_set(pin, (uint8_t)apic_id(), VECTOR_OF(pin));
	for (unsigned i = 0; i < EDGES; i++) {
		port_out8(port, 1);
		if (!comes_within(LIMIT_MS, (uint8_t)VECTOR_OF(pin)))
			break;
		apic_eoi();
		n++;
		port_out8(port, 1);
		port_out8(port, 0);
	}
	n += comes_within(QUIET_MS, (uint8_t)VECTOR_OF(pin));
	ioapic_set(pin, 0, ENTRY_MASKED);
	check("line, edges", n, EDGES);
}

static void check_none(void)
{
	port_out32(PORT_REGISTER, 0);
	check("register", port_in32(PORT_REGISTER), 0xffffffff);
	port_out32(PORT_FLUSH, 0);
	check("fw_cfg", item(KEY_SIGNATURE, 4), 0xffffffff);
	check("memory", *(volatile uint32_t *)MEMORY, 0xffffffff);
}

void guest_main(void)
{
	const char *source;
	bool none = words_flag("none");

	words_end();
	khz = tsc_khz_from_host(&source);
	if (!khz)
		khz = DEFAULT_KHZ;
	apic_init();
	if (none) {
		check_none();
		power_exit(failed);
	}
	check_register();
	check_memory();
	check_flush();
	check_fw_cfg();
	check_line(PIN_FREE);
	check_line(PIN_NOT_ISA);
	power_exit(failed);
}
