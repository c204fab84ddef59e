/* SPDX-License-Identifier: MIT */
/*
 * The interval timer and the clock of the day behind a time of the test's:
 * when their lines move, and for when the timerfd is armed, which is a real
 * one that is read back. Time stands unless the test moves it, or lets it go on
 * by a step with each look.
 */
#include "clocks.h"

#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "irqs.h"
#include "tap.h"

#define START_NS UINT64_C(5000000000)
#define WALL_NS	 UINT64_C(1700000000000000000)
#define US	 UINT64_C(1000)
#define MS	 UINT64_C(1000000)
#define HOUR	 (3600000 * MS)
/* A tick of the clock out of reset: 1024 a second. */
#define TICK_NS	 UINT64_C(976562)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t mono_ns, wall_ns, step_ns;
static struct clocks clocks;
static struct irqs irqs;
static struct irqs_work work;
static int timer_fd;

static void pass(uint64_t ns)
{
	mono_ns += ns;
	wall_ns += ns;
}

static uint64_t test_ns(clockid_t id)
{
	uint64_t now_ns = id == CLOCK_MONOTONIC ? mono_ns : wall_ns;

	ck_assert(id == CLOCK_MONOTONIC || id == CLOCK_REALTIME);
	pass(step_ns);
	return now_ns;
}

static void port(uint16_t number, uint8_t value)
{
	clocks_write_locked(&clocks, number, value, &irqs, &work);
}

static uint8_t in(uint16_t number)
{
	return clocks_read_locked(&clocks, number, &irqs, &work);
}

static void setup(void)
{
	mono_ns = START_NS;
	wall_ns = WALL_NS;
	step_ns = 0;
	irqs_init(&irqs, &lock);
	clocks_init(&clocks, test_ns);
	irqs_set_isa_locked(&irqs, 0, true, &work);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ck_assert_int_ge(timer_fd, 0);
	clocks_set_timer_locked(&clocks, timer_fd);
	/* The 8259 counts for us: IR0 is there to be seen in its IRR. */
	irqs_port_write_locked(&irqs, 0x20, 0x11, &work);
	irqs_port_write_locked(&irqs, 0x21, 0x30, &work);
	irqs_port_write_locked(&irqs, 0x21, 0x04, &work);
	irqs_port_write_locked(&irqs, 0x21, 0x03, &work); /* automatic EOI */
}

static void teardown(void)
{
	clocks_set_timer_locked(&clocks, -1);
	close(timer_fd);
	irqs_destroy(&irqs);
}

/* Takes all interrupts there are; how many had the vector? */
static unsigned int taken(uint8_t wanted)
{
	unsigned int count = 0;
	uint8_t vector;
	bool more;

	while (irqs_intack_locked(&irqs, &vector, &more))
		count += vector == wanted;
	return count;
}

static unsigned int irq0s(void)
{
	return taken(0x30);
}

static void run(void)
{
	clocks_run_locked(&clocks, &irqs, &work);
}

/* The timerfd is armed for this: 0, not at all. These instants are long gone,
 * so that only the rule and not the kernel's clock decides. */
static void armed(uint64_t due_ns)
{
	ck_assert_uint_eq(clocks.armed_ns, due_ns);
}

/* Channel 0, both bytes. */
static void program(uint8_t control, uint16_t count)
{
	port(0x43, control);
	port(0x40, (uint8_t)count);
	port(0x40, (uint8_t)(count >> 8));
}

START_TEST(test_clocks_quiet_after_power_on)
{
	armed(0);
	pass(100 * MS);
	run();
	armed(0);
	ck_assert_uint_eq(irq0s(), 0);
}
END_TEST

/* A wave: choosing it is no interrupt, then there is one each period. */
START_TEST(test_clocks_periodic)
{
	program(_i ? 0x36 : 0x34, 1193);
	ck_assert_uint_eq(irq0s(), 0);
	/* One tick to load. */
	armed(START_NS + 1000686);
	pass(1000685);
	run();
	ck_assert_uint_eq(irq0s(), 0);
	pass(1);
	run();
	ck_assert_uint_eq(irq0s(), 1);
	armed(START_NS + 2000534);
}
END_TEST

/* Late: one interrupt for all that were missed, the next at its instant. */
START_TEST(test_clocks_late)
{
	program(0x34, 1193);
	pass(7 * MS + MS / 2);
	run();
	ck_assert_uint_eq(irq0s(), 1);
	armed(START_NS + i8254_ns_from_ticks(1 + 8 * 1193));
}
END_TEST

/* The rise stays to be seen, also when a square wave is low by then. */
START_TEST(test_clocks_late_into_the_low_half)
{
	program(0x36, 1193);
	pass(i8254_ns_from_ticks(1 + 1193 + 900));
	run();
	ck_assert_uint_eq(irq0s(), 1);
}
END_TEST

static bool timer_is_up(void)
{
	return irqs.ioapic.lines & 1u << 2;
}

START_TEST(test_clocks_one_shot)
{
	ck_assert(timer_is_up());
	program(0x30, 1193);
	ck_assert(!timer_is_up());
	ck_assert_uint_eq(irq0s(), 0);
	armed(START_NS + 1000686);
	pass(2 * MS);
	run();
	ck_assert_uint_eq(irq0s(), 1);
	armed(0);
	ck_assert(timer_is_up());
	/* To choose the mode again lets it down. */
	program(0x30, 1193);
	ck_assert(!timer_is_up());
	ck_assert_uint_eq(irq0s(), 0);
	armed(START_NS + i8254_ns_from_ticks(2386 + 1 + 1193));
}
END_TEST

/* What was due before a write of the guest is not forgotten over it. */
START_TEST(test_clocks_due_before_a_write)
{
	program(0x34, 1193);
	pass(MS + MS / 2);
	port(0x43, 0x34);
	ck_assert_uint_eq(irq0s(), 1);
	program(0x34, 1193);
	pass(MS + MS / 2);
	in(0x40);
	ck_assert_uint_eq(irq0s(), 1);
}
END_TEST

/* Half a million a second asked for, ten thousand looked after. */
START_TEST(test_clocks_rate_is_limited)
{
	program(0x34, 2);
	pass(10000);
	run();
	ck_assert_uint_eq(irq0s(), 1);
	armed(mono_ns + 100000);
	/* Nor by programming it again. */
	program(0x34, 2);
	armed(mono_ns + 100000);
}
END_TEST

START_TEST(test_clocks_speaker_channel)
{
	ck_assert_uint_eq(in(0x61) & 0xc0, 0);
	port(0x61, 0x01);
	port(0x43, 0xb0);
	port(0x42, 0xa9);
	port(0x42, 0x04);
	ck_assert_uint_eq(in(0x61) & 0x20, 0);
	pass(2 * MS);
	ck_assert_uint_eq(in(0x61) & 0x20, 0x20);
	/* It has no line. */
	ck_assert_uint_eq(irq0s(), 0);
	armed(0);
}
END_TEST

static uint8_t rtc(uint8_t index)
{
	port(0x70, index);
	return in(0x71);
}

static void rtc_set(uint8_t index, uint8_t value)
{
	port(0x70, index);
	port(0x71, value);
}

/* 2023-11-14 22:13:20 UTC; nobody but the guest sets its clock. */
START_TEST(test_clocks_time_of_day)
{
	ck_assert_uint_eq(rtc(9), 0x23);
	ck_assert_uint_eq(rtc(8), 0x11);
	ck_assert_uint_eq(rtc(4), 0x22);
	ck_assert_uint_eq(rtc(0), 0x20);
	pass(3000 * MS);
	ck_assert_uint_eq(rtc(0), 0x23);
	wall_ns -= 2000 * MS;
	ck_assert_uint_eq(rtc(0), 0x23);
	pass(3000 * MS);
	ck_assert_uint_eq(rtc(0), 0x26);
}
END_TEST

/* In 64 KiB from 16 MiB, and from 4 GiB. */
START_TEST(test_clocks_ram_sizes)
{
	clocks_set_ram(&clocks, 256u << 20, 3ull << 30);
	ck_assert_uint_eq(rtc(0x34) | rtc(0x35) << 8, 0x0f00);
	ck_assert_uint_eq(rtc(0x5b) | rtc(0x5c) << 8, 0xc000);
}
END_TEST

/* Its interrupt by the second 8259, as vector 0x38; 1024 a second. */
static void rtc_periodic(void)
{
	irqs_port_write_locked(&irqs, 0xa0, 0x11, &work);
	irqs_port_write_locked(&irqs, 0xa1, 0x38, &work);
	irqs_port_write_locked(&irqs, 0xa1, 0x02, &work);
	irqs_port_write_locked(&irqs, 0xa1, 0x03, &work);
	rtc_set(0x0b, 0x42);
}

/* The line goes up when due, and down as C is read. */
START_TEST(test_clocks_rtc_interrupt)
{
	rtc_periodic();
	ck_assert_uint_gt(clocks.armed_ns, mono_ns);
	ck_assert_uint_le(clocks.armed_ns, mono_ns + 976563);
	pass(clocks.armed_ns - mono_ns - 1);
	run();
	ck_assert(!(irqs.ioapic.lines & 1u << 8));
	pass(1);
	run();
	ck_assert(irqs.ioapic.lines & 1u << 8);
	ck_assert(irqs.intr);
	/* Until it is read there is no other. */
	armed(0);
	ck_assert_uint_eq(rtc(0x0c) & 0xc0, 0xc0);
	ck_assert(!(irqs.ioapic.lines & 1u << 8));
	ck_assert_uint_gt(clocks.armed_ns, mono_ns);
	ck_assert_uint_le(clocks.armed_ns, mono_ns + 976563);
}
END_TEST

/* The guest waits, and the main thread comes when it is to; was there an edge
 * before some ticks were over? */
static bool tick_comes(void)
{
	uint64_t until_ns = mono_ns + 3 * TICK_NS;

	while (!taken(0x38)) {
		if (!clocks.armed_ns || mono_ns >= until_ns)
			return false;
		if (clocks.armed_ns > mono_ns)
			pass(clocks.armed_ns - mono_ns);
		run();
	}
	return true;
}

/* A handler that is late reads C as the next tick comes, a us at a time from
 * before to after it: whatever is between two looks at the time, the ticks go
 * on. */
START_TEST(test_clocks_tick_while_c_is_read)
{
	rtc_periodic();
	step_ns = 10 * US;
	port(0x70, 0x0c);
	for (int tick = 0; tick < 4; tick++) {
		ck_assert(tick_comes());
		pass(TICK_NS - 60 * US + (unsigned int)_i * US);
		ck_assert_uint_eq(in(0x71) & 0xc0, 0xc0);
	}
}
END_TEST

/* Nor is one lost that comes as the main thread sees to the timer. */
START_TEST(test_clocks_tick_while_the_timer_runs)
{
	uint64_t ahead_ns = TICK_NS - 60 * US + (unsigned int)_i * US;

	rtc_periodic();
	port(0x70, 0x0c);
	ck_assert(tick_comes());
	ck_assert_uint_eq(in(0x71) & 0xc0, 0xc0);
	program(0x30, (uint16_t)i8254_ticks_from_ns(ahead_ns));
	step_ns = 10 * US;
	ck_assert(tick_comes());
}
END_TEST

/* A tick that nobody has looked at yet, when the main thread begins to. */
START_TEST(test_clocks_tick_before_the_timerfd)
{
	clocks_set_timer_locked(&clocks, -1);
	rtc_periodic();
	pass(3 * TICK_NS);
	clocks_set_timer_locked(&clocks, timer_fd);
	ck_assert(tick_comes());
}
END_TEST

/* The host's clock is set back, and forth: what is periodic goes on. */
START_TEST(test_clocks_wall_steps)
{
	rtc_periodic();
	port(0x70, 0x0c);
	for (int tick = 0; tick < 4; tick++) {
		wall_ns += tick & 1 ? 2 * HOUR : 0 - HOUR;
		ck_assert(tick_comes());
		ck_assert_uint_le(mono_ns, START_NS + (unsigned int)(tick + 1) *
							      (TICK_NS + 1));
		in(0x71);
	}
}
END_TEST

/* The timerfd has what armed_ns says, and rings. */
START_TEST(test_clocks_timerfd)
{
	struct itimerspec spec;
	uint64_t expiries;

	mono_ns = UINT64_C(4000000000) * 1000000000;
	clocks.start_ns = mono_ns;
	program(0x34, 1193);
	ck_assert_int_eq(timerfd_gettime(timer_fd, &spec), 0);
	ck_assert_int_gt(spec.it_value.tv_sec, 1000000000);
	program(0x30, 0);
	port(0x43, 0x30);
	armed(0);
	ck_assert_int_eq(timerfd_gettime(timer_fd, &spec), 0);
	ck_assert_int_eq(spec.it_value.tv_sec, 0);
	ck_assert_int_eq(read(timer_fd, &expiries, sizeof(expiries)), -1);
	mono_ns = START_NS / 1000;
	clocks.start_ns = mono_ns;
	clocks.pit_seen_pit = 0;
	program(0x34, 1193);
	ck_assert_int_eq(read(timer_fd, &expiries, sizeof(expiries)),
			 sizeof(expiries));
}
END_TEST

START_TEST(test_clocks_ports)
{
	static const uint16_t ports[] = {0x40, 0x41, 0x42, 0x43,
					 0x61, 0x70, 0x71};
	unsigned int count = 0;

	for (unsigned int p = 0; p < 0x10000; p++)
		count += clocks_has_port((uint16_t)p);
	ck_assert_uint_eq(count, 7);
	for (unsigned int i = 0; i < 7; i++)
		ck_assert(clocks_has_port(ports[i]));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clocks");
	TCase *tc = tcase_create("clocks");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_clocks_quiet_after_power_on);
	tcase_add_loop_test(tc, test_clocks_periodic, 0, 2);
	tcase_add_test(tc, test_clocks_late);
	tcase_add_test(tc, test_clocks_late_into_the_low_half);
	tcase_add_test(tc, test_clocks_one_shot);
	tcase_add_test(tc, test_clocks_due_before_a_write);
	tcase_add_test(tc, test_clocks_rate_is_limited);
	tcase_add_test(tc, test_clocks_speaker_channel);
	tcase_add_test(tc, test_clocks_time_of_day);
	tcase_add_test(tc, test_clocks_ram_sizes);
	tcase_add_test(tc, test_clocks_rtc_interrupt);
	tcase_add_loop_test(tc, test_clocks_tick_while_c_is_read, 0, 90);
	tcase_add_loop_test(tc, test_clocks_tick_while_the_timer_runs, 0, 90);
	tcase_add_test(tc, test_clocks_tick_before_the_timerfd);
	tcase_add_test(tc, test_clocks_wall_steps);
	tcase_add_test(tc, test_clocks_timerfd);
	tcase_add_test(tc, test_clocks_ports);
	suite_add_tcase(suite, tc);
	return tap_run(suite);
}
