/* SPDX-License-Identifier: MIT */
/*
 * clocks - see clocks.h. What the chips do with time is theirs; here it is
 * read, and asked when there is something to be done.
 *
 * IRQ 0 is the output of the timer's channel 0, as long as somebody looks: a
 * low half of a square wave is not shown, only the rise that ends it, or an
 * interrupt that comes late would be taken back before the guest saw it.
 *
 * Time is read once for each call from outside. With a second look, a tick
 * between the two would raise IRQ 8 before it fell, so without an edge, or be
 * taken note of with nobody left to drive the line: either ends the ticks of a
 * guest that waits for the next one.
 */
#include "clocks.h"

#include <stddef.h>
#include <string.h>
#include <sys/timerfd.h>

#include "irqs.h"
#include "monotonic.h"
#include "platform.h"

enum {
	IRQ_RTC = 8,
	NS_PER_S = 1000000000,
	WAKEUP_GAP_NS = NS_PER_S / CLOCKS_WAKEUPS_HZ,
};

static uint64_t now_monotonic_ns(const struct clocks *clocks)
{
	return clocks->read_ns(CLOCK_MONOTONIC);
}

static uint64_t to_pit(const struct clocks *clocks, uint64_t now_ns)
{
	return i8254_ticks_from_ns(now_ns - clocks->start_ns);
}

static uint64_t to_rtc_ns(const struct clocks *clocks, uint64_t now_ns)
{
	return clocks->start_rtc_ns + (now_ns - clocks->start_ns);
}

void clocks_init(struct clocks *clocks, uint64_t (*read_ns)(clockid_t id))
{
	memset(clocks, 0, sizeof(*clocks));
	clocks->read_ns = read_ns ? read_ns : clock_ns;
	clocks->start_ns = now_monotonic_ns(clocks);
	clocks->start_rtc_ns = clocks->read_ns(CLOCK_REALTIME);
	clocks->timer_fd = -1;
	i8254_reset(&clocks->pit);
	clocks_set_ram(clocks, 0, 0);
}

void clocks_set_ram(struct clocks *clocks, uint64_t low_bytes,
		    uint64_t high_bytes)
{
	clocks->rtc_seen_ns = to_rtc_ns(clocks, now_monotonic_ns(clocks));
	mc146818_init(&clocks->rtc, low_bytes, high_bytes, clocks->rtc_seen_ns);
}

/* When the main thread is to come, in monotonic ns; 0: there is nothing. From
 * the last looks on, so that what came since then is due, and not over. */
static uint64_t next_due_ns(struct clocks *clocks)
{
	uint64_t due_ns = UINT64_MAX, rise_pit, rise_rtc_ns, rise_ns;

	if (i8254_next_rise(&clocks->pit, 0, clocks->pit_seen_pit, &rise_pit))
		due_ns = clocks->start_ns + i8254_ns_from_ticks(rise_pit);
	if (mc146818_next_irq(&clocks->rtc, clocks->rtc_seen_ns,
			      &rise_rtc_ns)) {
		rise_ns =
			clocks->start_ns + (rise_rtc_ns - clocks->start_rtc_ns);
		if (rise_ns < due_ns)
			due_ns = rise_ns;
	}
	if (due_ns == UINT64_MAX)
		return 0;
	/* Not at once again. */
	if (clocks->looked_ns && due_ns < clocks->looked_ns + WAKEUP_GAP_NS)
		due_ns = clocks->looked_ns + WAKEUP_GAP_NS;
	return due_ns;
}

/* With the lock held, which makes the last one who arms the one who knew the
 * most; it does not block. */
static void arm(struct clocks *clocks)
{
	uint64_t due_ns = next_due_ns(clocks);
	struct itimerspec spec = {
		.it_value = {.tv_sec = (time_t)(due_ns / NS_PER_S),
			     .tv_nsec = (long)(due_ns % NS_PER_S)},
	};

	if (due_ns == clocks->armed_ns || clocks->timer_fd < 0)
		return;
	clocks->armed_ns = due_ns;
	timerfd_settime(clocks->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

void clocks_set_timer_locked(struct clocks *clocks, int timer_fd)
{
	clocks->timer_fd = timer_fd;
	clocks->armed_ns = 0;
	arm(clocks);
}

/* Rises since the last look: one interrupt, however many they are. */
static void pit_catch_up(struct clocks *clocks, uint64_t at_pit,
			 struct irqs *irqs, struct irqs_work *work)
{
	uint64_t rise_pit;

	if (i8254_next_rise(&clocks->pit, 0, clocks->pit_seen_pit, &rise_pit) &&
	    rise_pit <= at_pit) {
		irqs_set_isa_locked(irqs, PLATFORM_IRQ_TIMER, false, work);
		irqs_set_isa_locked(irqs, PLATFORM_IRQ_TIMER, true, work);
	}
	clocks->pit_seen_pit = at_pit;
}

/* A write moves the output at once, unless it is a wave that runs. */
static void pit_follow(struct clocks *clocks, uint64_t at_pit,
		       struct irqs *irqs, struct irqs_work *work)
{
	const struct i8254_channel *channel = &clocks->pit.channel[0];

	if (channel->counts && (channel->mode == 2 || channel->mode == 3))
		return;
	irqs_set_isa_locked(irqs, PLATFORM_IRQ_TIMER,
			    i8254_out(&clocks->pit, 0, at_pit), work);
}

static void rtc_follow(struct clocks *clocks, uint64_t at_rtc_ns,
		       struct irqs *irqs, struct irqs_work *work)
{
	irqs_set_isa_locked(irqs, IRQ_RTC,
			    mc146818_irq(&clocks->rtc, at_rtc_ns), work);
	clocks->rtc_seen_ns = at_rtc_ns;
}

static bool port_is_rtc(uint16_t port)
{
	return port == MC146818_PORT_INDEX || port == MC146818_PORT_DATA;
}

bool clocks_has_port(uint16_t port)
{
	return port_is_rtc(port) || port == I8254_PORT_SPEAKER ||
	       (port >= I8254_PORT && port <= I8254_PORT_CONTROL);
}

uint8_t clocks_read_locked(struct clocks *clocks, uint16_t port,
			   struct irqs *irqs, struct irqs_work *work)
{
	uint64_t now_ns = now_monotonic_ns(clocks);
	uint64_t at_pit = to_pit(clocks, now_ns);
	uint64_t at_rtc_ns = to_rtc_ns(clocks, now_ns);
	uint8_t value;

	if (port_is_rtc(port)) {
		value = mc146818_read(&clocks->rtc, port, at_rtc_ns);
		rtc_follow(clocks, at_rtc_ns, irqs, work);
		arm(clocks);
		return value;
	}
	/* Reading moves no output, and what is armed stays right. */
	pit_catch_up(clocks, at_pit, irqs, work);
	return i8254_read(&clocks->pit, port, at_pit);
}

void clocks_write_locked(struct clocks *clocks, uint16_t port, uint8_t value,
			 struct irqs *irqs, struct irqs_work *work)
{
	uint64_t now_ns = now_monotonic_ns(clocks);
	uint64_t at_pit = to_pit(clocks, now_ns);
	uint64_t at_rtc_ns = to_rtc_ns(clocks, now_ns);

	if (port_is_rtc(port)) {
		mc146818_write(&clocks->rtc, port, value, at_rtc_ns);
		rtc_follow(clocks, at_rtc_ns, irqs, work);
	} else {
		/* What was due before the write is not the write's. */
		pit_catch_up(clocks, at_pit, irqs, work);
		i8254_write(&clocks->pit, port, value, at_pit);
		pit_follow(clocks, at_pit, irqs, work);
	}
	arm(clocks);
}

void clocks_run_locked(struct clocks *clocks, struct irqs *irqs,
		       struct irqs_work *work)
{
	uint64_t now_ns = now_monotonic_ns(clocks);

	clocks->looked_ns = now_ns;
	clocks->armed_ns = 0;
	pit_catch_up(clocks, to_pit(clocks, now_ns), irqs, work);
	rtc_follow(clocks, to_rtc_ns(clocks, now_ns), irqs, work);
	arm(clocks);
}
