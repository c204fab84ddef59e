/* SPDX-License-Identifier: MIT */
/*
 * irq_chips - see irq_chips.h.
 * Reference: PC16550D, 82C54, 82093AA and 8259A data sheets; PIIX4 for the
 * edge/level register. Where they are: a PC's ports, and the I/O APIC's usual
 * address. Not modelled: whatever is not needed to make an interrupt.
 */
#include "irq_chips.h"

#include "arch.h"

#define UART_THR	 0x3f8
#define UART_IER	 0x3f9
#define IER_RX		 0x01
#define IER_THR		 0x02
#define UART_IIR	 0x3fa
#define IIR_SOURCE	 0x0f
#define IIR_THR		 0x02
#define UART_MCR	 0x3fc
#define MCR_DTR_RTS	 0x03
#define MCR_OUT2	 0x08 /* opens the gate to the interrupt line */

#define PIT_CHANNEL_0	 0x40
#define PIT_CONTROL	 0x43
#define CONTROL_ONE_SHOT 0x30 /* channel 0, both bytes, mode 0 */
#define CONTROL_RATE	 0x34 /* the same, mode 2 */

#define IOAPIC_GPA	 0xfec00000
#define IOREGSEL	 (0x00 / 4)
#define IOWIN		 (0x10 / 4)
#define REDTBL		 0x10
#define REMOTE_IRR	 0x4000u

#define PIC_FIRST	 0x20
#define PIC_SECOND	 0xa0
#define PIC_ELCR	 0x4d0
#define ICW1_WITH_ICW4	 0x11
#define ICW4_8086	 0x01
#define OCW2_EOI	 0x20

void uart_irq_on(void)
{
	port_out8(UART_MCR, MCR_DTR_RTS | MCR_OUT2);
	port_out8(UART_IER, IER_THR);
}

void uart_irq_on_input(void)
{
	port_out8(UART_MCR, MCR_DTR_RTS | MCR_OUT2);
	port_out8(UART_IER, IER_RX);
}

void uart_irq_off(void)
{
	port_out8(UART_IER, 0);
	port_out8(UART_MCR, MCR_DTR_RTS);
}

bool uart_tell(void)
{
	return (port_in8(UART_IIR) & IIR_SOURCE) == IIR_THR;
}

void uart_send(char c)
{
	port_out8(UART_THR, (uint8_t)c);
}

static void pit_program(uint8_t control, uint16_t ticks_pit)
{
	port_out8(PIT_CONTROL, control);
	port_out8(PIT_CHANNEL_0, (uint8_t)ticks_pit);
	port_out8(PIT_CHANNEL_0, (uint8_t)(ticks_pit >> 8));
}

void pit_one_shot(uint16_t ticks_pit)
{
	pit_program(CONTROL_ONE_SHOT, ticks_pit);
}

void pit_rate(uint16_t ticks_pit)
{
	pit_program(CONTROL_RATE, ticks_pit);
}

/* In mode 0 nothing counts before there is a count. */
void pit_stop(void)
{
	port_out8(PIT_CONTROL, CONTROL_ONE_SHOT);
}

static volatile uint32_t *ioapic_select(uint32_t index)
{
	volatile uint32_t *window = (volatile uint32_t *)IOAPIC_GPA;

	window[IOREGSEL] = index;
	return &window[IOWIN];
}

/* Masked in between: no interrupt to somebody else. */
void ioapic_set(unsigned pin, uint8_t apic_id, uint32_t low)
{
	uint32_t index = REDTBL + 2 * pin;

	*ioapic_select(index) = ENTRY_MASKED;
	*ioapic_select(index + 1) = (uint32_t)apic_id << 24;
	*ioapic_select(index) = low;
}

void ioapic_mask(unsigned pin, bool masked)
{
	volatile uint32_t *low = ioapic_select(REDTBL + 2 * pin);
	uint32_t value = *low & ~ENTRY_MASKED;

	*low = masked ? value | ENTRY_MASKED : value;
}

bool ioapic_remote_irr(unsigned pin)
{
	return *ioapic_select(REDTBL + 2 * pin) & REMOTE_IRR;
}

static void pic_init_chip(uint16_t port, uint8_t base, uint8_t cascade)
{
	port_out8(port, ICW1_WITH_ICW4);
	port_out8(port + 1, base);
	port_out8(port + 1, cascade);
	port_out8(port + 1, ICW4_8086);
	port_out8(port + 1, 0xff);
}

void pic_init(uint8_t base, unsigned irq, bool level)
{
	pic_init_chip(PIC_FIRST, base, 1 << 2);
	pic_init_chip(PIC_SECOND, (uint8_t)(base + 8), 2);
	port_out8(PIC_ELCR, level ? (uint8_t)(1 << irq) : 0);
	port_out8(PIC_FIRST + 1, (uint8_t) ~(1 << irq));
}

void pic_eoi(void)
{
	port_out8(PIC_FIRST, OCW2_EOI);
}

void pic_mask_all(void)
{
	port_out8(PIC_FIRST + 1, 0xff);
}
