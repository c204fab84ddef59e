/* SPDX-License-Identifier: MIT */
/*
 * irq_chips - the devices and controllers that the guest `irq` makes interrupts
 * with: COM1, interval timer, I/O APIC, 8259 pair. Boot CPU, ring 0.
 */
#ifndef GUEST_IRQ_CHIPS_H
#define GUEST_IRQ_CHIPS_H

#include <stdbool.h>
#include <stdint.h>

#define IRQ_TIMER 0
#define PIN_PIC	  0 /* the first 8259 */
#define PIN_TIMER 2
#define IRQ_COM1  4
#define PIN_COM1  4

/*
 * COM1's interrupt line by way of its transmitter: up when THR became empty
 * and nobody was told yet; down when somebody was (uart_tell), or while a byte
 * is sent. The console writes by the same port, with the interrupt off.
 */
void uart_irq_on(void);	      /* and the line goes up */
void uart_irq_on_input(void); /* up when there is something to read */
void uart_irq_off(void);
bool uart_tell(void); /* reads IIR; was that what it had to say? */
void uart_send(char c);

/* Channel 0: one rise after so many ticks, or one in each so many. */
void pit_one_shot(uint16_t ticks_pit);
void pit_rate(uint16_t ticks_pit);
void pit_stop(void);

/* Redirection entries: low half, its bits, and the destination. */
#define ENTRY_LOWEST 0x00100u
#define ENTRY_SMI    0x00200u
#define ENTRY_NMI    0x00400u
#define ENTRY_INIT   0x00500u
#define ENTRY_EXTINT 0x00700u
#define ENTRY_LEVEL  0x08000u
#define ENTRY_MASKED 0x10000u
void ioapic_set(unsigned pin, uint8_t apic_id, uint32_t low);
void ioapic_mask(unsigned pin, bool masked); /* and nothing else */
bool ioapic_remote_irr(unsigned pin);

/* Vectors from base on, all inputs masked but irq, which is level or edge. */
void pic_init(uint8_t base, unsigned irq, bool level);
void pic_eoi(void);
void pic_mask_all(void);

#endif
