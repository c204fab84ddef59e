/* SPDX-License-Identifier: MIT */
/*
 * A 16550A whose line is an instant byte sink, and a source that waits.
 * Reference: National Semiconductor PC16550D data sheet, "Registers", "FIFO
 * Interrupt Mode Operation".
 * Not modelled: line speed, errors of the line, DMA; see uart16550.h.
 *
 * Loopback is there for the guests that test the chip before they use it: some
 * send a byte through it, Linux compares the modem lines. Linux also tests
 * that the interrupt of an empty THR comes anew when it is enabled anew.
 */
#include "uart16550.h"

/* Offsets. Where LCR.DLAB is set, 0 and 1 are the divisor latch. */
#define UART_RBR_THR	0u
#define UART_IER	1u
#define UART_IER_RX	0x01u
#define UART_IER_THR	0x02u
#define UART_IER_LINE	0x04u
#define UART_IER_MODEM	0x08u
#define UART_IER_MASK	0x0fu
#define UART_IIR_FCR	UART16550_FCR
#define UART_IIR_MODEM	0x00u
#define UART_IIR_NONE	0x01u
#define UART_IIR_THR	0x02u
#define UART_IIR_RX	0x04u
#define UART_IIR_LINE	0x06u
#define UART_IIR_RX_OLD 0x0cu /* time-out */
#define UART_IIR_FIFO	0xc0u
#define UART_FCR_ENABLE 0x01u
#define UART_FCR_RX_CLR 0x02u
#define UART_FCR_LEVEL	6 /* uppermost two bits */
#define UART_LCR	3u
#define UART_LCR_DLAB	0x80u
#define UART_MCR	4u
#define UART_MCR_DTR	0x01u
#define UART_MCR_RTS	0x02u
#define UART_MCR_OUT1	0x04u
#define UART_MCR_OUT2	0x08u
#define UART_MCR_LOOP	0x10u
#define UART_MCR_MASK	0x1fu
#define UART_LSR	UART16550_LSR
#define UART_LSR_DR	0x01u
#define UART_LSR_OE	0x02u
#define UART_LSR_THRE	0x20u
#define UART_LSR_TEMT	0x40u
#define UART_MSR	6u
#define UART_MSR_DELTAS 4 /* a change of the bit so much above */
#define UART_MSR_CTS	0x10u
#define UART_MSR_DSR	0x20u
#define UART_MSR_RI	0x40u
#define UART_MSR_DCD	0x80u
#define UART_SCR	7u

static const uint8_t trigger_levels[] = {1, 4, 8, 14};

static bool uart16550_dlab(const struct uart16550 *u)
{
	return u->lcr & UART_LCR_DLAB;
}

static unsigned int uart16550_depth(const struct uart16550 *u)
{
	return u->fifo_enabled ? UART16550_FIFO : 1;
}

static bool uart16550_is_full(const struct uart16550 *u)
{
	return u->received >= uart16550_depth(u);
}

static void uart16550_clear_received(struct uart16550 *u)
{
	u->oldest = 0;
	u->received = 0;
	u->echoes = 0;
}

static void uart16550_put(struct uart16550 *u, uint8_t value)
{
	u->fifo[(u->oldest + u->received) % UART16550_FIFO] = value;
	u->received++;
}

/* With nothing received, the chip shows its last byte again. */
static uint8_t uart16550_rbr_read(struct uart16550 *u)
{
	if (u->received) {
		u->echoes -= u->echoes == u->received;
		u->rbr = u->fifo[u->oldest];
		u->oldest = (uint8_t)((u->oldest + 1u) % UART16550_FIFO);
		u->received--;
		u->just_read = true;
	}
	return u->rbr;
}

static uint8_t uart16550_lsr_read(struct uart16550 *u)
{
	uint8_t value = u->lsr | (u->received ? UART_LSR_DR : 0u);

	u->lsr &= (uint8_t)~UART_LSR_OE;
	return value;
}

/* A peer that is always ready; in loopback, the chip's own outputs. */
static uint8_t uart16550_modem_lines(const struct uart16550 *u)
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

static uint8_t uart16550_msr_read(struct uart16550 *u)
{
	uint8_t value = uart16550_modem_lines(u) | u->msr_delta;

	u->msr_delta = 0;
	return value;
}

/* Of RI, only the end of a ring is noted. */
static void uart16550_mcr_write(struct uart16550 *u, uint8_t value)
{
	uint8_t was = uart16550_modem_lines(u), changed;

	u->mcr = value & UART_MCR_MASK;
	changed = was ^ uart16550_modem_lines(u);
	if (!(was & UART_MSR_RI))
		changed &= (uint8_t)~UART_MSR_RI;
	u->msr_delta |= (uint8_t)(changed >> UART_MSR_DELTAS);
}

/* What the line would not let happen: nobody waits for room here. A FIFO keeps
 * what it has, a single register does not. */
static void uart16550_loop_back(struct uart16550 *u, uint8_t value)
{
	if (uart16550_is_full(u)) {
		u->lsr |= UART_LSR_OE;
		if (u->fifo_enabled)
			return;
		uart16550_clear_received(u);
	}
	uart16550_put(u, value);
	u->echoes++;
}

static bool uart16550_thr_write(struct uart16550 *u, uint8_t value,
				uint8_t *out_byte)
{
	if (u->mcr & UART_MCR_LOOP) {
		uart16550_loop_back(u, value);
		u->thr_news = true;
		return false;
	}
	u->thr_news = false;
	*out_byte = value;
	return true;
}

static void uart16550_ier_write(struct uart16550 *u, uint8_t value)
{
	if ((value & UART_IER_THR) && !(u->ier & UART_IER_THR))
		u->thr_news = true;
	u->ier = value & UART_IER_MASK;
}

static void uart16550_fcr_write(struct uart16550 *u, uint8_t value)
{
	bool enable = value & UART_FCR_ENABLE;

	/* Switching the FIFOs empties them, as the clear bit does, which
	 * counts only together with the enable bit. */
	if (enable != u->fifo_enabled || (enable && (value & UART_FCR_RX_CLR)))
		uart16550_clear_received(u);
	u->fifo_enabled = enable;
	if (enable)
		u->trigger = trigger_levels[value >> UART_FCR_LEVEL];
}

/* The first of what is pending and enabled, by the chip's order. */
static uint8_t uart16550_source(const struct uart16550 *u)
{
	if ((u->ier & UART_IER_LINE) && (u->lsr & UART_LSR_OE))
		return UART_IIR_LINE;
	if ((u->ier & UART_IER_RX) && u->received) {
		if (u->received >= uart16550_trigger(u))
			return UART_IIR_RX;
		if (!u->just_read)
			return UART_IIR_RX_OLD;
	}
	if ((u->ier & UART_IER_THR) && u->thr_news)
		return UART_IIR_THR;
	if ((u->ier & UART_IER_MODEM) && u->msr_delta)
		return UART_IIR_MODEM;
	return UART_IIR_NONE;
}

/* Who reads that THR is empty has been told. */
static uint8_t uart16550_iir_read(struct uart16550 *u)
{
	uint8_t source = uart16550_source(u);

	if (source == UART_IIR_THR)
		u->thr_news = false;
	return source | (u->fifo_enabled ? UART_IIR_FIFO : 0u);
}

void uart16550_reset(struct uart16550 *u)
{
	*u = (struct uart16550){
		.lsr = UART_LSR_THRE | UART_LSR_TEMT,
		.trigger = trigger_levels[0],
	};
}

uint8_t uart16550_read(struct uart16550 *u, unsigned int offset)
{
	switch (offset % UART16550_WINDOW) {
	case UART_RBR_THR:
		return uart16550_dlab(u) ? u->dll : uart16550_rbr_read(u);
	case UART_IER:
		return uart16550_dlab(u) ? u->dlm : u->ier;
	case UART_IIR_FCR:
		return uart16550_iir_read(u);
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
			uart16550_ier_write(u, value);
		break;
	case UART_IIR_FCR:
		uart16550_fcr_write(u, value);
		break;
	case UART_LCR:
		u->lcr = value;
		break;
	case UART_MCR:
		uart16550_mcr_write(u, value);
		break;
	case UART_LSR: /* for factory tests only */
	case UART_MSR: /* the lines are what they are */
		break;
	case UART_SCR:
		u->scr = value;
		break;
	}
	return false;
}

void uart16550_sent(struct uart16550 *u)
{
	u->thr_news = true;
}

void uart16550_timed_out(struct uart16550 *u)
{
	u->just_read = false;
}

bool uart16550_receive(struct uart16550 *u, uint8_t value)
{
	if ((u->mcr & UART_MCR_LOOP) || u->echoes || uart16550_is_full(u))
		return false;
	uart16550_put(u, value);
	return true;
}

unsigned int uart16550_from_line(const struct uart16550 *u)
{
	return u->received - u->echoes;
}

unsigned int uart16550_trigger(const struct uart16550 *u)
{
	return u->fifo_enabled ? u->trigger : 1;
}

bool uart16550_expects(const struct uart16550 *u)
{
	return u->ier & UART_IER_RX;
}

bool uart16550_irq(const struct uart16550 *u)
{
	return (u->mcr & (UART_MCR_OUT2 | UART_MCR_LOOP)) == UART_MCR_OUT2 &&
	       uart16550_source(u) != UART_IIR_NONE;
}
