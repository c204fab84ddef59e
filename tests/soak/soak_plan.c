/* SPDX-License-Identifier: MIT */
/*
 * soak_plan - one draw for each property of a run, all independent.
 *
 * Reference for the generator: Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators" (2014), SplitMix64: any two states, even
 * neighbours, start unrelated series.
 * Not varied: mode kernel (nothing of ours runs in it) and affinities, which
 * depend on the host.
 */
#include "soak_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct draw {
	uint64_t state;
	struct soak_choice *choice;
	unsigned int used;
};

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint32_t between(struct draw *draw, uint32_t min, uint32_t max)
{
	return min + (uint32_t)(next(&draw->state) % (max - min + 1u));
}

/* Each doubling as likely as the next, so that short ones do not get lost
 * among the long. */
static uint32_t between_log(struct draw *draw, uint32_t min, uint32_t max)
{
	uint32_t doublings = 0, low;

	while (min << (doublings + 1) <= max)
		doublings++;
	low = min << between(draw, 0, doublings);
	return between(draw, low, 2 * low - 1 < max ? 2 * low - 1 : max);
}

__attribute__((format(printf, 2, 3))) static void set(struct draw *draw,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(draw->choice->sets[draw->used++], SOAK_SET_SIZE, format,
		  args);
	va_end(args);
}

static void choose_timer(struct draw *draw)
{
	switch (between(draw, 0, 2)) {
	case 0:
		set(draw, "timer.advance=off");
		break;
	case 1:
		set(draw, "timer.advance=auto");
		break;
	default:
		set(draw, "timer.advance=%" PRIu32,
		    between_log(draw, SOAK_ADVANCE_MIN_NS,
				SOAK_ADVANCE_MAX_NS));
		break;
	}
	set(draw, "timer.vmentry_advance=%s",
	    between(draw, 0, 1) ? "auto" : "off");
	set(draw, "timer.strict_lvtt=%s",
	    between(draw, 0, 1) ? "true" : "false");
}

static void choose_guest(struct draw *draw, uint32_t fires_max)
{
	const char *wait = between(draw, 0, 1) ? "hlt" : "spin";
	const char *dist = between(draw, 0, 1) ? "random" : "fixed";
	uint32_t period_us =
		between_log(draw, SOAK_PERIOD_MIN_US, SOAK_PERIOD_MAX_US);

	if (fires_max > SOAK_RUN_MAX_US / period_us)
		fires_max = SOAK_RUN_MAX_US / period_us;
	set(draw,
	    "boot-source.boot_args=wait=%s dist=%s period_us=%" PRIu32
	    " fires=%" PRIu32 " seed=%" PRIu32,
	    wait, dist, period_us, between(draw, SOAK_FIRES_MIN, fires_max),
	    between(draw, 1, 1000000));
}

void soak_choose(struct soak_choice *choice, uint64_t seed, uint64_t run,
		 const struct soak_limits *limits)
{
	struct draw draw = {.choice = choice, .state = seed};

	draw.state = next(&draw.state) + run;
	set(&draw, "console.serial=off");
	set(&draw, "run.stats_path=null");
	set(&draw, "run.timeout_ms=%d", SOAK_TIMEOUT_MS);
	set(&draw, "timer.mode=userspace");
	set(&draw, "machine-config.vcpu_count=%" PRIu32,
	    between(&draw, 1, SOAK_VCPUS_MAX));
	choose_timer(&draw);
	choose_guest(&draw, limits->fires_max);
	choice->hogs =
		between(&draw, 0, 1) ? between(&draw, 1, limits->hogs_max) : 0;
}
