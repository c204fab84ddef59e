/* SPDX-License-Identifier: MIT */
/*
 * power - exit port, resets, power-off, triple fault.
 * Reference: the VMM's run.exit_port; Intel 8042 command 0xfe; the ICH's
 * "Reset Control Register" (0xcf9): bit 1 chooses a hard reset, the rise of
 * bit 2 starts it; ACPI "PM1 Control Registers". Not modelled: reading from
 * the ACPI tables where that register is, and which SLP_TYP is S5.
 */
#include "power.h"

#include "arch.h"

#define PORT_EXIT	   0xf4
#define PORT_8042_COMMAND  0x64
#define COMMAND_RESET	   0xfe
#define PORT_RESET_CONTROL 0xcf9
#define RESET_HARD	   0x02
#define RESET_START	   0x04
#define PORT_PM1A_CONTROL  0x604
#define PM1_SLEEP_S5	   (5 << 10)
#define PM1_SLP_EN	   (1 << 13)

void power_exit(uint32_t status)
{
	if (status <= UINT8_MAX)
		port_out8(PORT_EXIT, (uint8_t)status);
	else
		port_out32(PORT_EXIT, status);
	power_reset_8042();
}

void power_reset_8042(void)
{
	port_out8(PORT_8042_COMMAND, COMMAND_RESET);
	cpu_halt_forever();
}

void power_reset_cf9(void)
{
	port_out8(PORT_RESET_CONTROL, RESET_HARD);
	port_out8(PORT_RESET_CONTROL, RESET_HARD | RESET_START);
	cpu_halt_forever();
}

void power_off(void)
{
	port_out16(PORT_PM1A_CONTROL, PM1_SLEEP_S5 | PM1_SLP_EN);
	cpu_halt_forever();
}

void power_triple_fault(void)
{
	static const struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) no_idt;

	__asm__ volatile("lidt %0\n\tud2" : : "m"(no_idt));
	__builtin_unreachable();
}
