/* SPDX-License-Identifier: MIT */
/*
 * The clock of a PC: time from the owner, flags and interrupts from the time.
 * Reference: Motorola MC146818 data sheet, "Registers", "Update Cycle",
 * "Divider Control"; 82371AB (PIIX4) data sheet, "Real Time Clock".
 * Not modelled: see mc146818.h.
 *
 * The divider is what makes seconds and periodic ticks of the input clock. It
 * runs on while register B holds the calendar (SET), and stands while register
 * A holds it in reset; half a second after that comes the first update.
 */
#include "mc146818.h"

#include "mc146818_calendar.h"

/* Registers. The alarm is between the fields of the time. */
#define RTC_SECOND_ALARM    0x01u
#define RTC_MINUTE_ALARM    0x03u
#define RTC_HOUR_ALARM	    0x05u
#define RTC_A		    0x0au
#define RTC_A_RATE	    0x0fu
#define RTC_A_DIVIDER_RESET 0x60u /* both bits */
#define RTC_A_WRITABLE	    0x7fu
#define RTC_A_UIP	    0x80u
#define RTC_A_DEFAULT	    0x26u /* 32768 Hz; 1024 Hz */
#define RTC_B		    0x0bu
#define RTC_B_UIE	    0x10u
#define RTC_B_AIE	    0x20u
#define RTC_B_PIE	    0x40u
#define RTC_B_SET	    0x80u
#define RTC_C		    0x0cu /* flags: where B has the enables */
#define RTC_C_FLAGS	    0x70u
#define RTC_C_IRQF	    0x80u
#define RTC_D		    0x0du
#define RTC_D_VALID	    0x80u
#define CMOS_BASE_KIB	    0x15u
#define CMOS_EXTENDED_KIB   0x17u
#define CMOS_EXTENDED_KIB_2 0x30u
#define CMOS_CENTURY	    0x32u
#define CMOS_ABOVE_16_MIB   0x34u /* in units of 64 KiB, as the next */
#define CMOS_ABOVE_4_GIB    0x5bu

#define INDEX_MASK	    0x7fu
#define NS_PER_S	    1000000000u
#define TICKS_PER_S	    32768u
/* An update is announced so much ahead. */
#define UPDATE_NOTICE_NS    244000u

static const uint8_t field_index[MC146818_FIELDS] = {
	[MC146818_SECOND] = 0x00, [MC146818_MINUTE] = 0x02,
	[MC146818_HOUR] = 0x04,	  [MC146818_WEEKDAY] = 0x06,
	[MC146818_DAY] = 0x07,	  [MC146818_MONTH] = 0x08,
	[MC146818_YEAR] = 0x09,	  [MC146818_CENTURY] = CMOS_CENTURY,
};

static bool is_field(uint8_t index)
{
	for (unsigned int i = 0; i < MC146818_FIELDS; i++)
		if (field_index[i] == index)
			return true;
	return false;
}

static bool divider_stands(const struct mc146818 *rtc)
{
	return (rtc->bytes[RTC_A] & RTC_A_DIVIDER_RESET) == RTC_A_DIVIDER_RESET;
}

/* The calendar shows what was written last, and nothing moves it. */
static bool is_held(const struct mc146818 *rtc)
{
	return (rtc->bytes[RTC_B] & RTC_B_SET) || divider_stands(rtc);
}

static uint32_t part_ns(const struct mc146818 *rtc, uint64_t now_ns)
{
	return (uint32_t)((now_ns + rtc->phase_ns) % NS_PER_S);
}

/* Full seconds of the divider; the calendar's with the difference. */
static uint64_t divider_s(const struct mc146818 *rtc, uint64_t now_ns)
{
	return (now_ns + rtc->phase_ns) / NS_PER_S;
}

static int64_t calendar_s(const struct mc146818 *rtc, uint64_t now_ns)
{
	return (int64_t)divider_s(rtc, now_ns) + rtc->offset_s;
}

/* Input clocks between periodic interrupts; 0: none. The two shortest do not
 * fit the rule, and are as two of the others. */
static uint32_t period_ticks(const struct mc146818 *rtc)
{
	unsigned int rate = rtc->bytes[RTC_A] & RTC_A_RATE;

	if (!rate || divider_stands(rtc))
		return 0;
	return 1u << (rate <= 2 ? rate + 6 : rate - 1);
}

static uint32_t part_ticks(const struct mc146818 *rtc, uint64_t now_ns)
{
	return (uint32_t)((uint64_t)part_ns(rtc, now_ns) * TICKS_PER_S /
			  NS_PER_S);
}

/* Periods since the divider's zero; they fit a second. */
static uint64_t periods(const struct mc146818 *rtc, uint64_t now_ns,
			uint32_t period)
{
	return divider_s(rtc, now_ns) * (TICKS_PER_S / period) +
	       part_ticks(rtc, now_ns) / period;
}

static bool next_alarm(const struct mc146818 *rtc, uint64_t after_ns,
		       int64_t *alarm_s)
{
	const uint8_t alarm[3] = {rtc->bytes[RTC_SECOND_ALARM],
				  rtc->bytes[RTC_MINUTE_ALARM],
				  rtc->bytes[RTC_HOUR_ALARM]};

	return calendar_next_alarm(calendar_s(rtc, after_ns), alarm,
				   rtc->bytes[RTC_B], alarm_s);
}

/* Flags of what has happened since the last look, under the registers as they
 * were: comes before any change of them. */
static void mc146818_advance(struct mc146818 *rtc, uint64_t now_ns)
{
	uint32_t period = period_ticks(rtc);
	int64_t alarm_s;

	if (now_ns <= rtc->seen_ns)
		return;
	if (period &&
	    periods(rtc, now_ns, period) != periods(rtc, rtc->seen_ns, period))
		rtc->bytes[RTC_C] |= RTC_B_PIE;
	if (!is_held(rtc) &&
	    calendar_s(rtc, now_ns) != calendar_s(rtc, rtc->seen_ns)) {
		rtc->bytes[RTC_C] |= RTC_B_UIE;
		if (next_alarm(rtc, rtc->seen_ns, &alarm_s) &&
		    alarm_s <= calendar_s(rtc, now_ns))
			rtc->bytes[RTC_C] |= RTC_B_AIE;
	}
	rtc->seen_ns = now_ns;
}

static void calendar_show(struct mc146818 *rtc, uint64_t now_ns)
{
	uint8_t fields[MC146818_FIELDS];

	calendar_to_fields(calendar_s(rtc, now_ns), rtc->bytes[RTC_B], fields);
	for (unsigned int i = 0; i < MC146818_FIELDS; i++)
		rtc->bytes[field_index[i]] = fields[i];
}

/* From now on the clock goes by what its registers say. */
static void calendar_take(struct mc146818 *rtc, uint64_t now_ns)
{
	uint8_t fields[MC146818_FIELDS];

	for (unsigned int i = 0; i < MC146818_FIELDS; i++)
		fields[i] = rtc->bytes[field_index[i]];
	rtc->offset_s += calendar_from_fields(fields, rtc->bytes[RTC_B]) -
			 calendar_s(rtc, now_ns);
}

static void divider_start(struct mc146818 *rtc, uint64_t now_ns)
{
	uint32_t wanted_ns = NS_PER_S / 2;

	rtc->phase_ns =
		(rtc->phase_ns + NS_PER_S + wanted_ns - part_ns(rtc, now_ns)) %
		NS_PER_S;
}

/* Registers A and B, between which the calendar may come to stand or go. */
static void control_write(struct mc146818 *rtc, uint8_t index, uint8_t value,
			  uint64_t now_ns)
{
	bool was_held = is_held(rtc), stood = divider_stands(rtc);

	if (!was_held)
		calendar_show(rtc, now_ns);
	rtc->bytes[index] = value;
	if (value & RTC_B_SET && index == RTC_B)
		rtc->bytes[RTC_B] &= (uint8_t)~RTC_B_UIE;
	if (stood && !divider_stands(rtc))
		divider_start(rtc, now_ns);
	if (was_held && !is_held(rtc))
		calendar_take(rtc, now_ns);
}

static void field_write(struct mc146818 *rtc, uint8_t index, uint8_t value,
			uint64_t now_ns)
{
	bool held = is_held(rtc);

	if (!held)
		calendar_show(rtc, now_ns);
	rtc->bytes[index] = value;
	if (!held)
		calendar_take(rtc, now_ns);
}

static uint8_t irq_flags(const struct mc146818 *rtc)
{
	return rtc->bytes[RTC_C] & rtc->bytes[RTC_B] & RTC_C_FLAGS;
}

static uint8_t flags_read(struct mc146818 *rtc)
{
	uint8_t value = rtc->bytes[RTC_C];

	if (irq_flags(rtc))
		value |= RTC_C_IRQF;
	rtc->bytes[RTC_C] = 0;
	return value;
}

static uint8_t control_a_read(const struct mc146818 *rtc, uint64_t now_ns)
{
	bool soon = part_ns(rtc, now_ns) >= NS_PER_S - UPDATE_NOTICE_NS;

	return rtc->bytes[RTC_A] | (soon && !is_held(rtc) ? RTC_A_UIP : 0u);
}

/* Little-endian, as large as it goes. */
static void put_number(struct mc146818 *rtc, unsigned int index,
		       unsigned int size, uint64_t value)
{
	uint64_t max = (1ull << (8 * size)) - 1;

	if (value > max)
		value = max;
	for (unsigned int i = 0; i < size; i++)
		rtc->bytes[index + i] = (uint8_t)(value >> (8 * i));
}

static uint64_t above(uint64_t bytes, uint64_t limit)
{
	return bytes > limit ? bytes - limit : 0;
}

void mc146818_init(struct mc146818 *rtc, uint64_t ram_low_bytes,
		   uint64_t ram_high_bytes, uint64_t now_ns)
{
	uint64_t base_kib = ram_low_bytes >> 10;
	uint64_t extended_kib = above(ram_low_bytes, 1u << 20) >> 10;

	*rtc = (struct mc146818){.seen_ns = now_ns};
	rtc->bytes[RTC_A] = RTC_A_DEFAULT;
	rtc->bytes[RTC_B] = MC146818_B_24_HOURS;
	put_number(rtc, CMOS_BASE_KIB, 2, base_kib < 640 ? base_kib : 640);
	put_number(rtc, CMOS_EXTENDED_KIB, 2, extended_kib);
	put_number(rtc, CMOS_EXTENDED_KIB_2, 2, extended_kib);
	put_number(rtc, CMOS_ABOVE_16_MIB, 2,
		   above(ram_low_bytes, 16u << 20) >> 16);
	put_number(rtc, CMOS_ABOVE_4_GIB, 3, ram_high_bytes >> 16);
}

void mc146818_reset(struct mc146818 *rtc, uint64_t now_ns)
{
	mc146818_advance(rtc, now_ns);
	rtc->index = 0;
	rtc->bytes[RTC_B] &= (uint8_t)~RTC_C_FLAGS;
	rtc->bytes[RTC_C] = 0;
}

uint8_t mc146818_read(struct mc146818 *rtc, uint16_t port, uint64_t now_ns)
{
	mc146818_advance(rtc, now_ns);
	if (port == MC146818_PORT_INDEX)
		return 0xff; /* write-only */
	if (rtc->index == RTC_A)
		return control_a_read(rtc, now_ns);
	if (rtc->index == RTC_C)
		return flags_read(rtc);
	if (rtc->index == RTC_D)
		return RTC_D_VALID;
	if (is_field(rtc->index) && !is_held(rtc))
		calendar_show(rtc, now_ns);
	return rtc->bytes[rtc->index];
}

void mc146818_write(struct mc146818 *rtc, uint16_t port, uint8_t value,
		    uint64_t now_ns)
{
	mc146818_advance(rtc, now_ns);
	if (port == MC146818_PORT_INDEX)
		rtc->index = value & INDEX_MASK;
	else if (rtc->index == RTC_A)
		control_write(rtc, RTC_A, value & RTC_A_WRITABLE, now_ns);
	else if (rtc->index == RTC_B)
		control_write(rtc, RTC_B, value, now_ns);
	else if (is_field(rtc->index))
		field_write(rtc, rtc->index, value, now_ns);
	else if (rtc->index != RTC_C && rtc->index != RTC_D)
		rtc->bytes[rtc->index] = value;
}

bool mc146818_irq(struct mc146818 *rtc, uint64_t now_ns)
{
	mc146818_advance(rtc, now_ns);
	return irq_flags(rtc);
}

bool mc146818_next_irq(struct mc146818 *rtc, uint64_t now_ns, uint64_t *due_ns)
{
	uint8_t enabled = rtc->bytes[RTC_B];
	uint32_t period = period_ticks(rtc), tick;
	/* All from the start of this second on. */
	uint64_t began_ns = now_ns - part_ns(rtc, now_ns);
	uint64_t soonest_ns = UINT64_MAX;
	int64_t alarm_s;

	if (mc146818_irq(rtc, now_ns))
		return false;
	if ((enabled & RTC_B_AIE) && !is_held(rtc) &&
	    next_alarm(rtc, now_ns, &alarm_s))
		soonest_ns = (uint64_t)(alarm_s - calendar_s(rtc, now_ns)) *
			     NS_PER_S;
	if ((enabled & RTC_B_UIE) && !is_held(rtc))
		soonest_ns = NS_PER_S;
	if ((enabled & RTC_B_PIE) && period) {
		tick = (part_ticks(rtc, now_ns) / period + 1) * period;
		soonest_ns = ((uint64_t)tick * NS_PER_S + TICKS_PER_S - 1) /
			     TICKS_PER_S;
	}
	*due_ns = began_ns + soonest_ns;
	return soonest_ns != UINT64_MAX;
}
