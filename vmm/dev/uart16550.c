/* SPDX-License-Identifier: MIT */
/*
 * A 16550A whose line is an instant byte sink.
 * Reference: National Semiconductor PC16550D data sheet, register summary.
 * Not modelled: input from outside, the interrupt line, speed, FIFO depth.
 *
 * Loopback is there for the guests that test the chip before they use it: some
 * send a byte through it, Linux compares the modem lines.
 */
#include "uart16550.h"

/* Offsets. Where LCR.DLAB is set, 0 and 1 are the divisor latch. */
#define UART_RBR_THR	0u
#define UART_IER	1u
#define UART_IER_MASK	0x0fu
#define UART_IIR_FCR	2u
#define UART_IIR_NONE	0x01u
#define UART_IIR_FIFO	0xc0u
#define UART_FCR_ENABLE 0x01u
#define UART_FCR_RX_CLR 0x02u
#define UART_LCR	3u
#define UART_LCR_DLAB	0x80u
#define UART_MCR	4u
#define UART_MCR_DTR	0x01u
#define UART_MCR_RTS	0x02u
#define UART_MCR_OUT1	0x04u
#define UART_MCR_OUT2	0x08u
#define UART_MCR_LOOP	0x10u
#define UART_MCR_MASK	0x1fu
#define UART_LSR	5u
#define UART_LSR_DR	0x01u
#define UART_LSR_OE	0x02u
#define UART_LSR_THRE	0x20u
#define UART_LSR_TEMT	0x40u
#define UART_MSR	6u
#define UART_MSR_CTS	0x10u
#define UART_MSR_DSR	0x20u
#define UART_MSR_RI	0x40u
#define UART_MSR_DCD	0x80u
#define UART_SCR	7u

static bool uart16550_dlab(const struct uart16550 *u)
{
	return u->lcr & UART_LCR_DLAB;
}

static uint8_t uart16550_rbr_read(struct uart16550 *u)
{
	u->lsr &= (uint8_t)~UART_LSR_DR;
	return u->rbr;
}

static uint8_t uart16550_lsr_read(struct uart16550 *u)
{
	uint8_t value = u->lsr;

	u->lsr &= (uint8_t)~UART_LSR_OE;
	return value;
}

/* A peer that is always ready; in loopback, the chip's own outputs. */
static uint8_t uart16550_msr_read(const struct uart16550 *u)
{
	uint8_t value = 0;

	if (!(u->mcr & UART_MCR_LOOP))
		return UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD;
	if (u->mcr & UART_MCR_RTS)
		value |= UART_MSR_CTS;
	if (u->mcr & UART_MCR_DTR)
		value |= UART_MSR_DSR;
	if (u->mcr & UART_MCR_OUT1)
		value |= UART_MSR_RI;
	if (u->mcr & UART_MCR_OUT2)
		value |= UART_MSR_DCD;
	return value;
}

static void uart16550_receive(struct uart16550 *u, uint8_t value)
{
	if (u->lsr & UART_LSR_DR)
		u->lsr |= UART_LSR_OE;
	u->rbr = value;
	u->lsr |= UART_LSR_DR;
}

static bool uart16550_thr_write(struct uart16550 *u, uint8_t value,
				uint8_t *out_byte)
{
	if (u->mcr & UART_MCR_LOOP) {
		uart16550_receive(u, value);
		return false;
	}
	*out_byte = value;
	return true;
}

static void uart16550_fcr_write(struct uart16550 *u, uint8_t value)
{
	bool enable = value & UART_FCR_ENABLE;

	/* Switching the FIFOs empties them, as the clear bit does, which
	 * counts only together with the enable bit. */
	if (enable != u->fifo_enabled || (enable && (value & UART_FCR_RX_CLR)))
		u->lsr &= (uint8_t)~UART_LSR_DR;
	u->fifo_enabled = enable;
}

void uart16550_reset(struct uart16550 *u)
{
	*u = (struct uart16550){.lsr = UART_LSR_THRE | UART_LSR_TEMT};
}

uint8_t uart16550_read(struct uart16550 *u, unsigned int offset)
{
	switch (offset % UART16550_WINDOW) {
	case UART_RBR_THR:
		return uart16550_dlab(u) ? u->dll : uart16550_rbr_read(u);
	case UART_IER:
		return uart16550_dlab(u) ? u->dlm : u->ier;
	case UART_IIR_FCR:
		return UART_IIR_NONE | (u->fifo_enabled ? UART_IIR_FIFO : 0);
	case UART_LCR:
		return u->lcr;
	case UART_MCR:
		return u->mcr;
	case UART_LSR:
		return uart16550_lsr_read(u);
	case UART_MSR:
		return uart16550_msr_read(u);
	default:
		return u->scr;
	}
}

bool uart16550_write(struct uart16550 *u, unsigned int offset, uint8_t value,
		     uint8_t *out_byte)
{
	switch (offset % UART16550_WINDOW) {
	case UART_RBR_THR:
		if (!uart16550_dlab(u))
			return uart16550_thr_write(u, value, out_byte);
		u->dll = value;
		break;
	case UART_IER:
		if (uart16550_dlab(u))
			u->dlm = value;
		else
			u->ier = value & UART_IER_MASK;
		break;
	case UART_IIR_FCR:
		uart16550_fcr_write(u, value);
		break;
	case UART_LCR:
		u->lcr = value;
		break;
	case UART_MCR:
		u->mcr = value & UART_MCR_MASK;
		break;
	case UART_LSR: /* for factory tests only */
	case UART_MSR: /* its delta bits are never set */
		break;
	case UART_SCR:
		u->scr = value;
		break;
	}
	return false;
}
